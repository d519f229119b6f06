package privacy

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The words that the rules look for, of all languages at once. Package lang says what each table is for.
var (
	lexicon = lang.All().Privacy

	placePrepositions = text.Set(lexicon.PlacePrepositions)
	beforeIn          = text.Set(lexicon.BeforeIn)
	personVerbs       = text.Set(lexicon.PersonVerbs)
	auxiliaries       = text.Set(lexicon.Auxiliaries)

	phoneWords  = text.Set(lexicon.PhoneWords)
	numberNouns = text.Set(lexicon.NumberNouns)
	owners      = text.Set(lexicon.Owners)
)
