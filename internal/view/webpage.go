package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
	"familiar/internal/web/read"
)

// WebPage is a page that was read, or the failure to read it, as people and other programs see it.
type WebPage struct {
	*read.Page
	Asked   string    // requested address
	Shown   page.Page // extracted text, made inert
	hops    []fetch.Hop
	charset string       // as declared
	removed clean.Report // what cleaning removed from the Markdown
}

// NewWebPage makes everything that is shown of a page inert. hops are the requests that were made for it.
func NewWebPage(asked string, p *read.Page, hops []fetch.Hop) *WebPage {
	r := &WebPage{Page: p, Asked: asked, hops: hops}
	if r.Err != nil {
		return r
	}
	if d := r.Fetched; d != nil && r.Extract.Type != "text" && r.Extract.Type != "json" {
		r.charset = page.Charset(d.Body, d.ContentType, true)
	}
	r.Shown = r.Extract // its links may be shared, so they are copied
	r.Shown.Markdown, r.removed = clean.Page(r.Extract.Markdown)
	for _, s := range []*string{&r.Shown.Title, &r.Shown.Author, &r.Shown.Site, &r.Shown.Language} {
		*s = line(*s)
	}
	r.Shown.Links = make([]page.Link, len(r.Extract.Links))
	for i, l := range r.Extract.Links {
		r.Shown.Links[i] = page.Link{URL: line(l.URL), Text: line(l.Text)}
	}
	return r
}

// Failure returns why the page could not be read, with all details. It returns nil if the page was read.
func (r *WebPage) Failure() error {
	if r.Err == nil {
		return nil
	}
	return (*notRead)(r.Err)
}

// maxLine limits a title, a name or an address, in characters.
const maxLine = 2048

func line(s string) string { return clean.Line(s, maxLine) }

// notRead is a failure with all details, for the operator.
type notRead fetch.Error

func (n *notRead) Error() string {
	text := string(n.Code)
	if n.Reason != "" {
		text += " (" + string(n.Reason) + ")"
	}
	if n.Status != 0 {
		text += fmt.Sprintf(" with status %d", n.Status)
	}
	if n.Message != "" {
		text += ": " + n.Message
	}
	return text
}

// Describe writes the page. With explain it adds every rule and every request, and with links the links of the page.
func (r *WebPage) Describe(explained, linked bool) string {
	var w writer
	if r.Err == nil {
		facts(&w, r)
	}
	if explained {
		for i, rule := range explain(r) {
			w.item(i, "rules", "%-8s %s", rule.Rule, rule.Verdict)
		}
		for i, hop := range r.hops {
			w.item(i, "hops", "%s", describeHop(hop))
		}
	}
	if r.Err == nil {
		w.WriteString("\n" + r.Shown.Markdown + "\n")
	}
	if linked && len(r.Shown.Links) > 0 {
		w.WriteString("\n")
		for i, l := range r.Shown.Links {
			w.item(i, "links", "%s  %s", l.URL, l.Text)
		}
	}
	return w.String()
}

// facts writes what is known about a page that was read.
func facts(w *writer, r *WebPage) {
	g, v := r.Shown, r.Visited()
	for _, fact := range [][2]string{
		{"title", g.Title}, {"author", g.Author}, {"site", g.Site}, {"published", stamp(g.Published)}, {"modified", stamp(g.Modified)},
		{"language", g.Language}, {"type", g.Type}, {"url", v.URL},
	} {
		if fact[1] != "" {
			w.row(fact[0], "%s", fact[1])
		}
	}
	w.row("final", "%s", v.Final)
	if v.Reader != "" {
		w.row("reader", "%s", v.Reader)
	}
	if r.Passed != nil {
		w.row("reader", "none: %s", passedBy(r.Passed))
	}
	if r.Fetched != nil {
		w.row("status", "%d %s", v.Status, v.ContentType)
	}
	w.row("bytes", "%d", v.Bytes)
	if r.Fetched != nil {
		t := r.Fetched.Timings
		w.row("took", "%s: name %s, connection %s, encryption %s, head %s, body %s",
			Exact(r.Fetched.Took), Exact(t.DNS), Exact(t.Connect), Exact(t.TLS), Exact(t.Header), Exact(t.Body))
	}
	if g.Low {
		w.row("note", "there is little text: the page says little, or was read badly")
	}
}

