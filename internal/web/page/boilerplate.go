package page

import (
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text"
	"familiar/visible/dom"
)

// extras describes what one kind of page can do without, in addition to the boilerplate of any page.
type extras struct {
	names      map[string]bool  // words in their class names
	headings   *text.LazyRegexp // headings above them; nil for none
	maxPercent int              // greatest share of the page that one of them may hold
	minRest    int              // characters that must remain if one holds more than half of the page
	keep       []*html.Node     // nodes that stay, with all their ancestors
}

// The share of the page that may be removed, in percent: by one element, and in all.
const (
	maxPercent    = 33
	maxPercentAll = 95
)

// trimmer is the state of dropBoilerplate.
type trimmer struct {
	root   *html.Node
	sizes  map[*html.Node]size // elements with more than maxSmall descendants
	drop   map[*html.Node]bool
	kinds  map[string]nameKind // by name, because pages repeat names
	keep   map[*html.Node]bool
	length int32 // of the page, in characters
	more   extras
}

// size is how much text an element holds, in characters.
type size struct {
	text, linked int32
	links        int32
	anchors      int32 // links to places in the same page
	longest      int32 // longest text outside of links
	elements     int32
}

// maxSmall is the greatest number of descendants with which an element is measured again each time. Most elements have
// none.
const maxSmall = 8

// dropBoilerplate removes menus, breadcrumbs, notices and links to other pages from root. It recognises them by their
// names, their headings and their shape. An element with a good part of the page stays, whatever its name is. If hardly
// anything would remain, dropBoilerplate removes nothing and returns false.
func dropBoilerplate(root *html.Node, more extras) (ok bool) {
	t := trimmer{root: root, sizes: map[*html.Node]size{}, drop: map[*html.Node]bool{}, keep: map[*html.Node]bool{}, kinds: map[string]nameKind{}, more: more}
	t.length = t.measure(root).text
	for _, n := range more.keep {
		for ; n != nil && !t.keep[n]; n = n.Parent {
			t.keep[n] = true
		}
	}
	t.walk(root, false)
	dropped := 0
	for n := range t.drop {
		dropped += int(t.size(n).text)
	}
	if dropped*100 > int(t.length)*maxPercentAll {
		return false // the names have another meaning on this page
	}
	for n := range t.drop {
		n.Parent.RemoveChild(n)
	}
	return true
}

func (t *trimmer) measure(n *html.Node) (s size) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			own := int32(dom.Letters(c.Data))
			s.text += own
			s.longest = max(s.longest, own)
		case c.Type == html.ElementNode:
			own := t.measure(c)
			s.elements += own.elements + 1
			s.text += own.text
			s.linked += own.linked
			s.links += own.links
			s.anchors += own.anchors
			s.longest = max(s.longest, own.longest)
		}
	}
	if n.DataAtom == atom.A {
		s.linked, s.links, s.longest = s.text, 1, 0
		if href, _ := dom.Attr(n, "href"); strings.HasPrefix(href, "#") {
			s.anchors = 1
		}
	}
	if s.elements > maxSmall {
		t.sizes[n] = s
	}
	return s
}

// sizeInside returns the size of an element below the root.
func (t *trimmer) sizeInside(n *html.Node) size {
	if s, ok := t.sizes[n]; ok {
		return s
	}
	return t.measure(n)
}

// size returns the size of an element below the root, and zero for any other node.
func (t *trimmer) size(n *html.Node) size {
	for up := n; up != nil && n.Type == html.ElementNode; up = up.Parent {
		if up == t.root {
			return t.sizeInside(n)
		}
	}
	return size{}
}

func (t *trimmer) walk(n *html.Node, inside bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || t.drop[c] {
			continue
		}
		switch s := t.sizeInside(c); {
		case !t.keep[c] && t.isBoilerplate(c, s, inside):
			t.drop[c] = true
		case dom.HeadingLevel(c) > 1 && !t.keep[c] && t.dropHeaded(c):
		case s.text > 0 && s.text <= maxLabel && !t.keep[c] && t.dropLabelled(c, s):
		default:
			t.walk(c, inside || c.DataAtom == atom.Article || c.DataAtom == atom.Main || c.DataAtom == atom.Section)
		}
	}
}

// isBoilerplate reports whether an element should be removed. inside means that it is part of the content.
func (t *trimmer) isBoilerplate(n *html.Node, s size, inside bool) bool {
	return t.isWithin(s, maxPercent) && t.isBeside(n, s, inside) || t.isExtra(s) && t.nameKind(n) == extraName
}

// isExtra reports whether an element of this size may be dropped as one of the extras.
func (t *trimmer) isExtra(s size) bool {
	return t.isWithin(s, t.more.maxPercent) && (s.text*2 <= t.length || int(t.length-s.text) >= t.more.minRest)
}

// dropHeaded drops the section below a heading that announces other pages.
func (t *trimmer) dropHeaded(heading *html.Node) bool {
	text := dom.Label(heading)
	switch {
	case len(text) > maxHeading:
		return false
	case elsewhereWords()[firstWord(text)] && elsewhere.MatchString(text):
		t.dropSection(heading, func(s size) bool { return t.isWithin(s, maxPercent) })
	case t.more.headings != nil && t.more.headings.MatchString(text):
		t.dropSection(heading, t.isExtra)
	default:
		return false
	}
	return true
}

