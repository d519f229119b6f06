// Package reader reads pages of a few well-known sites through the services that these sites offer to programs:
// what a person would have found on the page, without the page around it.
//
// A tour, along the life of a page:
//
//   - recognise.go takes a URL and knows, by host and path alone, whether one of the table's readers is for it. All
//     that is kept of the URL are identifiers (a title, a number, an owner's name), each in its own charset; they
//     make an errand.
//   - [Readers.Read] asks the operator's lists for every host concerned and the cache, and lets callers who want the
//     same page at the same time share one errand.
//   - desk.go asks the service, an [api.Endpoint] of one fixed origin that the table names, and stays away from one
//     that asked for it.
//   - One file a reader makes a [page.Page] of the answers: wikipedia.go, youtube.go, github.go, stackexchange.go,
//     hackernews.go. thread.go writes down who said what. HTML goes through [page.Part], so what is hidden from a
//     person is hidden here too.
//
// What a service answers is as much a stranger's word as any page: it is cleaned and checked by whoever asked for
// it, and never leads to another address. A reader that fails costs nothing but its time, since the page itself can
// still be fetched; that is the caller's part.
//
// # Adding a reader
//
// One file with a function that recognises URLs and one that reads, one line in the table, one testdata/<name>.txtar
// with what the service answers in good and bad days. TestReaders walks the table.
package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/flight"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
)

// Config is what [Readers] are made of. Only Client is required.
type Config struct {
	Client           func(origin string) *http.Client // makes the HTTP client of one origin
	UserAgent        string                           // an honest one: name, version, address of the operator
	GitHubToken      string                           // raises GitHub's limit from 60 requests an hour to 5,000; needs no scope
	StackExchangeKey string                           // raises Stack Exchange's limit from 300 requests a day to 10,000
	Now              func() time.Time                 // clock of the cache; nil is time.Now
}

// Readers are the special readers. Make them with [New] and Close them when done; they are safe for concurrent use,
// and a nil one knows no page.
type Readers struct {
	config  Config
	kept    *otter.Cache[string, kept]
	flights flight.Group[string, outcome] // by errand.key

	mu     sync.Mutex
	far    map[string]*api.Endpoint // guarded by mu: by origin, made when first asked
	closed map[string]time.Time     // guarded by mu: services that asked to be left alone, by origin, and until when
}

type kept struct {
	doc  *Document
	till time.Time
}

const (
	keepFor  = 5 * time.Minute
	maxKept  = 8 << 20         // bytes of text, about
	patience = 4 * time.Second // with one errand
	maxText  = 256 << 10       // bytes of Markdown
)

// New makes the readers of the table.
func New(c Config) *Readers {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Readers{config: c, far: map[string]*api.Endpoint{}, closed: map[string]time.Time{}}
	r.flights.Timeout = patience
	r.kept = otter.Must(&otter.Options[string, kept]{
		MaximumWeight: maxKept,
		Weigher:       func(key string, k kept) uint32 { return uint32(len(key) + len(k.doc.Page.Markdown) + 4096) },
		Executor:      func(f func()) { f() },
	})
	return r
}

// Close ends every errand and waits for them. Read fails afterwards.
func (r *Readers) Close() { r.flights.Close() }

// Options belong to one page.
type Options struct {
	Domains  guard.Domains // lists that every host concerned must pass: the page's and the service's
	Language string        // in which a page of several languages is wanted, BCP 47; empty: its own
}

// Document is a page as its service tells it. It may be shared: nobody may change it.
type Document struct {
	Reader  string    // who read it: "wikipedia"
	URL     string    // canonical form of what was asked for
	Final   string    // the address of the page for people
	Page    page.Page // not yet cleaned
	Bytes   int       // of Page.Markdown
	SHA256  string    // of Page.Markdown, in hex
	Fetched time.Time // when it was asked for, also if it comes from the cache
	Cached  bool      // this call caused no request
}

// ErrNone says that no reader is for a page, or that the lists close one of the hosts that it would ask.
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
	e := recognise(rawURL, o.Language)
	if r == nil || e == nil || !e.allowed(o.Domains) {
		return nil, ErrNone
	}
	if k, ok := r.kept.GetIfPresent(e.key); ok && r.config.Now().Before(k.till) {
		doc := *k.doc
		doc.URL, doc.Cached = e.asked, true
		return &doc, nil
	}
	wait := patience
	if until, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(until)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := r.flights.Do(ctx, e.key, func(ctx context.Context) outcome { return r.run(ctx, e) })
	switch {
	case err != nil:
		return nil, &Error{e.reader, turn.CodeTimeout, "no answer in time"}
	case got.err != nil:
		return nil, got.err
	}
	doc := *got.doc
	doc.URL = e.asked
	return &doc, nil
}

// outcome is what came of an errand: a document or the reason why there is none.
type outcome struct {
	doc *Document
	err error
}

// run does an errand and keeps what came of it. A panic in the reading of hostile bytes costs this page alone.
func (r *Readers) run(ctx context.Context, e *errand) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{err: &Error{e.reader, turn.CodeMalformed, "the reply could not be read"}}
		}
	}()
	doc, err := r.document(ctx, e)
	if err == nil {
		r.kept.Set(e.key, kept{doc, r.config.Now().Add(keepFor)})
	}
	return outcome{doc, err}
}

func (r *Readers) document(ctx context.Context, e *errand) (*Document, error) {
	d, err := r.desk(e)
	if err != nil {
		return nil, err
	}
	doc := &Document{Reader: e.reader, Final: e.final, Fetched: r.config.Now()}
	if doc.Page, err = e.read(ctx, d); err != nil {
		return nil, e.failed(err)
	}
	if d.final != "" {
		doc.Final = d.final
	}
	text := cut(strings.TrimSpace(doc.Page.Markdown), maxText)
	if text == "" {
		return nil, &Error{e.reader, turn.CodeEmpty, "there is nothing to read"}
	}
	sum := sha256.Sum256([]byte(text))
	doc.Page.Markdown, doc.Bytes, doc.SHA256 = text, len(text), hex.EncodeToString(sum[:])
	return doc, nil
}

// failed is any failure of an errand as an *Error.
func (e *errand) failed(err error) error {
	if f, ok := errors.AsType[*api.Failure](err); ok {
		return &Error{e.reader, f.Code, f.Detail}
	}
	if f, ok := errors.AsType[*page.Error](err); ok {
		if f.Code == turn.CodeEmpty {
			return &Error{e.reader, turn.CodeEmpty, "there is nothing to read"}
		}
		return &Error{e.reader, turn.CodeMalformed, fmt.Sprintf("its text could not be read: %s", f.Code)}
	}
	return &Error{e.reader, turn.CodeMalformed, "the reply could not be read"}
}

// cut shortens Markdown to most bytes, at the end of a paragraph or a line if there is one.
func cut(text string, most int) string {
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
