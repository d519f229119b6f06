//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lockFile makes a file that must not be there yet. After a crash it is left behind, and the error names it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: if no such process runs, remove %s", errHeld, path)
	}
	return f, err
}

func release(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
