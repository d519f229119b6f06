// Package visible finds out what a person would see of an HTML page, without a browser, and removes the rest.
//
// [Prune] removes it from a tree of golang.org/x/net/html. [Flat] reads the source of a page that is nested too deeply
// for a tree. Both compute the page's styles as browsers do, by CSS 2.2 and the newer modules of CSS that can hide text.
// If they are in doubt, the text counts as hidden.
//
// # What is not known
//
// Nothing is fetched and no script runs. So a style sheet outside of the page does not count, except for common class
// names that hide, such as sr-only. Boxes are placed as far as that is possible without setting text: widths are known,
// heights often are not. The screen is a desktop's window of 1280 by 720 pixels, in the light scheme, with a mouse.
//
// # Limits
//
// Pages come from strangers. The work of their styles is limited, and a page beyond the limit is refused with
// [ErrStyles]. The package has no state, so goroutines may call its functions at the same time for different trees.
//
// # A tour
//
// Package internal/css reads the syntax of style sheets, and package internal/cascade computes an element's style. With
// it, view.go walks down the tree and decides for each element and text whether it can be seen. It asks box.go where a
// box is, shape.go what clipping, masks and transforms leave of it, paint.go whether letters differ from what is behind
// them, shadow.go about shadow trees, and name.go about attributes and class names. prune.go removes what view.go found.
// Command judge asks a browser, for the tests.
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
	Hidden int // removed because nobody sees them
	Seen   int // left in the tree
}

// ErrStyles is the error for a page whose styles take too much work, so that it is not known what they hide.
var ErrStyles = errors.New("the styles take too much work")