// maxHeading is the greatest length of a heading above other pages, in bytes.
const maxHeading = 120

// firstWord returns the first word of a text in lower case. Comparing it is a cheap check before a long expression is
// matched.
func firstWord(s string) string {
	s = strings.TrimLeftFunc(s, dom.NotWord)
	if end := strings.IndexFunc(s, dom.NotWord); end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}

// isWithin reports whether an element of this size holds less than percent of the page.
func (t *trimmer) isWithin(s size, percent int) bool { return int(s.text)*100 < int(t.length)*percent }

// elsewhere matches headings above links to other pages.
var elsewhere = text.LazyRegexpOf(func() string {
	return `(?i)^\W*(?:(?:you|we) (?:may|might|think)(?: (?:also|you))?(?:'ll| will)? (?:also )?(?:like|love|enjoy|be interested in)|(?:customers|people|others|shoppers|users)(?: who \w+ this)?(?: item| product)? also|(?:recently|last|previously) viewed|(?:related|similar|recommended|suggested|trending|popular|featured|more|other|latest|top|hot) (?:products?|items?|threads?|topics?|posts?|articles?|stories|questions?|content|resources?|pages?|searches|discussions?|games?|courses?|reading|news|tags|categories|collections)|more (?:from|like|on|in) |frequently bought|bought together|complete (?:the|your) (?:look|set)|pairs? well|goes well|newsletter|(?:sign up|subscribe|register) (?:for|to)|stay (?:connected|in the loop|up to date|informed)|follow us|(?:customer|user) (?:reviews?|ratings?)|reviews?(?: \(\d+\))?$|ratings?(?: (?:and|&) reviews?)?$|write a review|share (?:this|on)|about cookies|about the (?:authors?|contributors?|writers?|editors?)$|meet the (?:authors?|writers?|editors?|testers?)$|written by |your privacy|recent (?:posts|comments)|leave a (?:reply|comment)|navigation|filters?(?: by)?$|sort by|refine|table of contents|on this page|in this article|need help|` + text.AllTables().Page.Elsewhere.String() + `)`
})

// elsewhereWords are the first words of headings that elsewhere matches.
var elsewhereWords = sync.OnceValue(func() map[string]bool {
	return dom.WordSet(`you we customers people others shoppers users recently last previously related similar recommended suggested trending popular
	featured more other latest top hot frequently bought complete pair pairs well goes newsletter sign subscribe register stay follow customer user
	review reviews rating ratings write share about your recent meet written leave navigation filter filters sort refine table on in need ` + string(text.AllTables().Page.ElsewhereWords))
})

// dropSection drops a heading and its section. The section is the block that begins with the heading. If there is none, it is everything up
// to the next heading of the same level.
func (t *trimmer) dropSection(heading *html.Node, may func(size) bool) {
	block, bare := heading, t.size(heading).text+minParagraph/2
	for p := block.Parent; p != nil && t.size(block).text < bare && may(t.size(p)) && t.begins(p, block); p = p.Parent {
		block = p
	}
	if t.size(block).text > t.size(heading).text {
		if !t.keep[block] {
			t.drop[block] = true
		}
		return
	}
	level := dom.HeadingLevel(heading)
	var all size
	var nodes []*html.Node
	for c := block; c != nil && (c == block || dom.HeadingLevel(c) == 0 || dom.HeadingLevel(c) > level); c = c.NextSibling {
		if len(nodes) == maxBlocks || t.keep[c] {
			return
		}
		nodes = append(nodes, c)
		all.text += t.size(c).text
	}
	if !may(all) {
		return
	}
	for _, c := range nodes {
		t.drop[c] = true
	}
}

// ownContents matches a line above a table of contents. Its entries may be pages of their own.
var ownContents = text.NewLazyRegexp(`(?i)contents\W*$`)

// maxLabel is the greatest length of a line above links to other pages that is not a heading, in characters.
const maxLabel = 48

// dropLabelled drops a line that announces other pages and the links that follow it. The links are the rest of the
// line's block, or the next block.
func (t *trimmer) dropLabelled(n *html.Node, s size) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Span, atom.Strong, atom.B, atom.Dt:
	default:
		return false
	}
	label := dom.Label(n)
	if !elsewhereWords()[firstWord(label)] || !elsewhere.MatchString(label) {
		return false
	}
	contents := ownContents.MatchString(label)
	for p := n.Parent; p != nil && t.isWithin(t.size(p), maxPercent) && t.begins(p, n); n, p = p, p.Parent {
		if rest := t.size(p).text - s.text; rest > 0 {
			return t.dropLinked(p, rest, contents)
		}
	}
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if next := t.size(c); c.Type == html.ElementNode && next.text > 0 {
			if !t.dropLinked(c, next.text, contents) {
				return false
			}
			t.drop[n] = true
			return true
		}
	}
	return false
}

