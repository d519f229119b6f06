// Package cache keeps values so that they need not be fetched or computed again.
//
// [LRU] is a cache in memory with a limit on the total weight (lru.go). [Disk] is a cache in a directory that survives
// a restart (disk.go). [Group] lets concurrent callers share one piece of work (flight.go). [FreeSpace] and
// [CheckWritable] tell whether a disk can take more.
//
// A Disk is best effort. Values that cannot be written are not kept, and files that cannot be used are removed. Several programs may share
// a directory, because a Disk remembers nothing about it between calls. Every read checks the file, and nobody reads a file half written.
// When the directory is full, entries that expire first make room.
//
// The values are private, since they show what somebody asked for. The directory and its files are readable by their
// owner only. A file's name is a hash, and the key is not stored. Directories and files of other users are not trusted.
package cache

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// DiskConfig configures a [Disk]. All fields except Policy are required.
type DiskConfig struct {
	Dir     string           // created if needed; no other cache may have files of this Kind there
	Kind    string           // one word of lower-case letters, the extension of the files
	Version int              // version of the values' meaning; files of another version are dropped
	Policy  string           // the configuration on which the values depend; values of another policy are not found
	Bytes   int64            // limit of all files together; each file counts as at least a 1024th of it
	Longest time.Duration    // longest lifetime of an entry
	Now     func() time.Time // clock for the expiry of entries
}

// Entry is a value and when it expires.
type Entry[V any] struct {
	Value V      // stored as JSON
	Body  []byte // stored as it is
	Till  time.Time
}

// Disk keeps entries in a directory. Make one with [OpenDisk] and close it when done. It is safe for concurrent use.
type Disk[V any] struct {
	config DiskConfig
	root   *os.Root
	ours   *regexp.Regexp // names of files
	temp   *regexp.Regexp // names of unfinished files

	mu              sync.Mutex // held by the writer
	dropped, faults atomic.Int64
}

// CheckDir returns an error for a directory that others own or may write to, because they could plant answers. It refuses a symbolic link,
// because others could redirect it. A missing directory is fine.
func CheckDir(dir string) error {
	info, err := os.Lstat(filepath.Clean(dir)) // Lstat would follow a link with a trailing slash
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
		return fmt.Errorf("%s is not a directory", dir)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user: name a directory of your own", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others: chmod 700 it", dir)
	}
	return nil
}

// openRoot opens a directory that passes [CheckDir]. It checks the directory that it opened, even if the name has
// changed since.
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

// hash matches the start of a file's name.
const hash = `^[0-9a-f]{64}\.`

// OpenDisk opens the directory and creates it if needed. It fails if that is impossible, or if [CheckDir] fails.
func OpenDisk[V any](c DiskConfig) (*Disk[V], error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	root, err := openRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	kind := regexp.QuoteMeta(c.Kind)
	return &Disk[V]{
		config: c, root: root, ours: regexp.MustCompile(hash + kind + `$`), temp: regexp.MustCompile(hash + kind + `\.[A-Z2-7]+$`),
	}, nil
}

// Close closes the directory. Nothing is found or kept afterwards.
func (c *Disk[V]) Close() error { return c.root.Close() }

// Clear removes all entries, including the ones of other programs.
func (c *Disk[V]) Clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return remove(c.root, func(name string) bool { return c.ours.MatchString(name) || c.temp.MatchString(name) })
}

