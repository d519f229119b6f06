//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether what info is of belongs to the user that the program runs as.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
