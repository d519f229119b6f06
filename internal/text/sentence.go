package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Sentences returns the sentences of a page's text, without bullets. A line break ends a sentence. A dot before a
// lower-case letter, or after an abbreviation or an initial, does not.
func Sentences(s string) []string {
	var out []string
	for from, to := range sentenceSpans(s, true) {
		if sentence := strings.TrimSpace(strings.TrimLeft(s[from:to], "•*-–|›# \t")); sentence != "" {
			out = append(out, sentence)
		}
	}
	return out
}

// mostSentences is how many sentences of a message are examined. Its question is usually near the end.
const mostSentences = 8

// MessageSentences returns the last sentences of a message. In chat, a sentence may begin with a lower-case letter.
func MessageSentences(s string) []string {
	var out []string
	for from, to := range sentenceSpans(s, false) {
		if sentence := strings.TrimSpace(s[from:to]); sentence != "" {
			out = append(out, sentence)
		}
	}
	return out[max(0, len(out)-mostSentences):]
}

// SentenceEnds yields the byte offsets between two sentences of a message, and its end. White space after a sentence is
// before the cut.
func SentenceEnds(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, to := range sentenceSpans(s, false) {
			if !yield(to) {
				return
			}
		}
	}
}

// MinSentence is the length in characters of the shortest sentence of a page. Shorter text is a heading or part of a
// menu.
const MinSentence = 20

// closing are quotes and brackets that may follow the end of a sentence; opening may precede the next one.
const closing, opening = `"'”’»)]`, ` "'“‘«([`

// sentenceSpans cuts a text by Unicode Standard Annex 29, except where [endsSentence] disagrees. It yields the start and end of each
// sentence. Together the sentences are the whole text.
func sentenceSpans(s string, prose bool) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := 0
		for segments := sentences.FromBytes(capitals(s)); segments.Next(); {
			if to := segments.End(); to == len(s) || endsSentence(s[from:to], s[to:], prose) {
				if !yield(from, to) {
					return
				}
				from = to
			}
		}
	}
}

// capitals returns s in upper case, with each letter as long as before. By the annex, the case of the next letter decides whether a dot
// ends a sentence (rule SB8). That holds even beyond digits and brackets. "in 1999. 12 people" would be one sentence, and so would most
// messages, so endsSentence checks the case instead. The ellipsis, which by the annex ends no sentence, becomes a mark that does.
func capitals(s string) []byte {
	b := []byte(s)
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			if 'a' <= b[i] && b[i] <= 'z' {
				b[i] -= 'a' - 'A'
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		upper := unicode.ToUpper(r)
		if r == '…' {
			upper = '‼'
		}
		if upper != r && utf8.RuneLen(upper) == n {
			utf8.EncodeRune(b[i:], upper)
		}
		i += n
	}
	return b
}

// endsSentence reports whether a sentence with a final mark ends at the end of s. next is the text that follows. In
// prose, a lower-case letter continues the sentence.
func endsSentence(s, next string, prose bool) bool {
	said := strings.TrimRight(s, " \t")
	if strings.HasSuffix(said, "\n") || strings.HasSuffix(said, "\r") {
		return true
	}
	spaced := len(said) < len(s)
	said = strings.TrimRight(said, closing)
	switch mark, _ := utf8.DecodeLastRuneInString(said); {
	case mark == '。', mark == '！', mark == '？':
		return true
	case !spaced:
		return false
	case mark == '.' && abbreviated(said):
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, opening))
	return !prose || !unicode.IsLower(first)
}

// abbreviated reports whether the final dot of s belongs to a title, an abbreviation, an initial or a single digit. An example is "3. Mai".
func abbreviated(s string) bool {
	s = strings.TrimRight(strings.TrimSuffix(s, "."), " ")
	last := s[strings.LastIndexAny(s, " .")+1:]
	first, size := utf8.DecodeRuneInString(last)
	return size == len(last) && InWord(first) || titles()[strings.ToLower(last)]
}

var titles = LazySet(func() WordList { return AllTables().Grammar.Abbreviations })

// OneLine replaces each run of white space by one space and trims the ends.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Truncate shortens s to at most n characters, at the end of a word if possible.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			short := s[:i]
			if blank := strings.LastIndexByte(short, ' '); blank > len(short)/2 {
				short = short[:blank]
			}
			return strings.TrimSpace(short)
		}
	}
	return s
}

// orderly matches sentences that address a machine rather than a reader. It is not a defence, because other wordings pass. It keeps the
// crudest noise out of a block that is safe without it. It lets the record say that a page tried. It looks for orders about orders. So a
// text about a system prompt, or one that asks to ignore an e-mail, does not match.
var orderly = LazyRegexpOf(func() string { return `(?i)` + AllTables().Clean.Orders.String() })

// Orders reports whether a text looks like orders to a machine. It is only a hint, and changes no text.
func Orders(s string) bool { return orderly.MatchString(s) }

// Hanging wraps a line at width and indents the following lines. A word that is longer than width stays whole. A width
// of 0 means no wrapping.
func Hanging(line string, indent, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case word != "" && column+1+n > width && column > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
