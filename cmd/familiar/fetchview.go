package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
	"familiar/internal/web/reader"
)

// show prints a reading the way that was asked for. Its failure is the command's.
func (f fetchCommand) show(p *program, a *app, r *reading) error {
	var failure error
	if r.Err != nil {
		failure = (*notRead)(r.Err)
	}
	if f.JSON {
		return cmp.Or(a.printJSON(p, f.record(r)), failure)
	}
	var s strings.Builder
	if r.Err == nil {
		facts(&s, r)
	}
	if f.Explain {
		for i, rule := range explain(r) {
			row(&s, first(i, "rules"), "%-8s %s", rule.Rule, rule.Verdict)
		}
		for i, hop := range r.hops {
			row(&s, first(i, "hops"), "%s", describeHop(hop))
		}
	}
	if r.Err == nil {
		s.WriteString("\n" + r.shown.Markdown + "\n")
	}
	if f.Links && len(r.shown.Links) > 0 {
		s.WriteString("\n")
		for i, l := range r.shown.Links {
			row(&s, first(i, "links"), "%s  %s", l.URL, l.Text)
		}
	}
	_, err := fmt.Fprint(p.out, a.redact.String(s.String()))
	return cmp.Or(err, failure)
}

func row(s *strings.Builder, label, format string, values ...any) {
	fmt.Fprintf(s, "%-10s %s\n", label, fmt.Sprintf(format, values...))
}

func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

// facts writes what is known about a page that was read.
func facts(s *strings.Builder, r *reading) {
	g, v := r.shown, r.visited()
	for _, fact := range [][2]string{
		{"title", g.Title}, {"author", g.Author}, {"site", g.Site}, {"published", stamp(g.Published)}, {"modified", stamp(g.Modified)},
		{"language", g.Language}, {"type", g.Type}, {"url", v.URL},
	} {
		if fact[1] != "" {
			row(s, fact[0], "%s", fact[1])
		}
	}
	row(s, "final", "%s", v.Final)
	if v.Reader != "" {
		row(s, "reader", "%s", v.Reader)
	}
	if r.Passed != nil {
		row(s, "reader", "none: %s", passedBy(r.Passed))
	}
	if r.Fetched != nil {
		row(s, "status", "%d %s", v.Status, v.ContentType)
	}
	row(s, "bytes", "%d", v.Bytes)
	if r.Fetched != nil {
		t := r.Fetched.Timings
		row(s, "took", "%s: name %s, connection %s, encryption %s, head %s, body %s",
			ms(r.Fetched.Took), ms(t.DNS), ms(t.Connect), ms(t.TLS), ms(t.Header), ms(t.Body))
	}
	if g.Low {
		row(s, "note", "there is little text: the page says little, or was read badly")
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", milliseconds(d)) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// stamp is a moment, or a day where no more is known.
func stamp(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// describeHop says what came of one request.
func describeHop(h fetch.Hop) string {
	status := "no answer"
	if h.Status != 0 {
		status = strconv.Itoa(h.Status)
	}
	if h.Reason != "" {
		status += " " + string(h.Reason)
	}
	return fmt.Sprintf("%s  %s, %s", line(h.URL), status, ms(h.Took))
}

// applied is a rule and what it said.
type applied struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"`
}

// explain lists the rules in the order in which a page meets them, up to the one that ended the reading.
func explain(r *reading) []applied {
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
	add("kind", "read as %q", r.shown.Type)
	add("hidden", "%d characters that a reader could not have seen were dropped", r.shown.Hidden)
	for _, rule := range slices.Sorted(maps.Keys(r.removed)) {
		add("clean", "%s ×%d", rule, r.removed[rule])
	}
	return list
}

// passedBy says why a special reader did not read a page.
func passedBy(e *reader.Error) string { return e.Error() + ": " + e.Detail }

// passed is what the rules say that can end a reading, if they do not.
func passed(r *reading) []applied {
	address, led, declared, size := "", "nowhere else", "", 0
	if u, err := guard.Parse(r.asked); err == nil {
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

// refusedBy names the rule that a failure comes from; "" for none.
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

// record is a reading as JSON: the typed error alone if it failed, unless the rules were asked for, too.
func (f fetchCommand) record(r *reading) any {
	if r.Err != nil {
		if !f.Explain {
			return r.Err
		}
		return struct {
			*fetch.Error
			Rules []applied   `json:"rules"`
			Hops  []hopRecord `json:"hops"`
		}{r.Err, explain(r), hops(r.hops)}
	}
	g := r.shown
	return pageRecord{
		visited: r.visited(), Title: g.Title, Author: g.Author, Site: g.Site, Published: g.Published, Modified: g.Modified, Language: g.Language,
		Type: g.Type, Charset: r.charset, Low: g.Low, Hidden: g.Hidden, Removed: r.removed, Rules: explain(r), Hops: hops(r.hops),
		Markdown: r.shown.Markdown, Links: links(g.Links),
	}
}

// visited is where a page was read and how.
type visited struct {
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

func (r *reading) visited() visited {
	if d := r.Special; d != nil {
		return visited{URL: d.URL, Final: d.Final, Reader: d.Reader, Bytes: d.Bytes, SHA256: d.SHA256, Fetched: d.Fetched}
	}
	d, t := r.Fetched, r.Fetched.Timings
	v := visited{
		URL: d.URL, Final: d.Final, Status: d.Status, ContentType: d.ContentType, Bytes: len(d.Body), SHA256: d.SHA256(),
		LastModified: d.LastModified, Fetched: d.Fetched, Timings: map[string]float64{
			"dns": milliseconds(t.DNS), "connect": milliseconds(t.Connect), "tls": milliseconds(t.TLS),
			"header": milliseconds(t.Header), "body": milliseconds(t.Body), "total": milliseconds(d.Took),
		}, Cached: d.Cached,
	}
	if r.Passed != nil {
		v.Passed = passedBy(r.Passed)
	}
	return v
}

// pageRecord is the JSON of a page that was read.
type pageRecord struct {
	visited
	Title     string         `json:"title,omitempty"`
	Author    string         `json:"author,omitempty"`
	Site      string         `json:"site,omitempty"`
	Published time.Time      `json:"published,omitzero"`
	Modified  time.Time      `json:"modified,omitzero"`
	Language  string         `json:"language,omitempty"`
	Type      string         `json:"type"`
	Charset   string         `json:"declared_charset,omitempty"`
	Low       bool           `json:"low_content,omitempty"`
	Hidden    int            `json:"hidden"`            // characters
	Removed   map[string]int `json:"removed,omitempty"` // by the rules of cleaning
	Rules     []applied      `json:"rules"`
	Hops      []hopRecord    `json:"hops"`
	Markdown  string         `json:"markdown"`
	Links     []linkRecord   `json:"links"`
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
		out[i] = hopRecord{line(a.URL), a.Status, a.Reason, milliseconds(a.Took)}
	}
	return out
}

type linkRecord struct {
	URL  string `json:"url"`
	Text string `json:"text"`
}

func links(found []page.Link) []linkRecord {
	out := make([]linkRecord, len(found))
	for i, l := range found {
		out[i] = linkRecord{l.URL, l.Text}
	}
	return out
}
