// Package cascade computes the styles of the elements of a page as browsers do, as far as they can hide text: from the page's own
// style sheets, style attributes and what the browser begins with (ua.css), by origin, layer, specificity and order, for one [Screen].
//
// source.go collects the sheets of a page. sheet.go reads their rules, layer.go, condition.go and container.go what @layer, @media,
// @supports and @container say, and selector.go the selectors, which match.go matches, with nth.go, has.go and state.go. vain.go leaves
// out the rules that select nothing on the page. property.go
// names the properties that matter and reads their declarations. The values are read by number.go, colour.go, images.go and words.go
// and, by what they are about, layout.go, font.go, text.go, transform.go, clip.go and filter.go. They refuse those that browsers refuse.
// custom.go replaces var() and its like. index.go finds the rules that apply to an element, entry.go puts their declarations in order,
// and style.go computes the element's style from them, with animations at their end (animation.go). Package css reads the syntax.
//
// Selectors are read and matched here and not by github.com/andybalholm/cascadia, which knows neither :is, :where and :scope nor nesting
// and namespaces, takes what browsers refuse (:contains), and does not count its work, so that a page could make it as long as it likes.
// For what both know cascadia is the oracle of the tests.
package cascade

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Sheets are the style sheets of a page.
type Sheets struct {
	screen     Screen
	quirks     bool
	rules      map[key][]target
	agent      map[key][]target // of the browser
	pseudo     map[key][]target // of parts of elements
	names      *nameSet         // the classes and ids of the page; nil if they are not known
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
	s.names = newNameSet()
	s.addNames(doc)
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
