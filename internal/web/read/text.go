package read

import (
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Text returns the clean text of a page's Markdown, without addresses and without text that is struck out. Of the marks,
// only those of headings, lists, quotations and tables remain, because they show what a sentence is. The report says
// what cleaning removed.
func Text(markdown string) (string, clean.Report) { return clean.Page(plain(markdown)) }

// Title returns a page's title, or one from a search service. It is one clean line of at most max characters without addresses.
func Title(s string, max int) string { return clean.Line(mdAuto.ReplaceAllString(s, ""), max) }

// Marks of Markdown that are not words. Addresses of links are removed with them, because no URL of a page is ever shown
// (P2).
var (
	mdImage  = text.NewLazyRegexp(`!\[[^\]\n]*\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdLink   = text.NewLazyRegexp(`\[([^\]\n]*)\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdAuto   = text.NewLazyRegexp(`(?i)<(?:https?|mailto):[^>\s]*>|(?:https?://|www\.)\S+`)
	mdStruck = text.NewLazyRegexp(`~~[^~\n]+~~`)
	mdStrong = text.NewLazyRegexp(`\*\*|__|~~`)
	mdEm     = text.NewLazyRegexp(`(^|[\s(“"'])[*_]([^\s*_][^*_\n]*)[*_]`)
	mdEscape = text.NewLazyRegexp(`\\([\\` + "`" + `*_{}\[\]()#+\-.!|<>~])`)
)

// plain returns the text of Markdown without its marks.
func plain(markdown string) string {
	s := markdown
	if strings.Contains(s, "](") {
		s = mdImage.ReplaceAllString(s, "")
		s = mdLink.ReplaceAllString(s, "$1")
	}
	s = plainLines(s)
	if strings.Contains(s, "~~") {
		s = mdStruck.ReplaceAllString(s, "")
	}
	if strings.ContainsAny(s, "*_~") {
		s = mdStrong.ReplaceAllString(s, "")
		s = mdEm.ReplaceAllString(s, "$1$2")
	}
	if strings.ContainsRune(s, '\\') {
		s = mdEscape.ReplaceAllString(s, "$1")
	}
	return s
}

// plainLines removes addresses, indentation and separator lines. Most lines contain no address, so the expression is
// only used if one is possible.
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
		b.WriteString(strings.TrimLeft(line, " "))
	}
	return b.String()
}

// maxTitle is the greatest length of a title in a record, in characters.
const maxTitle = 120

// Record returns the entry for the page in the record of a turn. It has its source, its metadata and, if it was read, its text.
func (p *Page) Record() turn.Page {
	from := p.Source()
	r := turn.Page{
		URL: p.URL, Final: from.Final, Site: hostOf(p.URL), Bytes: from.Bytes, SHA256: from.SHA256, Fetched: from.At, Cached: from.Cached, Took: p.Took,
		Title: Title(p.Extract.Title, maxTitle), Published: p.Extract.Published, Modified: p.Extract.Modified, Hidden: p.Extract.Hidden, Doubtful: p.Extract.Doubtful,
	}
	if host := hostOf(from.Final); host != "" {
		r.Site = host
	}
	if p.Special != nil {
		r.Via = p.Special.Reader + " reader"
	} else if p.Fetched != nil {
		r.Status = p.Fetched.Status
	}
	if p.Passed != nil {
		r.Passed = p.Passed.Error()
	}
	if e := p.Err; e != nil {
		r.Failure, r.Reason = e.Code, e.Reason
		if e.Status != 0 {
			r.Status = e.Status
		}
		return r
	}
	r.Text = p.Text
	return r
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
