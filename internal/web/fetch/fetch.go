// Package fetch reads single pages from hostile sites.
//
// No other room connects to addresses that strangers chose. A tour, along the life of a page:
//
//   - [Fetcher.Fetch] normalises the URL and checks the operator's lists and the cache. Concurrent callers for the same
//     page share one flight.
//   - A flight waits for the limiter, which bounds the pages that are read at once, in all and per host. Then it follows
//     redirects itself. The URL of each hop must pass the same rules and the site's robots.txt before the request.
//   - An exchange is one request and one answer. A [Dialer] makes its connection. The answer is read under limits
//     of time, size, rate, compression and type.
//   - [Guard] knows which addresses may be dialled. It combines the fixed list of [CheckAddr], the operator's denied addresses and this
//     machine's own. It adds the translation prefixes of its network. Its Control method belongs in a [net.Dialer].
//   - [Dialer] resolves a name, checks every answer, and dials only checked addresses. [Pins] keeps a turn's answers, so that a name cannot
//     change its address between two lookups.
//   - A page is cached for as long as its site allows, in memory and optionally in a directory. Images
//     ([Fetcher.FetchImage]) and files ([Fetcher.FetchFile]) are read under the same rules, but are not cached.
//   - Every failure becomes an [*Error] from a closed table. It never says where a request went.
//
// There is no setting, environment variable or test mode that opens the list of addresses. Tests inject a resolver and a dial function, and
// the address rules apply to what the resolver answers.
//
// No cookie, referrer or credential is ever sent. Between two fetches, only finished pages and robots rules are kept.
// Proxies in the environment are ignored, because they would resolve names without the guard.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"familiar/internal/cache"
	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Config configures a [Fetcher]. The zero value works.
type Config struct {
	// UserAgent is sent with every request. It should be honest and say how to reach the operator: "familiar/1.0
	// (+https://…)". The part up to the slash is the name that is looked up in robots.txt. Empty means "familiar".
	UserAgent string
	// Resolver and Dial replace the system's in tests. The address rules apply to the answers of Resolver in any case.
	Resolver Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs replaces the system's certificate authorities if not nil.
	RootCAs *x509.CertPool
	// Deny lists more addresses that may not be visited.
	Deny []netip.Prefix
	// JSON allows JSON pages.
	JSON bool
	// HumanSkipsRobots ignores robots.txt for a URL that a person typed.
	HumanSkipsRobots bool
	// CacheBytes bounds the memory for pages. 0 means 16 MiB, a negative number none.
	CacheBytes int64
	// CacheDir is a directory in which pages are also kept. It is created if necessary. Empty means memory only.
	CacheDir string
	// CacheDirBytes bounds CacheDir; 0 means 64 MiB.
	CacheDirBytes int64
	// Now is the clock for dates and expiry; nil is time.Now. Deadlines run on the system's clock.
	Now func() time.Time
}

// Fetcher reads pages. Create one with [New]. It is safe for concurrent use.
type Fetcher struct {
	config  Config
	limits  limits
	guard   *Guard
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	limiter limiter
	pages   *pageCache
	robots  *store[rules]
	chunks  sync.Pool // of *chunk

	flights      cache.Group[string, outcome] // by pageKey
	robotFlights cache.Group[string, rules]   // by the URL of robots.txt and the version of the lists
}

// New checks c and returns a Fetcher, which the caller must close.
func New(c Config) (*Fetcher, error) { return newFetcher(c, defaults()) }

func newFetcher(c Config, l limits) (*Fetcher, error) {
	for _, p := range c.Deny {
		if !p.IsValid() {
			return nil, errors.New("check denied addresses: invalid prefix")
		}
	}
	if strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return nil, fmt.Errorf("check user agent: %q is not printable ASCII", c.UserAgent)
	}
	c.UserAgent = cmp.Or(c.UserAgent, "familiar")
	c.CacheBytes = cmp.Or(c.CacheBytes, 16<<20)
	c.CacheDirBytes = cmp.Or(c.CacheDirBytes, 64<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Fetcher{config: c, limits: l, guard: &Guard{Deny: c.Deny, Now: c.Now}, dial: c.Dial}
	f.limiter.global, f.limiter.perHost, f.limiter.hosts = semaphore.NewWeighted(int64(l.global)), int64(l.perHost), map[string]*hostLimiter{}
	if f.config.Resolver == nil {
		f.config.Resolver = net.DefaultResolver
	}
	if f.dial == nil {
		f.dial = (&net.Dialer{Control: f.guard.Control}).DialContext
	}
	f.robots = newStore(l.robotsCacheBytes, 0, rules.weight, c.Now)
	var err error
	if f.pages, err = newCache(c, l); err != nil {
		return nil, fmt.Errorf("make page cache: %w", err)
	}
	f.chunks.New = func() any { return new(chunk) }
	return f, nil
}

