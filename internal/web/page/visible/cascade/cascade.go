// Package cascade computes the styles of the elements of a page as browsers do, as far as they can hide text: from the page's own
// style sheets, style attributes and what the browser begins with (ua.css), by origin, layer, specificity and order, for one [Screen].
//
// sheet.go reads the rules of a sheet, selector.go and match.go its selectors, condition.go what @media, @supports and @container
// ask. property.go names the properties that matter and reads their declarations. The values are read by number.go, colour.go,
// images.go and words.go and, by what they are about, layout.go, font.go, text.go, transform.go, clip.go and filter.go. They refuse
// those that browsers refuse. custom.go replaces var() and its like. This file finds the declarations that apply to an element, and
// style.go computes its style from them, with animations at their end (animation.go). Package css reads the syntax.
//
// Selectors are read and matched here and not by github.com/andybalholm/cascadia, which knows neither :is, :where and :scope nor nesting
// and namespaces, takes what browsers refuse (:contains), and does not count its work, so that a page could make it as long as it likes.
// For what both know cascadia is the oracle of the tests.
package cascade

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// Sheets are the style sheets of a page.
type Sheets struct {
	screen     Screen
	quirks     bool
	rules      map[key][]target
	agent      map[key][]target // of the browser
	pseudo     map[key][]target // of parts of elements
	element    string           // the part of an element whose style is computed, "" for the element itself
	host       *html.Node       // around the shadow tree whose sheets these are; nil for a page
	base       *layer           // all others are below it
	keyframes  map[string][]keyframe
	registered map[string]registration
	attributes map[string][]declaration // of style attributes, by their text
	values     map[string][]declaration // of declarations with their variables replaced
	first      string                   // the title of the preferred style sheets
	unread     bool                     // a style sheet is named that is not in the page
	count      int
	work       matcher
	exhausted  bool
	found      []match
	entries    []entry
	keys       []key
}

// key is what the elements that a selector selects have in common: an id, a class or a tag.
type key struct {
	mark byte   // '#', '.' or 0
	name string // "" for any element
}

// maxSteps bounds the work of a page's styles, in comparisons. The largest pages stay far below.
const maxSteps = 4_000_000

//go:embed ua.css
var userAgentSheet string

func newSheets(screen Screen, quirks bool) *Sheets {
	return &Sheets{
		screen: screen, quirks: quirks, rules: map[key][]target{}, pseudo: map[key][]target{}, agent: agentRules(), base: &layer{}, keyframes: map[string][]keyframe{}, registered: map[string]registration{},
		attributes: map[string][]declaration{}, values: map[string][]declaration{}, work: matcher{quirks: quirks},
	}
}

// agentRules are the rules that browsers begin with. They are read once, and never changed.
var agentRules = sync.OnceValue(func() map[key][]target {
	s := &Sheets{rules: map[key][]target{}, base: &layer{}}
	s.add(userAgentSheet, userAgent, nil, s.base, 0)
	for _, list := range s.rules {
		for _, t := range list {
			t.rule.read(false)
		}
	}
	return s.rules
})

// New reads the style sheets of a tree, and those in rest, a source that comes after it.
func New(doc *html.Node, rest string, screen Screen) *Sheets {
	s := newSheets(screen, isQuirky(doc))
	s.collect(doc)
	s.addSource(rest)
	s.base.number(0)
	return s
}

// FromSource reads the style sheets of a page that makes no tree.
func FromSource(source, rest string, screen Screen) *Sheets {
	head, _, _ := strings.Cut(source, ">")
	s := newSheets(screen, !strings.EqualFold(strings.TrimSpace(head), "<!doctype html"))
	s.addSource(source)
	s.addSource(rest)
	s.base.number(0)
	return s
}

// Exhausted reports whether the styles took more work than they may, so that nothing is known of them.
func (s *Sheets) Exhausted() bool { return s.exhausted || s.work.steps > maxSteps }

// Unread reports whether the page names a style sheet that is not in it.
func (s *Sheets) Unread() bool { return s.unread }

// Shadow reads the style sheets of the shadow tree that a template declares for its host.
func (s *Sheets) Shadow(template, host *html.Node) *Sheets {
	shadow := newSheets(s.screen, false)
	shadow.host, shadow.work.host = host, host
	shadow.collect(template)
	shadow.base.number(0)
	return shadow
}

func selectsHost(s *selector) bool {
	return slices.ContainsFunc(s.parts[0].simples, func(one simple) bool { return one.kind == ':' && one.name == "host" })
}

