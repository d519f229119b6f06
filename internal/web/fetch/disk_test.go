package fetch

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/cache"
	"familiar/internal/test/webtest"
	"familiar/internal/web/clean"
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

// onlyPage returns the path of the only page in dir.
func onlyPage(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.page"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d pages, want one; %v", len(files), err)
	}
	return files[0]
}

func TestDiskSurvivesRestart(t *testing.T) {
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
	for range 2 { // first from disk, then from memory
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
		t.Errorf("after expiry: %+v, %v", doc, err)
	}
	if n := w.Hits(usual + "?secret=example"); n != 2 {
		t.Errorf("asked for %d times, want 2", n)
	}
}

func TestForget(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), t.TempDir()
	f := reopen(t, w, dir, now, nil)
	for want := 1; want <= 2; want++ {
		for range 2 {
			if _, err := f.Fetch(t.Context(), usual, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := w.Hits(usual); n != want {
			t.Errorf("fetched %d times, want %d", n, want)
		}
		onlyPage(t, dir)
		if err := f.Forget(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}

func TestDiskChecksRulesAgain(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), t.TempDir()
	os.Chmod(dir, 0o700)
	f := reopen(t, w, dir, now, nil)
	lists, err := clean.NewDomains(nil, []string{"bad.example.net"})
	if err != nil {
		t.Fatal(err)
	}
	u, err := clean.ParseURL(usual)
	if err != nil {
		t.Fatal(err)
	}
	for _, final := range []string{"https://bad.example.net/", "http://127.0.0.1/", "file:///etc/passwd", ""} {
		o := Options{Domains: lists}
		f.pages.disk.Put(pageKey(u, o), cache.Entry[Document]{
			Value: Document{URL: usual, Final: final}, Body: []byte("planted"), Till: now.Now().Add(time.Minute),
		})
		f.pages.memory.cache.Delete(pageKey(u, o))
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

// TestDiskDropsDamagedPage truncates a page to half.
func TestDiskDropsDamagedPage(t *testing.T) {
	w, now, dir := webtest.New(t, []byte(cachedWeb)), newClock(), filepath.Join(t.TempDir(), "pages")
	f := reopen(t, w, dir, now, nil)
	f.Fetch(t.Context(), usual, Options{})
	f.Close()
	if err := os.Truncate(onlyPage(t, dir), 200); err != nil {
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
	onlyPage(t, dir) // it was written again
}
