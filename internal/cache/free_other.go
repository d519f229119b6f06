//go:build !linux && !darwin

package cache

import "errors"

// FreeSpace always fails: the free space is unknown on this system.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
