package visible

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// stylesheet is what a page's own style elements say that can hide something. It reads selectors made of tags, ids and
// classes, with descendant and child combinators. Attributes, states and positions among siblings are left out: what
// only they hide counts as visible.
type stylesheet struct {
	rules  map[key][]*rule
	hiding map[key][]*rule // those of the rules that could hide something
	count  int
	steps  int // compounds that were compared with an element
}

// key is what the elements that a rule selects have in common: an id, a class or a tag.
type key struct {
	mark byte   // '#', '.' or 0
	name string // "*" for any element
}

// rule is one selector with its declarations. The selector is compiled when it is first compared with an element, since most
// rules are never.
type rule struct {
	selector    string
	style       style
	order       int
	compiled    bool
	chains      []chain // the element's own comes last; none if the selector is not valid
	specificity cascadia.Specificity
}

// chain is a part of a selector that child combinators join: each compound selects the parent of the next one's element.
type chain []cascadia.Sel

// The work that a page's styles may cause. The largest pages stay far below. A page that does not is not read, since it is
// not known what it hides.
const (
	maxRules     = 20_000
	maxSteps     = 2_000_000
	maxCompounds = 12 // of one selector
)

func newStylesheet() *stylesheet {
	return &stylesheet{rules: map[key][]*rule{}, hiding: map[key][]*rule{}}
}

// exhausted reports whether the styles caused more work than they may.
func (s *stylesheet) exhausted() bool { return s.steps > maxSteps || s.count > maxRules }

// addElements reads the style elements below n.
func (s *stylesheet) addElements(n *html.Node) {
	if n.DataAtom == atom.Style && n.FirstChild != nil {
		if media, ok := dom.Attr(n, "media"); !ok || mediaApplies(media) {
			s.add(n.FirstChild.Data)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.addElements(c)
	}
}

// addSource reads the style elements in the source of a page, and what looks like one in a comment or a script.
func (s *stylesheet) addSource(source string) {
	for {
		_, after, found := dom.CutFold(source, "<style")
		if !found {
			return
		}
		_, inside, _ := strings.Cut(after, ">")
		var css string
		css, source, _ = dom.CutFold(inside, "</style")
		s.add(css)
	}
}

// add reads the text of one style element.
func (s *stylesheet) add(css string) { s.block(plainCSS(css), 0) }

func (s *stylesheet) block(css string, depth int) {
	for css != "" && !s.exhausted() {
		open := strings.IndexAny(css, "{;")
		if open < 0 {
			return
		}
		prelude := strings.TrimSpace(css[:open])
		if css[open] == ';' { // @import, @charset
			css = css[open+1:]
			continue
		}
		end := closingBrace(css, open)
		inside := css[open+1 : end]
		css = css[min(end+1, len(css)):]
		switch {
		case !strings.HasPrefix(prelude, "@"):
			s.addRules(prelude, inside)
		case depth < 8 && atRuleApplies(prelude):
			s.block(inside, depth+1)
		}
	}
}

// closingBrace returns the position of the brace that closes the one at open, or the end of the text.
func closingBrace(css string, open int) int {
	depth := 0
	for i := open; i < len(css); i++ {
		switch css[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(css)
}

func (s *stylesheet) addRules(selectors, declarations string) {
	var d style
	d.read(declarations)
	if len(d) == 0 {
		return
	}
	hiding := d.mayHide()
	for selector := range strings.SplitSeq(selectors, ",") {
		if s.exhausted() {
			return
		}
		selector = strings.Trim(selector, dom.Blanks)
		own := selector[strings.LastIndexAny(selector, dom.Blanks+">")+1:]
		if own == "" || strings.ContainsAny(selector, `:[+~\(&`) {
			continue
		}
		s.count++
		r, k := &rule{selector: selector, style: d, order: s.count}, keyOf(own)
		s.rules[k] = append(s.rules[k], r)
		if hiding {
			s.hiding[k] = append(s.hiding[k], r)
		}
	}
}

func (r *rule) compile() {
	r.compiled = true
	var chains []chain
	count, child := 0, false
	for _, field := range strings.Fields(strings.ReplaceAll(r.selector, ">", " > ")) {
		if field == ">" {
			child = count > 0
			continue
		}
		compound, err := cascadia.Parse(field)
		if count++; err != nil || count > maxCompounds {
			return
		}
		if !child {
			chains = append(chains, nil)
		}
		last := &chains[len(chains)-1]
		*last = append(*last, compound)
		r.specificity = r.specificity.Add(compound.Specificity())
		child = false
	}
	r.chains = chains
}

// keyOf returns the key of a compound: its id, else its first class, else its tag.
func keyOf(compound string) key {
	for _, mark := range "#." {
		if _, name, ok := strings.Cut(compound, string(mark)); ok {
			if end := strings.IndexAny(name, "#."); end >= 0 {
				name = name[:end]
			}
			return key{byte(mark), name}
		}
	}
	return key{name: strings.ToLower(compound)}
}

// selects reports whether the selector of r selects n. Each chain takes the innermost elements that match it, which leaves
// the most for the chain before it. So no chain is tried twice at an element, while cascadia's own combinators backtrack.
func (s *stylesheet) selects(r *rule, n *html.Node) bool {
	if !r.compiled {
		r.compile()
	}
	own := len(r.chains) - 1
	for i, c := range slices.Backward(r.chains) {
		for !s.matches(c, n) {
			if i == own || n == nil {
				return false
			}
			n = n.Parent
		}
		for range c {
			n = n.Parent
		}
	}
	return len(r.chains) > 0
}

// matches reports whether n and the elements around it match a chain.
func (s *stylesheet) matches(c chain, n *html.Node) bool {
	for _, compound := range slices.Backward(c) {
		if s.steps++; n == nil || !compound.Match(n) {
			return false
		}
		n = n.Parent
	}
	return true
}

// match returns the rules that apply to n, the weakest first, and none if none of them could hide n.
func (s *stylesheet) match(n *html.Node) []*rule {
	if len(s.hiding) == 0 || s.exhausted() {
		return nil
	}
	keys := append(make([]key, 0, 16), key{name: "*"}, key{name: n.Data})
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			keys = append(keys, key{'#', a.Val})
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				keys = append(keys, key{'.', class})
			}
		}
	}
	if s.steps += len(keys); len(keys) > 8 { // a class that is named thousands of times counts once
		slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.mark, b.mark), cmp.Compare(a.name, b.name)) })
		keys = slices.Compact(keys)
	}
	selects := func(r *rule) bool { return s.selects(r, n) }
	if !slices.ContainsFunc(keys, func(k key) bool { return slices.ContainsFunc(s.hiding[k], selects) }) {
		return nil
	}
	var found []*rule
	for _, k := range keys {
		for _, r := range s.rules[k] {
			if selects(r) {
				found = append(found, r)
			}
		}
	}
	s.steps += 8 * len(found)
	slices.SortFunc(found, func(a, b *rule) int {
		return cmp.Or(slices.Compare(a.specificity[:], b.specificity[:]), cmp.Compare(a.order, b.order))
	})
	return found
}

