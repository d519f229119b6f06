// Package seal marks what strangers wrote where a model is shown it: between two tags whose name nobody knew before, and with a
// character in place of every space that stands nowhere else. A line of a text cannot end the block that it stands in, and no
// order in it looks like ours (rules P8, P9). It is pure but for the random numbers.
package seal

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Seal is what marks a block as ours: known to nobody before the texts in it were written.
type Seal struct {
	Nonce string // part of the tags' name
	Mark  rune   // stands for every white space of text from outside
}

// New returns a seal of which no text holds any part.
func New(texts []string) Seal {
	for {
		s := Seal{NewNonce(), newMark()}
		if !s.in(texts) {
			return s
		}
	}
}

func (s Seal) in(texts []string) bool {
	for _, t := range texts {
		if strings.ContainsRune(t, s.Mark) || strings.Contains(strings.ToLower(t), s.Nonce) {
			return true
		}
	}
	return false
}

// Marks are characters of the private use area, which cleaning leaves in no text. They are of those that the common vocabularies
// spell in two tokens; which one it is need not be a secret.
const firstMark, marks = 0xE000, 64

func newMark() rune {
	var b [1]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return firstMark + rune(b[0]%marks)
}

// MarkOf returns the mark of a text that is shown in more than one prompt, as the same bytes: it depends on when that was made.
func MarkOf(made time.Time) rune { return firstMark + rune(uint64(made.UnixNano()/1000)%marks) }

// NewNonce returns a name that no text can know: 80 bits, in letters and digits of lower case.
func NewNonce() string {
	var b [10]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// Line makes one line of text safe inside a block or an attribute of its delimiter.
func Line(s, nonce string) string {
	s = clean.Inert(text.OneLine(s), nonce)
	return strings.ReplaceAll(text.OneLine(s), `"`, "'")
}

// Quote writes one string from outside, on one line, so that it can be nothing but quoted words (P9, D1 to D6). Its own
// references go: they would be numbers of other sources here.
func (s Seal) Quote(words string) string {
	return clean.Mark(clean.Unreferenced(Line(words, s.Nonce)), s.Mark)
}
