package fetch

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"familiar/internal/disk"
	"familiar/internal/web/guard"
)

// cacheEntries is how many pages the memory holds at most, however small they are.
const cacheEntries = 256

// diskVersion is that of the pages in the directory. Change it when the meaning of a [Document] changes.
const diskVersion = 3

// cache remembers pages, and for a short while why there are none: in memory, and pages also on disk if there is a
// directory for them.
type cache struct {
	memory *store[outcome]
	disk   *disk.Cache[Document] // without their bodies, which are beside them; nil: none
	now    func() time.Time

	hits, failures, diskHits, misses, flights atomic.Int64
}

func newCache(c Config, l limits) (*cache, error) {
	p := &cache{now: c.Now, memory: newStore(c.CacheBytes, c.CacheBytes/cacheEntries, outcome.weight, c.Now)}
	var err error
	if c.CacheDir != "" {
		policy := fmt.Sprintf("%q %v %v %v", c.UserAgent, c.Deny, c.JSON, c.HumanSkipsRobots)
		p.disk, err = disk.Open[Document](disk.Config{
			Dir: c.CacheDir, Kind: "page", Version: diskVersion, Policy: policy, Bytes: c.CacheDirBytes, Longest: l.maxTTL, Now: c.Now,
		})
	}
	return p, err
}

func (c *cache) close() {
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

// Stats says what the cache of pages did since [New]. Every fetch that passes the operator's lists counts once, as a
// hit, a disk hit, a miss or as shared.
type Stats struct {
	Hits     int64 // answered from memory
	Failures int64 // of Hits: failures that were remembered
	DiskHits int64 // answered from the directory
	Misses   int64 // went over the network
	Shared   int64 // joined or just followed a fetch of the same page by another caller
	Entries  int   // in memory now
	Bytes    int64 // that Entries weigh; a small page weighs a 256th of the whole cache
	Dropped  int64 // files of the directory that could not be used: damaged, foreign, of another version
	Faults   int64 // files that could not be written
}

// LogValue is for log/slog.
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(slog.Int64("hits", s.Hits), slog.Int64("failures", s.Failures), slog.Int64("disk_hits", s.DiskHits),
		slog.Int64("misses", s.Misses), slog.Int64("shared", s.Shared), slog.Int("entries", s.Entries), slog.Int64("bytes", s.Bytes),
		slog.Int64("dropped", s.Dropped), slog.Int64("faults", s.Faults))
}

// Stats returns the counts so far.
func (f *Fetcher) Stats() Stats {
	c := f.pages
	s := Stats{Hits: c.hits.Load(), Failures: c.failures.Load(), DiskHits: c.diskHits.Load(), Misses: c.flights.Load()}
	// Whoever flies has missed before: read in this order, the difference is never negative.
	s.Shared = c.misses.Load() - s.Misses
	s.Entries, s.Bytes = c.memory.size()
	if c.disk != nil {
		s.Dropped, s.Faults = c.disk.Stats()
	}
	return s
}

// get looks a page up for a caller with these options and counts what it finds.
func (c *cache) get(key string, o Options) (outcome, bool) {
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

// put remembers got for ttl. Failures are soon forgotten and not worth a file.
func (c *cache) put(key string, got outcome, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.memory.put(key, got, ttl)
	if c.disk != nil && got.doc != nil {
		page := *got.doc
		page.Body = nil
		c.disk.Put(key, disk.Entry[Document]{Value: page, Body: got.doc.Body, Till: c.now().Add(ttl)})
	}
}

// mayShow applies the rules again to a page from disk, which anything may have happened to.
func mayShow(d Document, o Options) bool {
	visited := []string{d.URL, d.Final}
	for _, hop := range d.Hops {
		visited = append(visited, hop.URL)
	}
	for _, raw := range visited {
		u, err := guard.Parse(raw)
		if err != nil || !o.Domains.Allows(u.Hostname()) || !o.Site.Holds(raw) {
			return false
		}
	}
	return true
}
