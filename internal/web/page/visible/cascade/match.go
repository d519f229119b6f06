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
	host   *html.Node // what :host is

	positions map[*html.Node]position
	selected  map[listed]position
	earlier   map[siblings]*progress
	holders   map[*selector]map[*html.Node]bool // the elements around what a selector in :has selects
}

// position is where an element stands among its siblings, from one: from the first, from the last, and both among those of its tag.
type position struct{ first, last, firstOfTag, lastOfTag int }

// listed is an element, as one of those that a list of selectors selects.
type listed struct {
	list *selector
	n    *html.Node
}

// siblings are those of which a part of a selector is asked whether an earlier one matches.
type siblings struct {
	s      *selector
	i      int
	parent *html.Node
}

// progress is how far that is known.
type progress struct {
	at    *html.Node // the last one that was compared
	first *html.Node // the first one that matched
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

// earlierSibling reports whether parts[i] and what is behind it match a sibling before n. It compares each sibling once.
func (m *matcher) earlierSibling(s *selector, i int, n *html.Node) bool {
	if n.Parent == nil || m.scope != nil {
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

func (p position) fromFirst() int { return p.first }
func (p position) fromLast() int  { return p.last }

func (m *matcher) isNth(s *simple, n *html.Node, of func(position) int) bool {
	var p position
	if s.list == nil {
		p = m.position(n)
	} else if p = m.positionIn(s.list, n); p.first == 0 {
		return false
	}
	at := of(p) - s.b
	return s.a == 0 && at == 0 || s.a != 0 && at%s.a == 0 && at/s.a >= 0
}

// position returns where an element stands. All siblings are counted at once.
func (m *matcher) position(n *html.Node) position {
	if p, ok := m.positions[n]; ok {
		return p
	}
	if n.Parent == nil { // of a page that makes no tree
		return position{1, 1, 1, 1}
	}
	if m.positions == nil {
		m.positions = map[*html.Node]position{}
	}
	tags := map[string]int{}
	all := 0
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			all++
			tags[c.Data]++
			m.positions[c] = position{first: all, firstOfTag: tags[c.Data]}
		}
	}
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if p, ok := m.positions[c]; ok {
			p.last, p.lastOfTag = all-p.first+1, tags[c.Data]-p.firstOfTag+1
			m.positions[c] = p
		}
	}
	m.steps += all
	p, ok := m.positions[n]
	if !ok {
		p = position{1, 1, 1, 1}
	}
	return p
}

// positionIn returns where an element stands among the siblings that a list selects. It is zero if the list does not select it.
func (m *matcher) positionIn(list []selector, n *html.Node) position {
	if len(list) == 0 || n.Parent == nil {
		return position{}
	}
	if p, ok := m.selected[listed{&list[0], n}]; ok {
		return p
	}
	if m.selected == nil {
		m.selected = map[listed]position{}
	}
	all := 0
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		at := position{}
		if m.any(list, c) {
			all++
			at.first = all
		}
		m.selected[listed{&list[0], c}] = at
	}
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if p := m.selected[listed{&list[0], c}]; p.first > 0 {
			p.last = all - p.first + 1
			m.selected[listed{&list[0], c}] = p
		}
	}
	return m.selected[listed{&list[0], n}]
}

// has reports whether one of a list of relative selectors, seen from n, selects an element.
func (m *matcher) has(list []selector, n *html.Node) bool {
	outer := m.scope
	m.scope = n
	defer func() { m.scope = outer }()
	for i := range list {
		s := &list[i]
		simple := len(s.parts) == 1
		switch s.combinators[len(s.combinators)-1] {
		case '+', '~':
			for c := nextElement(n); c != nil && m.steps < maxSteps; c = nextElement(c) {
				if m.relative(s, c) || !simple && m.below(s, c) {
					return true
				}
			}
		case '>':
			for c := n.FirstChild; simple && c != nil; c = c.NextSibling {
				if c.Type == html.ElementNode && m.selectsPart(s, c) {
					return true
				}
			}
			if !simple && m.below(s, n) {
				return true
			}
		default:
			if simple && outer == nil {
				if m.holdersOf(s, n)[n] {
					return true
				}
			} else if m.below(s, n) {
				return true
			}
		}
	}
	return false
}

// selectsPart reports whether a selector that is one compound selects n.
func (m *matcher) selectsPart(s *selector, n *html.Node) bool {
	m.steps++
	return m.compound(&s.parts[0], n)
}

// holdersOf returns the elements of the page that have one in them that s, a single compound, selects.
func (m *matcher) holdersOf(s *selector, n *html.Node) map[*html.Node]bool {
	if known, ok := m.holders[s]; ok {
		return known
	}
	if m.holders == nil {
		m.holders = map[*selector]map[*html.Node]bool{}
	}
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	scope := m.scope
	m.scope = nil
	found := map[*html.Node]bool{}
	for d := range root.Descendants() {
		if d.Type == html.ElementNode && m.selectsPart(s, d) {
			for p := parentElement(d); p != nil && !found[p]; p = parentElement(p) {
				found[p] = true
			}
		}
	}
	m.scope = scope
	m.holders[s] = found
	return found
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
	case "host":
		return n == m.host && (s.list == nil || m.any(s.list, n))
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
