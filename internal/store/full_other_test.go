//go:build !linux

package store

// smallDisk needs private mounts, which only Linux has.
func smallDisk(string) {}
