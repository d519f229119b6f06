package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/gofrs/flock"
)

// dirLock makes this process the owner of a data directory. SQLite's own locks would let two processes take turns, and both would answer
// every message. The file stays when the lock is released: if it were removed, two processes could lock two files of the same name.
//
// The file names the owner until [dirLock.markClosed], for people and for the next owner. On Windows nobody else can read or write the first
// byte of a locked file, so the number begins at the second one.
type dirLock struct {
	lock *flock.Flock
	file *os.File     // a second handle: that of lock cannot be written
	data *flock.Flock // of the database file itself; nil: not locked
}

// lockData locks the database file, too: the lock file may be deleted meanwhile, and the database may have a second name in another directory.
// SQLite's own locks are of another kind on Linux, and would be hindered elsewhere. Closing the handle drops SQLite's locks, so release comes
// after SQLite has closed the file.
func (l *dirLock) lockData(path string) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	data := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := data.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return &Error{Kind: InUse, Path: path}
	}
	l.data = data
	return nil
}

// ownerAt is the offset of the owner's number, and ownerWidth its length in bytes, padded with spaces.
const (
	ownerAt    = 1
	ownerWidth = 20
)

// acquire locks the file at path. clean is false if the last owner did not get as far as markClosed. The error is an [*Error] that names
// the owner if there is another one.
func acquire(path string) (l *dirLock, clean bool, err error) {
	// Network file systems lock only files that are open for writing.
	l = &dirLock{lock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	locked, err := l.lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return nil, false, &Error{Kind: InUse, Path: filepath.Join(filepath.Dir(path), fileName), PID: ownerOf(path)}
	}
	clean = ownerOf(path) == 0
	l.file, err = os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = l.write(strconv.Itoa(os.Getpid()))
	}
	if err != nil {
		return nil, false, errors.Join(err, l.release())
	}
	return l, clean, nil
}

// markClosed notes that the store was closed without an error.
func (l *dirLock) markClosed() error { return l.write("") }

func (l *dirLock) write(owner string) error {
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%-*s\n", ownerWidth, owner), ownerAt)
	if err == nil && owner != "" { // after a loss of power the next owner must know that this one did not close the store
		err = l.file.Sync()
	}
	return err
}

// release unlocks the file before it is closed. A child process that has not reached its exec holds the file open, too, and would keep the
// lock until then.
func (l *dirLock) release() error {
	err := l.lock.Unlock()
	if l.data != nil {
		err = errors.Join(err, l.data.Unlock())
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// ownerOf returns the process that a lock file names, or 0.
func ownerOf(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text := make([]byte, ownerAt+ownerWidth+1)
	if n, _ := f.ReadAt(text, 0); n == 0 { // the first byte is locked
		_, _ = f.ReadAt(text[ownerAt:], ownerAt)
	}
	if text[ownerAt+ownerWidth] == '\n' { // otherwise an earlier version wrote it, from the first byte on
		text = text[ownerAt:]
	}
	pid, err := strconv.Atoi(string(bytes.Trim(text, "\x00 \n")))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