// Milliseconds returns a duration in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Exact writes a duration to a tenth of a millisecond.
func Exact(d time.Duration) string { return fmt.Sprintf("%.1f ms", Milliseconds(d)) }

// stamp writes a time, or a day if no more is known.
func stamp(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// describeHop describes the result of one request.
func describeHop(h fetch.Hop) string {
	status := "no answer"
	if h.Status != 0 {
		status = strconv.Itoa(h.Status)
	}
	if h.Reason != "" {
		status += " " + string(h.Reason)
	}
	return fmt.Sprintf("%s  %s, %s", line(h.URL), status, Exact(h.Took))
}

// applied is a rule and its verdict.
type applied struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"`
}

// explain lists the rules in the order in which they apply to a page. It ends with the rule that stopped the reading.
func explain(r *WebPage) []applied {
	var list []applied
	at := refusedBy(r.Err)
	if r.Passed != nil {
		list = append(list, applied{"reader", "none: " + passedBy(r.Passed)})
	}
	for _, step := range passed(r) {
		if step.Rule == at {
			return append(list, applied{at, (*notRead)(r.Err).Error()})
		}
		list = append(list, step)
	}
	add := func(rule, format string, values ...any) {
		list = append(list, applied{rule, fmt.Sprintf(format, values...)})
	}
	if r.charset != "" {
		add("charset", "%s, by declaration or by default; UTF-8 where all is valid as that", r.charset)
	}
	add("kind", "read as %s", quoted(r.Shown.Type))
	add("hidden", "%d characters that a reader could not have seen were dropped", r.Shown.Hidden)
	if r.Shown.Doubtful > 0 {
		add("doubtful", "%d of them are in doubt: a reader may have seen them", r.Shown.Doubtful)
	}
	for _, rule := range slices.Sorted(maps.Keys(r.removed)) {
		add("clean", "%s ×%d", rule, r.removed[rule])
	}
	return list
}

// passedBy says why a special reader did not read a page.
func passedBy(e *read.ServiceError) string { return e.Error() + ": " + e.Detail }

// passed lists the verdicts of the rules that could have stopped the reading but did not.
func passed(r *WebPage) []applied {
	address, led, declared, size := "", "nowhere else", "", 0
	if u, err := clean.ParseURL(r.Asked); err == nil {
		address = u.String()
	}
	if r.Special != nil {
		return []applied{
			{"url", "one way to read it, a public name, a port that is visited: " + address},
			{"domains", "the character's lists allow it, its final address and its service"},
			{"reader", r.Special.Reader + " read it through its service"},
			{"page", "text was found"},
		}
	}
	if r.Fetched != nil {
		declared, size = r.Fetched.ContentType, len(r.Fetched.Body)
	}
	if r.Fetched != nil && r.Fetched.Final != r.Fetched.URL {
		led = "to " + r.Fetched.Final + "; every hop passed the same rules"
	}
	return []applied{
		{"url", "one way to read it, a public name, a port that is visited: " + address},
		{"domains", "the character's lists allow it"},
		{"address", "every address that its name has is one of the public internet, and was checked again when it was dialled"},
		{"robots", "the site's robots.txt allows it"},
		{"redirect", "led " + led},
		{"answer", "valid HTTP with a status that brings a page, and no demand for proof of a person"},
		{"type", "declared as text that is read: " + declared},
		{"limits", fmt.Sprintf("in time, and within the limits of headers, size, rate and unpacking: %d bytes", size)},
		{"sniff", "the first bytes are of the declared type"},
		{"page", "text was found"},
	}
}

// refusedBy names the rule that a failure comes from, or returns "".
func refusedBy(e *fetch.Error) string {
	if e == nil {
		return ""
	}
	switch e.Reason {
	case turn.CodeBadScheme, turn.CodeInvalidTarget, turn.CodeDeniedHost, turn.CodeDeniedPort:
		return "url"
	case turn.CodeDeniedDomain:
		return "domains"
	case turn.CodeDeniedAddress, turn.CodeFakeIP, turn.CodeDNS, turn.CodeDNSTimeout:
		return "address"
	case turn.CodeRobots, turn.CodeRobotsUnreachable:
		return "robots"
	case turn.CodeRedirectToBlockedTarget, turn.CodeRedirectToHTTP, turn.CodeTooManyRedirects, turn.CodeNoLocation:
		return "redirect"
	case turn.CodeTypeMismatch:
		return "sniff"
	}
	switch e.Code {
	case turn.CodeUnsupportedType:
		return "type"
	case turn.CodeResponseTooLarge, turn.CodeTimeout:
		return "limits"
	}
	if e.Code == turn.CodeJavaScriptRequired || e.Code == turn.CodeExtractionFailed && e.Reason != turn.CodeInternal {
		return "page"
	}
	return "answer"
}

