package followup

import (
	"strings"
	"unicode"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
)

// cell is the smallest piece of a text that is replaced or kept: a word, and in scripts without spaces what is of one kind, or a character.
type cell struct {
	key        string
	start, end int // bytes
	role       role
	kinds      kindSet
	glued      bool // no space stands before it
}

// role is what a cell does in a question.
type role int

const (
	fresh    role = iota // no table has it: most often what the question is about
	named                // it has a capital
	number               //
	moment               // a time
	inquires             // it says what is asked: "who", "how many"
	known                // another word of the tables: "weather"
	filler               // it says nothing by itself: "the"
	roles
)

// cells cuts a text. The words of context help to tell the language, which is returned.
func cells(s, context string) (all []cell, language string) {
	if text.Unspaced(s) {
		return unspacedCells(s, context)
	}
	words := text.Words(s)
	found := need.KindsIn(s, words, true, context)
	for i, w := range words {
		if i > 0 && text.SameWord(words[i-1], w) {
			continue // the second half of a contraction
		}
		kinds := kindsOf(found.Kinds[i])
		all = append(all, cell{key: w.Key, start: w.Start, end: w.End, kinds: kinds, role: roleOf(w, i, kinds)})
	}
	for i := range words { // times that are more than a word
		if n := timeAt(words, i); n > 0 {
			for j := range all {
				if words[i].Start <= all[j].start && all[j].end <= words[i+n-1].End {
					all[j].role = moment
				}
			}
		}
	}
	return all, found.Language
}

func roleOf(w text.Word, at int, kinds kindSet) role {
	switch {
	case kinds&momentKinds != 0, len(w.Key) == 4 && text.YearPattern.MatchString(w.Key):
		return moment
	case text.Numeric(w.Key):
		return number
	case w.Upper && at > 0 && w.Key != "i":
		return named
	case kinds&askingKinds != 0:
		return inquires
	case isFiller(w):
		return filler
	case kinds != 0:
		return known
	}
	return fresh
}

// isFiller reports whether a word says nothing by itself.
func isFiller(w text.Word) bool {
	return text.StopWords[w.Key] || text.Prepositions[w.Key] || articles[w.Key] || len([]rune(w.Key)) <= 2 && !text.Numeric(w.Key)
}

// particles stand between what a text says, and no table has them.
const particles = "はがをにでとものへや的吗呢了是在"

// unspacedCells cuts a text of a script without spaces where the kind of what is written changes. Of what no table knows each ideograph is a
// cell.
func unspacedCells(s, context string) (all []cell, language string) {
	found := need.KindsIn(s, nil, false, context)
	at, before, spaced := 0, rune(0), true
	for i, r := range s {
		kinds := kindsOf(found.Kinds[at])
		at++
		if !text.InWord(r) && r != 'ー' {
			before, spaced = 0, true
			continue
		}
		end := i + len(string(r))
		if n := len(all); n > 0 && before != 0 && joins(before, r, all[n-1].kinds, kinds) {
			all[n-1].end = end
			all[n-1].kinds |= kinds
		} else {
			all = append(all, cell{start: i, end: end, kinds: kinds, glued: !spaced})
		}
		before, spaced = r, false
	}
	for i := range all {
		c := &all[i]
		c.key = strings.ToLower(s[c.start:c.end])
		switch runes := []rune(c.key); {
		case c.kinds&momentKinds != 0, text.YearPattern.MatchString(c.key):
			c.role = moment
		case unicode.IsDigit(runes[0]):
			c.role = number
		case c.kinds&askingKinds != 0:
			c.role = inquires
		case c.kinds != 0:
			c.role = known
		case len(runes) == 1 && strings.ContainsRune(particles, runes[0]):
			c.role = filler
		}
	}
	return all, found.Language
}

// joins reports whether a character goes on with the cell before it.
func joins(before, r rune, left, right kindSet) bool {
	switch {
	case unicode.Is(unicode.Hangul, r) || unicode.Is(unicode.Hangul, before):
		return unicode.IsLetter(before) == unicode.IsLetter(r) || unicode.IsDigit(before) // a word, whatever is known of its parts
	case left != 0 || right != 0:
		return left == right
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return false
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return unicode.Is(unicode.Katakana, before) || before == 'ー'
	}
	return r < 0x3000 && before < 0x3000 // Latin letters and digits
}