// ComputePart computes the style of a part of an element, such as its first line. It reports false if no rule is about it.
func (s *Sheets) ComputePart(st *Style, part string, n *html.Node, parent *Style) bool {
	if len(s.pseudo) == 0 {
		return false
	}
	s.element = part
	defer func() { s.element = "" }()
	if len(s.matches(n, parent)) == 0 {
		return false
	}
	s.Compute(st, n, parent)
	return true
}

// isQuirky reports whether browsers show a page as those of the last century did.
func isQuirky(doc *html.Node) bool {
	for c := doc.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.DoctypeNode {
			continue
		}
		public, _ := attribute(c, "public")
		_, system := attribute(c, "system")
		public = strings.ToLower(public)
		transitional := strings.Contains(public, "html 4.01 transitional") || strings.Contains(public, "html 4.01 frameset")
		old := public != "" && strings.Contains(public, "html") && !strings.Contains(public, "html 4.01") && !strings.Contains(public, "xhtml")
		return !strings.EqualFold(c.Data, "html") || old || transitional && !system
	}
	return true
}

// collect reads the style elements and links below n.
func (s *Sheets) collect(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.DataAtom == atom.Template || c.DataAtom == atom.Noscript && s.screen.Scripts {
			continue
		}
		switch c.DataAtom {
		case atom.Style:
			s.styleElement(c.Attr, textOf(c), n)
		case atom.Link:
			s.link(c.Attr)
		}
		s.collect(c)
	}
}

func textOf(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil {
		return c.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// addSource reads the style elements and links in a source.
func (s *Sheets) addSource(source string) {
	_, _, styles := dom.CutFold(source, "<style")
	if _, _, links := dom.CutFold(source, "<link"); !styles && !links {
		return
	}
	z := html.NewTokenizer(strings.NewReader(source))
	templates := 0
	for kind := z.Next(); kind != html.ErrorToken && !s.exhausted; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := z.TagName()
		switch a := atom.Lookup(name); {
		case a == atom.Template && kind == html.EndTagToken:
			templates = max(templates-1, 0)
		case kind == html.EndTagToken:
		case a == atom.Template:
			templates++
		case templates > 0:
		case a == atom.Link:
			s.link(tagAttributes(z))
		case a == atom.Style:
			attributes := tagAttributes(z)
			if z.Next() == html.TextToken {
				s.styleElement(attributes, string(z.Raw()), nil)
			}
		}
	}
}

func tagAttributes(z *html.Tokenizer) (all []html.Attribute) {
	for len(all) < 100 {
		k, v, more := z.TagAttr()
		if len(k) > 0 {
			all = append(all, html.Attribute{Key: string(k), Val: string(v)})
		}
		if !more {
			break
		}
	}
	return all
}

func (s *Sheets) styleElement(attributes []html.Attribute, text string, parent *html.Node) {
	n := html.Node{Attr: attributes}
	kind, _ := attribute(&n, "type")
	if kind == "" || strings.EqualFold(kind, "text/css") {
		if s.applies(&n, false) {
			var root *scopeRoot
			if parent != nil {
				root = &scopeRoot{parent}
			}
			s.add(text, author, root, s.base, 0)
		}
	}
}

// link reads the style sheet of a <link> that holds it in its address.
func (s *Sheets) link(attributes []html.Attribute) {
	n := html.Node{Attr: attributes}
	rel, _ := attribute(&n, "rel")
	words := strings.Fields(strings.ToLower(rel))
	if !slices.Contains(words, "stylesheet") {
		return
	}
	if _, disabled := attribute(&n, "disabled"); disabled || !s.applies(&n, slices.Contains(words, "alternate")) {
		return
	}
	kind, _ := attribute(&n, "type")
	if media, _, _ := strings.Cut(kind, ";"); kind != "" && !strings.EqualFold(strings.TrimSpace(media), "text/css") {
		return
	}
	address, _ := attribute(&n, "href")
	if text, ok := dataText(address); ok {
		s.add(text, author, nil, s.base, 0)
	} else if address != "" {
		s.unread = true
	}
}

// applies reports whether a style sheet is switched on: by its media and, if it has a title, as one of the preferred ones.
func (s *Sheets) applies(n *html.Node, alternate bool) bool {
	if title, _ := attribute(n, "title"); title != "" {
		if s.first == "" && !alternate {
			s.first = title
		}
		if title != s.first {
			return false
		}
	}
	media, _ := attribute(n, "media")
	return s.screen.mediaApplies(media)
}

// index files a selector under what all elements have that it can select.
func (s *Sheets) index(t target) {
	if s.count++; s.count > maxRules {
		s.exhausted = true
		return
	}
	if neverHolds(&t.selector.parts[0]) {
		return
	}
	rules := s.rules
	switch t.selector.element {
	case "":
	case "before", "after", "first-line":
		rules = s.pseudo
	case "slotted":
		s.pseudo[key{}] = append(s.pseudo[key{}], t)
		return
	default:
		return
	}
	for _, k := range keysOf(&t.selector.parts[0], 0) {
		rules[k] = append(rules[k], t)
	}
}

// momentary are the pseudo-classes that hold for nothing on a page that was just opened and that nobody touches.
var momentary = wordSet(`active focus focus-visible focus-within hover visited target user-valid user-invalid fullscreen -webkit-full-screen modal popover-open
	never autofill -webkit-autofill picture-in-picture playing has-slotted current past future`)

func neverHolds(c *compound) bool {
	return c.never || slices.ContainsFunc(c.simples, func(s simple) bool { return s.kind == ':' && momentary[s.name] })
}

// keysOf returns the keys of which an element has one if a compound selects it.
func keysOf(c *compound, depth int) []key {
	for _, mark := range []byte("#.") {
		for i := range c.simples {
			if one := &c.simples[i]; one.kind == mark {
				return []key{{mark, one.name}}
			}
		}
	}
	for i := range c.simples {
		if one := &c.simples[i]; one.kind == ':' && one.name == "is" && depth < 4 && len(one.list) > 0 && len(one.list) <= 16 {
			var all []key
			for j := range one.list {
				all = append(all, keysOf(&one.list[j].parts[0], depth+1)...)
			}
			if !slices.Contains(all, key{}) {
				slices.SortFunc(all, compareKeys)
				return slices.Compact(all)
			}
		}
	}
	return []key{{0, c.tag}}
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.mark, b.mark), cmp.Compare(a.name, b.name))
}

