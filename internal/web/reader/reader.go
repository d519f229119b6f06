// Package reader reads pages of a few well-known sites through the services that these sites offer to programs:
// what a person would find on the page, without the page around it.
//
// A tour, along the life of a page:
//
//   - recognise.go decides by host and path alone whether one of the table's readers can read a URL. Only identifiers
//     of the URL are kept (a title, a number, an owner's name), each in its own charset; they make a request.
//   - [Readers.Read] checks every host of the request against the operator's lists, looks into the cache, and lets
//     callers who want the same page at the same time share one request.
//   - session.go calls the service, an [api.Endpoint] of one fixed origin that the table names. A service that asks
//     for fewer requests gets none during a cooldown.
//   - One file a reader makes a [page.Page] of the replies: wikipedia.go, youtube.go, github.go, stackexchange.go,
//     hackernews.go. thread.go formats discussions. HTML goes through [page.Part], so what is hidden from a person is
//     hidden here too.
//
// A service's reply is as untrusted as any page: the caller cleans and checks it, and no request goes to an address
// from it. A reader that fails costs only its time, since the caller can still fetch the page itself.
//
// # Adding a reader
//
// One file with a function that recognises URLs and one that reads, one row in the table, one testdata/<name>.txtar
// with replies of the service, good and bad. TestReaders walks the table.
package reader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/flight"
	"familiar/internal/lru"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
)

// Config is what [Readers] are made of. Only Client is required.
type Config struct {
	Client           func(origin string) *http.Client // makes the HTTP client of one origin
	UserAgent        string                           // an honest one: name, version, address of the operator
	GitHubToken      string                           // raises GitHub's limit from 60 requests an hour to 5,000; needs no scope, and opens public repositories alone
	StackExchangeKey string                           // raises Stack Exchange's limit from 300 requests a day to 10,000
	Now              func() time.Time                 // clock of the cache; nil is time.Now
}

// Readers are the readers of the table. Make them with [New] and Close them when done; they are safe for concurrent use,
// and a nil one reads no page.
type Readers struct {
	config  Config
	cache   *lru.Cache[string, cacheEntry]
	flights flight.Group[string, outcome] // by request.key

	mu        sync.Mutex
	endpoints map[string]*api.Endpoint // guarded by mu: by origin, made when first used
	cooldowns map[string]time.Time     // guarded by mu: when they end, by origin
	public    map[string]publicRepo    // guarded by mu: by name in small letters, where there is a token
}

type cacheEntry struct {
	doc     *Document
	expires time.Time
}

const (
	cacheTTL      = 5 * time.Minute
	maxCacheBytes = 8 << 20         // bytes of text, about
	readTimeout   = 4 * time.Second // for one request
	maxText       = 256 << 10       // bytes of Markdown
)

// New makes the readers of the table.
func New(c Config) *Readers {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Readers{config: c, endpoints: map[string]*api.Endpoint{}, cooldowns: map[string]time.Time{}, public: map[string]publicRepo{}}
	r.flights.Timeout = readTimeout
	r.cache = lru.New(maxCacheBytes, func(key string, k cacheEntry) int64 { return int64(len(key) + len(k.doc.Page.Markdown) + 4096) })
	return r
}

// Close cancels every request and waits for them. Read fails afterwards.
func (r *Readers) Close() { r.flights.Close() }

// Forget drops what is kept of pages, and which repositories were seen to be public.
func (r *Readers) Forget() {
	if r == nil {
		return
	}
	r.cache.Clear()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.public)
}

// Options belong to one page.
type Options struct {
	Domains  guard.Domains // lists that every host concerned must pass: the page's and the service's
	Language string        // in which a page of several languages is wanted, BCP 47; empty: its own
}

