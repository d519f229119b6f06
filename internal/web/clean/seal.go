package clean

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// Seal is what marks a block of text from outside as ours: known to nobody before the text was there.
type Seal struct {
	Nonce string // in the names of the block's tags
	Mark  rune   // stands for every white space of the text
}

// NewSeal returns a seal of which no text holds any part.
func NewSeal(texts []string) Seal {
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

// NewNonce returns a name that no text can know: 80 bits, in letters and digits of lower case.
func NewNonce() string {
	var b [10]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// newMark returns a character of the private use area, which cleaning leaves in no text. It is one of those that
// the common vocabularies spell in two tokens; it need not be a secret.
func newMark() rune {
	const first, count = 0xE000, 64
	var b [1]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return first + rune(b[0]%count)
}

// Datamark writes one string from outside, on one line, so that it can be nothing but quoted words (P9, D1 to D6). Its own
// references go: they would be numbers of other sources here.
func (s Seal) Datamark(text string) string {
	return Mark(Unreferenced(InertLine(text, s.Nonce)), s.Mark)
}

// InertLine is [Inert] for one line of text inside a block or an attribute of its delimiter.
func InertLine(s, nonce string) string {
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	s, _ = Inert(oneLine(s), nonce)
	return strings.ReplaceAll(oneLine(s), `"`, "'")
}
