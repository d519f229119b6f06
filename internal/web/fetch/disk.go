package fetch

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
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// disk keeps pages in a directory, a file each, so that they outlive the program. All of it is best effort: what cannot
// be written is not kept, and what cannot be used is dropped.
//
// A file is one line with the version and a checksum, one line of JSON, and the body. Its name is a hash, its time of
// change is when it expires. Several programs may share a directory: nothing about it is remembered in between.
type disk struct {
	root    *os.Root
	policy  string // whatever of the configuration decides what may be read; part of every name
	bytes   int64
	longest time.Duration // no entry lives longer
	now     func() time.Time

	mu              sync.Mutex // one writer at a time
	dropped, faults atomic.Int64
}

// diskVersion begins every file. Change it when the format or the meaning of a page changes.
const diskVersion = "familiar page 2 "

// diskEntries is how many files a directory holds at most, however small they are.
const diskEntries = 1024

var (
	diskName = regexp.MustCompile(`^[0-9a-f]{64}\.page$`)
	diskTemp = regexp.MustCompile(`^[0-9a-f]{64}\.page\.[A-Z2-7]+$`)
)

// diskHead is the second line.
type diskHead struct {
	Key  string
	Till time.Time
	Page Document // without its body
}

// CheckCacheDir refuses a directory that others may write to: they could put words into any site's mouth. One that is
// not there yet will be made.
func CheckCacheDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others: chmod 700 it", dir)
	}
	return nil
}

// openDisk makes dir if it is not there.
func openDisk(dir, policy string, size int64, longest time.Duration, now func() time.Time) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := CheckCacheDir(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &disk{root: root, policy: policy, bytes: size, longest: longest, now: now}, nil
}

func (d *disk) name(key string) string {
	sum := sha256.Sum256([]byte(d.policy + "\n" + key))
	return hex.EncodeToString(sum[:]) + ".page"
}

// read returns the page at key and when it expires, if it is whole, fresh and usable.
func (d *disk) read(key string, usable func(*Document) bool) (*Document, time.Time, bool) {
	name := d.name(key)
	data, err := d.load(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return nil, time.Time{}, false
	}
	if err == nil {
		var head diskHead
		if head, err = parseFile(data, key); err == nil && d.now().Before(head.Till) &&
			head.Till.Sub(d.now()) <= d.longest && usable(&head.Page) {
			return &head.Page, head.Till, true
		}
		if err == nil && !d.now().Before(head.Till) {
			d.root.Remove(name) // old, and nothing is wrong with it
			return nil, time.Time{}, false
		}
	}
	d.dropped.Add(1)
	d.root.Remove(name)
	return nil, time.Time{}, false
}

// load reads a file that is no larger than one of ours can be.
func (d *disk) load(name string) ([]byte, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > d.bytes {
		return nil, errNotOurs
	}
	file, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, errNotOurs // shorter than it was
	}
	return data, nil
}

var errNotOurs = errors.New("not a file of this cache")

// parseFile reads a file that should hold the page at key. The body is part of data.
func parseFile(data []byte, key string) (diskHead, error) {
	var head diskHead
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(rest)
	if string(first) != diskVersion+hex.EncodeToString(sum[:]) {
		return head, errNotOurs
	}
	second, body, _ := bytes.Cut(rest, []byte("\n"))
	if err := json.Unmarshal(second, &head); err != nil {
		return head, err
	}
	if head.Key != key {
		return head, errNotOurs
	}
	head.Page.Body = body
	return head, nil
}

func fileOf(key string, doc *Document, till time.Time) ([]byte, error) {
	head := diskHead{Key: key, Till: till, Page: *doc}
	head.Page.Body = nil
	rest, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	rest = append(append(rest, '\n'), doc.Body...)
	sum := sha256.Sum256(rest)
	return append([]byte(diskVersion+hex.EncodeToString(sum[:])+"\n"), rest...), nil
}

// write keeps doc until till, in the place of what expires soonest.
func (d *disk) write(key string, doc *Document, till time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	data, err := fileOf(key, doc, till)
	if err != nil || d.weight(int64(len(data))) > d.bytes {
		return
	}
	name := d.name(key)
	if err := d.makeRoom(name, int64(len(data))); err != nil {
		d.faults.Add(1)
		return
	}
	temp := name + "." + rand.Text()
	if err := d.place(temp, name, data, till); err != nil {
		d.root.Remove(temp)
		d.faults.Add(1)
	}
}

// place writes a file under one name and then gives it another, so that nobody ever reads half of it.
func (d *disk) place(temp, name string, data []byte, till time.Time) error {
	file, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := d.root.Chtimes(temp, till, till); err != nil {
		return err
	}
	return d.root.Rename(temp, name)
}

// weight is what a file of size counts.
func (d *disk) weight(size int64) int64 { return max(size, d.bytes/diskEntries) }

// makeRoom removes what has expired, and then what expires next, until a file of size fits in the place of the one
// called name. It touches no file that is not of its making.
func (d *disk) makeRoom(name string, size int64) error {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	total := d.weight(size)
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case diskTemp.MatchString(e.Name()) && time.Since(info.ModTime()) > time.Minute:
			d.root.Remove(e.Name()) // of a program that died
		case !diskName.MatchString(e.Name()) || e.Name() == name:
		case !info.ModTime().After(d.now()):
			d.root.Remove(e.Name())
		default:
			kept = append(kept, info)
			total += d.weight(info.Size())
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if total <= d.bytes {
			break
		}
		d.root.Remove(info.Name())
		total -= d.weight(info.Size())
	}
	return nil
}

func (d *disk) close() { d.root.Close() }
