package visible

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/web/page/dom"
)

// sheet is the page's own style elements, as far as they can hide something. It reads selectors made of tags,
// ids and classes, side by side, as descendants or as children. Attributes, states and positions among siblings
// are left out: what is hidden only by them counts as visible.
type sheet struct {
	rules    map[name][]*rule // by what their selector ends in
	suspects map[name][]*rule // those of them that could hide something
	count    int
	steps    int // comparisons so far
}

// name is what elements are looked up by: an id, a class or a tag, each with its mark; "*" has neither.
type name struct {
	mark byte // '#', '.', 0
	text string
}

// rule is one selector with its declarations.
type rule struct {
	parts  []compound // the element's own last
	style  style
	weight int // specificity
	order  int
}

// compound is what a selector asks of one element.
type compound struct {
	tag, id string
	classes []string
	parent  bool // it must be the parent of the next part's element, not just above it
}

// The work that a page's styles may make. The largest pages stay far below; one that doesn't is not read at all,
// since then it is not known what it hides.
const (
	maxRules = 20_000
	maxSteps = 2_000_000
)

func newSheet() *sheet { return &sheet{rules: map[name][]*rule{}, suspects: map[name][]*rule{}} }

// exhausted says that the styles asked for more work than they may.
func (s *sheet) exhausted() bool { return s.steps > maxSteps || s.count > maxRules }

// add reads the text of one style element.
func (s *sheet) add(css string) { s.block(plainCSS(css), 0) }

func (s *sheet) block(css string, depth int) {
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
		end := closing(css, open)
		inside := css[open+1 : end]
		css = css[min(end+1, len(css)):]
		switch {
		case !strings.HasPrefix(prelude, "@"):
			s.rule(prelude, inside)
		case depth < 8 && atRuleApplies(prelude):
			s.block(inside, depth+1)
		}
	}
}

// closing is the position of the brace that closes the one at open, or the end of the text.
func closing(css string, open int) int {
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

func (s *sheet) rule(selectors, text string) {
	var d style
	declarations(text, &d)
	if len(d) == 0 {
		return
	}
	suspect := d.suspect()
	for one := range strings.SplitSeq(selectors, ",") {
		if s.exhausted() {
			return
		}
		parts, weight, ok := parseSelector(one)
		if !ok {
			continue
		}
		s.count++
		key := parts[len(parts)-1].key()
		r := &rule{parts: parts, style: d, weight: weight, order: s.count}
		s.rules[key] = append(s.rules[key], r)
		if suspect {
			s.suspects[key] = append(s.suspects[key], r)
		}
	}
}

// suspect says that a rule could hide something, alone or with an overflow that another rule hides.
func (d style) suspect() bool {
	if d.hides() || d.light(light{}).dark() {
		return true
	}
	return point(d.get("width")) || point(d.get("max-width")) || point(d.get("height")) || point(d.get("max-height"))
}

// parseSelector reads one selector, if it is of the kinds that are read. Its weight orders selectors as
// specificity does.
func parseSelector(selector string) (parts []compound, weight int, ok bool) {
	if strings.ContainsAny(selector, `:[+~\(&`) {
		return nil, 0, false
	}
	for field := range strings.FieldsSeq(strings.ReplaceAll(selector, ">", " > ")) {
		if field == ">" {
			if len(parts) > 0 {
				parts[len(parts)-1].parent = true
			}
			continue
		}
		c := parseCompound(field)
		weight += len(c.classes)*1_000 + b2i(c.id != "")*1_000_000 + b2i(c.tag != "")
		parts = append(parts, c)
	}
	return parts, weight, len(parts) > 0 && len(parts) <= 12
}

func parseCompound(field string) (c compound) {
	for field != "" {
		end := strings.IndexAny(field[1:], ".#") + 1
		if end == 0 {
			end = len(field)
		}
		switch one := field[:end]; {
		case one[0] == '.':
			c.classes = append(c.classes, one[1:])
		case one[0] == '#':
			c.id = one[1:]
		case one != "*":
			c.tag = strings.ToLower(one)
		}
		field = field[end:]
	}
	return c
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c compound) key() name {
	switch {
	case c.id != "":
		return name{'#', c.id}
	case len(c.classes) > 0:
		return name{'.', c.classes[0]}
	case c.tag != "":
		return name{text: c.tag}
	}
	return name{text: "*"}
}

func (c compound) fits(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && c.tag != n.Data {
		return false
	}
	if c.id != "" {
		if id, _ := dom.Attr(n, "id"); id != c.id {
			return false
		}
	}
	if len(c.classes) > 0 {
		class, _ := dom.Attr(n, "class")
		for _, wanted := range c.classes {
			if !hasClass(class, wanted) {
				return false
			}
		}
	}
	return true
}

func hasClass(class, wanted string) bool {
	for one := range strings.FieldsSeq(class) {
		if one == wanted {
			return true
		}
	}
	return false
}

// applies says whether the rule's selector selects n. Each part takes the nearest element that fits, and is not
// tried again further up: with parents asked for in the middle, a match can be missed, but the work stays linear.
func (s *sheet) applies(r *rule, n *html.Node) bool {
	last := len(r.parts) - 1
	if s.steps++; !r.parts[last].fits(n) {
		return false
	}
	for i := last - 1; i >= 0; i-- {
		for n = n.Parent; ; n = n.Parent {
			if s.steps++; n == nil {
				return false
			}
			if r.parts[i].fits(n) {
				break
			}
			if r.parts[i].parent {
				return false
			}
		}
	}
	return true
}

// match returns the rules that apply to n, weakest first; none if nothing among them could hide.
func (s *sheet) match(n *html.Node) []*rule {
	if len(s.suspects) == 0 || s.exhausted() {
		return nil
	}
	keys := append(make([]name, 0, 16), name{text: "*"}, name{text: n.Data})
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			keys = append(keys, name{'#', a.Val})
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				keys = append(keys, name{'.', class})
			}
		}
	}
	if s.steps += len(keys); len(keys) > 8 { // a class named thousands of times is still one
		slices.SortFunc(keys, func(a, b name) int { return cmp.Or(cmp.Compare(a.mark, b.mark), cmp.Compare(a.text, b.text)) })
		keys = slices.Compact(keys)
	}
	suspected := slices.ContainsFunc(keys, func(key name) bool {
		return slices.ContainsFunc(s.suspects[key], func(r *rule) bool { return s.applies(r, n) })
	})
	if !suspected {
		return nil
	}
	var matched []*rule
	for _, key := range keys {
		for _, r := range s.rules[key] {
			if s.applies(r, n) {
				matched = append(matched, r)
			}
		}
	}
	s.steps += 8 * len(matched)
	slices.SortFunc(matched, func(a, b *rule) int { return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.order, b.order)) })
	return matched
}

// cascade joins rules, weakest first, and an element's own style.
func cascade(rules []*rule, own string) style {
	var d style
	for _, r := range rules {
		for _, one := range r.style {
			d.declare(one)
		}
	}
	declarations(own, &d)
	return d
}

var mediaWidth = regexp.MustCompile(`(min|max)-(?:device-)?width\s*:\s*([\d.]+)(px|em|rem)`)

// desktop is the width in pixels of the window that we imagine.
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

// mediaApplies says whether a media query holds for a reader at a desktop.
func mediaApplies(query string) bool {
	for one := range strings.SplitSeq(strings.ToLower(query), ",") {
		if oneMediaApplies(strings.TrimSpace(one)) {
			return true
		}
	}
	return false
}

func oneMediaApplies(query string) bool {
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
	return !strings.Contains(query, "<") && !strings.Contains(query, ">")
}
