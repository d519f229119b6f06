//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether the file belongs to the user who runs the program.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
