//go:build linux || darwin

package cache

import (
	"fmt"
	"syscall"
)

// FreeSpace returns how many bytes may still be written on the disk of a directory.
func FreeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
