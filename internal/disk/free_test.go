//go:build linux || darwin

package disk

import "testing"

func TestFree(t *testing.T) {
	if n, err := Free(t.TempDir()); err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := Free("/nowhere/at/all"); err == nil {
		t.Error("a directory that is not there has free space")
	}
}
