// Package read turns a URL into clean text. Every other room reads pages through it. What it returns is safe to show, but still written by
// a stranger. It may be false or try to give orders.
//
// A [Reader] takes the first source that has the page:
//
//  1. the text that a search service delivered with its result,
//  2. the API of a well-known site ([Services]),
//  3. the page itself, through packages fetch and page.
//
// read.go holds the Reader, which reads one page, several at once, or only a page's links. text.go turns a page into
// plain text and into the record of a turn. Every failure is a [fetch.Error].
//
// # Sites with an API
//
// recognise.go decides by host and path alone which service, if any, has a page. Only identifiers are taken from the URL (a title, a
// number, an owner's name), each in its own character set. [Services] checks every host of the request against the operator's lists and
// looks into the cache. Concurrent callers for the same page share one request. It sends the request to the one fixed origin in the table.
// A service that asks for fewer requests gets none during a cooldown.
//
// Each service has a file that turns its replies into a [page.Page]. hackernews.go also formats discussions for the
// others. HTML goes through [page.Part], which removes hidden text. A reply is as untrusted as any page, and no request
// goes to an address that only a reply contains. If a service fails, the page itself is fetched.
//
// To add a service, write a file with one function that recognises URLs and one that reads. Add a row to the table, and
// testdata/<name>.txtar with good and bad replies. TestServices walks the table.
package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
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
	"familiar/internal/web/page"
)

// Reader reads pages. Set its exported fields before the first use. It is safe for concurrent use. A nil Reader visits
// no page.
type Reader struct {
	Services *Services      // sites that are read through an API; may be nil
	Fetcher  *fetch.Fetcher // nil means that no page is visited

	running sync.WaitGroup // reads of [Reader.Many], which may outlive the call while one page is parsed
	once    sync.Once
	parsers *semaphore.Weighted // made by once; see parse
}

// Forget drops all cached pages, in memory and on disk. The cache does not know whose questions they were read for.
func (r *Reader) Forget() error {
	r.Services.Forget()
	if r.Fetcher == nil {
		return nil
	}
	return r.Fetcher.Forget()
}

// Request describes a page to read.
type Request struct {
	URL       string        // may have a fragment, which names a part of the page
	Elsewhere []string      // addresses that are tried in order if the page does not exist
	Language  string        // preferred language of a page in several, BCP 47; may be empty
	Domains   clean.Domains // lists that every host must pass
	Site      clean.Site    // site that must contain the page; the zero value is the whole web
	Human     bool          // a person typed the URL
	Plain     bool          // read the page itself, even if a service has it
	Hops      *[]fetch.Hop  // see [fetch.Options]

	// Delivered is the page's text in Markdown, as a search service delivered it. If it is not empty, nothing is
	// visited.
	Delivered string
	// Closed forbids visiting pages. Only delivered text is read.
	Closed bool
	// Short accepts a text of any length except 0.
	Short bool
}

// minText is the least length of the text of a fetched page, in characters.
const minText = 40

// Page is a page that was read. If Err is set, it holds what is known about the page.
type Page struct {
	URL     string          // as requested, or the one of Elsewhere that was read
	Special *Document       // nil if no service delivered the page
	Passed  *ServiceError   // why the page's service did not deliver it
	Fetched *fetch.Document // nil if the page was not fetched
	Extract page.Page       // original content, not cleaned
	Text    string          // clean text of Extract, against which quotations are checked
	Removed clean.Report    // what cleaning removed from Text
	Took    time.Duration   // for everything
	Err     *fetch.Error    // why there is no Text
}

// Good reports whether the page was read.
func (p *Page) Good() bool { return p.Err == nil }

// Source describes where a page's text came from.
type Source struct {
	Final  string // URL after redirects
	Bytes  int
	SHA256 string // of the text or body, in hex
	At     time.Time
	Cached bool // no request was made
}

// Source returns where the text came from. It is zero if there is no text.
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

// Read reads one page. It returns soon after ctx is done. If reading panics, only this page is lost.
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
		p.Err = &fetch.Error{Code: turn.CodeBlockedURL, Reason: turn.CodeNoPages, Message: "the operator does not allow reading pages"}
	case r.fromService(ctx, p, q):
		p.clean(1)
	default:
		r.visit(ctx, p, q)
	}
	return p
}

