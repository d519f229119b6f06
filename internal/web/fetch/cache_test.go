package fetch

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clock is a time that tests move.
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

// TestCacheLifetime asks for each page every half minute, and once more after an hour, and counts how often its site
// was asked.
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
	// The two that redirect ask for the page they lead to.
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

// TestCacheEntries fills the cache with pages so small that their bytes alone would let many more in.
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
