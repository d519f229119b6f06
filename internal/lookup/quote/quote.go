// Package quote decides what may be quoted of a page: whole sentences and, of long ones, parts that mean by themselves
// what they mean in their sentence. It has rules and no model. Whoever chooses quotes, a side model included, chooses among
// these and writes nothing.
//
// [Of] divides a sentence (cut.go). [Check] refuses what must not be shown, wherever it stands (check.go).
package quote

import (
	"unicode"

	"familiar/internal/text"
)

// MaxLength is how long a quote may be, in characters (rule P3).
const MaxLength = 300

// Quote is a sentence of a page, or a part of one, as it stands there.
type Quote struct {
	Text          string
	Sentence      string // all of it
	Line          int    // of the page's text, from 0; set by who divides the page
	Before, After bool   // something of the sentence stands before it, and behind it
}

// Marked returns the quote with the usual marks where something of the sentence is left out.
func (q Quote) Marked() string {
	s := q.Text
	if q.Before {
		s = "…" + s
	}
	if q.After {
		s += "…"
	}
	return s
}

// IsProse tells a sentence from a crumb of a menu or a table: it is long enough, and more than half of its characters are
// letters or digits.
func (q Quote) IsProse() bool {
	letters, all := 0, 0
	for _, r := range q.Text {
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters*2 > all && (all >= text.MinSentence || text.Unspaced(q.Text))
}
