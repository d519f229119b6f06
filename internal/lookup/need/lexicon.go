package need

import (
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The tables of cues, of all languages at once. Where a word of one language means something else in another, the tables
// are kept apart, as those of the openings.

// skies are words for the weather that mean something else as often: "snow white", "storm area 51", "how hot is the sun".
var skies = text.Compile(map[string]lang.Phrases{"": lang.All().Need.Weather})

// outdoors are the words that ask for the weather without its name: "can I wear shorts today".
var outdoors = text.Compile(map[string]lang.Phrases{"": lang.All().Need.Outdoors})

// Topics are what changes from day to day, or is looked up by its nature. The name before the colon groups
// topics that serve the same intent.
var Topics = text.Compile(lang.All().Need.Topics)

// Times are cues that the present counts.
var Times = text.Compile(lang.All().Need.Times)

// checks are cues of a doubt that sources can settle.
var checks = text.Compile(map[string]lang.Phrases{"factcheck": lang.All().Need.Checks})

// Orders are plain orders to look something up, and plain orders not to.
var Orders = text.Compile(lang.All().Order.Orders)

// Against are what the web has no part in.
var Against = text.Compile(lang.All().Need.Against)

// Openings are the words a question for facts begins with, by language; "" has those of all languages without spaces.
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

// Leads are polite beginnings that hide how a question begins.
var Leads = text.Compile(lang.All().Question.Leads)

// commands are the verbs that begin an order to a device, or to the bot itself.
var commands = text.Compile(lang.All().Need.Commands)

// Persons are the words for the two who talk, which a question for facts does without.
var Persons = text.Compile(lang.All().Need.Persons)

// The words of questions that do not stand at their beginning.
var (
	conditions     = text.Set(lang.All().Question.Conditions)
	inverted       = text.Compile(map[string]lang.Phrases{"aux": lang.All().Question.Inverted})
	interrogatives = text.Compile(map[string]lang.Phrases{"wh": lang.All().Question.Interrogatives})
	prepositions   = text.Set(lang.All().Question.Prepositions)
)
