package store

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// asNobody takes the rights of root over files away from this test, if it has them.
func asNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread() // the rights are the thread's
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setfsuid(0); err != nil {
			panic(err) // or other tests would run without
		}
		runtime.UnlockOSThread()
	})
}

func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  bool        // there is one already
		dir    os.FileMode // as asNobody finds them
		files  os.FileMode
		inside string // what to open, within the directory
	}{
		{name: "empty directory", dir: 0o555},
		{name: "parent of a missing directory", dir: 0o555, inside: "new"},
		{name: "directory and files", store: true, dir: 0o555, files: 0o444},
		{name: "files alone", store: true, dir: 0o777, files: 0o444},
		{name: "directory alone", store: true, dir: 0o555, files: 0o666},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.store {
				open(t, dir).Close()
				for _, name := range []string{fileName, lockName} {
					if err := os.Chmod(filepath.Join(dir, name), c.files); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Chmod(dir, c.dir); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o700)
			asNobody(t)
			refused(t, filepath.Join(dir, c.inside), ReadOnly, "cannot be written", "give the user")
		})
	}
}
