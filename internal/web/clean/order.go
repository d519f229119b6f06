package clean

import (
	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
)

// orderly tells sentences that speak to a machine rather than to a reader. It is no defence, for any wording
// that it does not know passes: it keeps the crudest noise out of a block that is safe without it, and says in the
// record that a page tried. What it looks for is an order about orders, so that a text about a system prompt, or one
// that asks to ignore an e-mail, is none.
var orderly = lazyregexp.New(`(?i)` + lang.All().Clean.Orders.String())

// Orders reports whether a text looks like orders to a machine. It is a hint for the record and alters no text.
func Orders(text string) bool { return orderly.MatchString(text) }