// dropLinked drops an element if most of its length characters are links. A table of contents is dropped only if its
// links lead to places in the same page.
func (t *trimmer) dropLinked(n *html.Node, length int32, contents bool) bool {
	s := t.size(n)
	if s.linked*10 < length*6 || contents && s.anchors*2 <= s.links || !t.isWithin(s, maxPercent) || t.keep[n] {
		return false
	}
	t.drop[n] = true
	return true
}

// begins reports whether c is the first child of p with text.
func (t *trimmer) begins(p, c *html.Node) bool {
	for before := c.PrevSibling; before != nil; before = before.PrevSibling {
		if before.Type == html.TextNode && dom.Letters(before.Data) > 0 || t.size(before).text > 0 {
			return false
		}
	}
	return true
}

// maxMenuLabel is the greatest average length of the labels of a menu, in characters.
const maxMenuLabel = 16

// isBeside reports whether an element is outside the content. It judges by its tag, role or name, or because it is a list of links.
func (t *trimmer) isBeside(n *html.Node, s size, inside bool) bool {
	switch role, _ := dom.Attr(n, "role"); role {
	case "navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar", "toolbar", "alert":
		return true
	}
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Label, atom.Legend:
		if t.isInForm(n) {
			return true
		}
	case atom.Header:
		if !inside && (s.linked*2 > s.text || !hasHeading(n)) {
			return true
		}
	}
	switch t.nameKind(n) {
	case asideName:
		return true
	case menuName:
		return s.longest < minParagraph
	case contentsName:
		return s.anchors*2 > s.links
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Table, atom.P:
		return s.links >= 4 && s.linked*10 >= s.text*8 && s.linked < s.links*maxMenuLabel && !hasHeading(n)
	}
	return false
}

// isInForm reports whether an element belongs to a form. Without its fields, a form is only words. A form with a good
// part of the page is wrapped around something else.
func (t *trimmer) isInForm(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Form {
			return t.isWithin(t.size(n), maxPercent)
		}
	}
	return false
}

var headings = dom.NewSelector("h1, h2, h3, h4, h5, h6")

func hasHeading(n *html.Node) bool { return headings.MatchFirst(n) != nil }

// nameKind is what a class or an id says about its element.
type nameKind int

const (
	noName       nameKind = iota
	menuName              // a choice of pages or views
	contentsName          // a table of contents
	asideName             // something other than the content
	extraName             // something that this kind of page can do without
)

// nameKind returns what the class and the id of n say about it.
func (t *trimmer) nameKind(n *html.Node) nameKind {
	if n.DataAtom == atom.A || dom.HeadingLevel(n) > 0 {
		return noName
	}
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		if kind := t.kindOfNames(a.Val); kind != noName {
			return kind
		}
	}
	return noName
}

// kindOfNames returns the kind of the first name that has one.
func (t *trimmer) kindOfNames(names string) nameKind {
	for name := range strings.FieldsSeq(names) {
		if len(name) > dom.MaxName {
			continue
		}
		name = strings.TrimRight(name, "0123456789") // names often differ only in a number
		kind, ok := t.kinds[name]
		if !ok {
			kind = t.kindOfName(name)
			t.kinds[name] = kind
		}
		if kind != noName {
			return kind
		}
	}
	return noName
}

// kindOfName returns the kind of a name, judging by its words and by pairs of them.
func (t *trimmer) kindOfName(name string) nameKind {
	if strings.ContainsAny(name, ":[") {
		return noName // a utility class describes only the layout
	}
	previous := ""
	for word := range dom.NameWords(name) {
		switch word {
		case "has", "with", "no", "without", "is", "not", "js":
			return noName
		}
		kind := t.kindOfWord(word)
		if kind == noName && firstHalves[previous] {
			kind = t.kindOfWord(previous + word)
		}
		if kind != noName {
			return kind
		}
		previous = word
	}
	return noName
}

func (t *trimmer) kindOfWord(word string) nameKind {
	switch {
	case asideWords[word]:
		return asideName
	case t.more.names[word]:
		return extraName
	case menuWords[word]:
		return menuName
	case contentsWords[word]:
		return contentsName
	}
	return noName
}

var (
	asideWords = dom.WordSet(`footer sidebar sidebars cookie cookies consent gdpr newsletter signup signin login social share sharing sharebar sharethis
		related recommended recommendation recommendations upsell upsells crosssell crosssells advert advertisement ad ads adsense popup modal
		wishlist copyright sponsored trending alsolike recentlyviewed lastviewed alsobought feedback announcement`)
	menuWords = dom.WordSet(`nav navbar navigation menu menus megamenu submenu breadcrumb breadcrumbs crumb crumbs pagination pager paginator pagenav toolbar
		skiplink skipto skiplinks offcanvas tooltip dropdown filter filters facet facets refinement refinements sortby sorter minicart searchbox searchform prevnext`)
	// firstHalves are the first halves of words that are also written as two.
	firstHalves = dom.WordSet(`add also article bread comment cross entry last log mega mini most more nav off on page post prev pub publish read recently
		search share side sign skip sort sub tag up`)
	contentsWords = dom.WordSet(`toc tableofcontents onthispage`)
)
