package need

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
)

// Need is how much a message asks for the web, and why.
type Need struct {
	Score    float64  // 0 to 1
	ruled    float64  // what the rules alone say, 0 to 1
	Cues     []string // what moved it, strongest first
	Asks     bool     // it has the form of a question or a request
	Barred   bool     // something in it speaks plainly against: small talk, a device, a sum
	Order    string   // "search" or "dont": said in so many words
	Topics   []string // rows of the table of topics
	Times    []string // rows of the table of times
	Check    bool     // it asks whether something is true
	Sentence string   // the sentence that decided
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

// barring are the cues that, with a question's form, still make it none for the web.
var barring = text.Set("device clock sums chance speech make smalltalk opinion you roleplay code")

var (
	Fenced = regexp.MustCompile("(?s)```.*?(?:```|$)")
	Inline = regexp.MustCompile("`[^`\n]+`")
	Action = regexp.MustCompile(`(?:^|[\s(])(?:\*[^*\n]{2,200}\*|_[^_\n]{2,200}_)(?:$|[\s).,!?])`)
)

// Weigh scores a message from its own words. names are those of the bot: said to it, they are no cue.
func Weigh(text string, names []string) Need { return BuiltIn().Weigh(text, names) }

func (m Models) Weigh(text string, names []string) Need {
	spoken, acted, hadCode := spokenPart(text)
	best := ruled(spoken, names)
	switch {
	case best.Order == "dont":
		return best
	case best.Order == "search":
		best.Score, best.Cues = 1, []string{"told to search"}
		return best
	case !acted && !hadCode:
		m.learn(&best, spoken, names)
	}
	// An action in asterisks is played, and so is what is said around it, unless that asks plainly for facts.
	if acted && best.Score < 0.9 {
		best.Add("roleplay")
	}
	if hadCode {
		best.Add("code")
	}
	return best
}

// spokenPart is a message without its code and what is played in it, and whether it had any.
func spokenPart(text string) (spoken string, acted, hadCode bool) {
	rest := Fenced.ReplaceAllString(text, " ")
	bare := Inline.ReplaceAllString(rest, " ")
	spoken = Action.ReplaceAllString(bare, " ")
	return spoken, len(strings.TrimSpace(spoken)) < len(strings.TrimSpace(bare)), rest != text
}

// ruled scores a message by the rules alone: by the sentence of it that asks most.
func ruled(body string, names []string) Need {
	best := Need{}
	for _, s := range text.MessageSentences(body) {
		n := WeighSentence(s, names)
		if n.Order == "dont" {
			return Need{Order: "dont", Cues: []string{"told not to search"}, Asks: n.Asks}
		}
		if best.Cues == nil || n.Order == "search" && best.Order == "" || best.Order == n.Order && n.Score > best.Score {
			best = n
		}
	}
	return best
}

// Add moves the score by one more cue.
func (n *Need) Add(cue string) {
	x := math.Log(max(n.Score, 1e-6) / max(1-n.Score, 1e-6))
	n.Score = logistic(x + weights[cue])
	n.Cues = append(n.Cues, cue)
	n.Barred = n.Barred || barring[text.Fold(cue)]
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// WeighSentence scores one sentence.
func WeighSentence(s string, names []string) Need {
	words, ownName := DropNames(text.Words(s), s, names)
	if len(words) == 0 {
		return Need{Cues: []string{"nothing said"}}
	}
	n := Need{Sentence: s}
	heard := signs{}
	from, askedFor := Lead(words)
	body := words[from:]
	if len(body) == 0 {
		body = words
	}
	n.Order = ordered(s, words, body)
	form := Opening(s, words, body)
	if form == "" && askedFor {
		form = "get"
	}
	asked := strings.ContainsAny(s, "?？؟")
	n.Asks = form != "" || asked
	heard.form(s, words, body, form, asked)
	heard.topics(&n, s, words, form, asked)
	heard.names(s, words)
	heard.against(s, words, body, slices.Contains(n.Topics, "weather"))
	if !ownName && toAnother(s, words) {
		heard.hear("to another")
	}
	if heard.has("topic") || heard.has("factcheck") {
		delete(heard, "greeting only")
	}
	heard.sum(&n)
	return n
}
