package dom

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// The names in a class are read if it is at most maxClass bytes long, and the words of a name if it is at most MaxName
// bytes long and for maxNameWords words.
const (
	maxClass     = 512
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

// AnyName reports whether f holds for one of the names in the class and the id of n.
func AnyName(n *html.Node, f func(name string) bool) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" || len(a.Val) > maxClass {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			if f(name) {
				return true
			}
		}
	}
	return false
}

// NameEndsIn reports whether a name of n ends in one of words. Two words may also be written as one.
func NameEndsIn(n *html.Node, words map[string]bool) bool {
	return AnyName(n, func(name string) bool { return endsIn(name, words) })
}

func endsIn(name string, words map[string]bool) bool {
	if len(name) > MaxName {
		return false
	}
	last, previous := "", ""
	for word := range NameWords(name) {
		last, previous = word, last
	}
	return words[last] || previous != "" && words[previous+last]
}

// WordSet makes a set of a list of words with blanks between them.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
