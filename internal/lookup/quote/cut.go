package quote

import (
	"maps"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

const (
	// longSentence is the length, in bytes, up to which a sentence is not divided. leastPart is that of the shortest
	// part: less would say nothing by itself.
	longSentence = 200
	leastPart    = 60
	// room is what the marks of what is left out need, in characters.
	room = 2
)

// clauseEnd is where a clause may end. Behind a comma, one of [adding] must follow.
var clauseEnd = regexp.MustCompile(`\s*[;:]\s+|\s+(?:--|–|—)\s+|\s*,\s+`)

var (
	// adding are words by which something is added to what was said before a comma. "If", "when" or "with" are none: they
	// may limit it.
	adding = text.Set(lang.All().Quote.Adding)
	// binding are words that reach over both ends of their clause: they limit, compare, or say whose word it is.
	binding = text.Set(lang.All().Quote.Binding)
	// leading are words that reach over the end of their clause: a "not" may hold for what follows, too.
	leading = func() map[string]bool {
		all := text.Set(lang.All().Quote.Leading)
		maps.Copy(all, text.Negations)
		return all
	}()
	// refutals are phrases that take back what stands on both sides of them.
	refutals = text.CompileOne(lang.All().Claim.Refutals)
)

// span is a part of a sentence, in bytes.
type span struct{ from, to int }

// Of returns what may be quoted of a sentence: all of it, or the clauses of a long one, each with the other clauses that
// have a word which binds it. Nothing may be quoted of a sentence that is too long and cannot be divided.
func Of(sentence string) []Quote {
	if len(sentence) <= longSentence {
		return []Quote{{Text: sentence, Sentence: sentence}}
	}
	return parts(sentence)
}

// Longest returns what may be quoted of a sentence at once: all of it, or the clauses of one that is too long.
func Longest(sentence string) []Quote {
	if fits(sentence, span{0, len(sentence)}) {
		return []Quote{{Text: sentence, Sentence: sentence}}
	}
	return parts(sentence)
}

// Short returns what says most with some words, of what may be quoted of a sentence in at most so many words. If nothing
// may be, it returns the sentence.
func Short(sentence string, length int, wanted map[string]bool) string {
	if len(text.Words(sentence)) <= length {
		return sentence
	}
	short, most := sentence, -1
	for _, q := range parts(sentence) {
		words := text.Words(q.Text)
		if hits := count(words, wanted); len(words) <= length && hits > most {
			short, most = q.Text, hits
		}
	}
	return short
}

// parts returns the parts of a sentence, be it long or not.
func parts(sentence string) (out []Quote) {
	for _, c := range bound(sentence, clauses(sentence)) {
		for _, c := range divided(sentence, c) {
			if fits(sentence, c) {
				out = append(out, Quote{Text: sentence[c.from:c.to], Sentence: sentence, Before: c.from > 0, After: c.to < len(sentence)})
			}
		}
	}
	return out
}

func fits(s string, c span) bool {
	return c.to-c.from <= utf8.UTFMax*MaxLength && utf8.RuneCountInString(s[c.from:c.to]) <= MaxLength-room
}

// clauses divides a sentence where something is added to it, but not in a range.
func clauses(s string) []span {
	var out []span
	from := 0
	for _, m := range clauseEnd.FindAllStringIndex(s, -1) {
		if m[0]-from < leastPart || len(s)-m[0] < leastPart || s[m[1]-2] == ',' && !adds(s[m[1]:]) || isRange(s, m[0], m[1]) {
			continue
		}
		out = append(out, span{from, m[0]})
		from = m[1]
	}
	return append(out, span{from, len(s)})
}

// isRange reports whether a dash stands between two numbers or dates: "10 December 1815 – 27 November 1852".
func isRange(s string, end, begin int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:end])
	behind, _ := utf8.DecodeRuneInString(s[begin:])
	return unicode.IsDigit(before) && unicode.IsDigit(behind)
}

func adds(s string) bool {
	w, ok := text.WordBehind(s)
	return ok && adding[w.Key]
}

// bound returns each clause together with those that bind it, and all between them.
func bound(s string, clauses []span) (out []span) {
	first, last, lead := -1, -1, -1 // the clauses that bind, and the first one that does what follows
	for i, c := range clauses {
		words := text.Words(s[c.from:c.to])
		if text.ContainsAny(words, binding) || len(refutals.FindAll(s[c.from:c.to], words)) > 0 {
			if last = i; first < 0 {
				first = i
			}
		}
		if lead < 0 && text.ContainsAny(words, leading) {
			lead = i
		}
	}
	for i := range clauses {
		from, to := i, i
		if first >= 0 {
			from, to = min(i, first), max(i, last)
		}
		if lead >= 0 && lead < to {
			from = min(from, lead)
		}
		c := span{clauses[from].from, clauses[to].to}
		if len(out) == 0 || out[len(out)-1] != c {
			out = append(out, c)
		}
	}
	return out
}

const (
	apart    = 6   // words between a cut in speech without punctuation and the next word that binds
	leastRun = 120 // bytes of such speech between two cuts
)

// punctuation is what written language has in a sentence, or at its end.
const punctuation = ".,;:!?…–—。！？、，"

// divided divides a clause that is too long to be quoted, if it is speech that was written down without punctuation: at
// words, far from any that bind.
func divided(s string, c span) []span {
	if fits(s, c) || strings.ContainsAny(s, punctuation) {
		return []span{c}
	}
	words := text.Words(s[c.from:c.to])
	var out []span
	from, cut := 0, 0 // bytes of the clause
	for i, w := range words {
		if !fits(s, span{c.from + from, c.from + w.End}) && cut > from {
			out = append(out, span{c.from + from, c.from + cut})
			from = cut
			for from < c.to-c.from && !opensWord(s[c.from+from:]) {
				from++
			}
		}
		near := words[max(0, i-apart+1):min(len(words), i+apart+1)]
		if w.End-from >= leastRun && !text.ContainsAny(near, binding) && !text.ContainsAny(near, leading) {
			cut = w.End
		}
	}
	return append(out, span{c.from + from, c.to})
}

func opensWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return text.InWord(r)
}

func count(words []text.Word, wanted map[string]bool) (n int) {
	for _, w := range words {
		if wanted[w.Key] {
			n++
		}
	}
	return n
}