// ClearDir removes the files of all caches in a directory. It fails if [CheckDir] does. A missing directory is not an
// error.
func ClearDir(dir string) error {
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

// remove removes the files whose names match.
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

// Stats returns how many files were unusable: damaged, foreign, of another version, or rejected by the caller of Get. It also returns how
// many could not be written.
func (c *Disk[V]) Stats() (dropped, faults int64) { return c.dropped.Load(), c.faults.Load() }

func (c *Disk[V]) name(key string) string {
	sum := sha256.Sum256([]byte(c.config.Policy + "\n" + key))
	return hex.EncodeToString(sum[:]) + "." + c.config.Kind
}

// Get returns the entry of key if it is intact, fresh and usable; otherwise it removes the file. The caller owns the
// entry.
func (c *Disk[V]) Get(key string, usable func(V) bool) (Entry[V], bool) {
	name, now := c.name(key), c.config.Now()
	data, err := c.load(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return Entry[V]{}, false
	}
	if err == nil {
		var e Entry[V]
		e, err = c.parse(data, name)
		if err == nil && !now.Before(e.Till) {
			c.root.Remove(name) // expired but intact
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

// Put keeps e under key. Entries that expire first make room for it.
func (c *Disk[V]) Put(key string, e Entry[V]) {
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

// A file is one line with the version and a checksum, one line of JSON, and the body. Its modification time is the
// expiry.

// head is the line of JSON.
type head[V any] struct {
	Name  string // of the file, without the directory
	Till  time.Time
	Value V
}

var errNotOurs = errors.New("not a file of this cache")

// first returns the first line of a file that continues with rest. The number in it is the version of the format.
func (c *Disk[V]) first(rest []byte) string {
	return fmt.Sprintf("familiar 1 %s %d %x", c.config.Kind, c.config.Version, sha256.Sum256(rest))
}

// parse parses the file called name. The returned body shares memory with data.
func (c *Disk[V]) parse(data []byte, name string) (Entry[V], error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(first) != c.first(rest) {
		return Entry[V]{}, errNotOurs
	}
	second, body, _ := bytes.Cut(rest, []byte("\n"))
	var h head[V]
	if err := json.Unmarshal(second, &h); err != nil {
		return Entry[V]{}, err
	}
	if h.Name != name {
		return Entry[V]{}, errNotOurs
	}
	return Entry[V]{Value: h.Value, Body: body, Till: h.Till}, nil
}

func (c *Disk[V]) format(name string, e Entry[V]) ([]byte, error) {
	rest, err := json.Marshal(head[V]{Name: name, Till: e.Till, Value: e.Value})
	if err != nil {
		return nil, err
	}
	rest = append(append(rest, '\n'), e.Body...)
	return append([]byte(c.first(rest)+"\n"), rest...), nil
}

// load reads a file unless it is larger than a file of this cache can be.
func (c *Disk[V]) load(name string) ([]byte, error) {
	info, err := c.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !isOwn(info) || info.Size() > c.config.Bytes {
		return nil, errNotOurs
	}
	file, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, errNotOurs // the file has become shorter
	}
	return data, nil
}

// place writes a file under a temporary name and renames it, so that nobody reads a part of it.
func (c *Disk[V]) place(temp, name string, data []byte, till time.Time) error {
	file, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := c.root.Chtimes(temp, till, till); err != nil {
		return err
	}
	return c.root.Rename(temp, name)
}

// most limits the number of files in a directory.
const most = 1024

// weight returns how much of the limit a file of this size takes.
func (c *Disk[V]) weight(size int64) int64 { return max(size, c.config.Bytes/most) }

// makeRoom removes expired files, and then the files that expire next, until a file of size fits. The new file replaces
// the one called name. It touches no foreign files.
func (c *Disk[V]) makeRoom(name string, size int64) error {
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
			c.root.Remove(e.Name()) // left by a program that died
		case !c.ours.MatchString(e.Name()) || e.Name() == name:
		case !info.ModTime().After(c.config.Now()):
			c.root.Remove(e.Name())
		default:
			kept = append(kept, info)
			total += c.weight(info.Size())
		}
	}
	sort.Slice(kept, func(i, j int) bool {
		a, b := kept[i], kept[j]
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name())) < 0
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

// Nearest returns dir, or the nearest existing directory above it.
func Nearest(dir string) string {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// CheckWritable tests whether dir can be written or, if it is missing, created. It leaves nothing behind.
func CheckWritable(dir string) error {
	place := Nearest(dir)
	f, err := os.CreateTemp(place, ".familiar-check-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // without the name of the temporary file
	}
	switch {
	case err == nil:
		return nil
	case place == dir:
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return fmt.Errorf("%s is missing and cannot be made in %s: %w", dir, place, err)
}
