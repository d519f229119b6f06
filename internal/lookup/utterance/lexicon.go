package utterance

import (
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The phrases that are looked for in utterances, of all languages at once. Package lang says what each table is for.
var (
	Leads   = text.Compile(lang.All().Question.Leads) // courtesies before a question
	Orders  = text.Compile(lexicon.Orders)            // to search, and not to
	Persons = text.Compile(lang.All().Need.Persons)   // the two who talk: "you", "me", "i"
	Topics  = text.Compile(lang.All().Need.Topics)    // what changes from day to day, or is looked up by its nature
	Times   = text.Compile(lang.All().Need.Times)     // what says that the present counts
	Against = text.Compile(lang.All().Need.Against)   // what the web has no part in
	Intents = text.Compile(lang.All().Need.Intents)   // what stands for an intent by itself

	OrderTail = text.Set(lexicon.Tail) // words that may end an order: "online", "for me"
)

// The words of orders and forms.
var (
	lexicon       = lang.All().Order
	notImperative = text.Set(lexicon.NotImperative)
	beforeOrder   = text.Set(lexicon.Before)
	refusals      = text.Set(lexicon.Refusals)
	asksWhy       = text.Set(lexicon.AsksWhy)
	reports       = text.Set(lexicon.Reports)
	notSearched   = text.Set(lexicon.NotSearched)

	conditions     = text.Set(lang.All().Question.Conditions)
	inverted       = text.CompileOne(lang.All().Question.Inverted)
	interrogatives = text.CompileOne(lang.All().Question.Interrogatives)
	prepositions   = text.Set(lang.All().Question.Prepositions)
)

// Openings has the words that a question for facts begins with, by language; "" has those of all languages without spaces.
var Openings = func() map[string]text.Phrases {
	add := func(rows, more map[string]lang.Phrases) {
		for form, phrases := range more {
			rows[form] += "," + phrases
		}
	}
	all, unspaced := map[string]text.Phrases{}, map[string]lang.Phrases{}
	for _, code := range lang.Codes() {
		q := lang.Of(code).Question
		if text.Unspaced(string(q.Openings["wh"])) {
			add(unspaced, q.Openings)
			continue
		}
		rows := map[string]lang.Phrases{"wh": lang.Phrases(strings.Join(q.Things.Fields(), ","))}
		add(rows, q.Openings)
		all[code] = text.Compile(rows)
	}
	all[""] = text.Compile(unspaced)
	return all
}()
