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
// would let two processes take turns, and answer every message twice. Clean is false if the last owner did not get as far as
// markClosed.
func acquire(path string) (lock *os.File, clean bool, err error) {
	f, err := lockFile(path)
	if errors.Is(err, errHeld) {
		e := &Error{Kind: InUse, Path: filepath.Join(filepath.Dir(path), fileName), PID: ownerOf(path)}
		if err != errHeld {
			e.Err = err // says more
		}
		return nil, false, e
	}
	if err != nil {
		return nil, false, err
	}
	clean = ownerOf(path) == 0
	// The number is for people: the lock, not the number, is what counts.
	if err := f.Truncate(0); err != nil {
		return nil, false, errors.Join(err, release(f))
	}
	if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return nil, false, errors.Join(err, release(f))
	}
	return f, clean, nil
}

// markClosed notes in the lock file that what it guards was closed as it should.
func markClosed(lock *os.File) error { return lock.Truncate(0) }

// ownerOf returns the process that the lock file names, or 0.
func ownerOf(path string) int {
	b, _ := os.ReadFile(path) // one that cannot be read names nobody
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
