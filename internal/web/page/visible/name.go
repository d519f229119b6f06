package visible

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/visible/cascade"
)

// hidingClasses are the names under which common style sheets, which are not fetched, hide text, with the properties by which they do.
// They are a last hint: where the page itself says something about one of the properties, its style decides.
var hidingClasses = func() map[string][]cascade.Property {
	classes := map[string][]cascade.Property{}
	for list, by := range map[string][]cascade.Property{
		"d-none hidden is-hidden u-hidden hide u-hide display-none displaynone hidden-text element-hidden": {cascade.Display},
		"invisible": {cascade.Visibility},
		"opacity-0": {cascade.Opacity},
		`sr-only sr_only sronly visuallyhidden visually-hidden u-visuallyhidden u-visually-hidden screenreader-text screen-reader-text screenreader-only
			screen-reader-only screenreader screen-reader assistive-text a11y-hidden show-for-sr clip-hide offscreen off-screen element-invisible`: {cascade.Position, cascade.Clip, cascade.ClipPath, cascade.Width, cascade.Left},
		"text-transparent": {cascade.Color, cascade.TextFill},
	} {
		for class := range strings.FieldsSeq(list) {
			classes[class] = by
		}
	}
	return classes
}()

// showingClasses show an element again on a screen of a desktop's width.
var showingClasses = regexp.MustCompile(`^(?:(?:sm|md|lg|xl):(?:block|flex|grid|inline|inline-block|inline-flex|inline-grid|table|table-cell|table-row|contents|flow-root|list-item|visible|not-sr-only|opacity-\d+)|d-(?:sm|md|lg|xl)-(?:block|flex|grid|inline|inline-block|inline-flex|table|table-cell|table-row)|bg-clip-text)$`)

// A longer class is not read, and its element counts as hidden. No page needs one.
const maxClass = 8 << 10

// hiddenByName reports whether an attribute or a class says that an element is hidden, whatever its style.
func hiddenByName(n *html.Node, st *cascade.Style) bool {
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "class":
			if len(a.Val) > maxClass || hiddenByClass(a.Val, st) {
				return true
			}
		}
	}
	return false
}

func hiddenByClass(classes string, st *cascade.Style) bool {
	hidden := false
	for class := range strings.FieldsSeq(classes) {
		if by := hidingClasses[lower(class)]; by != nil && !authoredOne(st, by) {
			hidden = true
		}
	}
	if !hidden {
		return false
	}
	for class := range strings.FieldsSeq(classes) {
		if len(class) < 32 && showingClasses.MatchString(class) {
			return false
		}
	}
	return true
}

// lower returns a class in lower case, if it is short enough to matter.
func lower(class string) string {
	if len(class) > dom.MaxName {
		return ""
	}
	return strings.ToLower(class)
}

func authoredOne(st *cascade.Style, properties []cascade.Property) bool {
	for _, p := range properties {
		if st.Authored(p) {
			return true
		}
	}
	return false
}