// JSON returns the page for programs. It returns only the typed error if the page could not be read, unless explain is set.
func (r *WebPage) JSON(explained bool) any {
	if r.Err != nil {
		if !explained {
			return r.Err
		}
		return struct {
			*fetch.Error
			Rules []applied   `json:"rules"`
			Hops  []hopRecord `json:"hops"`
		}{r.Err, explain(r), hops(r.hops)}
	}
	g := r.Shown
	return PageRecord{
		Visited: r.Visited(), Title: g.Title, Author: g.Author, Site: g.Site, Published: g.Published, Modified: g.Modified, Language: g.Language,
		Type: g.Type, Charset: r.charset, Low: g.Low, Hidden: g.Hidden, Doubtful: g.Doubtful, Removed: r.removed, Rules: explain(r), Hops: hops(r.hops),
		Markdown: r.Shown.Markdown, Links: g.Links,
	}
}

// Visited says where and how a page was read.
type Visited struct {
	URL          string             `json:"url"`
	Final        string             `json:"final"`
	Reader       string             `json:"reader,omitempty"` // special reader that read it
	Passed       string             `json:"passed,omitempty"` // special reader that failed before the page was fetched, and why
	Status       int                `json:"status,omitempty"`
	ContentType  string             `json:"content_type,omitempty"`
	Bytes        int                `json:"bytes"`
	SHA256       string             `json:"sha256"`
	LastModified time.Time          `json:"last_modified,omitzero"`
	Fetched      time.Time          `json:"fetched"`
	Timings      map[string]float64 `json:"timings_ms,omitempty"`
	Cached       bool               `json:"cached,omitempty"`
}

func (r *WebPage) Visited() Visited {
	if d := r.Special; d != nil {
		return Visited{URL: d.URL, Final: d.Final, Reader: d.Reader, Bytes: d.Bytes, SHA256: d.SHA256, Fetched: d.Fetched}
	}
	d, t := r.Fetched, r.Fetched.Timings
	v := Visited{
		URL: d.URL, Final: d.Final, Status: d.Status, ContentType: d.ContentType, Bytes: len(d.Body), SHA256: d.SHA256(),
		LastModified: d.LastModified, Fetched: d.Fetched, Timings: map[string]float64{
			"dns": Milliseconds(t.DNS), "connect": Milliseconds(t.Connect), "tls": Milliseconds(t.TLS),
			"header": Milliseconds(t.Header), "body": Milliseconds(t.Body), "total": Milliseconds(d.Took),
		}, Cached: d.Cached,
	}
	if r.Passed != nil {
		v.Passed = passedBy(r.Passed)
	}
	return v
}

// PageRecord is the JSON of a page that was read.
type PageRecord struct {
	Visited
	Title     string         `json:"title,omitempty"`
	Author    string         `json:"author,omitempty"`
	Site      string         `json:"site,omitempty"`
	Published time.Time      `json:"published,omitzero"`
	Modified  time.Time      `json:"modified,omitzero"`
	Language  string         `json:"language,omitempty"`
	Type      string         `json:"type"`
	Charset   string         `json:"declared_charset,omitempty"`
	Low       bool           `json:"low_content,omitempty"`
	Hidden    int            `json:"hidden"`             // characters
	Doubtful  int            `json:"doubtful,omitempty"` // those of them that may have been seen
	Removed   map[string]int `json:"removed,omitempty"`  // by the rules of cleaning
	Rules     []applied      `json:"rules"`
	Hops      []hopRecord    `json:"hops"`
	Markdown  string         `json:"markdown"`
	Links     []page.Link    `json:"links"`
}

type hopRecord struct {
	URL    string    `json:"url"`
	Status int       `json:"status,omitempty"`
	Reason turn.Code `json:"reason,omitempty"`
	Took   float64   `json:"took_ms"`
}

func hops(made []fetch.Hop) []hopRecord {
	out := make([]hopRecord, len(made))
	for i, a := range made {
		out[i] = hopRecord{line(a.URL), a.Status, a.Reason, Milliseconds(a.Took)}
	}
	return out
}
