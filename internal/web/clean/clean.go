// Package clean makes text from outside safe to show: to a model, to an operator, to a chat.
//
// It has three strengths, one on top of the other:
//
//   - Text takes out what a person cannot see and a model can: tags, variation selectors, zero-width and bidi
//     controls, encoded blobs. Words and scripts stay as they were written; nothing is transliterated.
//   - Inert, after Text, takes away the text's power to pass for something else: for our own delimiters, for a
//     chat template, for another speaker.
//   - Mark, last, writes a private sign in place of every white space, so that a model can tell quoted words
//     from words addressed to it.
//
// Line is Text for titles and the like. Reply is for the bot's own words: the same care, but an emoji may keep
// its sequence and a Persian word its joiner.
//
// Text, Inert and Reply run to a fixed point: applied to their own result they change nothing. Without
// that, taking one thing out could put another together ("<|im_<|x|>start|>").
//
// The rules are numbered as the project numbers them (T for text, D for delimiters), and a Report counts by
// those numbers. They read no web page: hidden elements are package page's business.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Report says how often each rule fired: "T1" to "T10", "D1" to "D4", "image", "script", "lookalike_delims".
// It is nil when nothing was done, and belongs to the caller.
type Report map[string]int

func (r *Report) add(rule string, n int) {
	if n == 0 {
		return
	}
	if *r == nil {
		*r = Report{}
	}
	(*r)[rule] += n
}

// rounds is how often a text may still change before it is taken for hostile. Honest text needs two.
const rounds = 16

// settle applies step until it changes nothing, and reports whether that was within rounds.
func settle(s string, step func(string) string) (string, bool) {
	for range rounds {
		before := s
		if s = step(s); s == before {
			return s, true
		}
	}
	return s, false
}

// Text cleans text from the web. It costs emoji their colour and Persian words their joiners, so it is not
// for what users wrote. Ordinary text comes back as the same string, without a copy.
func Text(s string) (string, Report) {
	var r Report
	s = text(bounded(s, &r), blockLength, &r)
	return s, r
}

// inputLength is how many bytes are looked at: many times what is shown, and little enough to look at often.
const inputLength = 1 << 20

func bounded(s string, r *Report) string {
	if len(s) <= inputLength {
		return s
	}
	r.add("T9", 1)
	end := inputLength
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func text(s string, most int, r *Report) string {
	s, _ = settle(s, func(s string) string {
		if plain(s, most) {
			return s
		}
		return layout(defuse(compose(fold(s, r, false), r), r), most, r)
	})
	return s
}

// Line cleans a title, a snippet or a name: Text's rules, white space folded into single blanks, at most max
// characters (code points), the last one "…" where something is missing. No max, or a negative one, gives "".
func Line(s string, max int) string {
	if max <= 0 {
		return ""
	}
	var r Report
	s, _ = settle(bounded(s, &r), func(s string) string {
		return strings.Join(strings.Fields(defuse(compose(fold(s, &r, false), &r), &r)), " ")
	})
	return shorten(s, max)
}

// Inert is Text, and then nothing in the result can close our block, open a chat template's turn, speak as
// somebody else at the start of a line, or repeat the nonce. An empty nonce is not looked for.
func Inert(s, nonce string) string {
	var r Report
	return inert(s, nonce, blockLength, &r)
}

// Page is Inert for the whole text of a page, which nobody is shown as it is: it may be as long as what is looked at. What was
// done to it is for the record.
func Page(s string) (string, Report) {
	var r Report
	s = inert(s, "", inputLength, &r)
	r.add("lookalike_delims", Lookalikes(s))
	return s, r
}

func inert(s, nonce string, most int, r *Report) string {
	step := func(s string) string { return disarm(text(s, most, r), nonce, r) }
	s, settled := settle(bounded(s, r), step)
	if settled {
		return s
	}
	// Still changing: tokens nested in tokens, more deeply than any accident. Without brackets there is
	// nothing left to nest, and the few turns that remain come to rest.
	s, _ = settle(strings.Map(unbracket, s), step)
	return s
}

// Mark writes mark, a private-use character drawn for this turn, in place of every white space. A mark that
// is there already is dropped first: Text leaves none, but titles may come by other ways.
func Mark(s string, mark rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == mark:
			return -1
		case unicode.IsSpace(r):
			return mark
		}
		return r
	}, s)
}

// Reply cleans what the bot is about to send, so that it cannot carry hidden text to people or other bots.
// Emoji sequences, flags, keycaps and the joiners that Arabic and Indic words are written with stay; lengths
// and encoded data are not judged.
func Reply(s string) (string, Report) {
	var r Report
	s, _ = settle(s, func(s string) string {
		if plainASCII(s) {
			return s
		}
		return compose(fold(s, &r, true), &r)
	})
	return s, r
}

// marksInARow is how many combining marks may follow one another. No living script needs more; Zalgo does.
const marksInARow = 4

// compose is T8: canonical composition, and no towers of combining marks.
func compose(s string, r *Report) string {
	if strings.IndexFunc(s, func(c rune) bool { return !starts(c) }) < 0 {
		return s
	}
	run := 0
	return strings.Map(func(c rune) rune {
		if run = nextRun(run, c); run > marksInARow {
			r.add("T8", 1)
			return gone
		}
		return c
	}, norm.NFC.String(s))
}

func hasExcessMarks(s string) bool {
	run := 0
	return strings.ContainsFunc(s, func(c rune) bool {
		run = nextRun(run, c)
		return run > marksInARow
	})
}

// nextRun is the number of marks in a row after c, given that there were run before it.
func nextRun(run int, c rune) int {
	if c < 0x300 || common(c) || !unicode.Is(unicode.M, c) {
		return 0
	}
	return run + 1
}
