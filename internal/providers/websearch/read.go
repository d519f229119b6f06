package websearch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
	"familiar/internal/web/reader"
)

// source is one page that was tried: its record and, if it was read, what evidence and checks need of it.
type source struct {
	page    turn.Page
	rank    int
	answer  bool   // its backend says that it answers the question
	dated   string // where the date comes from: "page" or "search"
	covered bool   // much of it was hidden from readers (H4)
	removed clean.Report
	index   *claim.Page // of page.Text; nil if it was not read
}

func (s *source) good() bool { return s.page.Failure == "" }

const (
	quorum = 3 // good pages that are enough to go on
	// grace is how long better ranked pages are waited for once there is a quorum.
	grace = 250 * time.Millisecond
	// maxTitle and minText are in characters.
	maxTitle = 120
	minText  = 40
)

// read reads all targets at once and returns soon after ctx is done, or when enough good pages are in. The
// result has one sheet for each target, in their order. What comes later than that is dropped.
func (p *Provider) read(ctx context.Context, targets []target, pol Policy) []source {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type numbered struct {
		i int
		s source
	}
	in := make(chan numbered, len(targets)) // room for all: a late reader must not wait for us
	for i, t := range targets {
		p.late.Add(1)
		go func() {
			defer p.late.Done()
			in <- numbered{i, p.readOne(ctx, t, pol)}
		}()
	}
	out := make([]source, len(targets))
	for i, t := range targets {
		out[i] = source{rank: t.rank, page: turn.Page{URL: t.url, Site: t.site, Failure: turn.CodeTimeout, Reason: turn.CodeDeadline}}
	}
	var enough <-chan time.Time
	for left, good := len(targets), 0; left > 0; left-- {
		select {
		case n := <-in:
			out[n.i] = n.s
			if n.s.good() {
				good++
			}
			if enough == nil && good >= min(quorum, len(targets)) && left > 1 {
				enough = time.After(grace)
			}
		case <-ctx.Done():
			return out
		case <-enough:
			for i := range out {
				if out[i].page.Reason == turn.CodeDeadline {
					out[i].page.Failure, out[i].page.Reason = turn.CodeSkipped, turn.CodeQuorum
				}
			}
			return out
		}
	}
	return out
}

// readOne reads one page. A page that makes the reader panic costs itself alone.
func (p *Provider) readOne(ctx context.Context, t target, pol Policy) (s source) {
	began := time.Now()
	s = source{rank: t.rank, page: turn.Page{URL: t.url, Site: t.site}}
	defer func() {
		if recover() != nil {
			s.page.Failure, s.page.Reason, s.page.Text, s.index = turn.CodeExtractionFailed, turn.CodePanic, "", nil
		}
		s.page.Took = time.Since(began)
	}()
	if t.hit != nil && strings.TrimSpace(t.hit.Text) != "" {
		p.readDelivered(&s, t.hit)
		return s
	}
	if pol.unread {
		s.page.Failure, s.page.Reason = turn.CodeBlockedURL, turn.CodeNoPages
		return s
	}
	if p.Fetch == nil {
		s.page.Failure, s.page.Reason = turn.CodeBlockedURL, turn.CodeNoFetcher
		return s
	}
	if pol.site == (guard.Site{}) && p.readSpecially(ctx, &s, t, pol) {
		return s
	}
	doc, err := p.fetch(ctx, &s, t, pol)
	if err != nil {
		s.page.Failure, s.page.Reason = turn.CodeHTTPError, turn.CodeTransport
		if e, ok := errors.AsType[*fetch.Error](err); ok {
			s.page.Failure, s.page.Reason, s.page.Status = turn.Code(e.Code), turn.Code(e.Reason), e.Status
		}
		return s
	}
	if !p.sit(ctx) {
		s.page.Failure, s.page.Reason, s.page.Status = turn.CodeTimeout, turn.CodeDeadline, doc.Status
		return s
	}
	defer p.rise()
	readFetched(&s, doc, t)
	return s
}

// fetch fetches a page from where it is.
func (p *Provider) fetch(ctx context.Context, s *source, t target, pol Policy) (*fetch.Document, error) {
	o := pol.options(t.hit == nil)
	doc, err := p.Fetch.Fetch(ctx, t.url, o)
	for _, other := range t.spare {
		if e, ok := errors.AsType[*fetch.Error](err); !ok || !missing(e.Status) {
			break
		}
		s.page.URL = other
		doc, err = p.Fetch.Fetch(ctx, other, o)
	}
	return doc, err
}

// readDelivered takes the text that a backend delivered for the page.
func (p *Provider) readDelivered(s *source, hit *turn.Hit) {
	sum := sha256.Sum256([]byte(hit.Text))
	s.page.Via = hit.Backend
	s.page.Title = titleOf(hit.Title)
	s.page.Bytes, s.page.SHA256 = len(hit.Text), hex.EncodeToString(sum[:])
	s.page.Fetched = p.now().Add(-hit.Age)
	s.date(hit.Published, "search")
	s.answer = hit.Answer
	s.take(hit.Text)
}