// Document is a page as its service has it. It may be shared: nobody may change it.
type Document struct {
	Reader  string    // name of the reader: "wikipedia"
	URL     string    // of the call, canonical
	Final   string    // the address of the page for people
	Page    page.Page // not yet cleaned
	Bytes   int       // of Page.Markdown
	SHA256  string    // of Page.Markdown, in hex
	Fetched time.Time // when the service was asked, also if it comes from the cache
	Cached  bool      // this call caused no request
}

// ErrNone says that no reader reads a page, or that the lists do not allow one of the hosts of the request.
var ErrNone = errors.New("no reader is for this page")

// Error is why a reader could not read a page. Nothing in it comes from a service's text.
type Error struct {
	Reader string
	Code   turn.Code
	Detail string // cause and cure for the operator
}

func (e *Error) Error() string { return e.Reader + ": " + string(e.Code) }

// Read reads the page at rawURL, a fragment of which may name a part of it that is wanted first. It returns within
// half of the time that ctx has left, so that the page itself can be fetched if it fails. The error is [ErrNone] or
// an *[Error].
func (r *Readers) Read(ctx context.Context, rawURL string, o Options) (*Document, error) {
	req := recognise(rawURL, o.Language)
	if r == nil || req == nil || !req.allowed(o.Domains) {
		return nil, ErrNone
	}
	if k, ok := r.cache.Get(req.key); ok && r.config.Now().Before(k.expires) {
		doc := *k.doc
		doc.URL, doc.Cached = req.url, true
		return &doc, nil
	}
	wait := readTimeout
	if until, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(until)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := r.flights.Do(ctx, req.key, func(ctx context.Context) outcome { return r.run(ctx, req) })
	switch {
	case err != nil:
		return nil, &Error{req.reader, turn.CodeTimeout, "no answer in time"}
	case got.err != nil:
		return nil, got.err
	}
	doc := *got.doc
	doc.URL = req.url
	return &doc, nil
}

// outcome is the result of a request: a document or the reason why there is none.
type outcome struct {
	doc *Document
	err error
}

// run makes a request and caches its document. A panic in the parsing of hostile bytes fails this request alone.
func (r *Readers) run(ctx context.Context, req *request) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{err: &Error{req.reader, turn.CodeMalformed, "the reply could not be read"}}
		}
	}()
	doc, err := r.document(ctx, req)
	if err == nil {
		r.cache.Set(req.key, cacheEntry{doc, r.config.Now().Add(cacheTTL)})
	}
	return outcome{doc, err}
}

func (r *Readers) document(ctx context.Context, req *request) (*Document, error) {
	s, err := r.newSession(req)
	if err != nil {
		return nil, err
	}
	doc := &Document{Reader: req.reader, Fetched: r.config.Now()}
	if doc.Page, err = req.read(ctx, s); err != nil {
		return nil, req.asError(err)
	}
	doc.Final = cmp.Or(s.final, req.final)
	text := truncate(strings.TrimSpace(doc.Page.Markdown), maxText)
	if text == "" {
		return nil, &Error{req.reader, turn.CodeEmpty, "there is nothing to read"}
	}
	sum := sha256.Sum256([]byte(text))
	doc.Page.Markdown, doc.Bytes, doc.SHA256 = text, len(text), hex.EncodeToString(sum[:])
	return doc, nil
}

// asError returns any failure of a request as an *Error.
func (req *request) asError(err error) error {
	if f, ok := errors.AsType[*api.Failure](err); ok {
		return &Error{req.reader, f.Code, f.Detail}
	}
	if f, ok := errors.AsType[*page.Error](err); ok {
		if f.Code == turn.CodeEmpty {
			return &Error{req.reader, turn.CodeEmpty, "there is nothing to read"}
		}
		return &Error{req.reader, turn.CodeMalformed, fmt.Sprintf("its text could not be read: %s", f.Code)}
	}
	return &Error{req.reader, turn.CodeMalformed, "the reply could not be read"}
}

// truncate shortens Markdown to most bytes, at the end of a paragraph or a line if there is one.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text, end); i > most/2 {
			return text[:i]
		}
	}
	return strings.ToValidUTF8(text, "")
}
