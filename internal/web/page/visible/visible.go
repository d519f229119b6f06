package visible

import (
	"errors"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// veil is the work of rule H: to take from a tree what a reader could not see.
type veil struct {
	sheet   *sheet
	scripts bool // are run: what is there for want of them is hidden
	hidden  int  // characters that were hidden from the reader
	seen    int  // characters that are left
	all     int  // characters of the body before anything was done
	spared  int  // elements that were too large a part of the page to be clutter
	depth   int  // of the element that is being walked
	raw     int  // elements around it that keep their blanks: <pre> and <code>
	spent   int  // of maxSpent
	kept    int  // of maxText
}

// What goes on to the extraction is bounded; what comes later in a page is cut off. Extraction and conversion
// measure and copy the text of each element anew, so that their work grows with the text times its depth as well
// as with the nodes. A page of 10,000 elements and 200 KB of text spends about half of maxSpent.
const (
	maxSpent = 1_700_000
	maxText  = 1 << 20 // bytes
)

// spend pays for a node at the present depth, and says how many bytes of its text are paid for.
func (v *veil) spend(size int) int {
	const node, byNode = 32, 24
	price := node + v.depth + v.depth*v.depth/64
	paid := min(size, maxText-v.kept, max(0, (maxSpent-v.spent)/price*byNode))
	v.spent += price * (1 + paid/byNode)
	v.kept += paid
	return paid
}

// light is what elements inherit that decides whether text can be seen.
type light struct {
	invisible  bool // visibility
	tiny       bool // font size
	colourless bool // transparent, or the colour of its ground
	ground     colour
}

func (l light) dark() bool { return l.invisible || l.tiny || l.colourless }

// ErrStyles is the error of a page whose styles are more than can be worked through.
var ErrStyles = errors.New("the styles are more than can be worked through")

// Prune removes from doc all that is hidden or is no text: scripts, forms, navigation, comments, attributes that
// hide. It returns how many characters were hidden and how many are left, and fails if the page's styles are
// more than can be worked through. Without scripts, what is for browsers without them is seen. rest is the part of the page that is not in the tree; only its styles count.
func Prune(doc *html.Node, rest string, scripts bool) (hidden, seen int, err error) {
	v := veil{sheet: newSheet(), scripts: scripts}
	collectStyles(doc, v.sheet)
	for css := range flatStyles(rest) {
		v.sheet.add(css)
	}
	v.all = dom.Length(doc)
	v.walk(doc, light{})
	if v.sheet.exhausted() {
		return 0, 0, ErrStyles
	}
	return v.hidden, v.seen, nil
}

func collectStyles(n *html.Node, s *sheet) {
	if n.DataAtom == atom.Style && n.FirstChild != nil {
		if media, ok := dom.Attr(n, "media"); !ok || mediaApplies(media) {
			s.add(n.FirstChild.Data)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		collectStyles(c, s)
	}
}

// walk goes down the tree; the parser has made sure that it is at most 512 deep.
func (v *veil) walk(n *html.Node, l light) {
	v.depth++
	defer func() { v.depth-- }()
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		switch {
		case c.Type == html.TextNode && l.dark():
			v.hidden += dom.Letters(c.Data)
			n.RemoveChild(c)
		case v.spent >= maxSpent, c.Type != html.TextNode && c.Type != html.ElementNode:
			n.RemoveChild(c)
		case c.Type == html.TextNode:
			if paid := v.spend(len(c.Data)); paid < len(c.Data) {
				c.Data = strings.ToValidUTF8(c.Data[:paid], "")
			}
			if v.raw == 0 {
				c.Data = foldBlanks(c.Data)
			}
			v.seen += dom.Letters(c.Data)
		default:
			v.element(c, l)
		}
	}
	if v.raw == 0 {
		dropBlanks(n)
	}
}

// dropBlanks removes the blanks between blocks, which are not shown. All that follows visits every node many times.
func dropBlanks(n *html.Node) {
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		if c.Type == html.TextNode && isBlanks(c.Data) && (breaks(n, c.PrevSibling) || breaks(n, next)) {
			n.RemoveChild(c)
		}
	}
}