// computed joins the rules that apply to n and its own style attribute.
func (s *stylesheet) computed(n *html.Node, attribute string) style {
	var d style
	for _, r := range s.match(n) {
		for _, one := range r.style {
			d.declare(one)
		}
	}
	d.read(attribute)
	return d
}

var mediaWidth = regexp.MustCompile(`(min|max)-(?:device-)?width\s*:\s*([\d.]+)(px|em|rem)`)

// desktop is the width in pixels of the window that media queries are asked about.
const desktop = 1280

func atRuleApplies(prelude string) bool {
	name, rest, _ := strings.Cut(prelude, " ")
	switch strings.ToLower(name) {
	case "@media":
		return mediaApplies(rest)
	case "@supports":
		return !strings.HasPrefix(strings.TrimSpace(rest), "not")
	case "@layer", "@scope":
		return true
	}
	return false
}

// mediaApplies reports whether one of a list of media queries holds for a reader at a desktop.
func mediaApplies(queries string) bool {
	for query := range strings.SplitSeq(strings.ToLower(queries), ",") {
		if queryApplies(query) {
			return true
		}
	}
	return false
}

func queryApplies(query string) bool {
	for _, other := range [...]string{"print", "speech", "not ", "prefers-", "orientation", "hover", "pointer", "-height", "scripting", "resolution", "pixel-ratio", "display-mode"} {
		if strings.Contains(query, other) {
			return false
		}
	}
	for _, m := range mediaWidth.FindAllStringSubmatch(query, -1) {
		width, err := strconv.ParseFloat(m[2], 64)
		if m[3] != "px" {
			width *= 16
		}
		if err != nil || m[1] == "min" && width > desktop || m[1] == "max" && width < desktop {
			return false
		}
	}
	return !strings.ContainsAny(query, "<>")
}
