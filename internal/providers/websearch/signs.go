package websearch

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

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

var (
	sum      = regexp.MustCompile(`\d\s*% of \d|\d\s*[+*×÷^=]\s*\d|\d\s+[-/x]\s+\d|(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty) times (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b`)
	codeLike = regexp.MustCompile(`[{};]\s*$|\w+\([^)]*\)\s*[{;]|^\s*(?:\$|>>>|sudo |#include|import |def |func )|=>|::|&&|\|\|`)
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