// readSpecially has a special reader read the page, if there is one for it. It returns false where the page itself is
// to be fetched, and records why.
func (p *Provider) readSpecially(ctx context.Context, s *source, t target, pol Policy) bool {
	doc, err := p.Reader.Read(ctx, t.url+t.anchor, reader.Options{Domains: pol.Domains, Language: t.language})
	if err != nil {
		if e, ok := errors.AsType[*reader.Error](err); ok {
			s.page.Passed = e.Error()
		}
		return false
	}
	s.page.Via = doc.Reader + " reader"
	s.page.Final, s.page.Site = doc.Final, siteOf(doc.Final)
	s.page.Bytes, s.page.SHA256 = doc.Bytes, doc.SHA256
	s.page.Fetched, s.page.Cached, s.page.Hidden = doc.Fetched, doc.Cached, doc.Page.Hidden
	s.took(doc.Page, t)
	return true
}

// readFetched extracts the text of a page that was fetched.
func readFetched(s *source, doc *fetch.Document, t target) {
	s.page.Final, s.page.Status = doc.Final, doc.Status
	s.page.Bytes, s.page.SHA256 = len(doc.Body), doc.SHA256()
	s.page.Fetched, s.page.Cached = doc.Fetched, doc.Cached
	final, err := url.Parse(doc.Final)
	if err != nil {
		s.page.Failure, s.page.Reason = turn.CodeHTTPError, turn.CodeMalformed
		return
	}
	if host, err := guard.Host(final.Hostname()); err == nil {
		s.page.Site = host
	}
	got, err := page.Read(doc.Body, doc.ContentType, final)
	s.page.Hidden = got.Hidden
	if err != nil {
		s.page.Failure = turn.CodeExtractionFailed
		if e, ok := errors.AsType[*page.Error](err); ok && turn.Code(e.Code) != s.page.Failure {
			s.page.Reason = turn.Code(e.Code)
		}
		return
	}
	s.took(got, t)
}

// took takes what was read on a page.
func (s *source) took(got page.Page, t target) {
	s.page.Title = titleOf(got.Title)
	s.page.Modified = got.Modified
	s.date(got.Published, "page")
	if t.hit != nil {
		if s.page.Title == "" {
			s.page.Title = titleOf(t.hit.Title)
		}
		s.date(t.hit.Published, "search")
		s.answer = t.hit.Answer
	}
	s.covered = got.Hidden*10 > 3*(got.Hidden+len(got.Markdown))
	s.take(got.Markdown)
}

// titleOf cleans a title; an address in it goes, as everywhere.
func titleOf(s string) string { return clean.Line(mdAuto.ReplaceAllString(s, ""), maxTitle) }

// date sets the publication date where there is none yet.
func (s *source) date(at time.Time, from string) {
	if s.page.Published.IsZero() && !at.IsZero() {
		s.page.Published, s.dated = at, from
	}
}

// take cleans the text, which then is what quotes are checked against.
func (s *source) take(markdown string) {
	text, report := Text(markdown)
	s.removed = report
	if n := len([]rune(text)); n == 0 || n < minText && !s.answer && s.page.Via == "" {
		s.page.Failure, s.page.Reason = turn.CodeExtractionFailed, turn.CodeEmpty
		return
	}
	s.page.Text = text
	s.index = claim.NewPage(text)
}

// The marks of Markdown that are not words. Addresses of links go with them: no URL of a page is ever shown (P2).
var (
	mdImage  = regexp.MustCompile(`!\[[^\]\n]*\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdLink   = regexp.MustCompile(`\[([^\]\n]*)\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdAuto   = regexp.MustCompile(`(?i)<(?:https?|mailto):[^>\s]*>|(?:https?://|www\.)\S+`)
	mdStrong = regexp.MustCompile(`\*\*|__|~~`)
	mdEm     = regexp.MustCompile(`(^|[\s(“"'])[*_]([^\s*_][^*_\n]*)[*_]`)
	mdEscape = regexp.MustCompile(`\\([\\` + "`" + `*_{}\[\]()#+\-.!|<>~])`)
)

// plain is the text of Markdown without its marks.
func plain(markdown string) string {
	s := markdown
	if strings.Contains(s, "](") {
		s = mdImage.ReplaceAllString(s, "")
		s = mdLink.ReplaceAllString(s, "$1")
	}
	s = plainLines(s)
	if strings.ContainsAny(s, "*_~") {
		s = mdStrong.ReplaceAllString(s, "")
		s = mdEm.ReplaceAllString(s, "$1$2")
	}
	if strings.ContainsRune(s, '\\') {
		s = mdEscape.ReplaceAllString(s, "$1")
	}
	return s
}

// plainLines takes addresses, the marks of headings and the lines between parts out. A line has none as a rule: the
// expression looks only where one could be.
func plainLines(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		if strings.Contains(line, ":") || strings.Contains(line, "w.") || strings.Contains(line, "W.") {
			line = mdAuto.ReplaceAllString(line, "")
		}
		if len(line) > 3 && strings.Trim(line, " \t\r\n:|-") == "" {
			line = "\n"
		}
		if rest := strings.TrimLeft(line, "#"); len(line)-len(rest) <= 6 && strings.HasPrefix(rest, " ") {
			line = strings.TrimLeft(rest, " ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// removals sums what cleaning took out of all pages, in the order of the rules.
func removals(sheets []source) []turn.Removal {
	sum := map[string]int{}
	for _, s := range sheets {
		for rule, n := range s.removed {
			sum[rule] += n
		}
		if s.page.Hidden > 0 {
			sum["H"] += s.page.Hidden
		}
	}
	var out []turn.Removal
	for rule, n := range sum {
		out = append(out, turn.Removal{Rule: rule, Count: n})
	}
	slices.SortFunc(out, func(a, b turn.Removal) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}