// fromService reads the page through its service, if it has one. It reports whether that succeeded. If not, the page
// itself should be fetched.
func (r *Reader) fromService(ctx context.Context, p *Page, q Request) bool {
	if q.Plain || q.Site != (clean.Site{}) {
		return false
	}
	doc, err := r.Services.read(ctx, q.URL, serviceOptions{Domains: q.Domains, Language: q.Language})
	if err != nil {
		p.Passed, _ = errors.AsType[*ServiceError](err)
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

// fetch fetches the page, or the first page of Elsewhere that exists.
func (r *Reader) fetch(ctx context.Context, p *Page, q Request, xml bool) (*fetch.Document, error) {
	if r.Fetcher == nil {
		return nil, &fetch.Error{Code: turn.CodeBlockedURL, Reason: turn.CodeNoFetcher, Message: "reading pages is not configured"}
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

// clean sets p.Text to the clean text of what was extracted. It fails if the text has fewer than least characters.
func (p *Page) clean(least int) {
	p.Text, p.Removed = Text(p.Extract.Markdown)
	if utf8.RuneCountInString(p.Text) < least {
		p.Text, p.Err = "", &fetch.Error{Code: turn.CodeExtractionFailed, Reason: turn.CodeEmpty, Message: messages[turn.CodeEmpty]}
	}
}

// parse calls f with the address of doc. At most one call per core runs at a time. So slow pages do not keep other turns from noticing
// their deadlines.
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

const (
	quorum = 3 // number of good pages that is enough
	// grace is the wait for the others after quorum is reached.
	grace = 250 * time.Millisecond
)

// Many reads pages concurrently. It returns soon after ctx is done, or when enough good pages have been read. The result
// has one page for each request, in the same order. Pages that finish later are dropped; [Reader.Wait] waits for them.
func (r *Reader) Many(ctx context.Context, requests []Request) []*Page {
	if r == nil {
		r = new(Reader)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type numbered struct {
		i int
		p *Page
	}
	in := make(chan numbered, len(requests)) // room for all, so that a late page does not block
	for i, q := range requests {
		r.running.Go(func() { in <- numbered{i, r.Read(ctx, q)} })
	}
	out := make([]*Page, len(requests))
	var enough <-chan time.Time
	for left, good := len(requests), 0; left > 0; left-- {
		select {
		case n := <-in:
			out[n.i] = n.p
			if n.p.Good() {
				good++
			}
			if enough == nil && good >= min(quorum, len(requests)) && left > 1 {
				enough = time.After(grace)
			}
		case <-ctx.Done():
			return missed(out, requests, fetch.Error{Code: turn.CodeTimeout, Reason: turn.CodeDeadline, Message: "no time was left"})
		case <-enough:
			return missed(out, requests, fetch.Error{Code: turn.CodeSkipped, Reason: turn.CodeQuorum, Message: "enough others were read"})
		}
	}
	return out
}

// missed fills in the pages that were not read in time.
func missed(pages []*Page, requests []Request, why fetch.Error) []*Page {
	for i := range pages {
		if pages[i] == nil {
			e := why
			pages[i] = &Page{URL: withoutFragment(requests[i].URL), Err: &e}
		}
	}
	return pages
}

// Wait waits until no earlier call reads a page any more. It is the last step of a shutdown.
func (r *Reader) Wait() { r.running.Wait() }

// Link is a link of a page.
type Link = page.Link

// Links returns the links of a page. With sitemap, the page is a sitemap, the list of pages that a site keeps for search
// services (sitemaps.org).
func (r *Reader) Links(ctx context.Context, q Request, sitemap bool) ([]page.Link, *fetch.Error) {
	doc, err := r.fetch(ctx, &Page{URL: q.URL}, q, sitemap)
	if err != nil {
		return nil, failure(err, 0)
	}
	var links []page.Link
	e := r.parse(ctx, doc, func(base *url.URL) (err error) {
		if sitemap {
			links = listed(doc.Body)
			return nil
		}
		links, err = page.Links(doc.Body, doc.ContentType, base)
		return err
	})
	return links, e
}

// maxListed is the greatest number of pages that are taken from a sitemap.
const maxListed = 20_000

// listed returns the addresses in a sitemap, up to the first syntax error. It does not follow the sitemaps of an index.
func listed(text []byte) []page.Link {
	var links []page.Link
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // addresses are ASCII
	in := ""
	for len(links) < maxListed {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			in = t.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if address := strings.TrimSpace(string(t)); in == "loc" && address != "" {
				links = append(links, page.Link{URL: address})
			}
		}
	}
	return links
}

// messages describe the codes of a [page.Error] for people.
var messages = map[turn.Code]string{
	turn.CodeBadCharset:         "the page is in an encoding that can hide text",
	turn.CodeChallenge:          "the site wants proof that a person is reading, or their consent",
	turn.CodeEmpty:              "the page is empty",
	turn.CodeExtractionFailed:   "no text was found on the page",
	turn.CodeJavaScriptRequired: "the page shows its text only to browsers that run scripts",
	turn.CodeUnparsable:         "the page cannot be read",
}

// failure converts any failure to read a page into a [fetch.Error]. status is the page's HTTP status, or 0 if there was
// none.
func failure(err error, status int) *fetch.Error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{Code: turn.CodeTimeout, Reason: turn.CodeDeadline, Message: "no time was left", Status: status}
	}
	e, ok := errors.AsType[*page.Error](err)
	if !ok {
		return &fetch.Error{Code: turn.CodeHTTPError, Reason: turn.CodeMalformed, Message: "the page's address cannot be read", Status: status}
	}
	f := &fetch.Error{Code: turn.CodeExtractionFailed, Reason: e.Code, Message: messages[e.Code], Status: status}
	if e.Code == turn.CodeExtractionFailed || e.Code == turn.CodeJavaScriptRequired {
		f.Code, f.Reason = e.Code, ""
	}
	return f
}
