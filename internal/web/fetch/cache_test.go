package fetch

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clock is a time that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const cachedWeb = `
-- example.org/robots.txt.head --
404
-- example.org/usual --
<p>usual
-- example.org/never.head --
Cache-Control: no-store
-- example.org/never --
<p>never
-- example.org/minute.head --
Cache-Control: s-maxage=60, max-age=0
-- example.org/minute --
<p>minute
-- example.org/year.head --
Cache-Control: max-age=31536000
-- example.org/year --
<p>year
-- example.org/moved.head --
302
Location: /year
Cache-Control: max-age=60
-- example.org/nostore-moved.head --
302
Location: /year
Cache-Control: no-store
-- example.org/gone.head --
410
-- example.org/down.head --
503
Retry-After: 100
`

// TestCacheLifetime requests each page every half minute, and once more after an hour. It counts the requests to the
// site.
func TestCacheLifetime(t *testing.T) {
	now := newClock()
	f, w := open(t, cachedWeb, func(c *Config, _ *limits) { c.Now = now.Now })
	want := map[string]int{
		"usual": 3 + 1, "never": 22 + 1, "minute": 11 + 1, "year": 1 + 1, "moved": 11 + 1, "nostore-moved": 22 + 1, "gone": 11 + 1, "down": 11 + 1,
	}
	ask := func() {
		for page := range want {
			f.Fetch(t.Context(), "http://example.org/"+page, Options{})
		}
	}
	for range 22 {
		ask()
		now.add(30 * time.Second)
	}
	now.add(time.Hour - 11*time.Minute)
	ask()
	// The two redirects request the page that they lead to.
	want["year"] += want["moved"] + want["nostore-moved"]
	for page, n := range want {
		if got := w.Hits("http://example.org/" + page); got != n {
			t.Errorf("%s: asked for %d times, want %d", page, got, n)
		}
	}
}

func TestStats(t *testing.T) { synctest.Test(t, testStats) }

func testStats(t *testing.T) {
	f, w := open(t, cachedWeb, nil)
	landed := make(chan struct{})
	w.Handle("example.org/slow", func(rw http.ResponseWriter, r *http.Request) {
		<-landed
		rw.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(rw, "slow")
	})
	for _, page := range []string{"usual", "usual", "gone", "gone", "gone", "never", "never"} {
		f.Fetch(t.Context(), "https://example.org/"+page, Options{})
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { f.Fetch(t.Context(), "https://example.org/slow", Options{}) })
	}
	synctest.Wait()
	close(landed)
	all.Wait()
	got := f.Stats()
	if got.Bytes <= 0 {
		t.Error("the cache weighs nothing")
	}
	got.Bytes = 0
	if want := (Stats{Hits: 3, Failures: 2, Misses: 5, Shared: 2, Entries: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestCacheEntries fills the cache with many small pages. The number of entries must limit them before their bytes do.
func TestCacheEntries(t *testing.T) {
	c, err := newCache(Config{CacheBytes: 1 << 20, Now: time.Now}, defaults())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		c.put(fmt.Sprint(i), outcome{doc: &Document{Body: []byte("small")}}, time.Minute)
	}
	if n, bytes := c.memory.size(); n > cacheEntries || n < cacheEntries/2 || bytes > 1<<20 {
		t.Errorf("%d entries of %d bytes", n, bytes)
	}
	c.put("large", outcome{doc: &Document{Body: make([]byte, 2<<20)}}, time.Minute)
	if _, ok := c.memory.get("large"); ok {
		t.Error("a page larger than the cache was kept")
	}
}

func TestLifetime(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name   string
		header []string // alternating names and values
		want   time.Duration
	}{
		{"silence", nil, 5 * time.Minute},
		{"no-store", []string{"Cache-Control", "max-age=60, No-Store"}, 0},
		{"no-cache", []string{"Cache-Control", "no-cache"}, 0},
		{"private", []string{"Cache-Control", "private"}, 5 * time.Minute},
		{"private for ten minutes", []string{"Cache-Control", "private, max-age=600"}, 10 * time.Minute},
		{"private fields", []string{"Cache-Control", `private="Set-Cookie", max-age=600`}, 10 * time.Minute},
		{"private, not to be kept", []string{"Cache-Control", "private, no-cache"}, 0},
		{"second header", []string{"Cache-Control", "max-age=60", "Cache-Control", "no-store"}, 0},
		{"max-age", []string{"Cache-Control", "public, max-age=600"}, 10 * time.Minute},
		{"quoted", []string{"Cache-Control", `max-age="600"`}, 10 * time.Minute},
		{"a year", []string{"Cache-Control", "max-age=31536000, immutable"}, time.Hour},
		{"beyond numbers", []string{"Cache-Control", "max-age=99999999999999999999"}, time.Hour},
		{"zero", []string{"Cache-Control", "max-age=0"}, 0},
		{"negative", []string{"Cache-Control", "max-age=-1"}, 0},
		{"nonsense", []string{"Cache-Control", "max-age=soon"}, 0},
		{"twice", []string{"Cache-Control", "max-age=60, max-age=600"}, time.Minute},
		{"s-maxage", []string{"Cache-Control", "max-age=0, s-maxage=120"}, 2 * time.Minute},
		{"unknown", []string{"Cache-Control", "stale-if-error=60"}, 5 * time.Minute},
		{"expires", []string{"Expires", at(20 * time.Minute)}, 20 * time.Minute},
		{"expires by the site's clock", []string{"Expires", at(-time.Hour), "Date", at(-2 * time.Hour)}, time.Hour},
		{"expired", []string{"Expires", at(-time.Second)}, 0},
		{"expires 0", []string{"Expires", "0"}, 0},
		{"max-age over expires", []string{"Expires", "0", "Cache-Control", "max-age=60"}, time.Minute},
		{"age", []string{"Cache-Control", "max-age=600", "Age", "240"}, 6 * time.Minute},
		{"a year, a week old", []string{"Cache-Control", "max-age=31536000", "Age", "604800"}, time.Hour},
		{"too old", []string{"Cache-Control", "max-age=600", "Age", "601"}, 0},
		{"invalid age", []string{"Cache-Control", "max-age=600", "Age", "-5"}, 10 * time.Minute},
		{"vary by anything", []string{"Vary", "*"}, 0},
		{"vary", []string{"Vary", "Accept-Encoding, Cookie"}, 5 * time.Minute},
	} {
		h := make(http.Header)
		for i := 0; i < len(c.header); i += 2 {
			h.Add(c.header[i], c.header[i+1])
		}
		if got := lifetime(h, now, 5*time.Minute, time.Hour); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
