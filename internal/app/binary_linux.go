package app

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// forgetBinary removes the binary's code and constants from the process's memory: the start has read nearly all of them.
// The system reads pages that are needed again from its cache or from the file. See madvise(2), MADV_DONTNEED; it loses
// nothing, because these pages are never written.
func forgetBinary() {
	binary, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var mode, offset, device, inode, path string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s %s", &from, &to, &mode, &offset, &device, &inode, &path); n < 7 || path != binary {
			continue
		}
		if mode == "r-xp" || mode == "r--p" {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
		}
	}
}
