// Package dom has small helpers for trees of golang.org/x/net/html. This file has attributes, kinds of elements, the words in class
// names, and selectors. text.go has the text below a node and its length.
package dom

import (
	"iter"
	"strings"
	"sync"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Attr returns the value of an attribute of n, and whether n has it.
func Attr(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// Children yields the children of n. The caller may remove or replace the yielded child.
func Children(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
			if next = c.NextSibling; !yield(c) {
				return
			}
		}
	}
}

// Rename turns n into another element.
func Rename(n *html.Node, a atom.Atom) { n.DataAtom, n.Data = a, a.String() }

// HeadingLevel returns the level of a heading, from 1 to 4, and 0 for any other element. <h5> and <h6> count as 4.
func HeadingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4, atom.H5, atom.H6:
		return 4
	}
	return 0
}

// IsVoid reports whether an element has no content and no end tag.
func IsVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// IsFormatting reports whether an element is in the HTML Standard's "list of active formatting elements".
func IsFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// IsInline reports whether an element does not break the line.
func IsInline(a atom.Atom) bool {
	switch a {
	case atom.Span, atom.Label, atom.Abbr, atom.Cite, atom.Q, atom.Sub, atom.Sup, atom.Time, atom.Mark, atom.Kbd, atom.Var, atom.Samp, atom.Wbr, atom.Img:
		return true
	}
	return IsFormatting(a)
}

// Limits of class names and ids. They are the bytes of a class attribute, the bytes of a name, and the words of a name. Longer attributes
// and names are not read.
const (
	maxClass     = 512
	MaxName      = 80
	maxNameWords = 8
)

// NameWords yields the first eight words of a class name or an id in lower case. Signs and capitals separate words. A
// number after a word is dropped. A part with a number inside is skipped: it is not a word but a piece of a key.
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

// NameEndsIn reports whether a class name or the id of n ends in one of words. The last two words of a name may together be
// one of them.
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

// WordSet returns the set of the words in a list that is separated by white space.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// Selector is a CSS selector that is parsed on first use. It is safe for concurrent use, and a matcher for goquery.
type Selector struct {
	text   string
	once   sync.Once
	parsed cascadia.Selector // written by once
}

// NewSelector returns a selector. If it is invalid, its first use panics, so a test must use it. It is inlined, so that the selectors of a
// package are data and need no work before main.
func NewSelector(text string) *Selector { return &Selector{text: text} }

func (s *Selector) selector() cascadia.Selector {
	s.once.Do(func() { s.parsed = cascadia.MustCompile(s.text) })
	return s.parsed
}

// Match reports whether the selector matches n.
func (s *Selector) Match(n *html.Node) bool { return s.selector().Match(n) }

// MatchAll returns the nodes at and below n that match.
func (s *Selector) MatchAll(n *html.Node) []*html.Node { return s.selector().MatchAll(n) }

// MatchFirst returns the first node at or below n that matches, or nil.
func (s *Selector) MatchFirst(n *html.Node) *html.Node { return s.selector().MatchFirst(n) }

// Filter returns those of some nodes that match.
func (s *Selector) Filter(nodes []*html.Node) []*html.Node { return s.selector().Filter(nodes) }
