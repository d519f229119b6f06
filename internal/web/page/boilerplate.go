package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// trimmer takes from a page what stands around its matter: menus, trails, offers of other pages, notices.
// It is for pages of which no single text stands out. What is as large as a good part of the page stays, whatever
// it calls itself.
type trimmer struct {
	sizes map[*html.Node]size
	gone  map[*html.Node]bool
	kinds map[string]nameKind // of the classes and ids so far: pages repeat them
	kept  map[*html.Node]bool // what is known to be of the matter, and all around it
	whole int                 // characters of the page
	more  surplus
}

// surplus is what one kind of page can do without, beyond what any can.
type surplus struct {
	names    map[string]bool
	headings *regexp.Regexp // nil for none
	most     int            // how much of the page one of them may have, in percent
	but      []*html.Node   // what stays
}

// most is how much of the page, in percent, anything else may have that is taken away.
const most = 33

// mostOfAll is how much of the page, in percent, may be taken away in all.
const mostOfAll = 95

// size is how much text an element has, in characters.
type size struct {
	text, linked int
	links        int
	anchors      int // links to places in the same page
	longest      int // the longest text that is no link
}

// trim removes from root what names itself, reads or looks like something beside the matter. It leaves root as it is
// and returns false if hardly anything would be left.
func trim(root *html.Node, more surplus) (trimmed bool) {
	t := trimmer{sizes: make(map[*html.Node]size, 1<<10), gone: map[*html.Node]bool{}, kept: map[*html.Node]bool{}, kinds: map[string]nameKind{}, more: more}
	t.whole = t.weigh(root).text
	for _, n := range more.but {
		for ; n != nil && !t.kept[n]; n = n.Parent {
			t.kept[n] = true
		}
	}
	t.walk(root, false)
	lost := 0
	for n := range t.gone {
		lost += t.sizes[n].text
	}
	if lost*100 > t.whole*mostOfAll {
		return false // its names mean something else
	}
	for n := range t.gone {
		n.Parent.RemoveChild(n)
	}
	return true
}

func (t *trimmer) weigh(n *html.Node) (s size) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			own := dom.Letters(c.Data)
			s.text += own
			s.longest = max(s.longest, own)
		case c.Type == html.ElementNode:
			own := t.weigh(c)
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
	t.sizes[n] = s
	return s
}

func (t *trimmer) walk(n *html.Node, inside bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch s := t.sizes[c]; {
		case c.Type != html.ElementNode || t.gone[c]:
		case !t.kept[c] && t.superfluous(c, s, inside):
			t.gone[c] = true
		case dom.HeadingLevel(c) > 1 && !t.kept[c] && t.dropHeaded(c):
		default:
			t.walk(c, inside || c.DataAtom == atom.Article || c.DataAtom == atom.Main || c.DataAtom == atom.Section)
		}
	}
}

// superfluous says that an element goes, whatever is around it.
func (t *trimmer) superfluous(n *html.Node, s size, inside bool) bool {
	return t.within(s, most) && t.beside(n, s, inside) || t.within(s, t.more.most) && t.named(n) == surplusName
}

// dropHeaded drops what stands under a heading, if that says that it leads elsewhere.
func (t *trimmer) dropHeaded(heading *html.Node) bool {
	own := dom.Label(heading)
	switch {
	case len(own) > maxPhrase:
		return false
	case elsewhereWords[firstWord(own)] && elsewhere.MatchString(own):
		t.dropSection(heading, most)
	case t.more.headings != nil && t.more.headings.MatchString(own):
		t.dropSection(heading, t.more.most)
	default:
		return false
	}
	return true
}

// maxPhrase is how long a heading that leads elsewhere is at most, in bytes.
const maxPhrase = 120

// firstWord is the first word of a text, in lower case. Most texts can be told by it alone from those that a long
// expression is looking for.
func firstWord(s string) string {
	s = strings.TrimLeftFunc(s, dom.NotWord)
	if end := strings.IndexFunc(s, dom.NotWord); end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}

// within says that what has such a size is at most so many percent of the page.
func (t *trimmer) within(s size, percent int) bool { return s.text*100 < t.whole*percent }

// elsewhere are headings over other pages.
var elsewhere = regexp.MustCompile(`(?i)^\W*(?:(?:you|we) (?:may|might|think)(?: (?:also|you))?(?:'ll| will)? (?:also )?(?:like|love|enjoy|be interested in)|(?:customers|people|others|shoppers|users)(?: who \w+ this)?(?: item| product)? also|(?:recently|last|previously) viewed|(?:related|similar|recommended|suggested|trending|popular|featured|more|other|latest|top|hot) (?:products?|items?|threads?|topics?|posts?|articles?|stories|questions?|content|resources?|pages?|searches|discussions?|games?|courses?|reading|news|tags|categories|collections)|more (?:from|like|on|in) |frequently bought|bought together|complete (?:the|your) (?:look|set)|pairs? well|goes well|newsletter|(?:sign up|subscribe|register) (?:for|to)|stay (?:connected|in the loop|up to date|informed)|follow us|(?:customer|user) (?:reviews?|ratings?)|reviews?(?: \(\d+\))?$|ratings?(?: (?:and|&) reviews?)?$|write a review|share (?:this|on)|about cookies|your privacy|recent (?:posts|comments)|leave a (?:reply|comment)|navigation|filters?(?: by)?$|sort by|refine|table of contents|on this page|in this article|need help)`)

