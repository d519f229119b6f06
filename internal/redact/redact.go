// Package redact keeps secrets out of whatever leaves the program: logs, errors, records, replies.
//
// One [Redactor] is made at start-up from every configured secret and passed to whoever writes. It finds a
// secret as it is, and in the forms in which a hijacked model may try to smuggle it out: base64, hex, reversed.
//
// What is too short or too plain to be a real secret is not hidden: servers that need no key are given "ollama" or
// "secret" for one, and hiding such a word would mangle innocent text. [Protects] says where the line is.
package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
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
	return len(secret) >= long ||
		len(secret) >= mixed && strings.ContainsFunc(secret, unicode.IsLetter) && strings.ContainsFunc(secret, unicode.IsDigit)
}

// Redactor replaces secrets. It is immutable and safe for concurrent use; a nil or zero one redacts nothing.
type Redactor struct {
	forms    []string // longest first, so that a form which holds another goes whole
	replacer *strings.Replacer
}

// New returns a redactor of those of the given secrets that it [Protects].
func New(secrets ...string) *Redactor {
	var forms []string
	for _, s := range secrets {
		if Protects(s) {
			forms = append(forms, formsOf(strings.TrimSpace(s))...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Mask)
	}
	return &Redactor{forms: forms, replacer: strings.NewReplacer(pairs...)}
}

// String returns s with every secret masked.
func (r *Redactor) String(s string) string {
	if !r.Found(s) {
		return s
	}
	return r.replacer.Replace(s)
}

// Found reports whether s holds a secret in any form.
func (r *Redactor) Found(s string) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.forms, func(f string) bool { return strings.Contains(s, f) })
}

func formsOf(s string) []string {
	b := []byte(s)
	reversed := slices.Clone(b)
	slices.Reverse(reversed)
	h := hex.EncodeToString(b)
	return append([]string{s, string(reversed), h, strings.ToUpper(h)}, base64Forms(b)...)
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
