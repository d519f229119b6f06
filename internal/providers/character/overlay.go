package character

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Overlay lays the operator's directory over the embedded characters. A character's folder in dir takes the
// place of the embedded one as a whole; the files of _default are looked up one by one, so that a dir need
// only hold what it changes. A dir that does not exist holds nothing.
func Overlay(dir string, embedded fs.FS) fs.FS {
	return overlay{dir: dir, upper: os.DirFS(dir), lower: embedded}
}

type overlay struct {
	dir          string
	upper, lower fs.FS
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) { return o.layer(name).Open(name) }

// ReadDir implements fs.ReadDirFS: the top holds the folders of both.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return fs.ReadDir(o.layer(name), name)
	}
	upper, err := fs.ReadDir(o.upper, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lower, err := fs.ReadDir(o.lower, ".")
	if err != nil {
		return nil, err
	}
	all := append(upper, lower...)
	byName := func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b fs.DirEntry) bool { return byName(a, b) == 0 }), nil
}

// layer returns the one that a file is taken from. What cannot be looked at in the upper one counts as being
// there: it must be reported, not silently replaced.
func (o overlay) layer(name string) fs.FS {
	if o.above(name) {
		return o.upper
	}
	return o.lower
}

func (o overlay) above(name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	if owner == defaultsID {
		owner = name
	}
	_, err := fs.Stat(o.upper, owner)
	return !errors.Is(err, fs.ErrNotExist)
}

// where names a file as the operator knows it.
func where(fsys fs.FS, name string) string {
	o, ok := fsys.(overlay)
	switch {
	case !ok:
		return name
	case o.above(name):
		return filepath.Join(o.dir, filepath.FromSlash(name))
	case isID(name): // a character that is nowhere is missed where the operator would put it
		if _, err := fs.Stat(o.lower, name); err != nil {
			return filepath.Join(o.dir, name)
		}
	}
	return "built-in " + name
}
