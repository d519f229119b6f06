// Package read is the way from a URL to clean text, the one way that all rooms take:
//
//	read.go     one page: the text that a search service delivered, a special reader, or else fetch and extract
//	many.go     several pages at once, until enough of them are there or the time is over
//	text.go     the Markdown of a page as text: without marks and addresses, inert
//	links.go    where a page or a sitemap points
//	failure.go  every failure in the words of one closed set, [fetch.Error]
//
// What it returns is still a stranger's word. It is inert, which is not the same as true or harmless to obey.
package read

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
	"familiar/internal/web/reader"
)

// Reader reads pages. Its exported fields are set before first use. It is safe for concurrent use. A nil one visits no
// page.
type Reader struct {
	Special *reader.Readers // for the sites that they know, before the page itself is fetched; nil: none
	Fetcher *fetch.Fetcher  // nil: no page is visited

	running sync.WaitGroup // reads of [Reader.Many], which may outlive their caller by one page's parsing
	once    sync.Once
	parsers *semaphore.Weighted // made by once; see parse
}

// Forget drops all pages that are kept, in memory and on disk: whose questions they were read for is not known of them.
func (r *Reader) Forget() error {
	r.Special.Forget()
	if r.Fetcher == nil {
		return nil
	}
	return r.Fetcher.Forget()
}

// Request is a page that is wanted.
type Request struct {
	URL       string        // with the fragment that it had, which names a part of the page
	Elsewhere []string      // addresses that are tried in their order where the page is not there
	Language  string        // in which a page of several languages is wanted, BCP 47; empty: its own
	Domains   guard.Domains // lists that every host concerned must pass
	Site      guard.Site    // that the page must be of; the zero value is the whole web
	Human     bool          // a person typed the URL
	Plain     bool          // the page itself is read, also where there is a special reader for it
	Hops      *[]fetch.Hop  // see [fetch.Options]

	// Delivered is what a search service delivered as the page's text, in Markdown. It is taken and nothing is visited.
	Delivered string
	// Closed says that no page may be visited: what is not delivered is not read.
	Closed bool
	// Short lets a text be of any length that is not empty.
	Short bool
}

// minText is the number of characters from which on a fetched page has a text.
const minText = 40

// Page is a page that was read or, where Err is set, as far as it came.
type Page struct {
	URL     string           // of the request, or the one elsewhere where it was
	Special *reader.Document // nil: no special reader read it
	Passed  *reader.Error    // why the special reader for it did not
	Fetched *fetch.Document  // nil: it was not, or could not be, fetched
	Extract page.Page        // as it was written: not clean
	Text    string           // of Extract, clean; what quotes are checked against
	Removed clean.Report     // from Text, by cleaning
	Took    time.Duration    // for all of it
	Err     *fetch.Error     // why there is no Text
}

// Good reports whether the page was read.
func (p *Page) Good() bool { return p.Err == nil }

// Source is where a page's text came from.
type Source struct {
	Final  string // where redirects led
	Bytes  int
	SHA256 string // of these, in hex
	At     time.Time
	Cached bool // nothing was asked for
}

// Source tells where the text came from; the zero value where it came from nowhere.
func (p *Page) Source() Source {
	switch {
	case p.Special != nil:
		d := p.Special
		return Source{d.Final, d.Bytes, d.SHA256, d.Fetched, d.Cached}
	case p.Fetched != nil:
		d := p.Fetched
		return Source{d.Final, len(d.Body), d.SHA256(), d.Fetched, d.Cached}
	case p.Extract.Markdown != "":
		sum := sha256.Sum256([]byte(p.Extract.Markdown))
		return Source{Bytes: len(p.Extract.Markdown), SHA256: hex.EncodeToString(sum[:])}
	}
	return Source{}
}

