package evidence

import (
	"regexp"
	"unicode/utf8"

	"familiar/internal/lookup/claim"
	"familiar/internal/text"
)

const (
	// longSentence is the length, in characters, from which on a sentence is quoted in parts. leastPart is that of a
	// part: less would say nothing by itself.
	longSentence = 200
	leastPart    = 60
)

// partEnd is where a sentence can be cut without turning its meaning: before something that is added. It cannot where
// the rest takes back what stands before it: not before "but", "although" or "unless".
var partEnd = regexp.MustCompile(`\s*;\s+|\s*:\s+|\s+--\s+|\s*,\s+(?:which|who|whose|where|when|and|with|after|before|as|including|such)\s`)

// part is a sentence or a part of one, as it stands in the text.
type part struct {
	Text       string
	whole      string // the sentence
	cut, ended bool   // something of the sentence stands before it, and behind it
}

// parts cuts a long sentence where something is added to it.
func parts(s string) []part {
	if len(s) <= longSentence {
		return []part{{Text: s, whole: s}}
	}
	var out []part
	from := 0
	add := func(to int) {
		out = append(out, part{Text: s[from:to], whole: s, cut: from > 0, ended: to < len(s)})
	}
	for _, m := range partEnd.FindAllStringIndex(s, -1) {
		if m[0]-from < leastPart || len(s)-m[0] < leastPart {
			continue
		}
		add(m[0])
		for from = m[0]; from < m[1] && !opensWord(s[from:]); from++ {
		}
	}
	add(len(s))
	for i := range out {
		if p := &out[i]; utf8.RuneCountInString(p.Text) > claim.MaxLength-2 { // room for the marks of what is left out
			p.Text, p.ended = text.Truncate(p.Text, claim.MaxLength-2), true
		}
	}
	return out
}

func opensWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return text.InWord(r)
}

// shown is the part with the usual marks where something of the sentence is missing.
func (p part) shown() string {
	text := p.Text
	if p.cut {
		text = "…" + text
	}
	if p.ended {
		text += "…"
	}
	return text
}
