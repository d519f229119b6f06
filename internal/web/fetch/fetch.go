// Package fetch reads one page of the hostile web.
//
// It is the only room that talks to addresses which strangers chose. A tour, along the life of a page:
//
//   - [Fetcher.Fetch] canonicalises the URL, checks the operator's lists and the cache, and lets callers who want the
//     same page at the same time share one flight.
//   - A flight waits for the limiter (pages at once, in all and per host) and then follows redirects itself: each hop's
//     URL must pass the same rules and the site's robots.txt before the request.
//   - An exchange is one request and one answer. Its connection comes from a [guard.Dialer]; its answer is read under
//     limits of time, size, rate, compression and type.
//   - A page is remembered for as long as its site says, in memory and, if wished, in a directory. Images
//     ([Fetcher.FetchImage]) go the same way without being remembered.
//   - Whatever goes wrong becomes an [*Error] from a closed table. It never tells where a request went.
//
// No cookie, referrer or credential is ever sent, nothing is kept between two fetches but finished pages and robots
// rules, and the proxies of the environment are ignored: they would resolve names where no rule can see it.
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

	"familiar/internal/context/turn"
	"familiar/internal/flight"
	"familiar/internal/web/guard"
)

// Config is what a [Fetcher] is made of. The zero value works.
type Config struct {
	// UserAgent is sent with every request: honest, with a way to reach the operator, "familiar/1.0 (+https://…)".
	// Its first word up to the slash is the name looked for in robots.txt. Empty means "familiar".
	UserAgent string
	// Resolver and Dial replace the system's, in tests. The address rules run on what Resolver answers either way.
	Resolver guard.Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs replaces the system's certificate authorities if not nil.
	RootCAs *x509.CertPool
	// Deny adds to the addresses that may not be visited.
	Deny []netip.Prefix
	// JSON lets pages of the JSON family pass.
	JSON bool
	// HumanSkipsRobots reads a URL that a person typed even where robots.txt says no.
	HumanSkipsRobots bool
	// CacheBytes bounds the memory for pages; 0 means 16 MiB, less than 0 none.
	CacheBytes int64
	// CacheDir keeps pages also in a directory of its own, which is made if need be. Empty means in memory only.
	CacheDir string
	// CacheDirBytes bounds CacheDir; 0 means 64 MiB.
	CacheDirBytes int64
	// Now is the clock for dates and expiry; nil is time.Now. Deadlines run on the system's clock.
	Now func() time.Time
}

// Fetcher reads pages. Make one with [New]; it is safe for concurrent use.
type Fetcher struct {
	config  Config
	limits  limits
	guard   *guard.Guard
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	limiter limiter
	pages   *cache
	robots  *store[rules]
	chunks  sync.Pool // of *chunk

	flights      flight.Group[string, outcome] // by pageKey
	robotFlights flight.Group[string, rules]   // by robots.txt and lists
}

// New checks c and returns a Fetcher. Close it when done.
func New(c Config) (*Fetcher, error) { return newFetcher(c, defaults()) }

func newFetcher(c Config, l limits) (*Fetcher, error) {
	for _, p := range c.Deny {
		if !p.IsValid() {
			return nil, errors.New("read denied addresses: a prefix is not valid")
		}
	}
	if strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return nil, fmt.Errorf("read user agent: %q is not printable ASCII", c.UserAgent)
	}
	c.UserAgent = cmp.Or(c.UserAgent, "familiar")
	c.CacheBytes = cmp.Or(c.CacheBytes, 16<<20)
	c.CacheDirBytes = cmp.Or(c.CacheDirBytes, 64<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Fetcher{config: c, limits: l, guard: &guard.Guard{Deny: c.Deny, Now: c.Now}, dial: c.Dial}
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

// Close ends every fetch and waits for them. Fetch fails afterwards.
func (f *Fetcher) Close() {
	f.flights.Close()
	f.robotFlights.Close()
	f.pages.close()
}

// Options belong to one fetch.
type Options struct {
	// Domains are the lists that hold for this turn; every hop must pass them.
	Domains guard.Domains
	// Site is the part of the web that the page, and every hop to it, must be in; the zero value is all of it.
	Site guard.Site
	// Human says that a person typed the URL.
	Human bool
	// XML lets pages in XML pass too, such as the lists of pages that sites keep for programs.
	XML bool
	// Pins holds a turn's DNS answers; nil pins them for this fetch alone.
	Pins *guard.Pins
	// Hops, if not nil, is given the requests that were made, also those of a fetch that failed: errors go to anybody
	// and never carry them.
	Hops *[]Hop
}

// Document is a page, or an image, as it was sent. It may be shared with the cache: nobody may change Body.
type Document struct {
	URL          string    // canonical form of what was asked for
	Final        string    // where redirects led
	Hops         []Hop     // the requests that led there, the last one Final's; nobody may change them
	Status       int       // HTTP status, 200 or 203
	ContentType  string    // media type and charset as declared, in canonical writing
	Body         []byte    // decompressed, in the charset it was sent in
	LastModified time.Time // as the site says; zero if it does not
	Fetched      time.Time // when it was fetched, also if it comes from the cache
	Took         time.Duration
	Timings      Timings // of the fetch that went over the network
	Cached       bool    // this call caused no request
}

// Hop is one request for a page and what came of it. Requests for robots.txt are none.
type Hop struct {
	URL    string
	Status int           // HTTP status, 0 if there was none
	Reason turn.Code     // finer code of the failure that ended it; empty for a redirect or the page
	Took   time.Duration // with the wait for a place at the host
}

// SHA256 is the hash of Body in hex. It is taken anew at each call: half of what fetching a page costs, and most pages
// are never written down.
func (d *Document) SHA256() string {
	sum := sha256.Sum256(d.Body)
	return hex.EncodeToString(sum[:])
}

// Timings says where the time of a fetch went, summed over its hops. The reading of robots.txt is not part of it.
type Timings struct {
	DNS, Connect, TLS, Header, Body time.Duration
}

// outcome is what is remembered of a page: a document or the reason why there is none.
type outcome struct {
	doc  *Document
	err  *Error
	hops []Hop
	ttl  time.Duration // how long doc may be remembered
}

func (o outcome) weight() int64 {
	if o.doc == nil {
		return 512
	}
	return int64(cap(o.doc.Body)) + 1024
}

// Fetch reads the page at rawURL. It returns by ctx's deadline, and within the limits of one fetch in any case. The
// error is always an [*Error].
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

// document is the answer to a caller who began to wait then.
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
	u, err := guard.Parse(rawURL)
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

// find answers from the cache or joins or starts a flight.
func (f *Fetcher) find(ctx context.Context, u *url.URL, o Options) (got outcome, cached bool) {
	key := pageKey(u, o)
	if got, ok := f.pages.get(key, o); ok {
		return got, true
	}
	until, _ := ctx.Deadline()
	got, err := f.flights.Do(ctx, key, func(ctx context.Context) outcome {
		// The last flight to this page may have landed since the look into the cache.
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

// remember keeps what is true for longer than this call.
func (f *Fetcher) remember(key string, got outcome) {
	switch {
	case got.err == nil:
		f.pages.put(key, got, got.ttl)
	case !reasons[got.err.Reason].transient:
		f.pages.put(key, got, f.limits.failureTTL)
	}
}

// pageKey is the page's compared form and everything about the caller that may change the answer. It holds no user.
func pageKey(u *url.URL, o Options) string {
	canonical, ok := guard.Canonical(u.String())
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
