package websearch

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// need is how much a message asks for the web, and why.
type need struct {
	score  float64  // 0 to 1
	ruled  float64  // what the rules alone say, 0 to 1
	cues   []string // what moved it, strongest first
	asks   bool     // it has the form of a question or a request
	barred bool     // something in it speaks plainly against: small talk, a device, a sum
	order  string   // "search" or "dont": said in so many words
	topics []string // rows of the table of topics
	times  []string // rows of the table of times
	check  bool     // it asks whether something is true
	said   string   // the sentence that decided
}

// The score from which a message is looked up, and the band around it in which a side model is asked.
const (
	threshold = 0.5
	doubtFrom = 0.3
	doubtTo   = 0.7
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
var barring = set("device clock sums chance speech make smalltalk opinion you roleplay code")

var (
	fenced = regexp.MustCompile("(?s)```.*?(?:```|$)")
	inline = regexp.MustCompile("`[^`\n]+`")
	action = regexp.MustCompile(`(?:^|[\s(])(?:\*[^*\n]{2,200}\*|_[^_\n]{2,200}_)(?:$|[\s).,!?])`)
)

// aYear is one from 1000 to 2099.
var aYear = regexp.MustCompile(`\b(1[0-9]{3}|20[0-9]{2})\b`)

// weigh scores a message from its own words. names are those of the bot: said to it, they are no cue.
func weigh(text string, names []string) need { return builtIn().weigh(text, names) }

func (m Models) weigh(text string, names []string) need {
	spoken, acted, hadCode := spokenPart(text)
	best := ruled(spoken, names)
	switch {
	case best.order == "dont":
		return best
	case best.order == "search":
		best.score, best.cues = 1, []string{"told to search"}
		return best
	case !acted && !hadCode:
		m.learn(&best, spoken, names)
	}
	// An action in asterisks is played, and so is what is said around it, unless that asks plainly for facts.
	if acted && best.score < 0.9 {
		best.add("roleplay")
	}
	if hadCode {
		best.add("code")
	}
	return best
}

// spokenPart is a message without its code and what is played in it, and whether it had any.
func spokenPart(text string) (spoken string, acted, hadCode bool) {
	rest := fenced.ReplaceAllString(text, " ")
	bare := inline.ReplaceAllString(rest, " ")
	spoken = action.ReplaceAllString(bare, " ")
	return spoken, len(strings.TrimSpace(spoken)) < len(strings.TrimSpace(bare)), rest != text
}

// ruled scores a message by the rules alone: by the sentence of it that asks most.
func ruled(text string, names []string) need {
	best := need{}
	for _, s := range sentences(text) {
		n := weighSentence(s, names)
		if n.order == "dont" {
			return need{order: "dont", cues: []string{"told not to search"}, asks: n.asks}
		}
		if best.cues == nil || n.order == "search" && best.order == "" || best.order == n.order && n.score > best.score {
			best = n
		}
	}
	return best
}

// add moves the score by one more cue.
func (n *need) add(cue string) {
	x := math.Log(max(n.score, 1e-6) / max(1-n.score, 1e-6))
	n.score = logistic(x + weights[cue])
	n.cues = append(n.cues, cue)
	n.barred = n.barred || barring[fold(cue)]
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// weighSentence scores one sentence.
func weighSentence(s string, names []string) need {
	words, ownName := dropNames(split(s), s, names)
	if len(words) == 0 {
		return need{cues: []string{"nothing said"}}
	}
	n := need{said: s}
	heard := signs{}
	from, askedFor := lead(words)
	body := words[from:]
	if len(body) == 0 {
		body = words
	}
	n.order = ordered(s, words, body)
	form := opening(s, words, body)
	if form == "" && askedFor {
		form = "get"
	}
	asked := strings.ContainsAny(s, "?？؟")
	n.asks = form != "" || asked
	heard.form(s, words, body, form, asked)
	heard.topics(&n, s, words, form, asked)
	heard.names(s, words)
	heard.against(s, words, body, slices.Contains(n.topics, "weather"))
	if !ownName && toAnother(s, words) {
		heard.hear("to another")
	}
	if heard.has("topic") || heard.has("factcheck") {
		delete(heard, "greeting only")
	}
	heard.sum(&n)
	return n
}
