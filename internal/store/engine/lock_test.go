//go:build unix

package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReleaseBesideChild holds the lock file open as a child does between fork and exec.
func TestReleaseBesideChild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, _, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	child := -1
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of open files here")
	}
	for _, fd := range fds {
		n, _ := strconv.Atoi(fd.Name())
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			if child, err = unix.Dup(n); err != nil {
				t.Fatal(err)
			}
			defer unix.Close(child)
		}
	}
	if child < 0 {
		t.Fatal("the lock file is not open")
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if l, _, err = acquire(path); err != nil {
		t.Fatal(err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
}

// TestOwner checks that the lock file names its owner until it is marked as closed.
func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("\x004242\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := ownerOf(path); pid != 4242 {
		t.Errorf("owner %d", pid)
	}
	l, clean, err := acquire(path)
	if err != nil || clean {
		t.Fatalf("after a crash: clean %t, %v", clean, err)
	}
	if pid := ownerOf(path); pid != os.Getpid() {
		t.Errorf("owner %d while it is held", pid)
	}
	_, _, err = acquire(path)
	if held, ok := errors.AsType[*Error](err); !ok || held.Kind != InUse || held.PID != os.Getpid() {
		t.Errorf("a second owner: %v", err)
	}
	if err := errors.Join(l.markClosed(), l.release()); err != nil {
		t.Fatal(err)
	}
	l, clean, err = acquire(path)
	if err != nil || !clean {
		t.Fatalf("after it was closed: clean %t, %v", clean, err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
}