// Read reads one page. It returns soon after ctx is done. A page that makes the program panic costs itself alone.
func (r *Reader) Read(ctx context.Context, q Request) (p *Page) {
	if r == nil {
		r = new(Reader)
	}
	began := time.Now()
	p = &Page{URL: withoutFragment(q.URL)}
	defer func() {
		if recover() != nil {
			p.Err, p.Text = &fetch.Error{Code: turn.CodeExtractionFailed, Reason: turn.CodePanic, Message: "the page cannot be read"}, ""
		}
		p.Took = time.Since(began)
	}()
	switch {
	case strings.TrimSpace(q.Delivered) != "":
		p.Extract.Markdown = q.Delivered
		p.clean(1)
	case q.Closed:
		p.Err = &fetch.Error{Code: turn.CodeBlockedURL, Reason: turn.CodeNoPages, Message: "the operator lets no page be read"}
	case r.special(ctx, p, q):
		p.clean(1)
	default:
		r.visit(ctx, p, q)
	}
	return p
}

// special has a special reader read the page, if there is one for it. It reports false where the page itself is to be
// fetched.
func (r *Reader) special(ctx context.Context, p *Page, q Request) bool {
	if q.Plain || q.Site != (guard.Site{}) {
		return false
	}
	doc, err := r.Special.Read(ctx, q.URL, reader.Options{Domains: q.Domains, Language: q.Language})
	if err != nil {
		p.Passed, _ = errors.AsType[*reader.Error](err)
		return false
	}
	p.Special, p.Extract = doc, doc.Page
	return true
}

// visit fetches the page and extracts its text.
func (r *Reader) visit(ctx context.Context, p *Page, q Request) {
	doc, err := r.fetch(ctx, p, q, false)
	if p.Fetched = doc; err != nil {
		p.Err = failure(err, 0)
		return
	}
	least := minText
	if q.Short {
		least = 1
	}
	e := r.parse(ctx, doc, func(base *url.URL) (err error) {
		if p.Extract, err = page.Read(doc.Body, doc.ContentType, base); err == nil {
			p.clean(least)
		}
		return err
	})
	if e != nil {
		p.Err = e
	}
}

// fetch fetches the page from where it is.
func (r *Reader) fetch(ctx context.Context, p *Page, q Request, xml bool) (*fetch.Document, error) {
	if r.Fetcher == nil {
		return nil, &fetch.Error{Code: turn.CodeBlockedURL, Reason: turn.CodeNoFetcher, Message: "nothing is set up to read pages with"}
	}
	o := fetch.Options{Domains: q.Domains, Site: q.Site, Human: q.Human, XML: xml, Hops: q.Hops}
	doc, err := r.Fetcher.Fetch(ctx, p.URL, o)
	for _, other := range q.Elsewhere {
		if e, ok := errors.AsType[*fetch.Error](err); !ok || !e.Missing() {
			break
		}
		p.URL = other
		doc, err = r.Fetcher.Fetch(ctx, other, o)
	}
	return doc, err
}

// clean makes the text of what was extracted. One of less than so many characters is none.
func (p *Page) clean(least int) {
	p.Text, p.Removed = Text(p.Extract.Markdown)
	if utf8.RuneCountInString(p.Text) < least {
		p.Text, p.Err = "", &fetch.Error{Code: turn.CodeExtractionFailed, Reason: turn.CodeEmpty, Message: messages[turn.CodeEmpty]}
	}
}

// parse calls f with the address of doc at one of the places at which pages are parsed. There are as many as cores: pages
// that take long must not keep other turns from noticing their deadlines.
func (r *Reader) parse(ctx context.Context, doc *fetch.Document, f func(base *url.URL) error) *fetch.Error {
	base, err := url.Parse(doc.Final)
	if err != nil {
		return failure(err, doc.Status)
	}
	r.once.Do(func() { r.parsers = semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))) })
	if err := r.parsers.Acquire(ctx, 1); err != nil {
		return failure(err, doc.Status)
	}
	defer r.parsers.Release(1)
	if err := f(base); err != nil {
		return failure(err, doc.Status)
	}
	return nil
}

func withoutFragment(rawURL string) string {
	page, _, _ := strings.Cut(rawURL, "#")
	return page
}
