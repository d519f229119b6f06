//go:build linux || darwin

package cache

import "testing"

func TestFree(t *testing.T) {
	if n, err := FreeSpace(t.TempDir()); err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := FreeSpace("/nowhere/at/all"); err == nil {
		t.Error("a directory that is not there has free space")
	}
}
