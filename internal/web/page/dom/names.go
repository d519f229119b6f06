package dom

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// The names in a class attribute say something in words if the attribute is at most MaxClass bytes long, and a name at
// most MaxName bytes and maxNameWords words.
const (
	MaxClass     = 512
	MaxName      = 80
	maxNameWords = 8
)

// NameWords yields the words of a class name or an id in lower case. Signs and capitals separate them. A number may
// follow a word; a part with a number inside is no word but a piece of a key.
func NameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		left := maxNameWords
		for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c < 0x80 && !IsLetter(byte(c)) && !IsDigit(byte(c)) }) {
			part = strings.TrimRight(part, "0123456789")
			if strings.ContainsAny(part, "0123456789") {
				continue
			}
			start := 0
			for i := 1; i <= len(part); i++ {
				if i == len(part) || IsUpper(part[i]) && !IsUpper(part[i-1]) {
					if left--; left < 0 || !yield(strings.ToLower(part[start:i])) {
						return
					}
					start = i
				}
			}
		}
	}
}

// NameEndsIn reports whether one of the names of n, in its class or its id, ends in one of words. Two words may also be
// written as one.
func NameEndsIn(n *html.Node, words map[string]bool) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" || len(a.Val) > MaxClass {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			last, previous := "", ""
			if len(name) <= MaxName {
				for word := range NameWords(name) {
					last, previous = word, last
				}
			}
			if words[last] || previous != "" && words[previous+last] {
				return true
			}
		}
	}
	return false
}

// WordSet makes a set of a list of words with blanks between them.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
