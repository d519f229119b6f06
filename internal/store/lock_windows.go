package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// A lock of Windows keeps others from reading what it covers, so it covers a byte far behind the file's end: the number in it stays readable.
const lockAt = 1 << 30 // the high half of the byte's place

// lockFile takes a lock that the system lets go of however the process ends. The file stays.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	if err == nil {
		return f, nil
	}
	_ = f.Close() // nothing was written
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, errHeld
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

func release(f *os.File) error {
	return errors.Join(windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt}), f.Close())
}
