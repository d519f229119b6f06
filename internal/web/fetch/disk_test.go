package fetch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/web/guard"
	"familiar/internal/web/webtest"
)

const usual = "https://example.org/usual"

// reopen returns a new fetcher over dir, as after a restart.
func reopen(t *testing.T, w *webtest.Web, dir string, now *clock, change func(*Config)) *Fetcher {
	t.Helper()
	return on(t, w, func(c *Config, _ *limits) {
		c.CacheDir, c.Now = dir, now.Now
		if change != nil {
			change(c)
		}
	})
}

// onlyPage returns the path of the one page in dir.
func onlyPage(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.page"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d pages, want one; %v", len(files), err)
	}
	return files[0]
}

func TestDiskOutlivesProgram(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), filepath.Join(t.TempDir(), "a", "pages")
	f := reopen(t, w, dir, now, nil)
	first, err := f.Fetch(t.Context(), usual+"?secret=example", Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Fetch(t.Context(), "https://example.org/gone", Options{})
	f.Fetch(t.Context(), "https://example.org/never", Options{})
	f.Close()
	file := onlyPage(t, dir)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(filepath.Base(file), "example") {
		t.Errorf("%s: %v, %v", file, info.Mode(), err)
	}

	now.add(4 * time.Minute)
	f = reopen(t, w, dir, now, nil)
	for range 2 { // from disk, then from memory
		second, err := f.Fetch(t.Context(), usual+"?secret=example", Options{})
		if err != nil || !second.Cached {
			t.Fatalf("%+v, %v", second, err)
		}
		want := *first
		want.Cached, want.Took = true, second.Took
		if diff := cmp.Diff(want, *second); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if s := f.Stats(); s.DiskHits != 1 || s.Hits != 1 || s.Misses != 0 {
		t.Errorf("%+v", s)
	}

	now.add(time.Minute)
	if doc, err := f.Fetch(t.Context(), usual+"?secret=example", Options{}); err != nil || doc.Cached {
		t.Errorf("after its time: %+v, %v", doc, err)
	}
	if n := w.Hits(usual + "?secret=example"); n != 2 {
		t.Errorf("asked for %d times, want 2", n)
	}
}

// made is a sound file of a page that was never fetched.
func made(t *testing.T, key string, till time.Time) []byte {
	t.Helper()
	b, err := fileOf(key, &Document{URL: usual, Final: usual, Body: []byte("planted")}, till)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDiskDropsWhatItCannotUse damages the one page of a directory in many ways.
func TestDiskDropsWhatItCannotUse(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string, data []byte) []byte{
		"empty":  func(*testing.T, string, []byte) []byte { return nil },
		"cut":    func(_ *testing.T, _ string, b []byte) []byte { return b[:len(b)-1] },
		"longer": func(_ *testing.T, _ string, b []byte) []byte { return append(b, 'x') },
		"a letter less": func(_ *testing.T, _ string, b []byte) []byte {
			return bytes.Replace(b, []byte("usual"), []byte("usuaI"), 1)
		},
		"other version": func(_ *testing.T, _ string, b []byte) []byte {
			return bytes.Replace(b, []byte("page 2"), []byte("page 0"), 1)
		},
		"no lines": func(*testing.T, string, []byte) []byte { return []byte("words") },
		"zeroes":   func(_ *testing.T, _ string, b []byte) []byte { return make([]byte, len(b)) },
		"other page": func(t *testing.T, _ string, _ []byte) []byte {
			return made(t, "another key", newClock().now.Add(time.Minute))
		},
		"far future": func(t *testing.T, _ string, _ []byte) []byte {
			u, err := guard.Parse(usual)
			if err != nil {
				t.Fatal(err)
			}
			return made(t, pageKey(u, Options{}), newClock().now.Add(48*time.Hour))
		},
		"not JSON": func(t *testing.T, _ string, _ []byte) []byte {
			rest := []byte("{words}\nbody")
			return fmt.Appendf(nil, "%s%x\n%s", diskVersion, sha256.Sum256(rest), rest)
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
			w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			f := reopen(t, w, dir, now, nil)
			f.Fetch(t.Context(), usual, Options{})
			f.Close()
			file := onlyPage(t, dir)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(t, file, bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			f = reopen(t, w, dir, now, nil)
			doc, err := f.Fetch(t.Context(), usual, Options{})
			if err != nil || doc.Cached || string(doc.Body) != "<p>usual\n" {
				t.Fatalf("%+v, %v", doc, err)
			}
			if s := f.Stats(); s.Dropped != 1 {
				t.Errorf("%+v", s)
			}
			if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the page was not written again: %v", err)
			}
		})
	}
}

