// Package visible finds out what a person would see of an HTML page, without a browser, and removes the rest.
//
// [Prune] removes it from a tree of golang.org/x/net/html, which [XHTML] makes of a page of XHTML. [Flat] reads the source of a page that
// is nested too deeply for a tree. All compute the page's styles as browsers do. They follow CSS 2.2 and the newer modules of CSS that can
// hide text. Then they lay it out, paint it, and look at several places of each line of text. If they are in doubt, the text is removed,
// and counted apart.
//
// # What is not known
//
// Nothing is fetched and no script runs. So a style sheet outside of the page does not count. Common class names that hide, such as
// sr-only, do. The fonts are not known either: letters have the widths of common fonts, by classes. The screen is a desktop's window of
// 1280 by 720 pixels, in the light scheme, with a mouse.
//
// # Limits
//
// Pages come from strangers. The work of their styles is limited, and a page beyond the limit is refused with
// [ErrStyles]. The package has no state, so goroutines may call its functions at the same time for different trees.
//
// # A tour
//
// Package internal/css reads the syntax of style sheets, and package internal/cascade computes an element's style. With it, tree.go makes
// boxes of the elements, also of shadow trees; name.go knows attributes and class names. flow.go lays out blocks and lines, and taken.go
// what is out of the flow: floats and positioned boxes. flex.go, grid.go and table.go do what their names say. measure.go
// knows widths. place.go puts the boxes on the page, with their clips, groups and transforms, for which shape.go has the geometry. order.go
// lists what is painted, from the bottom to the top; picture.go knows pictures that the page holds. sight.go looks at the texts. paint.go
// mixes the colours with the letters and without them, and where these differ, the letters are seen. prune.go removes the rest. Command
// judge asks a browser, for the tests.
package visible

import "errors"

// Options say how a page is looked at.
type Options struct {
	// Scripts says that the browser runs scripts, so that it does not show <noscript>. Parse the page with the same
	// html.ParseOptionEnableScripting.
	Scripts bool
	// Rest is source that follows what is in the tree. Only its style sheets count.
	Rest string
}

// Count counts characters that are not white space.
type Count struct {
	Hidden   int // removed because nobody sees them
	Doubtful int // removed because it is not known whether somebody sees them
	Seen     int // left in the tree
}

// ErrStyles is the error for a page whose styles take too much work. It is not known what they hide.
var ErrStyles = errors.New("the styles take too much work")
