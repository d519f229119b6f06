package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errHeld says that another process holds the lock file.
var errHeld = errors.New("held")

// acquire makes this process the owner of the directory that path is in, until release. SQLite's own locks
// would let two processes take turns, and answer every message twice.
func acquire(path string) (*os.File, error) {
	f, err := lockFile(path)
	if errors.Is(err, errHeld) {
		e := &Error{Kind: InUse, Path: filepath.Join(filepath.Dir(path), fileName), PID: ownerOf(path)}
		if err != errHeld {
			e.Err = err // says more
		}
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	// The number is for people: the lock, not the number, is what counts.
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, release(f))
	}
	if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return nil, errors.Join(err, release(f))
	}
	return f, nil
}

// ownerOf returns the process that the lock file names, or 0.
func ownerOf(path string) int {
	b, _ := os.ReadFile(path) // one that cannot be read names nobody
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
