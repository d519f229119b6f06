package evidence

import (
	"maps"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// MaxQuote is the length of a quote, in characters (rule P3).
const MaxQuote = 300

// Quote is a sentence of a page or a part of one, verbatim.
type Quote struct {
	Text          string
	Sentence      string // the whole sentence
	Line          int    // index in the page's lines; set by the caller that divides the page
	Before, After bool   // a part of the sentence before it, or after it, is left out
}

// Marked returns the quote with an ellipsis where a part of the sentence is left out.
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

// IsProse tells a sentence from a scrap of a menu. More than half of its characters are letters or digits. It is long enough, ends as a
// sentence, or gives a name its value.
func (q Quote) IsProse() bool {
	letters, all := 0, 0
	for _, r := range q.Text {
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters*2 > all && (all >= text.MinSentence || text.Unspaced(q.Text) || shortAnswer.MatchString(q.Text))
}

// shortAnswer matches a short sentence, a line of a configuration, and a row with a number. Examples are "Its default is 17.", "retries =
// 17" and "Width | 17 cm".
var shortAnswer = text.NewLazyRegexp(`^\pL\S* .*\pL\S* .*[\pL\d][.!]$|^[\pL_][\pL\d_. -]*\s*=\s*\S|^[\pL_][\pL\d_. -]*\s*[:|]\s*[^ ]*\d`)

const (
	// Sentences of at most longSentence bytes are not divided. No part is shorter than minPart bytes, because it would mean nothing by itself.
	longSentence = 200
	minPart      = 60
	// markRoom is room for the ellipses, in characters.
	markRoom = 2
)

// clauseEnd matches the end of a clause. After a comma, one of [adding] must follow.
var clauseEnd = text.NewLazyRegexp(`\s*[;:]\s+|\s+(?:--|–|—)\s+|\s*,\s+`)

var (
	// adding are words that add something after a comma. "If", "when" and "with" are not among them: they may limit what
	// precedes.
	adding = text.LazySet(func() text.WordList { return text.AllTables().Quote.Adding })
	// binding are words that affect the clauses on both sides: they limit, compare, or attribute.
	binding = text.LazySet(func() text.WordList { return text.AllTables().Quote.Binding })
	// leading are words that affect the clauses after theirs, such as "not".
	leading = sync.OnceValue(func() map[string]bool {
		all := text.Set(text.AllTables().Quote.Leading)
		maps.Copy(all, text.Negations())
		return all
	})
)

// span is a part of a sentence, in bytes.
type span struct{ from, to int }

// quotableClauses returns the parts of a sentence that may be quoted. They are all of it, or the clauses of a long one. Clauses that bind
// each other stay together. Nothing may be quoted of a sentence that is too long and cannot be divided.
func quotableClauses(sentence string) []Quote {
	if len(sentence) <= longSentence {
		return []Quote{{Text: sentence, Sentence: sentence}}
	}
	return parts(sentence)
}

// Quotable returns the longest parts of a sentence that may be quoted. They are all of it, or the clauses of one that is too long.
func Quotable(sentence string) []Quote {
	if quoteFits(sentence, span{0, len(sentence)}) {
		return []Quote{{Text: sentence, Sentence: sentence}}
	}
	return parts(sentence)
}

// ShortenQuote returns the quotable part of at most length words that has most of the wanted words. It returns the sentence if there is
// none.
func ShortenQuote(sentence string, length int, wanted map[string]bool) string {
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

// parts returns the quotable clauses of a sentence of any length.
func parts(sentence string) (out []Quote) {
	for _, c := range bound(sentence, splitClauses(sentence)) {
		for _, c := range divided(sentence, c) {
			if quoteFits(sentence, c) {
				out = append(out, Quote{Text: sentence[c.from:c.to], Sentence: sentence, Before: c.from > 0, After: c.to < len(sentence)})
			}
		}
	}
	return out
}

func quoteFits(s string, c span) bool {
	return c.to-c.from <= utf8.UTFMax*MaxQuote && utf8.RuneCountInString(s[c.from:c.to]) <= MaxQuote-markRoom
}

// splitClauses divides a sentence where something is added, but not within a range.
func splitClauses(s string) []span {
	var out []span
	from := 0
	for _, m := range clauseEnd.FindAllStringIndex(s, -1) {
		if m[0]-from < minPart || len(s)-m[0] < minPart || s[m[1]-2] == ',' && !adds(s[m[1]:]) || isRange(s, m[0], m[1]) {
			continue
		}
		out = append(out, span{from, m[0]})
		from = m[1]
	}
	return append(out, span{from, len(s)})
}

// isRange reports whether a dash is between two numbers or dates: "10 December 1815 – 27 November 1852".
func isRange(s string, end, begin int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:end])
	behind, _ := utf8.DecodeRuneInString(s[begin:])
	return unicode.IsDigit(before) && unicode.IsDigit(behind)
}

func adds(s string) bool {
	w, ok := text.WordBehind(s)
	return ok && adding()[w.Key]
}

// bound returns each clause with those that bind it, and all clauses between them.
func bound(s string, clauses []span) (out []span) {
	first, last, lead := -1, -1, -1 // the first and last clause that bind, and the first that leads
	for i, c := range clauses {
		words := text.Words(s[c.from:c.to])
		if text.ContainsAny(words, binding()) || len(Refutals().FindAll(s[c.from:c.to], words)) > 0 {
			if last = i; first < 0 {
				first = i
			}
		}
		if lead < 0 && text.ContainsAny(words, leading()) {
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
	bindingDistance = 6   // least distance, in words, of a cut in unpunctuated speech to a binding word
	minRun          = 120 // least length of such speech between cuts, in bytes
)

// punctuation has the marks of written sentences.
const punctuation = ".,;:!?…–—。！？、，"

// divided divides a clause that is too long if it is transcribed speech without punctuation. It cuts between words, far
// from binding ones.
func divided(s string, c span) []span {
	if quoteFits(s, c) || strings.ContainsAny(s, punctuation) {
		return []span{c}
	}
	words := text.Words(s[c.from:c.to])
	var out []span
	from, cut := 0, 0 // in bytes of the clause
	for i, w := range words {
		if !quoteFits(s, span{c.from + from, c.from + w.End}) && cut > from {
			out = append(out, span{c.from + from, c.from + cut})
			from = cut
			for from < c.to-c.from && !opensWord(s[c.from+from:]) {
				from++
			}
		}
		near := words[max(0, i-bindingDistance+1):min(len(words), i+bindingDistance+1)]
		if w.End-from >= minRun && !text.ContainsAny(near, binding()) && !text.ContainsAny(near, leading()) {
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

// The checks of a quote. A claim's Refused is one of these names.
const (
	checkPage    = "quote"   // it is on the page, white space aside
	checkLength  = "length"  // neither too short nor too long
	checkAddress = "address" // without URLs, mentions and markup
	checkOrder   = "order"   // it does not address a machine
)

const (
	minLength         = 12 // in characters; less says nothing unless it is a short answer
	minUnspacedLength = 4
)

// CheckQuote checks a quote on one line against its page, whose white space is folded. It returns the checks that passed
// and the first that failed, or "".
func CheckQuote(page, quote string) (passed []string, failed string) {
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{checkLength, func() bool { return lengthFits(quote) }},
		{checkAddress, func() bool { return !addressPattern.MatchString(quote) }},
		{checkOrder, func() bool { return !text.Orders(quote) }},
		{checkPage, func() bool { return strings.Contains(page, quote) }},
	} {
		if !c.ok() {
			return passed, c.name
		}
		passed = append(passed, c.name)
	}
	return passed, ""
}

func lengthFits(s string) bool {
	n := utf8.RuneCountInString(s)
	return n <= MaxQuote && (n >= minLength || shortAnswer.MatchString(s) || n >= minUnspacedLength && text.Unspaced(s))
}

// addressPattern matches addresses, mentions and markup. A host name alone may be a name: "Amazon.com".
var addressPattern = text.NewLazyRegexp(`(?i)://|\bwww\.|<[@#a-z/!]|\]\(|@everyone|@here|\b(?:javascript|data|mailto|file):|\bdiscord\.gg\b|` +
	`\b[\w-]+\.(?:com|net|org|io|gg|ru|xyz|top|app|dev|me|info)/`)