func isBlanks(s string) bool {
	for i := range len(s) {
		if !dom.IsSpace(s[i]) {
			return false
		}
	}
	return true
}

// breaks says that a line ends at c, a child of n, or at the edge of n if c is nil.
func breaks(n, c *html.Node) bool {
	if c == nil {
		c = n
	}
	switch c.DataAtom {
	case atom.Html, atom.Body, atom.Main, atom.Article, atom.Section, atom.Header, atom.Div, atom.P, atom.Blockquote, atom.Figure, atom.Hr,
		atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th,
		atom.Nav, atom.Footer, atom.Aside, atom.Form:
		return true
	}
	return dom.HeadingLevel(c) > 0
}

func (v *veil) element(n *html.Node, l light) {
	if n.DataAtom == atom.Noscript && !v.scripts {
		dom.Rename(n, atom.Div)
	}
	switch {
	case n.DataAtom == atom.Head:
		keepTitle(n)
		return
	case n.DataAtom == atom.Html || n.DataAtom == atom.Body:
		// Pages hide these until their scripts have run, and nothing is left to hide anything from.
	case dropped(n) || v.clutter(n):
		n.Parent.RemoveChild(n)
		return
	case v.hides(n, &l):
		v.hidden += dom.Length(n)
		n.Parent.RemoveChild(n)
		return
	}
	if n.DataAtom == atom.Details {
		v.closeDetails(n)
	}
	n.Attr = visibleAttrs(n.Attr)
	v.spend(0)
	if n.DataAtom == atom.Pre || n.DataAtom == atom.Code {
		v.raw++
		defer func() { v.raw-- }()
	}
	v.walk(n, l)
}

// foldBlanks leaves one of several blanks in a row, as a browser shows them: a line feed where there was one. Half of
// the text of pages is such blanks, and the extraction reads every text many times.
func foldBlanks(s string) string {
	first := 0
	for first+1 < len(s) && !(dom.IsSpace(s[first]) && dom.IsSpace(s[first+1])) {
		first++
	}
	if first+1 >= len(s) {
		return s
	}
	folded := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); i++ {
		last := len(folded) - 1
		switch {
		case !dom.IsSpace(s[i]) || last < 0 || !dom.IsSpace(folded[last]):
			folded = append(folded, s[i])
		case s[i] == '\n':
			folded[last] = '\n'
		}
	}
	return string(folded)
}

// keepTitle empties the head but for the title, by which the extraction knows a heading that repeats it.
func keepTitle(head *html.Node) {
	for c, next := head.FirstChild, (*html.Node)(nil); c != nil; c = next {
		if next = c.NextSibling; c.DataAtom != atom.Title {
			head.RemoveChild(c)
		}
	}
}

// dropped says that an element is no text, or text that belongs to a machine.
func dropped(n *html.Node) bool {
	if n.Namespace != "" {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Audio, atom.Video, atom.Meta, atom.Link, atom.Base, atom.Input, atom.Textarea, atom.Select, atom.Button, atom.Dialog,
		atom.Frame, atom.Frameset, atom.Noembed, atom.Noframes, atom.Plaintext, atom.Xmp, atom.Title, atom.Datalist, atom.Applet, atom.Map, atom.Progress, atom.Meter:
		return true
	}
	return false
}

// shortForm is how much text, in characters, a form may have that asks for something and tells nothing.
const shortForm = 300

// maxSpared bounds the measuring of elements nested in each other.
const maxSpared = 64

// clutter says that an element is text beside the text. It can be seen, so it may stay where a forgotten end
// tag, or a form around everything, has put most of the page inside.
func (v *veil) clutter(n *html.Node) bool {
	limit := v.all / 2
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
	case atom.Form:
		if !asks(n) {
			return false
		}
		limit = min(limit, shortForm)
	default:
		return false
	}
	if v.spared == maxSpared || dom.Length(n) >= limit {
		v.spared = min(v.spared+1, maxSpared)
		return false
	}
	return true
}

