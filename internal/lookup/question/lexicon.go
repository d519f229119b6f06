package question

import (
	"regexp"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The words that the rules look for, of all languages at once. Package lang says what each table is for.
var (
	lexicon = lang.All().Query

	orderLinks = text.Set(lexicon.OrderLinks)
	works      = text.Set(lexicon.Works)
	titleLinks = text.Set(lexicon.TitleLinks)
	pageWords  = text.Set(lexicon.PageWords)
	courtesies = regexp.MustCompile(`(?i)[\s,]+(?:` + lexicon.Courtesies.String() + `)[\s.!?]*$`)
)