// elsewhereWords are the words that elsewhere can begin with.
var elsewhereWords = dom.WordSet(`you we customers people others shoppers users recently last previously related similar recommended suggested trending popular
	featured more other latest top hot frequently bought complete pair pairs well goes newsletter sign subscribe register stay follow customer user
	review reviews rating ratings write share about your recent leave navigation filter filters sort refine table on in need`)

// dropSection drops a heading and what it is the heading of: the block that it begins, else all up to the next
// heading of its rank.
func (t *trimmer) dropSection(heading *html.Node, share int) {
	block, bare := heading, t.sizes[heading].text+paragraph/2
	for p := block.Parent; p != nil && t.sizes[block].text < bare && t.within(t.sizes[p], share) && t.begins(p, block); p = p.Parent {
		block = p
	}
	if t.sizes[block].text > t.sizes[heading].text {
		if !t.kept[block] {
			t.gone[block] = true
		}
		return
	}
	level := dom.HeadingLevel(heading)
	var total size
	var nodes []*html.Node
	for c := block; c != nil && (c == block || dom.HeadingLevel(c) == 0 || dom.HeadingLevel(c) > level); c = c.NextSibling {
		if len(nodes) == maxBlocks || t.kept[c] {
			return
		}
		nodes = append(nodes, c)
		total.text += t.sizes[c].text
	}
	if !t.within(total, share) {
		return
	}
	for _, c := range nodes {
		t.gone[c] = true
	}
}

// begins says that nothing that can be read stands in p before c.
func (t *trimmer) begins(p, c *html.Node) bool {
	for before := c.PrevSibling; before != nil; before = before.PrevSibling {
		if before.Type == html.TextNode && dom.Letters(before.Data) > 0 || t.sizes[before].text > 0 {
			return false
		}
	}
	return true
}

// beside says that an element is no part of the matter: by its element or role, by its name, or as a list of links.
func (t *trimmer) beside(n *html.Node, s size, inside bool) bool {
	switch role, _ := dom.Attr(n, "role"); role {
	case "navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar", "toolbar", "alert":
		return true
	}
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Header:
		if !inside && (s.linked*2 > s.text || !holdsHeading(n)) {
			return true
		}
	}
	switch t.named(n) {
	case asideName:
		return true
	case menuName:
		return s.longest < paragraph
	case contentsName:
		return s.anchors*2 > s.links
	}
	return s.links >= 4 && s.linked*10 >= s.text*8 && s.linked < s.links*menuLabel && !holdsHeading(n) && list(n)
}

// paragraph is how long a text is at least, in characters, that is no label.
const paragraph = 100

// menuLabel is how long the labels of a menu are at most on average, in characters.
const menuLabel = 16

func list(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Table, atom.P:
		return true
	}
	return false
}

func holdsHeading(n *html.Node) bool {
	for d := range n.Descendants() {
		if dom.HeadingLevel(d) > 0 {
			return true
		}
	}
	return false
}

// nameKind is what a class or an id says of its element.
type nameKind int

const (
	noName       nameKind = iota
	menuName              // a choice of places or of views
	contentsName          // a table of contents
	asideName             // a matter of its own
	surplusName           // what this kind of page can do without
)

// named judges an element by its class and its id.
func (t *trimmer) named(n *html.Node) nameKind {
	if n.DataAtom == atom.A || dom.HeadingLevel(n) > 0 {
		return noName
	}
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		kind, known := t.kinds[a.Val]
		if !known {
			kind = t.namesKind(a.Val)
			t.kinds[a.Val] = kind
		}
		if kind != noName {
			return kind
		}
	}
	return noName
}

// namesKind judges several names by the first that says something.
func (t *trimmer) namesKind(names string) nameKind {
	for name := range strings.FieldsSeq(names) {
		if kind := t.nameKind(name); kind != noName {
			return kind
		}
	}
	return noName
}

// nameKind judges one name by the words that it is made of, and by each pair of them.
func (t *trimmer) nameKind(name string) nameKind {
	if len(name) > dom.MaxName || strings.ContainsAny(name, ":[") {
		return noName // a utility class: what it says, it says of the layout
	}
	previous := ""
	for word := range dom.NameWords(name) {
		switch word {
		case "has", "with", "no", "without", "is", "not", "js":
			return noName
		}
		kind := t.wordKind(word)
		if kind == noName && firstHalves[previous] {
			kind = t.wordKind(previous + word)
		}
		if kind != noName {
			return kind
		}
		previous = word
	}
	return noName
}

func (t *trimmer) wordKind(word string) nameKind {
	switch {
	case asideWords[word]:
		return asideName
	case t.more.names[word]:
		return surplusName
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
	// firstHalves begin those that are also written as two words.
	firstHalves = dom.WordSet(`add also article bread comment cross entry last log mega mini most more nav off on page post prev pub publish read recently
		search share side sign skip sort sub tag up`)
	contentsWords = dom.WordSet(`toc tableofcontents onthispage`)
)
