package cache

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// note is the value in these tests.
type note struct{ Text string }

var nine = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func at(dir string, change func(*DiskConfig)) DiskConfig {
	c := DiskConfig{Dir: dir, Kind: "note", Version: 1, Bytes: 1 << 20, Longest: time.Hour, Now: func() time.Time { return nine }}
	if change != nil {
		change(&c)
	}
	return c
}

func open(t *testing.T, c DiskConfig) *Disk[note] {
	t.Helper()
	cache, err := OpenDisk[note](c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	return cache
}

func whatever(note) bool { return true }

// onlyFile returns the path of the one entry in dir.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.note"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, want one; %v", len(files), err)
	}
	return files[0]
}

var sound = Entry[note]{Value: note{"a word"}, Body: []byte("body\nof lines\n"), Till: nine.Add(time.Minute)}

// An entry is found under the same key and configuration until it expires, by a later program too. Nobody else can read
// it, and the key is not stored.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "notes")
	c := open(t, at(dir, nil))
	c.Put("what somebody asked", sound)
	c.Close()
	file := onlyFile(t, dir)
	for path, mode := range map[string]os.FileMode{file: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, mode)
		}
	}
	if data, err := os.ReadFile(file); err != nil || bytes.Contains(data, []byte("somebody")) {
		t.Errorf("%q, %v", data, err)
	}
	for _, test := range []struct {
		name   string
		change func(*DiskConfig)
		key    string
		want   bool
	}{
		{"later", nil, "what somebody asked", true},
		{"another key", nil, "what somebody else asked", false},
		{"another policy", func(c *DiskConfig) { c.Policy = "p" }, "what somebody asked", false},
		{"another kind", func(c *DiskConfig) { c.Kind = "page" }, "what somebody asked", false},
		{"another version", func(c *DiskConfig) { c.Version = 2 }, "what somebody asked", false},
		{"over", func(c *DiskConfig) { c.Now = func() time.Time { return sound.Till } }, "what somebody asked", false},
	} {
		got, ok := open(t, at(dir, test.change)).Get(test.key, whatever)
		if ok != test.want || ok && (got.Value != sound.Value || !bytes.Equal(got.Body, sound.Body) || !got.Till.Equal(sound.Till)) {
			t.Errorf("%s: %t, %+v", test.name, ok, got)
		}
		again := open(t, at(dir, nil))
		again.Put("what somebody asked", sound)
	}
}

// Each case damages the only entry of a directory.
func TestUnusableIsDropped(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string, data []byte) []byte{
		"empty":  func(*testing.T, string, []byte) []byte { return nil },
		"cut":    func(_ *testing.T, _ string, b []byte) []byte { return b[:len(b)-1] },
		"longer": func(_ *testing.T, _ string, b []byte) []byte { return append(b, 'x') },
		"a letter less": func(_ *testing.T, _ string, b []byte) []byte {
			return bytes.Replace(b, []byte("word"), []byte("ward"), 1)
		},
		"other version": func(_ *testing.T, _ string, b []byte) []byte {
			return bytes.Replace(b, []byte("note 1"), []byte("note 0"), 1)
		},
		"no lines": func(*testing.T, string, []byte) []byte { return []byte("words") },
		"zeroes":   func(_ *testing.T, _ string, b []byte) []byte { return make([]byte, len(b)) },
		"other entry": func(t *testing.T, _ string, _ []byte) []byte {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			open(t, at(dir, nil)).Put("another key", sound)
			b, err := os.ReadFile(onlyFile(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		"not JSON": func(*testing.T, string, []byte) []byte {
			rest := []byte("{words}\nbody")
			return fmt.Appendf(nil, "familiar 1 note 1 %x\n%s", sha256.Sum256(rest), rest)
		},
		"link": func(t *testing.T, file string, b []byte) []byte {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, file); err != nil {
				t.Fatal(err)
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "notes")
			c := open(t, at(dir, nil))
			c.Put("key", sound)
			file := onlyFile(t, dir)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(t, file, bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			checkDropped(t, c, file, whatever)
		})
	}
	t.Run("far future", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "notes")
		c := open(t, at(dir, nil))
		c.Put("key", Entry[note]{Till: nine.Add(48 * time.Hour)})
		checkDropped(t, c, onlyFile(t, dir), whatever)
	})
	t.Run("refused", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "notes")
		c := open(t, at(dir, nil))
		c.Put("key", sound)
		checkDropped(t, c, onlyFile(t, dir), func(n note) bool { return n != sound.Value })
	})
}

func checkDropped(t *testing.T, c *Disk[note], file string, usable func(note) bool) {
	t.Helper()
	got, ok := c.Get("key", usable)
	if dropped, faults := c.Stats(); ok || dropped != 1 || faults != 0 {
		t.Errorf("found %t %+v; %d dropped, %d faults", ok, got, dropped, faults)
	}
	if _, err := os.Lstat(file); err == nil {
		t.Error("it is still there")
	}
}

