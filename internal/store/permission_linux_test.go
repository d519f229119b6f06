package store

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"familiar/internal/store/engine"
)

// asNobody drops root's rights over files for this test, if it has them.
func asNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread() // the rights belong to the thread
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setfsuid(0); err != nil {
			panic(err) // other tests would run without them
		}
		runtime.UnlockOSThread()
	})
}

func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  bool        // a store exists
		dir    os.FileMode // its mode, for asNobody
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
				openFile(t, dir).Close()
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
			refused(t, filepath.Join(dir, c.inside), engine.ReadOnly, "cannot be written", "give the user")
		})
	}
}
