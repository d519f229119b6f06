package page

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// veil is the work of rule H: to take from a tree what a reader could not see.
type veil struct {
	sheet  *sheet
	hidden int // characters that were hidden from the reader
	seen   int // characters that are left
	all    int // characters of the body before anything was done
	spared int // elements that were too large a part of the page to be clutter
}

// light is what elements inherit that decides whether text can be seen.
type light struct {
	invisible  bool // visibility
	tiny       bool // font size
	colourless bool // transparent, or the colour of its ground
	ground     colour
}

func (l light) dark() bool { return l.invisible || l.tiny || l.colourless }

// unveil removes from doc all that is hidden or is no text: scripts, forms, navigation, comments, attributes that
// hide. It returns how many characters were hidden and how many are left, and fails if the page's styles are
// more than can be worked through.
func unveil(doc *html.Node) (hidden, seen int, err error) {
	v := veil{sheet: newSheet()}
	collectStyles(doc, v.sheet)
	v.all = textLength(doc)
	v.walk(doc, light{})
	if v.sheet.exhausted() {
		return 0, 0, &Error{Code: "unparsable"}
	}
	return v.hidden, v.seen, nil
}

func collectStyles(n *html.Node, s *sheet) {
	if n.DataAtom == atom.Style && n.FirstChild != nil {
		if media, ok := attr(n, "media"); !ok || mediaApplies(media) {
			s.add(n.FirstChild.Data)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		collectStyles(c, s)
	}
}

// walk goes down the tree; the parser has made sure that it is at most 512 deep.
func (v *veil) walk(n *html.Node, l light) {
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		switch c.Type {
		case html.TextNode:
			if size := letters(c.Data); l.dark() {
				v.hidden += size
				n.RemoveChild(c)
			} else {
				v.seen += size
			}
		case html.ElementNode:
			v.element(c, l)
		default:
			n.RemoveChild(c)
		}
	}
}

func (v *veil) element(n *html.Node, l light) {
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
		v.hidden += textLength(n)
		n.Parent.RemoveChild(n)
		return
	}
	if n.DataAtom == atom.Details {
		v.closeDetails(n)
	}
	n.Attr = visibleAttrs(n.Attr)
	v.walk(n, l)
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
		limit = min(limit, shortForm)
	default:
		return false
	}
	if v.spared == maxSpared || textLength(n) >= limit {
		v.spared = min(v.spared+1, maxSpared)
		return false
	}
	return true
}

var (
	// hidingClasses are the names under which the common style sheets, which we don't fetch, keep text from sight.
	hidingClasses = regexp.MustCompile(`^(?:sr-only|sr_only|sronly|visually-?hidden|visuallyhidden|u-visually-?hidden|screen-?reader(?:-text|-only)?|assistive-text|a11y-hidden|d-none|hidden|is-hidden|u-hidden|hide|u-hide|invisible|offscreen|off-screen|element-invisible|element-hidden|opacity-0|text-transparent|display-none|displaynone|hidden-text|show-for-sr|clip-hide)$`)
	// showingClasses bring an element back on a screen of a desktop's width.
	showingClasses = regexp.MustCompile(`^(?:(?:sm|md|lg|xl):(?:block|flex|grid|inline|inline-block|inline-flex|inline-grid|table|table-cell|table-row|contents|flow-root|list-item|visible|not-sr-only|opacity-\d+)|d-(?:sm|md|lg|xl)-(?:block|flex|grid|inline|inline-block|inline-flex|table|table-cell|table-row)|bg-clip-text)$`)
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
			for class := range strings.FieldsSeq(a.Val) {
				hidden = hidden || hidingClasses.MatchString(strings.ToLower(class))
				shown = shown || showingClasses.MatchString(class)
			}
		case "style":
			style = a.Val
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
	if d.hides() && !(shown && d["display"] == "none") {
		return true
	}
	*l = d.light(*l)
	return false
}

// closeDetails takes the contents of a closed <details>: only its summary shows.
func (v *veil) closeDetails(n *html.Node) {
	if _, open := attr(n, "open"); open {
		return
	}
	first := true
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		if c.DataAtom == atom.Summary && first {
			first = false
			continue
		}
		v.hidden += textLength(c)
		n.RemoveChild(c)
	}
}

// visibleAttrs keeps what the extraction judges elements by, and what links and tables need.
func visibleAttrs(attrs []html.Attribute) []html.Attribute {
	kept := attrs[:0]
	for _, a := range attrs {
		switch a.Key {
		case "id", "class", "href", "role", "rel", "itemprop", "itemtype", "colspan", "rowspan", "start", "dir", "src", "aria-modal":
			kept = append(kept, a)
		}
	}
	return kept
}

func attr(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// textLength counts the characters below n that are no white space, scripts and styles left out.
func textLength(n *html.Node) int {
	if n.Type == html.TextNode {
		return letters(n.Data)
	}
	total := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode || c.Type == html.ElementNode && c.DataAtom != atom.Script && c.DataAtom != atom.Style && c.DataAtom != atom.Noscript && c.DataAtom != atom.Head {
			total += textLength(c)
		}
	}
	return total
}

func letters(s string) (n int) {
	for _, c := range s {
		if c > ' ' && (c < 0x7F || !unicode.IsSpace(c)) {
			n++
		}
	}
	return n
}
