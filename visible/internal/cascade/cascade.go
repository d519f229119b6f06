// Package cascade computes the styles of the elements of a page as browsers do. It does so as far as styles can hide text. It reads the
// page's own style sheets, its style attributes and the browser's style sheet (ua.css). It orders them by origin, layer, specificity and
// position, for one [Screen].
//
// # A tour
//
// source.go collects the sheets of a page, and sheet.go reads their rules and layers. condition.go evaluates @media and @supports, and
// query.go @container and ranges of numbers. selector.go reads selectors; match.go matches them, with pseudo.go for pseudo-classes.
// index.go finds the rules that apply to an element and puts their declarations in order. It skips rules that can select nothing on the
// page.
//
// property.go names the properties that matter and reads their declarations. number.go, colour.go, images.go and reader.go
// read values, and so do layout.go, text.go and effects.go by their subject. They refuse the values that browsers refuse.
// custom.go replaces var() and similar functions. style.go computes an element's style, with animations at their end
// (animation.go). Package css reads the syntax.
//
// # Why selectors are read here
//
// github.com/andybalholm/cascadia does not know :is, :where, :scope, nesting and namespaces. It accepts :contains, which
// browsers refuse. It does not count its work, so a page could make it run for as long as it likes. The tests compare with
// it where both know a selector.
package cascade

import (
	_ "embed"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Sheets holds the style sheets of a page.
type Sheets struct {
	screen     Screen
	quirks     bool
	rules      map[key][]target
	agent      map[key][]target // of the browser
	pseudo     map[key][]target // of parts of elements
	names      *nameSet         // the classes and ids on the page; nil if they are not known
	element    string           // the part of an element whose style is computed; "" for the element itself
	host       *html.Node       // around the shadow tree whose sheets these are; nil for a page
	base       *layer           // the ancestor of all others
	keyframes  map[string][]keyframe
	registered map[string]registration
	faces      map[string]face          // how large the letters of the page's fonts are
	attributes map[string][]declaration // of style attributes, by their text
	values     map[string][]declaration // of declarations whose variables were replaced
	first      string                   // the title of the preferred style sheets
	unread     bool                     // the page names a style sheet that is outside of it
	count      int
	work       matcher
	exhausted  bool
	found      []match
	entries    []entry
	hash       maphash.Hash
	dark       bool    // the page says that it has the dark colour scheme alone
	around     []match // the rules of the page around, for a part of a shadow tree whose style is computed
	within     []match // the rules of a shadow tree for the element whose style is computed
	keys       []key
}

// maxSteps limits the work of a page's styles, in comparisons. Even the largest real pages need far less.
const maxSteps = 4_000_000

//go:embed ua.css
var userAgentSheet string

func newSheets(screen Screen, quirks bool) *Sheets {
	return &Sheets{
		screen: screen, quirks: quirks, rules: map[key][]target{}, pseudo: map[key][]target{}, agent: agentRules(), base: &layer{}, keyframes: map[string][]keyframe{}, registered: map[string]registration{},
		attributes: map[string][]declaration{}, values: map[string][]declaration{}, work: matcher{quirks: quirks},
	}
}

// agentRules returns the rules of the browser's style sheet. They are read once, and never change.
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

// New reads the style sheets in a tree, and those in rest, the source after it.
func New(doc *html.Node, rest string, screen Screen) *Sheets {
	s := newSheets(screen, isQuirky(doc))
	s.names = newNameSet()
	s.addNames(doc)
	s.collect(doc)
	s.addSource(rest)
	s.base.number(0)
	return s
}

// Exhausted reports whether the styles took too much work. The styles computed so far are then wrong.
func (s *Sheets) Exhausted() bool { return s.exhausted || s.work.steps > maxSteps }

// Unread reports whether the page names a style sheet that is outside of it.
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
	return slices.ContainsFunc(s.parts[0].simples, func(one simple) bool { return one.kind == ':' && (one.name == "host" || one.name == "host-context") })
}

// ComputePart computes the style of a part of an element, such as its first line. It reports false if no rule selects that part.
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

// HasParts reports whether a rule selects parts of elements.
func (s *Sheets) HasParts() bool { return len(s.pseudo) > 0 }

// ComputeNamed computes the style of n, a part that the page around a shadow tree may style by its name. The page's rules for it are the
// stronger ones.
func (s *Sheets) ComputeNamed(st *Style, n *html.Node, parent *Style, outer *Sheets) {
	outer.element = "part"
	s.around = slices.Clone(outer.matches(n, parent))
	outer.element = ""
	s.Compute(st, n, parent)
	s.around = nil
}

// ComputeWith computes the style of n like Compute, with the rules of a shadow tree. They are those for its host, or for what is in its
// slots if part is "slotted". The page's own rules are stronger.
func (s *Sheets) ComputeWith(st *Style, n *html.Node, parent *Style, shadow *Sheets, part string) {
	shadow.element = part
	s.within = slices.Clone(shadow.matches(n, parent))
	shadow.element = ""
	s.within = slices.DeleteFunc(s.within, func(m match) bool { return m.rule.origin != author })
	s.Compute(st, n, parent)
	s.within = nil
}

// isQuirky reports whether browsers show a page in quirks mode.
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
