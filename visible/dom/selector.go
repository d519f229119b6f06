package dom

import (
	"sync"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

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