// Close ends all fetches and waits for them. Later calls of Fetch fail.
func (f *Fetcher) Close() {
	f.flights.Close()
	f.robotFlights.Close()
	f.pages.close()
}

// Options are the options of one fetch.
type Options struct {
	// Domains are the lists for this turn. Every hop must pass them.
	Domains clean.Domains
	// Site is the part of the web that must contain the page and every hop to it. The zero value is the whole web.
	Site clean.Site
	// Human says that a person typed the URL.
	Human bool
	// XML also allows XML, such as sitemaps.
	XML bool
	// Pins holds a turn's DNS answers. If nil, they are pinned only for this fetch.
	Pins *Pins
	// Hops, if not nil, receives the requests that were made, even if the fetch failed. Errors may be shown to anybody,
	// so they never contain them.
	Hops *[]Hop
}

// Document is a page or an image as it was sent. It may be shared with the cache, so Body must not be changed.
type Document struct {
	URL          string    // normalised form of the requested URL
	Final        string    // URL after all redirects
	Hops         []Hop     // the requests that led to Final; must not be changed
	Status       int       // HTTP status, 200 or 203
	ContentType  string    // declared media type and charset, normalised
	Body         []byte    // decompressed, in its original charset
	LastModified time.Time // as the site says; zero if unknown
	Fetched      time.Time // time of the request, also if the document comes from the cache
	Took         time.Duration
	Timings      Timings // times of the fetch over the network
	Cached       bool    // this call made no request
}

// Hop is one request for a page and its result. Requests for robots.txt are not included.
type Hop struct {
	URL    string
	Status int           // HTTP status, 0 if there was none
	Reason turn.Code     // finer code of the failure; empty for a redirect or a page
	Took   time.Duration // includes the wait for a place at the host
}

// SHA256 returns the hash of Body in hex. It is computed at each call. That costs half as much as fetching a page, and most pages are never
// stored.
func (d *Document) SHA256() string {
	sum := sha256.Sum256(d.Body)
	return hex.EncodeToString(sum[:])
}

// Timings are the durations of the phases of a fetch, summed over its hops. Reading robots.txt is not included.
type Timings struct {
	DNS, Connect, TLS, Header, Body time.Duration
}

// outcome is the result of a visit: a document, or the reason why there is none.
type outcome struct {
	doc  *Document
	err  *Error
	hops []Hop
	ttl  time.Duration // how long doc may be cached
}

func (o outcome) weight() int64 {
	if o.doc == nil {
		return 512
	}
	return int64(cap(o.doc.Body)) + 1024
}

// Fetch reads the page at rawURL. It returns at ctx's deadline or when the limits of one fetch are reached. The error is
// always an [*Error].
func (f *Fetcher) Fetch(ctx context.Context, rawURL string, o Options) (*Document, error) {
	began := time.Now()
	u, e := admit(ctx, rawURL, o)
	if e != nil {
		return nil, e
	}
	got, cached := f.find(ctx, u, o)
	if o.Hops != nil {
		*o.Hops = slices.Clone(got.hops)
	}
	doc, err := got.document(began)
	if err == nil {
		doc.Cached = cached
	}
	return doc, err
}

// document returns the result for a caller that has waited since began.
func (o outcome) document(began time.Time) (*Document, error) {
	if o.err != nil {
		return nil, clone(o.err)
	}
	doc := *o.doc
	doc.Took = time.Since(began)
	return &doc, nil
}

