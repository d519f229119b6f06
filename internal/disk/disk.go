// Package disk keeps what was fetched or found in a directory, a file each, so that it outlives the program.
//
// A [Cache] is best effort: what cannot be written is not kept, and what cannot be used is dropped. Several programs may
// share a directory: nothing about it is remembered in between (disk.go). A file is checked whenever it is read, and
// nobody ever reads half of one (file.go). It is bounded: what expires soonest makes room for what comes (room.go).
//
// What is kept is private: somebody asked for it. The directory is made for its owner alone, and so is every file; a
// file's name is a hash, and the key itself is not written down. A directory or a file of another user is not trusted
// (owner_unix.go). [Free] is how much room a disk has left.
package disk

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a [Cache] is made of. All of it is required but Policy.
type Config struct {
	Dir     string           // made if need be; no other cache may have files of this Kind there
	Kind    string           // one word of small letters: how the names of the files end
	Version int              // of what the values mean: files of another are dropped
	Policy  string           // what of the configuration decides about the values: those of another are not found
	Bytes   int64            // of all files together; a small one counts as a 1024th of it
	Longest time.Duration    // that an entry lives
	Now     func() time.Time // the clock by which entries expire
}

// Entry is what is kept under a key.
type Entry[V any] struct {
	Value V      // as JSON
	Body  []byte // beside it, as it is
	Till  time.Time
}

// Cache keeps entries in a directory. Make one with [Open] and Close it when done; it is safe for concurrent use.
type Cache[V any] struct {
	config Config
	root   *os.Root
	ours   *regexp.Regexp // the names of files
	temp   *regexp.Regexp // the names of files on their way

	mu              sync.Mutex // one writer at a time
	dropped, faults atomic.Int64
}

// Check refuses a directory that others own or may write to, because they could put words into anybody's mouth, and one that
// is a symbolic link, because they could lead it elsewhere. One that is not there yet will be made.
func Check(dir string) error {
	info, err := os.Lstat(filepath.Clean(dir)) // which would follow a link with a slash behind it
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return trust(dir, info)
}

func trust(dir string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the directory itself", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user: name a directory of your own", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others: chmod 700 it", dir)
	}
	return nil
}

// openRoot opens a directory that [Check] does not refuse. What was opened is checked, whatever has taken its name since.
func openRoot(dir string) (*os.Root, error) {
	before, err := os.Lstat(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	if err := trust(dir, before); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = fmt.Errorf("%s is another directory than it was just now", dir)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// hash begins the name of a file.
const hash = `^[0-9a-f]{64}\.`

// Open opens the directory, which is made if it is not there. It fails if it cannot be made, or if [Check] does.
func Open[V any](c Config) (*Cache[V], error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	root, err := openRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	kind := regexp.QuoteMeta(c.Kind)
	return &Cache[V]{
		config: c, root: root, ours: regexp.MustCompile(hash + kind + `$`), temp: regexp.MustCompile(hash + kind + `\.[A-Z2-7]+$`),
	}, nil
}

// Close closes the directory. Nothing is found or kept afterwards.
func (c *Cache[V]) Close() error { return c.root.Close() }

// Clear removes all that is kept, also what other programs keep here.
func (c *Cache[V]) Clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return remove(c.root, func(name string) bool { return c.ours.MatchString(name) || c.temp.MatchString(name) })
}

// Clear removes what the caches of a directory keep there. It fails if [Check] does; where there is no directory there is nothing to do.
func Clear(dir string) error {
	root, err := openRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ofAnyKind := regexp.MustCompile(hash + `[a-z]+(\.[A-Z2-7]+)?$`)
	return errors.Join(remove(root, ofAnyKind.MatchString), root.Close())
}

// remove removes the files with these names.
func remove(root *os.Root, named func(string) bool) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if named(e.Name()) {
			if err := root.Remove(e.Name()); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Stats returns how many files could not be used (damaged, foreign, of another version, or refused by who asked for
// them) and how many could not be written.
func (c *Cache[V]) Stats() (dropped, faults int64) { return c.dropped.Load(), c.faults.Load() }

func (c *Cache[V]) name(key string) string {
	sum := sha256.Sum256([]byte(c.config.Policy + "\n" + key))
	return hex.EncodeToString(sum[:]) + "." + c.config.Kind
}

// Get returns what is kept under key, if it is whole, fresh and usable; else it goes. Its owner is the caller.
func (c *Cache[V]) Get(key string, usable func(V) bool) (Entry[V], bool) {
	name, now := c.name(key), c.config.Now()
	data, err := c.load(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return Entry[V]{}, false
	}
	if err == nil {
		var e Entry[V]
		e, err = c.parse(data, name)
		if err == nil && !now.Before(e.Till) {
			c.root.Remove(name) // old, and nothing is wrong with it
			return Entry[V]{}, false
		}
		if err == nil && e.Till.Sub(now) <= c.config.Longest && usable(e.Value) {
			return e, true
		}
	}
	c.dropped.Add(1)
	c.root.Remove(name)
	return Entry[V]{}, false
}

// Put keeps e under key, in the place of what expires soonest.
func (c *Cache[V]) Put(key string, e Entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := c.name(key)
	data, err := c.format(name, e)
	if err != nil || c.weight(int64(len(data))) > c.config.Bytes {
		return
	}
	if err := c.makeRoom(name, int64(len(data))); err != nil {
		c.faults.Add(1)
		return
	}
	temp := name + "." + rand.Text()
	if err := c.place(temp, name, data, e.Till); err != nil {
		c.root.Remove(temp)
		c.faults.Add(1)
	}
}