func TestBounded(t *testing.T) {
	now, dir := nine, t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := open(t, at(dir, func(c *DiskConfig) { c.Now = func() time.Time { return now } }))
	bound := int(c.config.Bytes)
	theirs := filepath.Join(dir, "notes.txt")
	dead := filepath.Join(dir, c.name("x")+".ABC234")
	for _, file := range []string{theirs, dead} {
		if err := os.WriteFile(file, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	put := func(key string, size int, life time.Duration) {
		c.Put(key, Entry[note]{Body: make([]byte, size), Till: now.Add(life)})
	}
	for i := range 100 { // the first written expire last
		put(strconv.Itoa(i), 50_000, time.Hour-time.Duration(i)*time.Second)
	}
	total, names := 0, []string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range files {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total, names = total+int(info.Size()), append(names, e.Name())
	}
	if total > bound+5000 || total < bound/2 {
		t.Errorf("%d bytes, want at most %d", total, bound)
	}
	if !slices.Contains(names, "notes.txt") || slices.Contains(names, filepath.Base(dead)) {
		t.Errorf("files %v", names)
	}
	for i, want := range map[int]bool{0: true, 50: false, 99: true} {
		if _, ok := c.Get(strconv.Itoa(i), whatever); ok != want {
			t.Errorf("entry %d: kept %v", i, ok)
		}
	}
	put("huge", 2*bound, time.Minute)
	if _, ok := c.Get("huge", whatever); ok {
		t.Error("an entry beyond the bound was kept")
	}
	now = now.Add(2 * time.Hour)
	put("last", 50_000, time.Minute)
	onlyFile(t, dir)
}

// The number of small entries is limited.
func TestFewFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	c := open(t, at(dir, nil))
	for i := range most {
		file := filepath.Join(dir, c.name(strconv.Itoa(i)))
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, nine.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	c.Put("one more", sound)
	if files, err := os.ReadDir(dir); err != nil || len(files) != most {
		t.Errorf("%d files, %v; want %d", len(files), err, most)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file, shared := filepath.Join(dir, "file"), filepath.Join(dir, "shared")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("own", linked); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
	for _, at := range []string{file, shared, linked, linked + "/"} {
		if CheckDir(at) == nil {
			t.Errorf("%s is trusted", at)
		}
		if c, err := OpenDisk[note](DiskConfig{Dir: at, Kind: "note"}); err == nil {
			c.Close()
			t.Errorf("%s was accepted", at)
		}
	}
}

// Directories and files of another user are not trusted.
func TestOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		if err := CheckDir("/usr"); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("another's directory: %v", err)
		}
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	c := open(t, at(dir, nil))
	c.Put("a", Entry[note]{Till: c.config.Now().Add(time.Minute)})
	if err := os.Chown(onlyFile(t, dir), 1, 1); err != nil {
		t.Skipf("files cannot be given away here: %v", err)
	}
	if _, found := c.Get("a", whatever); found {
		t.Error("another's file is believed")
	}
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{CheckDir(dir), openError(dir)} {
		if err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("another's directory: %v", err)
		}
	}
}

func openError(dir string) error {
	c, err := OpenDisk[note](DiskConfig{Dir: dir, Kind: "note"})
	if err == nil {
		c.Close()
	}
	return err
}

// Failed writes are counted and otherwise ignored.
func TestDirectoryIsTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	c := open(t, at(dir, nil))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.Put("key", sound)
	_, ok := c.Get("key", whatever)
	if dropped, faults := c.Stats(); ok || dropped != 0 || faults != 1 {
		t.Errorf("found %t; %d dropped, %d faults", ok, dropped, faults)
	}
}

// Two programs share a directory with room for a few entries.
func TestShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	var all sync.WaitGroup
	var caches []*Disk[note]
	for range 2 {
		c := open(t, at(dir, func(c *DiskConfig) { c.Bytes = 300_000 }))
		caches = append(caches, c)
		for range 2 {
			all.Go(func() {
				for i := range 60 {
					key := strconv.Itoa(i % 7)
					c.Put(key, Entry[note]{note{key}, bytes.Repeat([]byte(key), 50_000), sound.Till})
					got, ok := c.Get(key, whatever)
					if ok && (got.Value.Text != key || strings.Trim(string(got.Body), key) != "" || len(got.Body) != 50_000) {
						t.Errorf("entry %s: %q, %d bytes", key, got.Value.Text, len(got.Body))
					}
				}
			})
		}
	}
	all.Wait()
	for _, c := range caches {
		if dropped, _ := c.Stats(); dropped > 0 {
			t.Errorf("dropped %d", dropped)
		}
	}
}

// Any bytes may be in a file. A file that is accepted must equal the file that Put would write.
func FuzzFile(f *testing.F) {
	c := &Disk[note]{config: at("", nil)}
	const name = "0123.note"
	whole, err := c.format(name, sound)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(bytes.Replace(whole, []byte("word"), []byte("ward"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := c.parse(data, name)
		if err != nil {
			return
		}
		again, err := c.format(name, e)
		if err != nil {
			t.Fatalf("an entry that was read cannot be written: %v", err)
		}
		if twice, err := c.parse(again, name); err != nil || !twice.Till.Equal(e.Till) || !bytes.Equal(twice.Body, e.Body) || twice.Value != e.Value {
			t.Errorf("%v: %+v became %+v", err, e, twice)
		}
	})
}
