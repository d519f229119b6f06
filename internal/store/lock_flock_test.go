//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestReleaseBesideChild holds the lock file open as a child does between fork and exec.
func TestReleaseBesideChild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, _, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := release(f); err != nil {
		t.Fatal(err)
	}
	if f, _, err = acquire(path); err != nil {
		t.Fatal(err)
	}
	if err := release(f); err != nil {
		t.Error(err)
	}
}