// match is a rule that applies to an element.
type match struct {
	rule        *rule
	specificity specificity
	proximity   int // how far the root of its scope is
}

// A longer class is not read. No page needs one.
const maxClass = 8 << 10

// matches finds the rules that apply to n, the weakest first.
func (s *Sheets) matches(n *html.Node, parent *Style) []match {
	keys := append(s.keys[:0], key{}, key{name: n.Data})
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "id":
			keys = append(keys, key{'#', s.fold(a.Val)})
		case "class":
			for class := range strings.FieldsSeq(a.Val[:min(len(a.Val), maxClass)]) {
				keys = append(keys, key{'.', s.fold(class)})
			}
		}
	}
	if s.work.steps += len(keys); len(keys) > 8 { // a class that is named thousands of times counts once
		slices.SortFunc(keys, compareKeys)
		keys = slices.Compact(keys)
	}
	s.keys = keys
	found := s.found[:0]
	rules := s.rules
	if s.element != "" {
		rules = s.pseudo
	}
	for _, k := range keys {
		if k.mark == 0 && s.element == "" { // the browser knows no classes
			for _, t := range s.agent[k] {
				if s.work.selects(t.selector, n) {
					found = append(found, match{t.rule, t.selector.specificity, 0})
				}
			}
		}
		for _, t := range rules[k] {
			if s.work.steps > maxSteps {
				return nil
			}
			if t.selector.element != s.element || s.host == n && !selectsHost(t.selector) {
				continue
			}
			if proximity, ok := s.selects(t, n, parent); ok {
				found = append(found, match{t.rule, t.selector.specificity, proximity})
			}
		}
	}
	s.found = found
	s.work.steps += len(found)
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rule.origin, b.rule.origin), cmp.Compare(a.rule.layer.index, b.rule.layer.index), a.specificity.compare(b.specificity),
			cmp.Compare(b.proximity, a.proximity), cmp.Compare(a.rule.order, b.rule.order))
	})
	return found
}

func (s *Sheets) fold(name string) string {
	if s.quirks {
		return strings.ToLower(name)
	}
	return name
}

