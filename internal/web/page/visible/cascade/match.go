package cascade

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// matcher compares elements with selectors, and counts its work.
type matcher struct {
	steps  int
	quirks bool
	scope  *html.Node // what :scope is; nil for the root
}

// outcome says of a comparison that failed how far it is worth going on.
type outcome byte

const (
	matched  outcome = iota
	mismatch         // another ancestor or sibling may match
	noParent         // no ancestor that is further out can match
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

// from compares n with parts[i], and what is around it with the parts behind it. Like browsers do it tells one failure from
// another, so that no combinator is tried again where it cannot succeed.
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
		for p := previousElement(n); p != nil; p = previousElement(p) {
			if got := m.from(s, i+1, p); got != mismatch {
				return got
			}
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
		return m.position(n, false, true, nil) == 1
	case "last-of-type":
		return m.position(n, true, true, nil) == 1
	case "only-of-type":
		return m.position(n, false, true, nil) == 1 && m.position(n, true, true, nil) == 1
	case "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type":
		if s.list != nil && !m.any(s.list, n) {
			return false
		}
		at := m.position(n, strings.Contains(s.name, "last"), strings.HasSuffix(s.name, "type"), s.list) - s.b
		return s.a == 0 && at == 0 || s.a != 0 && at%s.a == 0 && at/s.a >= 0
	}
	return m.state(s, n)
}

// position counts an element among its siblings, from one.
func (m *matcher) position(n *html.Node, last, sameTag bool, list []selector) int {
	at := 1
	step := previousElement
	if last {
		step = nextElement
	}
	for c := step(n); c != nil; c = step(c) {
		m.steps++
		if (!sameTag || c.Data == n.Data) && (list == nil || m.any(list, c)) {
			at++
		}
	}
	return at
}

// has reports whether one of a list of relative selectors, seen from n, selects an element.
func (m *matcher) has(list []selector, n *html.Node) bool {
	inner := matcher{quirks: m.quirks, scope: n, steps: m.steps}
	defer func() { m.steps = inner.steps }()
	for i := range list {
		s := &list[i]
		switch s.combinators[len(s.combinators)-1] {
		case '+', '~':
			for c := nextElement(n); c != nil && inner.steps < maxSteps; c = nextElement(c) {
				if inner.relative(s, c) || inner.below(s, c) {
					return true
				}
			}
		default:
			if inner.below(s, n) {
				return true
			}
		}
	}
	return false
}

func (m *matcher) below(s *selector, n *html.Node) bool {
	for d := range n.Descendants() {
		if m.steps++; m.steps > maxSteps {
			return false
		}
		if d.Type == html.ElementNode && m.relative(s, d) {
			return true
		}
	}
	return false
}

// relative reports whether a relative selector selects n, seen from the scope.
func (m *matcher) relative(s *selector, n *html.Node) bool {
	anchored := *s
	anchored.parts = append(s.parts[:len(s.parts):len(s.parts)], compound{simples: []simple{{kind: ':', name: "scope"}}})
	return m.selects(&anchored, n)
}

// state decides the pseudo-classes that depend on what an element is rather than on where it stands.
func (m *matcher) state(s *simple, n *html.Node) bool {
	has := func(key string) bool { _, ok := attribute(n, key); return ok }
	switch s.name {
	case "empty":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
				return false
			}
		}
		return true
	case "link", "any-link", "-webkit-any-link":
		return (n.DataAtom == atom.A || n.DataAtom == atom.Area) && has("href")
	case "checked":
		return n.DataAtom == atom.Input && has("checked") || n.DataAtom == atom.Option && has("selected")
	case "default":
		return has("checked") || has("selected")
	case "disabled":
		return isField(n) && has("disabled")
	case "enabled":
		return isField(n) && !has("disabled")
	case "required":
		return isField(n) && has("required")
	case "optional":
		return (n.DataAtom == atom.Input || n.DataAtom == atom.Select || n.DataAtom == atom.Textarea) && !has("required")
	case "read-write":
		return isEditable(n)
	case "read-only":
		return !isEditable(n)
	case "placeholder-shown":
		value, _ := attribute(n, "value")
		return n.DataAtom == atom.Input && has("placeholder") && value == ""
	case "valid":
		return isField(n) && !has("required") || n.DataAtom == atom.Form
	case "invalid":
		value, _ := attribute(n, "value")
		return isField(n) && has("required") && value == "" && !has("checked")
	case "defined":
		return n.Namespace != "" || !strings.Contains(n.Data, "-")
	case "open":
		return has("open") && (n.DataAtom == atom.Details || n.DataAtom == atom.Dialog)
	case "lang":
		return m.language(s, n)
	case "dir":
		return direction(n) == s.value
	}
	return false
}

func isField(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Input, atom.Select, atom.Textarea, atom.Button, atom.Option, atom.Optgroup, atom.Fieldset:
		return true
	}
	return false
}

func isEditable(n *html.Node) bool {
	if _, ok := attribute(n, "readonly"); ok {
		return false
	}
	switch n.DataAtom {
	case atom.Textarea:
		return true
	case atom.Input:
		switch kind, _ := attribute(n, "type"); strings.ToLower(kind) {
		case "checkbox", "radio", "hidden", "button", "submit", "reset", "image", "file", "color", "range":
			return false
		}
		return true
	}
	value, ok := attribute(n, "contenteditable")
	return ok && !strings.EqualFold(value, "false")
}

func (m *matcher) language(s *simple, n *html.Node) bool {
	for ; n != nil; n = parentElement(n) {
		m.steps++
		if have, ok := attribute(n, "lang"); ok {
			have = strings.ToLower(have)
			for want := range strings.SplitSeq(s.value, ",") {
				want = strings.TrimPrefix(want, "*-")
				if rest, found := strings.CutPrefix(have, want); found && (rest == "" || rest[0] == '-') && want != "" {
					return true
				}
			}
			return false
		}
	}
	return false
}

func direction(n *html.Node) string {
	for ; n != nil; n = parentElement(n) {
		if value, ok := attribute(n, "dir"); ok {
			if value = strings.ToLower(value); value == "ltr" || value == "rtl" {
				return value
			}
		}
	}
	return "ltr"
}
