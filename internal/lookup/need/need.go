// Package need decides whether a message needs the web, and which kinds of question it is.
//
// It reads the message's own words and nothing else. [Weigh] gives a score from 0 to 1 with the cues behind it:
//
//   - cues.go finds the cues of a sentence (package utterance cuts it into words): its form, topics, times, names and
//     small talk. This file has the weight of each. Their sum, over the sentence that has most, is the rules' score.
//   - features.go and model.go: of an English message, two linear models replace that score. What the rules found is
//     among their features.
//
// [Models.Classify] in intent.go names the intents of a message: weather, news, a person, … lexicon.go has the tables
// of words.
package need

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// Need is how much a message needs the web, and why.
type Need struct {
	Score     float64  // 0 to 1
	ruleScore float64  // what the rules alone say
	Cues      []string // what moved the score, strongest first
	Asks      bool     // it has the form of a question or a request
	Barred    bool     // something in it speaks plainly against: small talk, a device, a sum
	Order     utterance.Order
	Topics    []string // rows of the table of topics
	Times     []string // rows of the table of times
	Check     bool     // it asks whether something is true
	Sentence  string   // the sentence that decided
}

// The score from which a message is looked up, and the band around it in which a side model is asked.
const (
	Threshold = 0.5
	DoubtFrom = 0.3
	DoubtTo   = 0.7
)

// weights are what each cue adds, in log-odds. They were set by hand and rounded; a cue's weight says how
// much it tells in a message that has no other.
var weights = map[string]float64{
	"wh": 2.0, "aux": 1.0, "get": 1.3, "question mark": 0.6, "statement": -1.2, "long statement": -1.0, "fragment": 0.3,
	"topic": 1.8, "topics": 0.6, "time": 0.8, "factcheck": 3.5, "name": 0.8, "names": 0.5, "year": 1.0,
	"device": -3.2, "clock": -3.6, "sums": -3.2, "chance": -4, "speech": -3.2, "make": -2.6, "smalltalk": -1.6, "greeting only": -3, "opinion": -3,
	"you": -2.2, "me": -1.3, "i": -0.5, "pointing": -1.5, "nothing named": -2.5, "to another": -2.5, "to the room": -1, "roleplay": -4, "in play": -1.5, "code": -2.5,
}

const bias = -1.9

// barring are the cues that bar a lookup even of a question.
var barring = text.Set("device clock sums chance speech make smalltalk opinion you roleplay code")

// Weigh scores a message with the built-in models. names are those of the bot.
func Weigh(message string, names []string) Need { return BuiltIn().Weigh(message, names) }

// Weigh scores a message. names are those of the bot.
func (m Models) Weigh(message string, names []string) Need {
	spoken, acted, code := SpokenText(message)
	n := byRules(spoken, names)
	switch {
	case n.Order == utterance.NoSearch:
		return n
	case n.Order == utterance.Search:
		n.Score, n.Cues = 1, []string{"told to search"}
		return n
	case !acted && !code:
		m.rescore(&n, utterance.Parse(spoken, names))
	}
	// What is said around an action in asterisks is played, too, unless it asks plainly for facts.
	if acted && n.Score < 0.9 {
		n.Add("roleplay")
	}
	if code {
		n.Add("code")
	}
	return n
}

// Checks reports whether a message asks if something is true. It is the Check of what [Weigh] returns, which takes longer.
func Checks(message string) bool {
	spoken, _, _ := SpokenText(message)
	return byRules(spoken, nil).Check
}

var (
	codeBlock  = regexp.MustCompile("(?s)```.*?(?:```|$)")
	codeSpan   = regexp.MustCompile("`[^`\n]+`")
	actionSpan = regexp.MustCompile(`(?:^|[\s(])(?:\*[^*\n]{2,200}\*|_[^_\n]{2,200}_)(?:$|[\s).,!?])`)
)

// SpokenText returns a message without its code and without the actions that are played in it, "*waves*". It reports
// whether there were actions, and whether there were code blocks.
func SpokenText(message string) (spoken string, acted, code bool) {
	prose := codeBlock.ReplaceAllString(message, " ")
	plain := codeSpan.ReplaceAllString(prose, " ")
	spoken = actionSpan.ReplaceAllString(plain, " ")
	return spoken, len(strings.TrimSpace(spoken)) < len(strings.TrimSpace(plain)), prose != message
}

// byRules scores a message by the rules alone: by the sentence that needs the web most.
func byRules(spoken string, names []string) Need {
	var best Need
	for _, s := range text.MessageSentences(spoken) {
		n := WeighSentence(s, names)
		if n.Order == utterance.NoSearch {
			return Need{Order: utterance.NoSearch, Cues: []string{"told not to search"}, Asks: n.Asks}
		}
		if best.Cues == nil || n.Order == utterance.Search && best.Order == utterance.NoOrder || best.Order == n.Order && n.Score > best.Score {
			best = n
		}
	}
	return best
}

// WeighSentence scores one sentence by the rules alone.
func WeighSentence(s string, names []string) Need {
	u := utterance.Parse(s, names)
	if len(u.Words) == 0 {
		return Need{Cues: []string{"nothing said"}}
	}
	if len(u.Body) == 0 {
		u.Body = u.Words
	}
	form := u.Form()
	if form == utterance.NoForm && u.Inquiry {
		form = utterance.Request
	}
	n := Need{Sentence: s, Order: u.Order(), Asks: form != utterance.NoForm || u.HasQuestionMark()}
	c := cues{}
	c.addForm(u, form)
	c.addTopics(&n, u, form)
	c.addNames(u)
	c.addAgainst(u, slices.Contains(n.Topics, "weather"))
	c.add("to another", !u.ToBot && toAnother(u))
	if c["topic"] || c["factcheck"] {
		delete(c, "greeting only")
	}
	c.score(&n)
	return n
}

// Add moves the score by one more cue.
func (n *Need) Add(cue string) {
	n.Score = logistic(logOdds(n.Score) + weights[cue])
	n.Cues = append(n.Cues, cue)
	n.Barred = n.Barred || barring[cue]
}
