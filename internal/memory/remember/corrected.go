package remember

import (
	"slices"
	"strings"
)

// Corrected makes a statement of an old one and of what is right instead. What says by itself who or what it is about stands for itself:
// "I'm vegan". What leans on the old statement takes its beginning: of "my birthday is 3 May" and "it's 4 May" that is "my birthday is 4 May".
func Corrected(old, right string) string {
	for _, v := range vocabularies {
		words := tokens(right)
		if v.unspaced || len(words) < 2 {
			continue
		}
		rest, leans := v.leaning(right, words)
		if !leans {
			continue
		}
		before := tokens(old)
		if i := slices.IndexFunc(before, func(w token) bool { return v.is[w.key] }); i > 0 {
			return old[:before[i].to] + rest
		}
	}
	if own, _ := About(right); own {
		return right
	}
	return right + " (≠ " + strings.TrimRight(old, ".") + ")"
}

// leaning returns what stands behind "it is", with the space before it, if a text begins so.
func (v *vocabulary) leaning(s string, words []token) (rest string, leans bool) {
	for _, p := range v.it {
		if n := prefix(words, p.keys); n > 0 && n < len(s) {
			return s[n:], true
		}
	}
	return "", false
}
