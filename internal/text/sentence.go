package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"familiar/internal/text/lang"
)

// Sentences returns the sentences of a page's text, without the bullets before them. A line's end ends a sentence. A
// dot before a small letter does not, nor does one behind an abbreviation or an initial.
func Sentences(s string) []string {
	var out []string
	for from, to := range sentenceSpans(s, true) {
		if sentence := strings.TrimSpace(strings.TrimLeft(s[from:to], "•*-–|›# \t")); sentence != "" {
			out = append(out, sentence)
		}
	}
	return out
}

// mostSentences is how many of a message's sentences are looked at: its question stands near its end.
const mostSentences = 8

// MessageSentences returns the last sentences of a message. In chat, a sentence may begin with a small letter.
func MessageSentences(s string) []string {
	var out []string
	for from, to := range sentenceSpans(s, false) {
		if sentence := strings.TrimSpace(s[from:to]); sentence != "" {
			out = append(out, sentence)
		}
	}
	return out[max(0, len(out)-mostSentences):]
}

// SentenceEnds yields the places, in bytes, where a message can be cut between two sentences, and its end. The white
// space behind a sentence is before the cut.
func SentenceEnds(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, to := range sentenceSpans(s, false) {
			if !yield(to) {
				return
			}
		}
	}
}

// MinSentence is the length, in characters, of the shortest text that counts as a sentence of a page: what is shorter
// is a heading or a crumb of a menu.
const MinSentence = 20

// closing are the quotes and brackets that may stand behind the mark that ends a sentence, and opening those before
// the next one.
const closing, opening = `"'”’»)]`, ` "'“‘«([`

// sentenceSpans cuts a text by the rules of Unicode Standard Annex 29, less the cuts that [endsSentence] takes back,
// and yields where each sentence begins and ends. Together they are the whole text.
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

// capitals writes s in capitals, letter by letter as long as before. The annex lets the case of the next letter decide
// whether a dot ends a sentence (rule SB8), and looks for that letter beyond digits and brackets: "in 1999. 12 people"
// would be one sentence, and so would most messages. Here, endsSentence looks at the case instead. The ellipsis, which
// ends no sentence by the annex, becomes a mark that does.
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

// endsSentence reports whether a sentence ends with s, a mark being there, and another begins with next. In prose a
// small letter goes on with the sentence.
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

// abbreviated reports whether the dot that ends s belongs to a title, an abbreviation, an initial or a single digit: "3. Mai".
func abbreviated(s string) bool {
	s = strings.TrimRight(strings.TrimSuffix(s, "."), " ")
	last := s[strings.LastIndexAny(s, " .")+1:]
	first, size := utf8.DecodeRuneInString(last)
	return size == len(last) && InWord(first) || titles[strings.ToLower(last)]
}

var titles = Set(lang.All().Grammar.Abbreviations)
