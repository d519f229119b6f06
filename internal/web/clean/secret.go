package clean

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Mask replaces a secret.
const Mask = "***"

// Lengths in bytes from which a value may be a real secret. Keys issued by services are longer than both; passwords may
// not be.
const (
	long  = 16 // any characters
	mixed = 12 // with letters and digits
)

// Protects reports whether a secret, without surrounding white space, is hidden. It must have at least 16 bytes, or at
// least 12 with both letters and digits.
func Protects(secret string) bool {
	secret = strings.TrimSpace(secret)
	return len(secret) >= long || isMixed(secret)
}

func isMixed(s string) bool {
	return len(s) >= mixed && strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit)
}

// Redactor replaces secrets. One is made at startup from all configured secrets. It finds a secret as written, and in the forms in which a
// hijacked model may try to leak it. Those are base64, hexadecimal and reversed. It searches the text as a person reads it (secretview.go).
// So no mark, space or code between the letters hides a secret.
//
// Values that are too short or too plain for a real secret are not hidden. Servers without keys are often given "ollama" or "secret" as
// one, and hiding such words would damage innocent text. [Protects] draws the line.
//
// It is immutable, safe for concurrent use and must not be copied. A nil or zero Redactor
// does nothing.
type Redactor struct {
	plain forms // as written
	dense forms // in the dense view
	shown forms // in the shown view

	bufs sync.Pool // of *[]byte, for views
}

// NewRedactor returns a redactor of the given secrets, except those that are too short for [Protects].
func NewRedactor(secrets ...string) *Redactor {
	var asIs, inDense, inShown []string
	for _, s := range secrets {
		if !Protects(s) {
			continue
		}
		s = strings.TrimSpace(s)
		coded := codedForms(s)
		asIs = append(append(asIs, s, reverse(s)), coded...)
		for _, f := range coded {
			if seen := string(dense.read(nil, f, nil, false).text); len(seen) >= mixed {
				inDense = append(inDense, seen)
			}
		}
		if seen := string(dense.read(nil, s, nil, false).text); isMixed(seen) {
			inDense = append(inDense, seen, reverse(seen))
		} else if seen := string(shown.read(nil, s, nil, false).text); len(seen) >= mixed {
			inShown = append(inShown, seen, reverse(seen)) // without the characters between them, words are ordinary words
		}
	}
	return &Redactor{plain: formsOf(asIs), dense: formsOf(inDense), shown: formsOf(inShown)}
}

// String returns s with every secret masked.
func (r *Redactor) String(s string) string {
	if !r.Found(s) {
		return s
	}
	var out strings.Builder
	copied := 0
	for _, at := range r.secretsIn(s) {
		out.WriteString(s[copied:at[0]] + Mask)
		copied = at[1]
	}
	return out.String() + s[copied:]
}

// Found reports whether s holds a secret in any form.
func (r *Redactor) Found(s string) bool {
	if r == nil || len(r.plain.all) == 0 {
		return false
	}
	if holds(s, &r.plain) {
		return true
	}
	found := false
	r.views(s, false, func(v view, forms *forms) bool {
		found = holds(v.text, forms)
		return !found
	})
	return found
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// codedForms returns the encodings of a secret.
func codedForms(s string) []string {
	h := hex.EncodeToString([]byte(s))
	return append([]string{h, strings.ToUpper(h)}, base64Forms([]byte(s))...)
}

// base64Forms returns the secret's encodings at each of the three alignments inside a longer text. They lack the characters at both ends,
// which depend on neighbours.
func base64Forms(b []byte) []string {
	var forms []string
	for shift := range 3 {
		padded := append(make([]byte, shift), b...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded)
			from, to := (shift*8+5)/6, len(padded)*8/6
			forms = append(forms, text[from:to])
		}
	}
	return forms
}

// forms is a set of texts of at least gramBytes that are searched together. Each occurrence has a gram that begins at a
// multiple of stride, so only those positions are checked.
type forms struct {
	all    []string
	stride int
	filter [1 << 10]uint64   // a bit per hash of a gram; false positives are rare
	grams  map[uint32][]gram // by their bytes
}

// gram is the position of four bytes in a form.
type gram struct{ form, at int }

const gramBytes = 4

func formsOf(all []string) forms {
	slices.Sort(all)
	f := forms{all: slices.Compact(all), grams: map[uint32][]gram{}}
	for n, form := range f.all {
		if most := len(form) - gramBytes + 1; n == 0 || most < f.stride {
			f.stride = most
		}
		for at := range len(form) - gramBytes + 1 {
			g := gramAt(form, at)
			word, bit := place(g)
			f.filter[word] |= bit
			f.grams[g] = append(f.grams[g], gram{n, at})
		}
	}
	return f
}

// place returns the position of a gram's bit, by a multiplicative hash.
func place(g uint32) (word int, bit uint64) {
	h := g * 0x9E3779B1 >> 16
	return int(h >> 6), 1 << (h & 63)
}

func gramAt[T string | []byte](text T, i int) uint32 {
	return uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24
}

// holds reports whether text contains one of the forms.
func holds[T string | []byte](text T, f *forms) bool {
	if len(f.all) == 0 {
		return false
	}
	for i := 0; i+gramBytes <= len(text); i += f.stride {
		g := gramAt(text, i)
		if word, bit := place(g); f.filter[word]&bit == 0 {
			continue
		}
		for _, found := range f.grams[g] {
			form := f.all[found.form]
			if from := i - found.at; from >= 0 && from+len(form) <= len(text) && string(text[from:from+len(form)]) == form {
				return true
			}
		}
	}
	return false
}
