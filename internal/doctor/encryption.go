package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

func (e *Examination) encryption(context.Context) []Finding {
	dir := e.Disk
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return []Finding{judgeEncryption(e.Root, dir)}
}

// judgeEncryption finds out whether the disk of a directory is encrypted. root is Linux's file system with /proc and /sys. What the disk does by
// itself, or the host of a virtual machine, cannot be known.
func judgeEncryption(root fs.FS, dir string) Finding {
	unknown := Finding{ID: "encryption", State: Skipped, Text: "Disk encryption cannot be detected on this system."}
	m, ok := mountOf(root, dir)
	if !ok {
		return unknown
	}
	switch m.kind {
	case "ecryptfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs":
		return Finding{ID: "encryption", State: OK, Text: fmt.Sprintf("The data is on an encrypted file system (%s).", m.kind)}
	}
	device := m.device(root)
	if device == "" {
		return unknown
	}
	if encrypted(root, device, 0) {
		return Finding{ID: "encryption", State: OK, Text: "The disk of the data is encrypted (dm-crypt)."}
	}
	return Finding{ID: "encryption", State: Warning, Text: "Linux reports no encryption of the data's disk. Encryption by the disk itself or by a host cannot be detected.",
		Cure: "put FAMILIAR_DATA on an encrypted disk (LUKS), or make sure that your provider encrypts it"}
}

// mount is a line of /proc/self/mountinfo.
// https://www.kernel.org/doc/html/latest/filesystems/proc.html
type mount struct{ number, kind, source string }

// mountOf finds the mount that a directory is on: the last one with the longest mount point above it.
func mountOf(root fs.FS, dir string) (found mount, ok bool) {
	lines, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return mount{}, false
	}
	longest := -1
	for line := range strings.Lines(string(lines)) {
		first, second, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(first), strings.Fields(second)
		if len(left) < 5 || len(right) < 2 {
			continue
		}
		point := unescapeMount(left[4])
		if rel, err := filepath.Rel(point, dir); err != nil || rel == ".." || strings.HasPrefix(rel, "../") || len(point) < longest {
			continue
		}
		longest, ok = len(point), true
		found = mount{number: left[2], kind: right[0], source: unescapeMount(right[1])}
	}
	return found, ok
}

// unescapeMount reads a path as the kernel writes it: \040 is a space.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// device returns the directory of the mount's disk below /sys, or "" if there is none, as on a network.
func (m mount) device(root fs.FS) string {
	if dir := "sys/dev/block/" + m.number; exists(root, dir) {
		return dir
	}
	name, isDevice := strings.CutPrefix(m.source, "/dev/") // btrfs has a number of its own
	if !isDevice {
		return ""
	}
	if mapped, ok := strings.CutPrefix(name, "mapper/"); ok {
		all, _ := fs.Glob(root, "sys/class/block/dm-*/dm/name")
		for _, file := range all {
			if b, err := fs.ReadFile(root, file); err == nil && strings.TrimSpace(string(b)) == mapped {
				return path.Dir(path.Dir(file))
			}
		}
		return ""
	}
	if dir := "sys/class/block/" + name; exists(root, dir) {
		return dir
	}
	return ""
}

func exists(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

// deepest is how many layers of devices are followed: a volume on a group on an array on a disk.
const deepest = 8

// encrypted reports whether a device, or every device below it, belongs to dm-crypt.
func encrypted(root fs.FS, device string, depth int) bool {
	id, _ := fs.ReadFile(root, device+"/dm/uuid")
	if strings.HasPrefix(string(id), "CRYPT-") {
		return true
	}
	below, err := fs.ReadDir(root, device+"/slaves")
	if err != nil || len(below) == 0 || depth == deepest {
		return false
	}
	for _, b := range below {
		if !encrypted(root, device+"/slaves/"+b.Name(), depth+1) {
			return false
		}
	}
	return true
}
