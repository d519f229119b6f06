package fetch

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestRobots(t *testing.T) {
	for _, c := range []struct {
		name, robots, path string
		want               bool
	}{
		{"no rules", "", "/a", true},
		{"nothing for us", "User-agent: other\nDisallow: /\n", "/a", true},
		{"for all", "User-agent: *\nDisallow: /\n", "/a", false},
		{"ours over all", "User-agent: *\nDisallow: /\n\nUser-agent: Familiar\nDisallow: /b\n", "/a", true},
		{"ours", "User-agent: familiar\nDisallow: /a\n", "/a/b", false},
		{"longest match allows", "User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b", true},
		{"longest match forbids", "User-agent: *\nAllow: /a\nDisallow: /a/b\n", "/a/b", false},
		{"wildcard", "User-agent: *\nDisallow: /*.php$\n", "/x/y.php", false},
		{"end of path", "User-agent: *\nDisallow: /*.php$\n", "/x/y.php5", true},
		{"query", "User-agent: *\nDisallow: /*?print=\n", "/x?print=1", false},
		{"other query", "User-agent: *\nDisallow: /*?print=\n", "/x?page=1", true},
		{"empty rule", "User-agent: *\nDisallow:\n", "/a", true},
		{"a page in its place", "<!doctype html><title>Not found</title>", "/a", true},
		{"binary", "\x00\xff\xfe\x01", "/a", true},
		{"rule after the limit", "User-agent: *\n" + strings.Repeat("# padding\n", 60_000) + "Disallow: /a\n", "/a", true},
		{"rule on the limit is not half a rule", "User-agent: *\n" + strings.Repeat("#", 500<<10-27) + "\nDisallow: /a/b\n", "/a", true},
		{"rule before the limit", "User-agent: *\nDisallow: /a\n" + strings.Repeat("# padding\n", 60_000), "/a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := open(t, "-- example.org/robots.txt --\n"+c.robots+"\n-- example.org"+c.path+" --\n<p>page\n", nil)
			_, err := f.Fetch(t.Context(), "https://example.org"+c.path, Options{})
			if c.want && err != nil || !c.want && !is(err, "robots") {
				t.Errorf("got %v, want allowed %v", err, c.want)
			}
			if n := w.Hits("https://example.org" + c.path); n > 0 != c.want {
				t.Errorf("the page was asked for %d times", n)
			}
		})
	}
}

// TestRobotsAreShared fetches many pages of a site at once.
func TestRobotsAreShared(t *testing.T) { synctest.Test(t, testRobotsAreShared) }

func testRobotsAreShared(t *testing.T) {
	f, w := open(t, "-- example.org/robots.txt.head --\n!delay 50ms\n-- example.org/p --\n<p>page\n", nil)
	var all sync.WaitGroup
	for _, q := range []string{"a", "b", "c", "d", "e"} {
		all.Go(func() {
			if _, err := f.Fetch(t.Context(), "https://example.org/p?"+q, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.Hits("https://example.org/robots.txt"); n != 1 {
		t.Errorf("robots.txt was asked for %d times, want 1", n)
	}
}

// TestRobotsPerOrigin keeps http and https apart, and asks each host of a redirect.
func TestRobotsPerOrigin(t *testing.T) {
	f, w := open(t, `
-- a.example.org/p.head --
302
Location: http://b.example.org/p
-- b.example.org/p --
<p>page
`, nil)
	if _, err := f.Fetch(t.Context(), "http://a.example.org/p", Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), "https://b.example.org/p", Options{}); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://a.example.org/robots.txt", "http://b.example.org/robots.txt", "https://b.example.org/robots.txt"} {
		if n := w.Hits(url); n != 1 {
			t.Errorf("%s was asked for %d times, want 1", url, n)
		}
	}
}
