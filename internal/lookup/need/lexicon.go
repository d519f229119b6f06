package need

import (
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The words that the rules look for, of all languages at once. Package lang says what each table is for.
var (
	Leads   = text.Compile(lang.All().Question.Leads) // courtesies before a question
	Persons = text.Compile(lexicon.Persons)           // the two who talk: "you", "me", "i"
	Orders  = text.Compile(orderLexicon.Orders)       // to search, and not to
	Topics  = text.Compile(lexicon.Topics)            // what changes from day to day, or is looked up by its nature
	Times   = text.Compile(lexicon.Times)             // what says that the present counts
	Against = text.Compile(lexicon.Against)           // what the web has no part in

	lexicon  = lang.All().Need
	checks   = phrases(lexicon.Checks)
	commands = text.Compile(lexicon.Commands)
	intents  = text.Compile(lexicon.Intents)

	weatherWords = phrases(lexicon.Weather)
	outdoors     = phrases(lexicon.Outdoors)
	deictics     = text.Set(lexicon.Deictics)
	here         = text.Set(lexicon.Here)
	atPlace      = text.Set(lexicon.AtPlace)
	doubts       = text.Set(lexicon.Doubts)
	doubtAdverbs = text.Set(lexicon.DoubtAdverbs)
	genericYou   = text.Set(lexicon.GenericYou)
	botVerbs     = text.Set(lexicon.BotVerbs)
	makerVerbs   = text.Set(lexicon.MakerVerbs)
	everybody    = text.Set(lexicon.Everybody)

	orderLexicon  = lang.All().Order
	notImperative = text.Set(orderLexicon.NotImperative)
	beforeOrder   = text.Set(orderLexicon.Before)
	refusals      = text.Set(orderLexicon.Refusals)
	asksWhy       = text.Set(orderLexicon.AsksWhy)
	reports       = text.Set(orderLexicon.Reports)
	notSearched   = text.Set(orderLexicon.NotSearched)
	fillers       = text.Set(orderLexicon.Fillers)

	conditions     = text.Set(lang.All().Question.Conditions)
	inverted       = phrases(lang.All().Question.Inverted)
	interrogatives = phrases(lang.All().Question.Interrogatives)
	prepositions   = text.Set(lang.All().Question.Prepositions)
)

// phrases compiles a table whose phrases all mean the same.
func phrases(table lang.Phrases) text.Phrases {
	return text.Compile(map[string]lang.Phrases{"": table})
}

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
