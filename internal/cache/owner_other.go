//go:build !unix

package cache

import "io/fs"

// isOwn always reports true: other systems control access by lists of their own.
func isOwn(fs.FileInfo) bool { return true }
