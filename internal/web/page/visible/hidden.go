package visible

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// hidingClasses are the names under which common stylesheets, which are not fetched, hide text.
var hidingClasses = dom.WordSet(`sr-only sr_only sronly visuallyhidden visually-hidden u-visuallyhidden u-visually-hidden
	screenreader-text screen-reader-text screenreader-only screen-reader-only screenreader screen-reader assistive-text
	a11y-hidden d-none hidden is-hidden u-hidden hide u-hide invisible offscreen off-screen element-invisible element-hidden opacity-0
	text-transparent display-none displaynone hidden-text show-for-sr clip-hide`)

// showingClasses show an element again on a screen of a desktop's width.
var showingClasses = regexp.MustCompile(`^(?:(?:sm|md|lg|xl):(?:block|flex|grid|inline|inline-block|inline-flex|inline-grid|table|table-cell|table-row|contents|flow-root|list-item|visible|not-sr-only|opacity-\d+)|d-(?:sm|md|lg|xl)-(?:block|flex|grid|inline|inline-block|inline-flex|table|table-cell|table-row)|bg-clip-text)$`)

// A longer class or style is not read, and its element counts as hidden. No page needs such a class; a style may hold a
// picture.
const (
	maxClass = 8 << 10
	maxStyle = 64 << 10
)

// hides reports whether n is hidden with everything in it. If not, it updates what the children of n inherit.
func (s *stylesheet) hides(n *html.Node, in *textState) bool {
	hidden, shown, own := false, false, ""
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
			if own = a.Val; len(own) > maxStyle {
				return true
			}
		case "bgcolor":
			own = "background-color:" + a.Val + ";" + own
		case "color":
			if n.DataAtom == atom.Font {
				own = "color:" + a.Val + ";" + own
			}
		}
	}
	if hidden && !shown {
		return true
	}
	style := s.computed(n, own)
	if len(style) == 0 {
		return false
	}
	if style.hides() && !(shown && style.get("display") == "none") {
		return true
	}
	*in = style.inherit(*in)
	return false
}
