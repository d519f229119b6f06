package clean

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"familiar/internal/text"
)

// Seal marks what strangers wrote where a model is shown it. The text is between two tags with an unpredictable name,
// and an unpredictable character replaces its spaces. So no line of the text can end its block, and no order in it looks
// like ours (rules P8, P9).
type Seal struct {
	Nonce string // part of the names of the tags
	Mark  rune   // replaces all white space in text from outside
}

// NewSeal returns a seal with no part that occurs in texts.
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

// Marks are private-use characters, which cleaning removes from every text. Common vocabularies spell these in two
// tokens. The choice need not be secret.
const firstMark, marks = 0xE000, 64

func newMark() rune {
	var b [1]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return firstMark + rune(b[0]%marks)
}

// MarkOf returns the mark for a text that is shown in several prompts and must have the same bytes in each. It depends
// on when the text was made.
func MarkOf(made time.Time) rune { return firstMark + rune(uint64(made.UnixNano()/1000)%marks) }

// NewNonce returns an unpredictable name: 80 bits, as lower-case letters and digits.
func NewNonce() string {
	var b [10]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// Tagged puts a text between two tags that it cannot contain. The text must be inert with the nonce.
func Tagged(name, nonce, text string) string {
	return "<" + name + "-" + nonce + ">\n" + text + "\n</" + name + "-" + nonce + ">"
}

// InertLine makes a text inert and puts it on one line. The result is safe inside a block and in an attribute of its
// tag.
func InertLine(s, nonce string) string {
	s = Inert(text.OneLine(s), nonce)
	return strings.ReplaceAll(text.OneLine(s), `"`, "'")
}

// Quote writes a text from outside on one line, so that it can only be quoted words (P9, D1 to D6). It removes the
// text's own references, because their numbers would name other sources.
func (s Seal) Quote(words string) string {
	return withMark(Unreferenced(InertLine(words, s.Nonce)), s.Mark)
}
