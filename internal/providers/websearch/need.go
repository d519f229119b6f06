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
	fenced   = regexp.MustCompile("(?s)```.*?(?:```|$)")
	inline   = regexp.MustCompile("`[^`\n]+`")
	action   = regexp.MustCompile(`(?:^|[\s(])(?:\*[^*\n]{2,200}\*|_[^_\n]{2,200}_)(?:$|[\s).,!?])`)
	sum      = regexp.MustCompile(`\d\s*% of \d|\d\s*[+*×÷^=]\s*\d|\d\s+[-/x]\s+\d|(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty) times (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b`)
	aYear    = regexp.MustCompile(`\b(1[0-9]{3}|20[0-9]{2})\b`)
	codeLike = regexp.MustCompile(`[{};]\s*$|\w+\([^)]*\)\s*[{;]|^\s*(?:\$|>>>|sudo |#include|import |def |func )|=>|::|&&|\|\|`)
)

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

// signs are the cues heard in a sentence.
type signs map[string]bool

func (h signs) hear(cue string)     { h[cue] = true }
func (h signs) has(cue string) bool { return h[cue] }

// sum turns the cues into the score and lists them, strongest first.
func (h signs) sum(n *need) {
	x := bias
	for cue := range h {
		x += weights[cue]
		n.cues = append(n.cues, cue)
		n.barred = n.barred || barring[fold(cue)]
	}
	slices.SortFunc(n.cues, func(a, b string) int {
		if d := math.Abs(weights[b]) - math.Abs(weights[a]); d != 0 {
			return int(math.Copysign(1, d))
		}
		return strings.Compare(a, b)
	})
	n.score = math.Round(logistic(x)*1000) / 1000
	n.ruled = n.score
	for i, cue := range n.cues {
		switch cue {
		case "topic":
			n.cues[i] = "topic: " + strings.Join(n.topics, ", ")
		case "time":
			n.cues[i] = "time: " + strings.Join(n.times, ", ")
		case "wh":
			n.cues[i] = "question word"
		case "aux":
			n.cues[i] = "yes-or-no question"
		case "get":
			n.cues[i] = "request"
		}
	}
}

// form hears how the sentence is built.
func (h signs) form(s string, words, body []word, form string, asked bool) {
	switch {
	case form != "":
		h.hear(form)
	case asked:
	case len(words) <= 5:
		h.hear("fragment")
	default:
		h.hear("statement")
		if len(words) > 12 {
			h.hear("long statement")
		}
	}
	if asked {
		h.hear("question mark")
	}
	if nothingNamed(s, body) {
		h.hear("nothing named")
	}
	if len(body) <= 6 && form != "get" {
		for _, w := range body {
			if pointing[w.key] {
				h.hear("pointing")
			}
		}
	}
}

// nothingNamed reports whether a sentence holds no word of content: "what?", "why is that".
func nothingNamed(s string, body []word) bool {
	if unspaced(s) {
		return false
	}
	for _, w := range body {
		if !stopWords[w.key] {
			return false
		}
	}
	return true
}

// pointing are the words for something that only those present can see.
var pointing = set("this that it these those he she they him her them here there")

// topics hears what it is about, and when.
func (h signs) topics(n *need, s string, words []word, form string, asked bool) {
	for _, f := range topics.in(s, words) {
		n.topics = addOnce(n.topics, f.cue)
	}
	for _, f := range times.in(s, words) {
		n.times = addOnce(n.times, f.cue)
	}
	if len(n.times) > 0 || someplace(words) {
		if len(skies.in(s, words)) > 0 {
			n.topics = addOnce(n.topics, "weather")
		}
	}
	// In a long sentence that asks nothing, "movie" and "today" are talk.
	told := form == "" && !asked && len(words) > 7
	if len(n.topics) > 0 && !told {
		h.hear("topic")
		if len(n.topics) > 1 {
			h.hear("topics")
		}
	}
	if len(n.times) > 0 && !told {
		h.hear("time")
	}
	if last := words[len(words)-1].key; len(checks.in(s, words)) > 0 || form == "aux" && doubts[last] && len(words) > 3 || form == "aux" && doubted(s, words) {
		n.check = true
		h.hear("factcheck")
	}
}

// someplace reports whether words name a place by its preposition, or the one where the speaker is.
func someplace(words []word) bool {
	for i, w := range words {
		if here[w.key] || i > 0 && i+1 < len(words) && atPlace[w.key] {
			return true
		}
	}
	return false
}

var (
	here    = set("here outside outdoors there nearby")
	atPlace = set("in at near around")
)

// doubts are the last words of "is the moon landing fake?".
var doubts = set("fake real true false hoax myth legit scam debunked wahr vrai faux verdad falso vero правда")

// doubted reports whether a question has a word of doubt about something with a name: "did Ada really write it?".
func doubted(s string, words []word) bool {
	if len(persons.in(s, words)) > 0 || shouted(s) {
		return false
	}
	named := slices.ContainsFunc(words[1:], func(w word) bool { return w.upper })
	return named && slices.ContainsFunc(words, func(w word) bool { return surely[w.key] })
}

var surely = set("really actually wirklich tatsachlich vraiment realmente davvero echt")

