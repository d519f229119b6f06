package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// mapped is how much of the process's memory comes from files, in KiB.
func mapped(t *testing.T) (kib int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	if n, _ := fmt.Sscanf(rest, "%d kB", &kib); n != 1 {
		t.Skip("this kernel does not say what is mapped")
	}
	return kib
}

func TestForgetBinary(t *testing.T) {
	before := mapped(t)
	forgetBinary()
	if after := mapped(t); after > before-512 {
		t.Errorf("%d KiB of files in memory, %d before", after, before)
	}
}
