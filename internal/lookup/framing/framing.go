// Package framing tells what a sentence is on its page: under which headings it stands, in which table, whose word it is, and
// whether the page itself says that it is not so. A true quote misleads without what denies it. The rules are of words and
// structure, without a model; where they see nothing, a sentence is taken for what the page says.
//
// [Read] divides a page's text into lines by the marks that the conversion to text leaves (outline.go). [Page.At] looks at one
// sentence: at what denies it, from near to far (denial.go, refute.go), and at its role (role.go). The words are in lexicon.go.
package framing

import (
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Source is a page as it was read.
type Source struct {
	Title, Text string
	Forum       bool      // users wrote all of it
	Published   time.Time // zero: unknown
}

// Page is a page whose sentences can be looked at. It is not safe for concurrent use.
type Page struct {
	lines []line
	title string
	role  turn.Role // of all of it
}

// Read prepares a page. It takes time in proportion to the length of the text, whose lines are short, as cleaning leaves them.
func Read(s Source) *Page {
	p := &Page{lines: outline(s.Text), title: s.Title}
	p.role = p.pageRole(s)
	return p
}

// At returns the framing of a sentence, or of a part of one, that stands in a line of the text, counted from 0.
func (p *Page) At(number int, sentence string) turn.Framing {
	if p == nil || number < 0 || number >= len(p.lines) {
		return turn.Framing{}
	}
	l := &p.lines[number]
	f := turn.Framing{Path: l.heading.path(), Role: p.roleOf(l)}
	if l.kind == tableRow && l.table.header != number {
		f.Header = l.table.columns
	}
	at := place{p: p, line: number, sentence: l.find(sentence)}
	if f.Denied, f.Words = at.denial(); f.Denied == "" && f.Words != "" {
		f.Under, f.Words = f.Words, ""
	}
	if f.Denied == "" && l.heading != nil && strings.HasSuffix(l.heading.text, "?") && answers(sentence) {
		f.Question = l.heading.text
	}
	return f
}

// answers reports whether a sentence begins with "yes" or "no".
func answers(sentence string) bool {
	words := text.Words(sentence)
	return len(words) > 0 && yesNo[words[0].Key]
}

// maxWords is how much of a page's words a framing carries at most, in characters.
const maxWords = 120

func clip(s string) string { return text.Truncate(text.OneLine(s), maxWords) }
