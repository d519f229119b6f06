//go:build !linux && !darwin

package disk

import "errors"

// Free fails: how much is free is not known on this system.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }
