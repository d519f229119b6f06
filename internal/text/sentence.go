package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text/lang"
)

var sentEnd = regexp.MustCompile(`[.!?。！？…]+(?:\s+|$)|[。！？]|\n+`)

// MessageSentences cuts a message at its sentence ends, keeping the marks, and keeps the last eight: the question of
// a long message stands near its end.
func MessageSentences(text string) []string {
	var out []string
	for from := 0; from < len(text); {
		to := len(text)
		if m := sentEnd.FindStringIndex(text[from:]); m != nil {
			to = from + m[1]
		}
		s := strings.TrimSpace(text[from:to])
		if abbreviated(s) && to < len(text) {
			if m := sentEnd.FindStringIndex(text[to:]); m != nil {
				to += m[1]
			} else {
				to = len(text)
			}
			s = strings.TrimSpace(text[from:to])
		}
		if s != "" {
			out = append(out, s)
		}
		from = to
	}
	return out[max(0, len(out)-8):]
}

// abbreviated reports whether the dot that ends s belongs to a title or an initial.
func abbreviated(s string) bool {
	s, dot := strings.CutSuffix(s, ".")
	i := strings.LastIndexAny(s, " .")
	last := s[i+1:]
	return dot && (len(last) == 1 || titles[strings.ToLower(last)])
}

var titles = Set(lang.All().Grammar.Abbreviations)

// Sentences cuts a text into its sentences. A line's end ends a sentence; a dot does not behind an initial,
// an abbreviation or a number.
func Sentences(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		from := 0
		for i, r := range line {
			if !endsSentence(line, i, r) {
				continue
			}
			to := i + utf8.RuneLen(r)
			for to < len(line) { // closing quotes and brackets belong to it
				c, n := utf8.DecodeRuneInString(line[to:])
				if !strings.ContainsRune(`"'”’»)]`, c) {
					break
				}
				to += n
			}
			if to > from {
				out = appendTrimmed(out, line[from:to])
				from = to
			}
		}
		if from < len(line) {
			out = appendTrimmed(out, line[from:])
		}
	}
	return out
}

func appendTrimmed(out []string, s string) []string {
	if s = strings.TrimSpace(strings.TrimLeft(s, "•*-–|› \t")); s != "" {
		return append(out, s)
	}
	return out
}

// endsSentence reports whether the mark r at i ends a sentence.
func endsSentence(line string, i int, r rune) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?', '…':
	default:
		return false
	}
	rest := line[i+utf8.RuneLen(r):]
	after := strings.TrimLeft(rest, `"'”’»)]`)
	if after == "" {
		return true
	}
	if after[0] != ' ' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ` "'“‘«([`))
	if unicode.IsLower(next) {
		return false
	}
	return r != '.' || !abbreviated(strings.TrimSpace(line[max(0, i-12):i])+".")
}