// names hears proper names and years: things of the world outside.
func (h signs) names(s string, words []word) {
	count := 0
	for i, w := range words {
		if w.upper && i > 0 && w.key != "i" && !sameWord(words[i-1], w) {
			count++
		}
	}
	if shouted(s) {
		count = 0
	}
	if count > 0 {
		h.hear("name")
	}
	if count > 1 {
		h.hear("names")
	}
	if strings.ContainsAny(s, "0123456789") && aYear.MatchString(s) {
		h.hear("year")
	}
}

func sameWord(a, b word) bool { return a.start == b.start }

// shouted reports whether s is all capitals, where a capital says nothing.
func shouted(s string) bool { return s == strings.ToUpper(s) && s != strings.ToLower(s) }

// against hears what the web has no part in.
func (h signs) against(s string, words, body []word, ofWeather bool) {
	if namesTitle(body) {
		return // "who sings hello is it me you are looking for" says nothing to anybody
	}
	for _, f := range against.in(s, words) {
		if f.cue == "smalltalk" && f.from > 1 && f.to < len(words) {
			continue // "what does true love mean" is no yes
		}
		if f.cue == "smalltalk" && f.to-f.from == len(words) {
			h.hear("greeting only")
		}
		if f.cue == "clock" && ofWeather {
			continue // "the weather at this time in Lima" asks for no clock
		}
		h.hear(f.cue)
	}
	for _, f := range persons.in(s, body) {
		if f.cue == "you" && meansAnyone(body, f.from) {
			continue
		}
		h.hear(f.cue)
	}
	if n, cue := commands.at(body); n > 0 {
		h.hear(cue)
	}
	for _, w := range words {
		if everybody[w.key] {
			h.hear("to the room")
		}
	}
	if (strings.ContainsAny(s, "0123456789") || strings.Contains(s, " times ")) && sum.MatchString(s) {
		h.hear("sums")
	}
	if (strings.ContainsAny(s, "{};(>$#=:&|") || codeWords[words[0].key]) && codeLike.MatchString(s) {
		h.hear("code")
	}
}

// meansAnyone tells the "you" of "how do you prepare tacos" from that of "how do you feel".
func meansAnyone(body []word, at int) bool {
	return at == 2 && body[0].key == "how" && generic[body[1].key] && len(body) > 4 && !selfVerbs[body[3].key]
}

var (
	generic   = set("do can would could should")
	selfVerbs = set("feel work function think know live like do learn sleep look spend keep stay understand hear see remember handle manage process respond answer decide choose become survive pass")
)

// codeWords begin a line of code that has no other sign of it.
var codeWords = set("sudo import def func")

// makers are what is done with a song, a book or a film, after "who".
var makers = set("sing sings sang sung wrote writes record recorded perform performed direct directed star starred compose composed cover covered")

// namesTitle reports whether a question is for who made something whose title is given: its words are no words to
// those present. One word or two after the verb may be: "who wrote you", "who sings this".
func namesTitle(body []word) bool {
	return len(body) > 4 && body[0].key == "who" && makers[body[1].key]
}

// everybody are the words for all who are present, but the bot.
var everybody = set("anyone anybody someone somebody guys folks everyone yall jemand leute quelqu alguien alguem qualcuno кто-нибудь")

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// lead returns how many words of polite beginning stand before the question itself, and whether they ask to
// be told something.
func lead(words []word) (from int, asked bool) {
	for from < len(words) {
		n, cue := leads.at(words[from:])
		if n == 0 {
			break
		}
		from += n
		asked = asked || cue == "ask"
	}
	return from, asked
}

// opening returns the form of a question: "wh", "aux", "get", or "".
func opening(s string, words, body []word) string {
	lang := language(s, words)
	for _, l := range [...]string{lang, "en"} {
		t, ok := openings[l]
		if !ok {
			continue
		}
		if n, cue := t.at(body); n > 0 {
			return cue
		}
		if n, cue := t.at(words); n > 0 && cue == "get" {
			return cue
		}
	}
	if f := openings[""].in(s, body); len(f) > 0 {
		return f[0].cue
	}
	return inner(body)
}

// inner finds the question behind a condition or a place: "if i go to Kenya would i need a visa", "in Texas
// how is the governor chosen", and the question at a sentence's end: "… is located in which state".
func inner(body []word) string {
	for i := range body {
		if i > 0 && conditions[body[0].key] {
			if n, _ := inverted.at(body[i:]); n > 0 {
				return "aux"
			}
			if n, _ := interrogatives.at(body[i:]); n > 0 {
				return "wh"
			}
		}
		if i > 0 && i >= len(body)-4 && (body[i].key == "which" || body[i].key == "whose" || body[i].key == "what") && prepositions[body[i-1].key] {
			return "wh"
		}
	}
	return ""
}

// dropNames removes the bot's own name from the beginning and the end.
func dropNames(words []word, s string, names []string) ([]word, bool) {
	dropped := false
	for _, name := range names {
		key := split(name)
		if len(key) == 0 {
			continue
		}
		keys := make([]string, len(key))
		for i, w := range key {
			keys[i] = w.key
		}
		for at := 0; at <= min(2, len(words)-1); at++ { // "sage, …", "hey sage …"
			if polite, _ := lead(words[:at]); polite == at && begins(words[at:], keys) {
				words, dropped = slices.Concat(words[:at], words[at+len(keys):]), true
				break
			}
		}
		if n := len(words) - len(keys); n > 0 && begins(words[n:], keys) {
			words, dropped = words[:n], true
		}
	}
	return words, dropped
}
