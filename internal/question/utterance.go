package question

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// Utterance is a message, or a sentence of one, cut into words.
type Utterance struct {
	Text    string
	Words   []text.Word // without the bot's name at either end
	Body    []text.Word // Words without the polite opening: "hey, could you …"
	ToBot   bool        // the message begins or ends with the bot's name
	Inquiry bool        // the polite opening asks for an answer: "do you know …"
}

// Parse cuts s into words. names are the bot's.
func Parse(s string, names []string) Utterance {
	u := Utterance{Text: s}
	u.Words, u.ToBot = dropNames(text.Words(s), names)
	n, inquiry := politePrefix(u.Words)
	u.Body, u.Inquiry = u.Words[n:], inquiry
	return u
}

// politePrefix returns how many words of a polite opening begin words, and whether the opening asks for an answer.
func politePrefix(words []text.Word) (n int, inquiry bool) {
	for n < len(words) {
		more, cue := politeOpenings().Prefix(words[n:])
		if more == 0 {
			break
		}
		n += more
		inquiry = inquiry || cue == "ask"
	}
	return n, inquiry
}

// dropNames removes the bot's name from the beginning, also after a polite opening ("hey sage …"), and from the end.
func dropNames(words []text.Word, names []string) (rest []text.Word, dropped bool) {
	for _, name := range names {
		keys := text.PhraseKeys(name)
		if len(keys) == 0 {
			continue
		}
		for at := 0; at <= min(2, len(words)-1); at++ {
			if n, _ := politePrefix(words[:at]); n == at && text.HasPrefix(words[at:], keys) {
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

// from returns the utterance that begins at a word.
func (u Utterance) from(from int) Utterance {
	return Utterance{Text: u.Text, Words: u.Words[from:], Body: u.Words[from:]}
}

// find returns the matches of a table of phrases.
func (u Utterance) find(table text.Phrases) []text.Match { return table.FindAll(u.Text, u.Words) }

// has reports whether a phrase of a table is in the utterance.
func (u Utterance) has(table text.Phrases) bool { return len(u.find(table)) > 0 }

// HasQuestionMark reports whether the text has a question mark of any script.
func (u Utterance) HasQuestionMark() bool { return strings.ContainsAny(u.Text, "?？؟") }

// Form is how an utterance asks for something.
type Form string

// The forms of utterances, as the language files name them.
const (
	NoForm  Form = ""    // asks nothing
	Wh      Form = "wh"  // a question word: "who", "in which"
	YesNo   Form = "aux" // a verb: "is", "did"
	Request Form = "get" // a request: "tell me about", "find"
)

// Form returns how an utterance asks, by its first words.
func (u Utterance) Form() Form {
	for _, lang := range [...]string{text.MessageLanguage(u.Text), "en"} {
		openings, ok := questionOpenings()[lang]
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
	if found := questionOpenings()[""].FindAll(u.Text, u.Body); len(found) > 0 {
		return Form(found[0].Cue)
	}
	return u.innerForm()
}

// Asks reports whether an utterance has the form of a question or a question mark.
func (u Utterance) Asks() bool { return u.Form() != NoForm || u.HasQuestionMark() }

// Unaddressed returns the text without the bot's name at either end.
func (u Utterance) Unaddressed() string {
	if len(u.Words) == 0 {
		return ""
	}
	end := u.Words[len(u.Words)-1].End
	rest := u.Text[u.Words[0].Start:end]
	if strings.ContainsAny(u.Text[end:], "?？؟") {
		rest += "?"
	}
	return rest
}

// innerForm finds a question after a condition or place ("if i go to Kenya would i need a visa"). It also finds one at the end of a
// sentence ("… is located in which state").
func (u Utterance) innerForm() Form {
	for i := 1; i < len(u.Body); i++ {
		if conditions()[u.Body[0].Key] {
			if n, _ := inverted().Prefix(u.Body[i:]); n > 0 {
				return YesNo
			}
			if n, _ := interrogatives().Prefix(u.Body[i:]); n > 0 {
				return Wh
			}
		}
		switch u.Body[i].Key {
		case "which", "whose", "what":
			if i >= len(u.Body)-4 && prepositions()[u.Body[i-1].Key] {
				return Wh
			}
		}
	}
	return NoForm
}

// IsCommonWord reports whether a word is a stop word, a pronoun or a month. Words of the tables of cues are common, too.
func IsCommonWord(key string) bool {
	if text.StopWords()[key] || text.Pronouns()[key] != "" || text.MonthNames()[key] > 0 {
		return true
	}
	word := []text.Word{{Key: key}}
	for _, table := range [...]text.Phrases{topicPhrases(), Times(), notForWeb(), intentPhrases(), text.CalendarPhrases()} {
		if n, _ := table.Prefix(word); n > 0 {
			return true
		}
	}
	return false
}

// Order is what a message says explicitly about searching.
type Order string

// The orders, as the language files name them.
const (
	NoOrder  Order = ""
	Search   Order = "search" // "look it up"
	NoSearch Order = "dont"   // "don't search"
)

// order finds an explicit order to search or not to search.
func (u Utterance) order() Order {
	order := NoOrder
	for _, f := range u.find(orderPhrases()) {
		switch {
		case f.Cue == "dont" && u.forbids(f), f.Cue == "aside" && u.standsApart(f):
			return NoSearch
		case f.Cue != "search" || f.From > 0 && f.To > f.From+1 && u.isTitle(f):
			continue
		}
		before := u.Words[u.clauseStart(f.From):f.From]
		switch {
		case text.ContainsAny(before, refusals()) && !text.ContainsAny(before, asksWhy()):
			return NoSearch // "never search the web for me", "I don't need you to look it up"
		case text.ContainsAny(before, reports()), f.To < len(u.Words) && notSearched()[u.Words[f.To].Key]:
			continue // "we should look it up", "search engines"
		case f.To == len(u.Words) && u.asksWhatYouCan(before):
			continue // "what can you look up?"
		}
		if length := f.To - f.From; u.mayBeginOrder(f.From) || f.To == len(u.Words) && length > 1 || length >= 3 {
			order = Search
		}
	}
	return order
}

// mostBefore is how many words may be before the order in a question about the bot: "which things can you".
const mostBefore = 4

// asksWhatYouCan reports whether the words before an order make it a question about the bot. The first is a question word, the last "you".
func (u Utterance) asksWhatYouCan(before []text.Word) bool {
	return len(before) > 1 && len(before) <= mostBefore && text.SecondPerson("")[before[len(before)-1].Key] && u.Form() == Wh
}

// forbids tells "please don't search" from "they do not look happy".
func (u Utterance) forbids(f text.Match) bool {
	return u.mayBeginOrder(f.From) || !u.isTitle(f) && !notImperative()[u.Words[f.From-1].Key]
}

// standsApart tells "who was Nero? from memory", which forbids a search, from "files from memory cards".
func (u Utterance) standsApart(f text.Match) bool {
	return u.mayBeginOrder(f.From) && (f.To == len(u.Words) || u.afterMark(f.To) || u.from(f.To).Form() != NoForm)
}

// isTitle reports whether a phrase is capitalised like a title: "who directed Don't Look It Up".
func (u Utterance) isTitle(f text.Match) bool { return u.Words[f.From].Upper && u.Words[f.To-1].Upper }

// mayBeginOrder reports whether an order can begin at word i. It is after the polite opening, a punctuation mark, or a word like "please".
// A phrase in a script without spaces always begins at 0.
func (u Utterance) mayBeginOrder(i int) bool {
	return i <= len(u.Words)-len(u.Body) || u.afterMark(i) || beforeOrder()[u.Words[i-1].Key]
}

// clauseStart returns the index of the first word in the clause of word i.
func (u Utterance) clauseStart(i int) int {
	for i > 0 && !u.afterMark(i) {
		i--
	}
	return i
}

// afterMark reports whether a punctuation mark precedes word i.
func (u Utterance) afterMark(i int) bool {
	if i == 0 || i == len(u.Words) {
		return false
	}
	end := u.Words[i-1].End
	return strings.ContainsAny(u.Text[end:max(end, u.Words[i].Start)], ",.;:!?()–—")
}
