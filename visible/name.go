package visible

import (
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// hidingClasses holds class names with which common style sheets hide text, and the properties that they set. Those sheets
// are not fetched. A name counts only if the page's own styles set none of its properties.
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

// showingClasses matches class names that show an element again on a wide screen.
var showingClasses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:sm|md|lg|xl):(?:block|flex|grid|inline|inline-block|inline-flex|inline-grid|table|table-cell|table-row|contents|flow-root|list-item|visible|not-sr-only|opacity-\d+)|d-(?:sm|md|lg|xl)-(?:block|flex|grid|inline|inline-block|inline-flex|table|table-cell|table-row)|bg-clip-text)$`)
})

// maxClass is the length of the longest class attribute that is read. Elements with a longer one count as hidden.
const maxClass = 8 << 10

// hiddenByName reports whether an attribute or a class name hides an element.
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
		if len(class) < 32 && showingClasses().MatchString(class) {
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