// selects reports whether a rule applies to n, and how far the root of its scope is.
func (s *Sheets) selects(t target, n *html.Node, parent *Style) (proximity int, ok bool) {
	if s.element == "slotted" {
		return 0, s.work.any(t.selector.slotted, n)
	}
	for _, c := range t.rule.conditions {
		if !s.container(c, parent) {
			return 0, false
		}
	}
	if len(t.rule.scopes) == 0 {
		return 1 << 20, s.work.selects(t.selector, n)
	}
	last := len(t.rule.scopes) - 1
	for root := n; root != nil; root = parentElement(root) {
		if s.inScopes(t.rule.scopes, last, n, root) {
			s.work.scope = root
			ok = s.work.selects(t.selector, n)
			s.work.scope = nil
			if ok {
				return proximity, true
			}
		}
		proximity++
	}
	return 0, false
}

// inScopes reports whether root is the root of the scope at i, with n in it, and lies in the scopes around it.
func (s *Sheets) inScopes(scopes []scope, i int, n, root *html.Node) bool {
	one := &scopes[i]
	switch {
	case one.roots != nil:
		if !s.work.any(one.roots, root) {
			return false
		}
	case one.implicit != nil && one.implicit.node != root, one.implicit == nil && parentElement(root) != nil:
		return false
	}
	if one.limits != nil {
		s.work.scope = root
		defer func() { s.work.scope = nil }()
		for c := n; c != nil && c != root; c = parentElement(c) {
			if s.work.any(one.limits, c) {
				return false
			}
		}
	}
	if i == 0 {
		return true
	}
	for outer := root; outer != nil; outer = parentElement(outer) {
		if s.inScopes(scopes, i-1, root, outer) {
			return true
		}
	}
	return false
}

// entry is a declaration that applies to an element.
type entry struct {
	declaration *declaration
	group       int // what revert-layer goes back over: the layer, with the origin
	origin      origin
}

// groups of what belongs to no layer.
const (
	hintGroup      = -3
	agentGroup     = -2
	attributeGroup = 1 << 20
	animationGroup = 1 << 21
)

// collectEntries lists the declarations that apply to n, the weakest first. Important ones come last, those of layers reversed.
func (s *Sheets) collectEntries(n *html.Node, parent *Style, animated []declaration) []entry {
	found := s.matches(n, parent)
	var hints, own []declaration
	if s.element == "" && s.host != n {
		hints, own = s.hints(n), s.styleAttribute(n)
	}
	s.entries = s.entries[:0]
	someImportant := false
	hinted := false
	for _, m := range found {
		if m.rule.origin == author && !hinted {
			s.addEntries(hints, false, hintGroup, author)
			hinted = true
		}
		list := m.rule.read(s.quirks)
		for i := range list {
			someImportant = someImportant || list[i].important
		}
		s.addEntries(list, false, m.group(), m.rule.origin)
	}
	if !hinted {
		s.addEntries(hints, false, hintGroup, author)
	}
	s.addEntries(own, false, attributeGroup, author)
	s.addEntries(animated, false, animationGroup, animation)
	if someImportant {
		s.addImportant(found)
	}
	s.addEntries(own, true, attributeGroup, author)
	if someImportant {
		for _, m := range found {
			if m.rule.origin == userAgent {
				s.addEntries(m.rule.declarations, true, agentGroup, userAgent)
			}
		}
	}
	return s.entries
}

// addEntries adds the declarations of a list that are important, or those that are not.
func (s *Sheets) addEntries(list []declaration, important bool, group int, o origin) {
	for i := range list {
		if list[i].important == important {
			s.entries = append(s.entries, entry{&list[i], group, o})
		}
	}
}

// addImportant adds the important declarations of the author's rules. Those of stronger layers come first.
func (s *Sheets) addImportant(found []match) {
	for from := len(found); from > 0; {
		to := from
		for from--; from > 0 && found[from-1].group() == found[to-1].group(); from-- {
		}
		if found[from].rule.origin == author {
			for _, m := range found[from:to] {
				s.addEntries(m.rule.declarations, true, m.group(), author)
			}
		}
	}
}

// group returns the group of the declarations of a rule.
func (m match) group() int {
	if m.rule.origin == userAgent {
		return agentGroup
	}
	return m.rule.layer.index
}

// maxStyle is how long a style attribute may be that is read, in bytes. It may hold a picture.
const maxStyle = 64 << 10

// styleAttribute returns the declarations of a style attribute.
func (s *Sheets) styleAttribute(n *html.Node) []declaration {
	text, ok := attribute(n, "style")
	if !ok || text == "" {
		return nil
	}
	if list, ok := s.attributes[text]; ok {
		return list
	}
	list := s.readBlock(text)
	if len(s.attributes) < 10_000 {
		s.attributes[text] = list
	}
	return list
}