// TestDiskRulesHoldAgain reads pages that the rules of now do not allow.
func TestDiskRulesHoldAgain(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), t.TempDir()
	os.Chmod(dir, 0o700)
	f := reopen(t, w, dir, now, nil)
	lists, err := guard.NewDomains(nil, []string{"bad.example.net"})
	if err != nil {
		t.Fatal(err)
	}
	u, err := guard.Parse(usual)
	if err != nil {
		t.Fatal(err)
	}
	for _, final := range []string{"https://bad.example.net/", "http://127.0.0.1/", "file:///etc/passwd", ""} {
		o := Options{Domains: lists}
		f.pages.disk.write(pageKey(u, o), &Document{URL: usual, Final: final, Body: []byte("planted")}, now.Now().Add(time.Minute))
		f.pages.memory.cache.InvalidateAll()
		if doc, err := f.Fetch(t.Context(), usual, o); err != nil || doc.Cached {
			t.Errorf("led to %q: %+v, %v", final, doc, err)
		}
	}
	f.Close()
	for name, change := range map[string]func(*Config){
		"denied addresses": func(c *Config) { c.Deny = []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")} },
		"robots":           func(c *Config) { c.HumanSkipsRobots = true },
	} {
		f := reopen(t, w, dir, now, change)
		if doc, err := f.Fetch(t.Context(), usual, Options{Domains: lists}); err != nil || doc.Cached {
			t.Errorf("other %s: %+v, %v", name, doc, err)
		}
	}
}

func TestDiskIsBounded(t *testing.T) {
	now, dir := newClock(), t.TempDir()
	os.Chmod(dir, 0o700)
	const bound = 1 << 20
	d, err := openDisk(dir, "", bound, time.Hour, now.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	theirs := filepath.Join(dir, "notes.txt")
	dead := filepath.Join(dir, d.name("x")+".ABC234")
	for _, file := range []string{theirs, dead} {
		if err := os.WriteFile(file, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour))
	}
	page := func(i int) *Document { return &Document{Body: bytes.Repeat([]byte{byte(i)}, 50_000)} }
	for i := range 100 {
		// The first to come are the last to expire.
		d.write(strconv.Itoa(i), page(i), now.Now().Add(time.Hour-time.Duration(i)*time.Second))
	}
	total, names := int64(0), []string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, _ := e.Info()
		total += info.Size()
		names = append(names, e.Name())
	}
	if total > bound+5000 || total < bound/2 {
		t.Errorf("%d bytes, want at most %d", total, bound)
	}
	if !slices.Contains(names, "notes.txt") || slices.Contains(names, filepath.Base(dead)) {
		t.Errorf("files %v", names)
	}
	whatever := func(*Document) bool { return true }
	for i, want := range map[int]bool{0: true, 50: false, 99: true} {
		if _, _, ok := d.read(strconv.Itoa(i), whatever); ok != want {
			t.Errorf("page %d: kept %v", i, ok)
		}
	}
	d.write("huge", &Document{Body: make([]byte, 2*bound)}, now.Now().Add(time.Minute))
	if _, _, ok := d.read("huge", whatever); ok {
		t.Error("a page beyond the bound was kept")
	}
	now.add(2 * time.Hour)
	d.write("last", page(0), now.Now().Add(time.Minute))
	onlyPage(t, dir)
}

func TestDiskOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{file, shared} {
		if f, err := New(Config{CacheDir: at}); err == nil {
			f.Close()
			t.Errorf("%s was accepted", at)
		}
	}
}

// TestDiskFaults takes the directory away.
func TestDiskFaults(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), filepath.Join(t.TempDir(), "pages")
	f := reopen(t, w, dir, now, nil)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), usual, Options{}); err != nil {
		t.Error(err)
	}
	if s := f.Stats(); s.Faults != 1 || s.Dropped != 0 {
		t.Errorf("%+v", s)
	}
}

// TestDiskIsShared lets two programs write and read the same pages in one directory with room for a few.
func TestDiskIsShared(t *testing.T) {
	now, dir := newClock(), filepath.Join(t.TempDir(), "pages")
	var all sync.WaitGroup
	for range 2 {
		d, err := openDisk(dir, "", 300_000, time.Hour, now.Now)
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		for range 2 {
			all.Go(func() {
				for i := range 60 {
					key := strconv.Itoa(i % 7)
					d.write(key, &Document{Final: key, Body: bytes.Repeat([]byte(key), 50_000)}, now.Now().Add(time.Minute))
					doc, _, ok := d.read(key, func(*Document) bool { return true })
					if ok && (doc.Final != key || strings.Trim(string(doc.Body), key) != "" || len(doc.Body) != 50_000) {
						t.Errorf("page %s: %q, %d bytes", key, doc.Final, len(doc.Body))
					}
				}
			})
		}
		defer func() {
			if n := d.dropped.Load(); n > 0 {
				t.Errorf("dropped %d", n)
			}
		}()
	}
	all.Wait()
}
