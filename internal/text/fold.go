package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the key of a word: in lower case, without accents and, from five letters on, without a plural s. The words
// of tables are folded, too, so that one entry serves all forms.
func Fold(s string) string {
	s = strings.ToLower(s)
	if !ASCII(s) {
		s = Unaccented(s)
	}
	if len(s) > 4 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") && !strings.HasSuffix(s, "is") {
		s = s[:len(s)-1]
	}
	return s
}

// ASCII reports whether s has ASCII characters alone.
func ASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Unaccented drops combining marks from Latin, Greek and Cyrillic; other scripts need theirs.
func Unaccented(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if r < 0x300 || r > 0x36f {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// Unspaced reports whether s is of a script that puts no spaces between words, or glues particles to them.
func Unspaced(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul) {
			return true
		}
	}
	return false
}
