package fetch

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/cache"
	"familiar/internal/web/clean"
)

// cacheEntries is the greatest number of pages in memory, however small they are.
const cacheEntries = 256

// diskVersion is the version of the pages in the directory. Change it when the meaning of a [Document] changes.
const diskVersion = 3

// pageCache keeps pages, and failures for a short time. Pages are also kept on disk if there is a directory.
type pageCache struct {
	memory *store[outcome]
	disk   *cache.Disk[Document] // values have no Body, it is stored beside them; nil without a directory
	now    func() time.Time

	hits, failures, diskHits, misses, flights atomic.Int64
}

func newCache(c Config, l limits) (*pageCache, error) {
	p := &pageCache{now: c.Now, memory: newStore(c.CacheBytes, c.CacheBytes/cacheEntries, outcome.weight, c.Now)}
	var err error
	if c.CacheDir != "" {
		policy := fmt.Sprintf("%q %v %v %v", c.UserAgent, c.Deny, c.JSON, c.HumanSkipsRobots)
		p.disk, err = cache.OpenDisk[Document](cache.DiskConfig{
			Dir: c.CacheDir, Kind: "page", Version: diskVersion, Policy: policy, Bytes: c.CacheDirBytes, Longest: l.maxTTL, Now: c.Now,
		})
	}
	return p, err
}

func (c *pageCache) close() {
	if c.disk != nil {
		c.disk.Close()
	}
}

// Forget drops all pages, in memory and on disk.
func (f *Fetcher) Forget() error {
	f.pages.memory.clear()
	if f.pages.disk == nil {
		return nil
	}
	return f.pages.disk.Clear()
}

// Stats are counters of the page cache since [New]. Every fetch that passes the operator's lists counts once: as a hit,
// a disk hit, a miss or shared.
type Stats struct {
	Hits     int64 // answered from memory
	Failures int64 // hits on cached failures
	DiskHits int64 // answered from the directory
	Misses   int64 // went over the network
	Shared   int64 // joined another caller's fetch of the same page, or came just after it
	Entries  int   // in memory now
	Bytes    int64 // weight of Entries; a small page weighs a 256th of the whole cache
	Dropped  int64 // unusable files in the directory: damaged, foreign, or of another version
	Faults   int64 // files that could not be written
}

// LogValue implements [slog.LogValuer].
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(slog.Int64("hits", s.Hits), slog.Int64("failures", s.Failures), slog.Int64("disk_hits", s.DiskHits),
		slog.Int64("misses", s.Misses), slog.Int64("shared", s.Shared), slog.Int("entries", s.Entries), slog.Int64("bytes", s.Bytes),
		slog.Int64("dropped", s.Dropped), slog.Int64("faults", s.Faults))
}

// Stats returns the counts so far.
func (f *Fetcher) Stats() Stats {
	c := f.pages
	s := Stats{Hits: c.hits.Load(), Failures: c.failures.Load(), DiskHits: c.diskHits.Load(), Misses: c.flights.Load()}
	// A flight is counted after its miss. Read in this order, the difference is never negative.
	s.Shared = c.misses.Load() - s.Misses
	s.Entries, s.Bytes = c.memory.size()
	if c.disk != nil {
		s.Dropped, s.Faults = c.disk.Stats()
	}
	return s
}

// get looks up a page for a caller with options o, and counts the result.
func (c *pageCache) get(key string, o Options) (outcome, bool) {
	if got, ok := c.memory.get(key); ok {
		c.hits.Add(1)
		if got.err != nil {
			c.failures.Add(1)
		}
		return got, true
	}
	if c.disk != nil {
		if e, ok := c.disk.Get(key, func(d Document) bool { return mayShow(d, o) }); ok {
			c.diskHits.Add(1)
			doc := e.Value
			doc.Body = e.Body
			got := outcome{doc: &doc, hops: doc.Hops}
			c.memory.put(key, got, e.Till.Sub(c.now()))
			return got, true
		}
	}
	c.misses.Add(1)
	return outcome{}, false
}

