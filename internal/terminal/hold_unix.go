//go:build !windows

package terminal

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// hold has a terminal keep what is typed, without showing it, for the next that reads. Ctrl-C remains a signal.
func hold(fd int) error {
	get, set := uint(0x5401), uint(0x5402) // TCGETS and TCSETS of Linux
	if runtime.GOOS == "darwin" {
		get, set = 0x40487413, 0x80487414 // TIOCGETA and TIOCSETA
	}
	state, err := unix.IoctlGetTermios(fd, get)
	if err == nil {
		state.Lflag &^= unix.ECHO | unix.ICANON
		err = unix.IoctlSetTermios(fd, set, state)
	}
	if err != nil {
		return fmt.Errorf("have the terminal keep what is typed: %w", err)
	}
	return nil
}
