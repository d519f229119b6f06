//go:build !linux

package store

// smallDisk needs mounts of a process's own.
func smallDisk(string) {}
