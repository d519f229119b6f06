package read

import (
	"regexp"
	"strings"

	"familiar/internal/web/clean"
)

// Text is what is read of a page's Markdown: its words without addresses, without what is struck out and without marks, but for
// those of headings, lists, quotations and tables, which tell what a sentence is on the page. It is inert. The report says what
// cleaning took out.
func Text(markdown string) (string, clean.Report) { return clean.Page(plain(markdown)) }

// Title is a page's title, or what a search service gives as one: one clean line of at most max characters. An address in
// it goes, as everywhere.
func Title(s string, max int) string { return clean.Line(mdAuto.ReplaceAllString(s, ""), max) }

// The marks of Markdown that are not words. Addresses of links go with them: no URL of a page is ever shown (P2).
var (
	mdImage  = regexp.MustCompile(`!\[[^\]\n]*\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdLink   = regexp.MustCompile(`\[([^\]\n]*)\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s+"[^"]*")?\)`)
	mdAuto   = regexp.MustCompile(`(?i)<(?:https?|mailto):[^>\s]*>|(?:https?://|www\.)\S+`)
	mdStruck = regexp.MustCompile(`~~[^~\n]+~~`)
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

// plainLines takes addresses, indentation and the lines between parts out. A line has none as a rule: the
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
		b.WriteString(strings.TrimLeft(line, " "))
	}
	return b.String()
}