// asks says that a form has something to fill in. Some are only wrapped around a text, for a button.
func asks(form *html.Node) bool {
	for n := range form.Descendants() {
		switch n.DataAtom {
		case atom.Textarea, atom.Select:
			return true
		case atom.Input:
			switch kind, _ := dom.Attr(n, "type"); strings.ToLower(kind) {
			case "hidden", "submit", "button", "image", "reset":
			default:
				return true
			}
		}
	}
	return false
}

// hidingClasses are the names under which the common style sheets, which we don't fetch, keep text from sight.
var hidingClasses = map[string]bool{
	"sr-only": true, "sr_only": true, "sronly": true, "visuallyhidden": true, "visually-hidden": true, "u-visuallyhidden": true, "u-visually-hidden": true,
	"screenreader-text": true, "screen-reader-text": true, "screenreader-only": true, "screen-reader-only": true, "screenreader": true, "screen-reader": true, "assistive-text": true,
	"a11y-hidden": true, "d-none": true, "hidden": true, "is-hidden": true, "u-hidden": true, "hide": true, "u-hide": true,
	"invisible": true, "offscreen": true, "off-screen": true, "element-invisible": true, "element-hidden": true, "opacity-0": true, "text-transparent": true,
	"display-none": true, "displaynone": true, "hidden-text": true, "show-for-sr": true, "clip-hide": true,
}

// showingClasses bring an element back on a screen of a desktop's width.
var showingClasses = regexp.MustCompile(`^(?:(?:sm|md|lg|xl):(?:block|flex|grid|inline|inline-block|inline-flex|inline-grid|table|table-cell|table-row|contents|flow-root|list-item|visible|not-sr-only|opacity-\d+)|d-(?:sm|md|lg|xl)-(?:block|flex|grid|inline|inline-block|inline-flex|table|table-cell|table-row)|bg-clip-text)$`)

// What can't be worked through is not shown: no page needs a class as long as this, or a style, which may have a
// picture in it.
const (
	maxClass = 8 << 10
	maxStyle = 64 << 10
)

// hides says whether n and all below it are hidden, and updates what they inherit.
func (v *veil) hides(n *html.Node, l *light) bool {
	hidden, shown, style := false, false, ""
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden", "inert":
			return true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "class":
			if len(a.Val) > maxClass {
				return true
			}
			for class := range strings.FieldsSeq(a.Val) {
				hidden = hidden || hidingClasses[strings.ToLower(class)]
				shown = shown || len(class) < 32 && strings.ContainsAny(class, "-:") && showingClasses.MatchString(class)
			}
		case "style":
			if style = a.Val; len(style) > maxStyle {
				return true
			}
		case "bgcolor":
			style = "background-color:" + a.Val + ";" + style
		case "color":
			if n.DataAtom == atom.Font {
				style = "color:" + a.Val + ";" + style
			}
		}
	}
	if hidden && !shown {
		return true
	}
	rules := v.sheet.match(n)
	if len(rules) == 0 && style == "" {
		return false
	}
	d := cascade(rules, style)
	if d.hides() && !(shown && d.get("display") == "none") {
		return true
	}
	*l = d.light(*l)
	return false
}

// closeDetails takes the contents of a closed <details>: only its summary shows.
func (v *veil) closeDetails(n *html.Node) {
	if _, open := dom.Attr(n, "open"); open {
		return
	}
	first := true
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		if c.DataAtom == atom.Summary && first {
			first = false
			continue
		}
		v.hidden += dom.Length(c)
		n.RemoveChild(c)
	}
}

// maxName is how long an attribute that is kept may be, in bytes.
const maxName = 4 << 10

// visibleAttrs keeps what the extraction judges elements by, and what links and tables need.
func visibleAttrs(attrs []html.Attribute) []html.Attribute {
	kept := attrs[:0]
	for _, a := range attrs {
		if len(a.Val) > maxName {
			continue
		}
		switch a.Key {
		case "id", "class", "href", "role", "rel", "itemprop", "itemtype", "colspan", "rowspan", "start", "dir", "src", "aria-modal":
			kept = append(kept, a)
		}
	}
	return kept
}
