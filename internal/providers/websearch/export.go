package websearch

import (
	"familiar/internal/lookup/need"
	"familiar/internal/web/clean"
)

// Text is what a lookup reads of a page's Markdown: its words without marks and addresses, inert. Quotes are checked
// against this text. The report says what cleaning took out.
func Text(markdown string) (string, clean.Report) { return clean.Inert(plain(markdown), "") }

// The scores from which a message is looked up, and between which the side model is asked.
const (
	Threshold = need.Threshold
	DoubtFrom = need.DoubtFrom
	DoubtTo   = need.DoubtTo
)
