// Package redact keeps secrets out of whatever leaves the program: logs, errors, records, replies.
//
// One [Redactor] is made at start-up from every configured secret and passed to whoever writes. It finds a
// secret as it is, and in the forms in which a hijacked model may try to smuggle it out: base64, hex, reversed. It looks
// for them in the text as a person reads it (view.go), so that no mark, space or code between the letters hides one.
//
// What is too short or too plain to be a real secret is not hidden: servers that need no key are given "ollama" or
// "secret" for one, and hiding such a word would mangle innocent text. [Protects] says where the line is.
package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Mask stands where a secret stood.
const Mask = "***"

// Lengths in bytes from which a value may be a real secret. Keys that services give out are longer than both;
// passwords that people choose may not be.
const (
	long  = 16 // of whatever it is made
	mixed = 12 // if there are letters and digits in it
)

// Protects reports whether a secret, less the white space around it, is hidden: one of at least 16 bytes, or of at
// least 12 with both letters and digits.
func Protects(secret string) bool {
	secret = strings.TrimSpace(secret)
	return len(secret) >= long || isMixed(secret)
}

func isMixed(s string) bool {
	return len(s) >= mixed && strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit)
}

// Redactor replaces secrets. It does not change, is safe for concurrent use and must not be copied; a nil or zero one redacts nothing.
type Redactor struct {
	plain forms // as they are
	dense forms // in the view of letters and digits
	shown forms // in the other view

	bufs sync.Pool // of *[]byte, for views
}

// New returns a redactor of those of the given secrets that it [Protects].
func New(secrets ...string) *Redactor {
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
			inShown = append(inShown, seen, reverse(seen)) // words without what stands between them are words
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

// codedForms returns a secret's encodings.
func codedForms(s string) []string {
	h := hex.EncodeToString([]byte(s))
	return append([]string{h, strings.ToUpper(h)}, base64Forms([]byte(s))...)
}

// base64Forms returns the secret's encodings at each of the three alignments that it can have inside a longer
// encoded text, less the characters at both ends that depend on its neighbours.
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
