package disk

import (
	"cmp"
	"io/fs"
	"slices"
	"time"
)

// most is how many files a directory holds, however small they are.
const most = 1024

// weight is what a file of size counts.
func (c *Cache[V]) weight(size int64) int64 { return max(size, c.config.Bytes/most) }

// makeRoom removes what has expired, and then what expires next, until a file of size fits in the place of the one
// called name. It touches no file that is not of its making.
func (c *Cache[V]) makeRoom(name string, size int64) error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return err
	}
	total := c.weight(size)
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case c.temp.MatchString(e.Name()) && time.Since(info.ModTime()) > time.Minute:
			c.root.Remove(e.Name()) // of a program that died
		case !c.ours.MatchString(e.Name()) || e.Name() == name:
		case !info.ModTime().After(c.config.Now()):
			c.root.Remove(e.Name())
		default:
			kept = append(kept, info)
			total += c.weight(info.Size())
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if total <= c.config.Bytes {
			break
		}
		c.root.Remove(info.Name())
		total -= c.weight(info.Size())
	}
	return nil
}