// put caches got for ttl. Failures expire soon and are not written to disk.
func (c *pageCache) put(key string, got outcome, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.memory.put(key, got, ttl)
	if c.disk != nil && got.doc != nil {
		page := *got.doc
		page.Body = nil
		c.disk.Put(key, cache.Entry[Document]{Value: page, Body: got.doc.Body, Till: c.now().Add(ttl)})
	}
}

// mayShow applies the rules again to a page from disk, because its file may have been changed.
func mayShow(d Document, o Options) bool {
	visited := []string{d.URL, d.Final}
	for _, hop := range d.Hops {
		visited = append(visited, hop.URL)
	}
	for _, raw := range visited {
		u, err := clean.ParseURL(raw)
		if err != nil || !o.Domains.Allows(u.Hostname()) || !o.Site.Holds(raw) {
			return false
		}
	}
	return true
}

// lifetime returns how long an answer with these headers may be cached. It follows the site's headers (RFC 9111 §4.2, as a shared cache),
// and returns at most most. It returns usual if there are none. 0 means not at all, because stale answers are never revalidated.
//
// "private" has no effect. It protects one visitor's page from the next visitor. But every request is the same, without cookies or
// credentials, so no page belongs to a visitor.
func lifetime(h http.Header, now time.Time, usual, most time.Duration) time.Duration {
	d := directives(h)
	for _, never := range []string{"no-store", "no-cache"} {
		if _, ok := d[never]; ok {
			return 0
		}
	}
	// Requests differ only in their address, so a Vary that names headers has no effect.
	if strings.TrimSpace(h.Get("Vary")) == "*" {
		return 0
	}
	fresh := usual
	if value, ok := d["s-maxage"]; ok {
		fresh = seconds(value)
	} else if value, ok := d["max-age"]; ok {
		fresh = seconds(value)
	} else if h.Get("Expires") != "" {
		fresh = untilExpiry(h, now)
	}
	return min(max(0, fresh-seconds(h.Get("Age"))), most)
}

// directives parses Cache-Control, with names in lower case. If a directive is repeated, the first value counts (RFC
// 9111 §4.2.1).
func directives(h http.Header) map[string]string {
	d := make(map[string]string)
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := d[name]; !twice {
			d[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return d
}

// untilExpiry compares Expires with the site's own Date, if there is one. An invalid date has expired.
func untilExpiry(h http.Header, now time.Time) time.Duration {
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return expires.Sub(now)
}

// seconds parses a number of seconds. It returns 0 if it is invalid, and at most 2³¹ (RFC 9111 §1.2.2).
func seconds(s string) time.Duration {
	const most = 1 << 31
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil { // too many digits
		n = most
	}
	return time.Duration(min(n, most)) * time.Second
}

// store keeps values for a limited time and up to a limited weight. Expiry uses the given clock. The least recently used
// values are removed first.
type store[V any] struct {
	cache *cache.LRU[string, entry[V]] // nil keeps nothing
	now   func() time.Time
}

type entry[V any] struct {
	value   V
	expires time.Time
}

// newStore returns a store of at most bytes, as measured by weight. Every value weighs at least least, which bounds
// their number.
func newStore[V any](bytes, least int64, weight func(V) int64, now func() time.Time) *store[V] {
	s := &store[V]{now: now}
	if bytes > 0 {
		s.cache = cache.NewLRU(bytes, func(key string, e entry[V]) int64 { return max(int64(len(key))+weight(e.value), least) })
	}
	return s
}

func (s *store[V]) get(key string) (V, bool) {
	var none V
	if s.cache == nil {
		return none, false
	}
	e, ok := s.cache.Get(key)
	if !ok {
		return none, false
	}
	if !s.now().Before(e.expires) {
		s.cache.Delete(key)
		return none, false
	}
	return e.value, true
}

func (s *store[V]) put(key string, v V, ttl time.Duration) {
	if s.cache != nil {
		s.cache.Set(key, entry[V]{value: v, expires: s.now().Add(ttl)})
	}
}

func (s *store[V]) clear() {
	if s.cache != nil {
		s.cache.Clear()
	}
}

// size returns the number of values and their total weight.
func (s *store[V]) size() (entries int, bytes int64) {
	if s.cache == nil {
		return 0, 0
	}
	return s.cache.Size()
}