// admit applies the rules that need no network.
func admit(ctx context.Context, rawURL string, o Options) (*url.URL, *Error) {
	u, err := clean.ParseURL(rawURL)
	switch {
	case err != nil:
		return nil, fromGuard(err)
	case !o.Domains.Allows(u.Hostname()):
		return nil, fail(turn.CodeDeniedDomain)
	case !o.Site.Holds(u.String()):
		return nil, fail(turn.CodeOutsideSite)
	case ctx.Err() != nil:
		return nil, fromContext(ctx)
	}
	return u, nil
}

func clone(e *Error) *Error {
	c := *e
	return &c
}

// find returns the result from the cache, or joins or starts a flight.
func (f *Fetcher) find(ctx context.Context, u *url.URL, o Options) (got outcome, cached bool) {
	key := pageKey(u, o)
	if got, ok := f.pages.get(key, o); ok {
		return got, true
	}
	until, _ := ctx.Deadline()
	got, err := f.flights.Do(ctx, key, func(ctx context.Context) outcome {
		// The last flight to this page may have ended since the cache was checked.
		if got, ok := f.pages.memory.get(key); ok {
			return got
		}
		f.pages.flights.Add(1)
		v := visit{f: f, options: o, callerDeadline: until}
		got := v.page(ctx, u)
		f.remember(key, got)
		return got
	})
	if err != nil {
		return outcome{err: fromCause(err)}, false
	}
	return got, false
}

// remember caches results that may be valid for later calls.
func (f *Fetcher) remember(key string, got outcome) {
	switch {
	case got.err == nil:
		f.pages.put(key, got, got.ttl)
	case !reasons[got.err.Reason].transient:
		f.pages.put(key, got, f.limits.failureTTL)
	}
}

// pageKey is the cache key of a page: its canonical form, and the options that may change the answer. It contains no
// user.
func pageKey(u *url.URL, o Options) string {
	canonical, ok := clean.Canonical(u.String())
	if !ok {
		canonical = u.String()
	}
	key := canonical + " " + o.Domains.Version()
	if site := o.Site.String(); site != "" {
		key += " in " + site
	}
	if o.Human {
		key += " human"
	}
	if o.XML {
		key += " xml"
	}
	return key
}

// limits are the limits of one fetch. They are the same for every caller. Tests shrink them.
type limits struct {
	dial      time.Duration // resolving the name and connecting
	tls       time.Duration // TLS handshake
	header    time.Duration // from the request to the last header
	total     time.Duration // everything after the wait at the limiter, with redirects and robots.txt
	file      time.Duration // replaces total for a file, which may be larger than any page
	queue     time.Duration // waiting at the limiter
	robots    time.Duration // robots.txt, as a part of total
	backoff   time.Duration // before the second try
	grace     time.Duration // time before rate applies to a body
	rate      int64         // least bytes per second
	headers   int64         // bytes of headers
	body      int64         // bytes of a body, compressed or not
	ratio     int64         // greatest ratio of decompressed to sent bytes …
	ratioFrom int64         // … from this many decompressed bytes on
	redirects int

	perHost, global int // fetches at once

	pageTTL, failureTTL         time.Duration // cache time of pages if the site gives none, and of failures
	maxTTL                      time.Duration // greatest cache time of pages
	robotsBody                  int64         // bytes of robots.txt that are read; the rest is ignored
	robotsTTL, robotsFailureTTL time.Duration // cache time of rules, and of their absence
	robotsCacheBytes            int64         // bytes of all cached robots rules
}

func defaults() limits {
	return limits{
		dial:      2 * time.Second,
		tls:       2 * time.Second,
		header:    3 * time.Second,
		total:     5 * time.Second,
		file:      15 * time.Second,
		queue:     5 * time.Second,
		robots:    3 * time.Second,
		backoff:   200 * time.Millisecond,
		grace:     time.Second,
		rate:      1 << 10,
		headers:   32 << 10,
		body:      5_000_000,
		ratio:     100,
		ratioFrom: 64 << 10,
		redirects: 4,

		perHost: 2,
		global:  8,

		pageTTL:          5 * time.Minute,
		failureTTL:       time.Minute,
		maxTTL:           time.Hour,
		robotsBody:       500 << 10,
		robotsTTL:        24 * time.Hour,
		robotsFailureTTL: time.Minute,
		robotsCacheBytes: 4 << 20,
	}
}
