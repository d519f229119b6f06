//go:build unix

package bulk

import (
	"syscall"
	"time"
)

// processorTime is the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF and a pointer are never refused
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
