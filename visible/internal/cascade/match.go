package cascade

import (
	"strings"

	"golang.org/x/net/html"
)

// matcher matches elements with selectors and counts its work.
type matcher struct {
	steps  int
	quirks bool
	scope  *html.Node // :scope; nil for the root
	host   *html.Node // :host

	positions map[*html.Node]position
	selected  map[listed]position
	earlier   map[siblings]*progress
	holders   map[*selector]map[*html.Node]bool // the elements that contain one that a selector in :has selects
}

// siblings identifies a search for an earlier sibling that matches a part of a selector.
type siblings struct {
	s      *selector
	i      int
	parent *html.Node
}

// progress is the state of such a search.
type progress struct {
	at    *html.Node // the last sibling that was compared
	first *html.Node // the first sibling that matched
}

// outcome says where a search may go on after a comparison.
type outcome byte

const (
	matched  outcome = iota
	mismatch         // another ancestor or sibling may match
	noParent         // no farther ancestor can match
)

func (m *matcher) any(list []selector, n *html.Node) bool {
	for i := range list {
		if m.selects(&list[i], n) {
			return true
		}
	}
	return false
}

// selects reports whether a selector selects an element.
func (m *matcher) selects(s *selector, n *html.Node) bool {
	return m.from(s, 0, n) == matched
}

// from compares n with parts[i], and the elements around n with the parts after it. Like browsers, it tells failures
// apart, so that it does not try a combinator again where it cannot succeed.
func (m *matcher) from(s *selector, i int, n *html.Node) outcome {
	if m.steps++; !m.compound(&s.parts[i], n) {
		return mismatch
	}
	if i+1 == len(s.parts) {
		return matched
	}
	switch s.combinators[i] {
	case '>':
		if p := parentElement(n); p != nil {
			if got := m.from(s, i+1, p); got != mismatch {
				return got
			}
			return mismatch
		}
		return noParent
	case '+':
		if p := previousElement(n); p != nil {
			return m.from(s, i+1, p)
		}
		return mismatch
	case '~':
		if m.earlierSibling(s, i+1, n) {
			return matched
		}
		return mismatch
	}
	for p := parentElement(n); p != nil; p = parentElement(p) {
		if got := m.from(s, i+1, p); got != mismatch {
			return got
		}
	}
	return noParent
}

// earlierSibling reports whether parts[i] and the parts after it match a sibling before n. It compares each sibling once.
func (m *matcher) earlierSibling(s *selector, i int, n *html.Node) bool {
	if n.Parent == nil || n.Parent.FirstChild == nil || m.scope != nil { // without a tree, no siblings are known
		for p := previousElement(n); p != nil; p = previousElement(p) {
			if m.from(s, i, p) == matched {
				return true
			}
		}
		return false
	}
	if m.earlier == nil {
		m.earlier = map[siblings]*progress{}
	}
	at := siblings{s, i, n.Parent}
	known := m.earlier[at]
	if known == nil {
		known = &progress{}
		m.earlier[at] = known
	}
	here := m.position(n).first
	for known.first == nil && (known.at == nil || m.position(known.at).first < here-1) {
		next := known.at
		if next == nil {
			for next = n.Parent.FirstChild; next.Type != html.ElementNode; next = next.NextSibling {
			}
		} else {
			next = nextElement(next)
		}
		if next == n {
			break
		}
		if known.at = next; m.from(s, i, next) == matched {
			known.first = next
		}
	}
	return known.first != nil && m.position(known.first).first < here
}

func parentElement(n *html.Node) *html.Node {
	if n.Parent != nil && n.Parent.Type == html.ElementNode {
		return n.Parent
	}
	return nil
}

func previousElement(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; n = n.PrevSibling {
	}
	return n
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

func (m *matcher) compound(c *compound, n *html.Node) bool {
	if c.tag != "" && c.tag != n.Data && !(n.Namespace != "" && strings.EqualFold(c.tag, n.Data)) || c.never {
		return false
	}
	for i := range c.simples {
		if !m.simple(&c.simples[i], n) {
			return false
		}
	}
	return true
}

func (m *matcher) simple(s *simple, n *html.Node) bool {
	switch s.kind {
	case '#':
		value, ok := attribute(n, "id")
		return ok && m.equal(value, s.name, m.quirks)
	case '.':
		value, _ := attribute(n, "class")
		if m.steps += len(value) / 64; value == s.name {
			return true
		}
		if !m.quirks && !strings.Contains(value, s.name) { // most of the time
			return false
		}
		for class := range strings.FieldsSeq(value) {
			if m.equal(class, s.name, m.quirks) {
				return true
			}
		}
		return false
	case '[':
		return m.attribute(s, n)
	}
	return m.pseudo(s, n)
}

func (m *matcher) equal(a, b string, fold bool) bool {
	return a == b || fold && strings.EqualFold(a, b)
}

func attribute(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

func (m *matcher) attribute(s *simple, n *html.Node) bool {
	have, ok := attribute(n, s.name)
	if !ok || s.op == 0 {
		return ok
	}
	want := s.value
	m.steps += len(have) / 64
	if s.fold {
		have, want = strings.ToLower(have), strings.ToLower(want)
	}
	switch s.op {
	case '=':
		return have == want
	case '|':
		rest, found := strings.CutPrefix(have, want)
		return found && (rest == "" || rest[0] == '-')
	case '~':
		for word := range strings.FieldsSeq(have) {
			if word == want {
				return true
			}
		}
		return false
	case '^':
		return want != "" && strings.HasPrefix(have, want)
	case '$':
		return want != "" && strings.HasSuffix(have, want)
	}
	return want != "" && strings.Contains(have, want)
}

// pseudo reports whether a pseudo-class holds for an element of a page that was just opened.
func (m *matcher) pseudo(s *simple, n *html.Node) bool {
	switch s.name {
	case "is":
		return m.any(s.list, n)
	case "not":
		return !m.any(s.list, n)
	case "has":
		return m.has(s.list, n)
	case "scope":
		if m.scope != nil {
			return n == m.scope
		}
		return parentElement(n) == nil
	case "root":
		return parentElement(n) == nil
	case "first-child":
		return previousElement(n) == nil
	case "last-child":
		return nextElement(n) == nil
	case "only-child":
		return previousElement(n) == nil && nextElement(n) == nil
	case "first-of-type":
		return m.position(n).firstOfTag == 1
	case "last-of-type":
		return m.position(n).lastOfTag == 1
	case "only-of-type":
		at := m.position(n)
		return at.firstOfTag == 1 && at.lastOfTag == 1
	case "nth-child":
		return m.isNth(s, n, position.fromFirst)
	case "nth-last-child":
		return m.isNth(s, n, position.fromLast)
	case "nth-of-type":
		return m.isNth(s, n, func(p position) int { return p.firstOfTag })
	case "nth-last-of-type":
		return m.isNth(s, n, func(p position) int { return p.lastOfTag })
	}
	return m.state(s, n)
}
