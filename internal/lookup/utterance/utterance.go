// Package utterance cuts what people say to the bot into words and tells its form: a question word, a verb, a request, an
// order. It decides nothing; package need weighs what it finds, and package followup completes what lacks something.
//
//   - utterance.go: [Parse] sets the bot's name and the courtesies apart, and [Utterance.Form] tells how it asks.
//   - order.go finds plain orders: "look it up", "don't search".
//   - lexicon.go has the tables of phrases, for all who look for them in an utterance.
package utterance

import (
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// Utterance is a message, or a sentence of one, cut into words.
type Utterance struct {
	Text    string
	Words   []text.Word // without the bot's name at either end
	Body    []text.Word // Words without the courtesies before the question: "hey, could you …"
	ToBot   bool        // the bot's name stood at an end
	Inquiry bool        // the courtesies ask for an answer: "do you know …"
}

// Parse cuts s into words. names are those of the bot.
func Parse(s string, names []string) Utterance {
	u := Utterance{Text: s}
	u.Words, u.ToBot = dropNames(text.Words(s), names)
	n, inquiry := Courtesies(u.Words)
	u.Body, u.Inquiry = u.Words[n:], inquiry
	return u
}

// Courtesies returns how many words of courtesy begin words, and whether they ask for an answer.
func Courtesies(words []text.Word) (n int, inquiry bool) {
	for n < len(words) {
		more, cue := Leads.Prefix(words[n:])
		if more == 0 {
			break
		}
		n += more
		inquiry = inquiry || cue == "ask"
	}
	return n, inquiry
}

// dropNames removes the bot's name from the beginning, also behind a courtesy or two ("hey sage …"), and from the end.
func dropNames(words []text.Word, names []string) (rest []text.Word, dropped bool) {
	for _, name := range names {
		keys := text.PhraseKeys(name)
		if len(keys) == 0 {
			continue
		}
		for at := 0; at <= min(2, len(words)-1); at++ {
			if n, _ := Courtesies(words[:at]); n == at && text.HasPrefix(words[at:], keys) {
				words, dropped = slices.Concat(words[:at], words[at+len(keys):]), true
				break
			}
		}
		if n := len(words) - len(keys); n > 0 && text.HasPrefix(words[n:], keys) {
			words, dropped = words[:n], true
		}
	}
	return words, dropped
}

// Suffix returns the utterance from a word on.
func (u Utterance) Suffix(from int) Utterance {
	return Utterance{Text: u.Text, Words: u.Words[from:], Body: u.Words[from:]}
}

// Find returns the phrases of a table in the utterance.
func (u Utterance) Find(table text.Phrases) []text.Match { return table.FindAll(u.Text, u.Words) }

// Has reports whether a phrase of a table is in the utterance.
func (u Utterance) Has(table text.Phrases) bool { return len(u.Find(table)) > 0 }

// HasQuestionMark reports whether it has one of any script.
func (u Utterance) HasQuestionMark() bool { return strings.ContainsAny(u.Text, "?？؟") }

// Form is how an utterance asks for something.
type Form string

// The forms of utterances; the tables of openings name them so.
const (
	NoForm  Form = ""    // it does not ask
	Wh      Form = "wh"  // with a question word: "who", "in which"
	YesNo   Form = "aux" // with a verb: "is", "did"
	Request Form = "get" // with an order: "tell me about", "find"
)

// Form returns how an utterance asks, by the words that it begins with.
func (u Utterance) Form() Form {
	for _, lang := range [...]string{text.Language(u.Text, u.Words), "en"} {
		openings, ok := Openings[lang]
		if !ok {
			continue
		}
		if n, form := openings.Prefix(u.Body); n > 0 {
			return Form(form)
		}
		if _, form := openings.Prefix(u.Words); Form(form) == Request {
			return Request
		}
	}
	if found := Openings[""].FindAll(u.Text, u.Body); len(found) > 0 {
		return Form(found[0].Cue)
	}
	return u.innerForm()
}

// innerForm finds the question behind a condition or a place, "if i go to Kenya would i need a visa", and the one at the
// end of a sentence: "… is located in which state".
func (u Utterance) innerForm() Form {
	for i := 1; i < len(u.Body); i++ {
		if conditions[u.Body[0].Key] {
			if n, _ := inverted.Prefix(u.Body[i:]); n > 0 {
				return YesNo
			}
			if n, _ := interrogatives.Prefix(u.Body[i:]); n > 0 {
				return Wh
			}
		}
		switch u.Body[i].Key {
		case "which", "whose", "what":
			if i >= len(u.Body)-4 && prepositions[u.Body[i-1].Key] {
				return Wh
			}
		}
	}
	return NoForm
}

// Everyday reports whether a word is one that the tables know.
func Everyday(key string) bool {
	if text.StopWords[key] || text.Pronouns[key] != "" || text.MonthNames[key] > 0 {
		return true
	}
	word := []text.Word{{Key: key}}
	for _, table := range [...]text.Phrases{Topics, Times, Against, Intents, calendar.Phrases} {
		if n, _ := table.Prefix(word); n > 0 {
			return true
		}
	}
	return false
}
