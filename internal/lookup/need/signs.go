package need

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// signs are the cues heard in a sentence.
type signs map[string]bool

func (h signs) hear(cue string) { h[cue] = true }

func (h signs) has(cue string) bool { return h[cue] }

// sum turns the cues into the score and lists them, strongest first.
func (h signs) sum(n *Need) {
	x := bias
	for cue := range h {
		x += weights[cue]
		n.Cues = append(n.Cues, cue)
		n.Barred = n.Barred || barring[text.Fold(cue)]
	}
	slices.SortFunc(n.Cues, func(a, b string) int {
		if d := math.Abs(weights[b]) - math.Abs(weights[a]); d != 0 {
			return int(math.Copysign(1, d))
		}
		return strings.Compare(a, b)
	})
	n.Score = math.Round(logistic(x)*1000) / 1000
	n.ruled = n.Score
	for i, cue := range n.Cues {
		switch cue {
		case "topic":
			n.Cues[i] = "topic: " + strings.Join(n.Topics, ", ")
		case "time":
			n.Cues[i] = "time: " + strings.Join(n.Times, ", ")
		case "wh":
			n.Cues[i] = "question word"
		case "aux":
			n.Cues[i] = "yes-or-no question"
		case "get":
			n.Cues[i] = "request"
		}
	}
}

// form hears how the sentence is built.
func (h signs) form(s string, words, body []text.Word, form string, asked bool) {
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
			if pointing[w.Key] {
				h.hear("pointing")
			}
		}
	}
}

// nothingNamed reports whether a sentence holds no word of content: "what?", "why is that".
func nothingNamed(s string, body []text.Word) bool {
	if text.Unspaced(s) {
		return false
	}
	for _, w := range body {
		if !text.StopWords[w.Key] {
			return false
		}
	}
	return true
}

// pointing are the words for something that only those present can see.
var pointing = text.Set(lang.All().Need.Deictics)

// topics hears what it is about, and when.
func (h signs) topics(n *Need, s string, words []text.Word, form string, asked bool) {
	for _, f := range Topics.FindAll(s, words) {
		n.Topics = text.AddOnce(n.Topics, f.Cue)
	}
	for _, f := range Times.FindAll(s, words) {
		n.Times = text.AddOnce(n.Times, f.Cue)
	}
	if len(n.Times) > 0 || someplace(words) {
		if len(skies.FindAll(s, words)) > 0 {
			n.Topics = text.AddOnce(n.Topics, "weather")
		}
	}
	// In a long sentence that asks nothing, "movie" and "today" are talk.
	told := form == "" && !asked && len(words) > 7
	if len(n.Topics) > 0 && !told {
		h.hear("topic")
		if len(n.Topics) > 1 {
			h.hear("topics")
		}
	}
	if len(n.Times) > 0 && !told {
		h.hear("time")
	}
	if last := words[len(words)-1].Key; len(checks.FindAll(s, words)) > 0 || form == "aux" && doubts[last] && len(words) > 3 || form == "aux" && doubted(s, words) {
		n.Check = true
		h.hear("factcheck")
	}
}

// someplace reports whether words name a place by its preposition, or the one where the speaker is.
func someplace(words []text.Word) bool {
	for i, w := range words {
		if here[w.Key] || i > 0 && i+1 < len(words) && atPlace[w.Key] {
			return true
		}
	}
	return false
}

var (
	here    = text.Set(lang.All().Need.Here)
	atPlace = text.Set(lang.All().Need.AtPlace)
)

// doubts are the last words of "is the moon landing fake?".
var doubts = text.Set(lang.All().Need.Doubts)

// doubted reports whether a question has a word of doubt about something with a name: "did Ada really write it?".
func doubted(s string, words []text.Word) bool {
	if len(Persons.FindAll(s, words)) > 0 || shouted(s) {
		return false
	}
	named := slices.ContainsFunc(words[1:], func(w text.Word) bool { return w.Upper })
	return named && slices.ContainsFunc(words, func(w text.Word) bool { return surely[w.Key] })
}

var surely = text.Set(lang.All().Need.DoubtAdverbs)

// names hears proper names and years: things of the world outside.
func (h signs) names(s string, words []text.Word) {
	count := 0
	for i, w := range words {
		if w.Upper && i > 0 && w.Key != "i" && !text.SameWord(words[i-1], w) {
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
	if strings.ContainsAny(s, "0123456789") && text.YearPattern.MatchString(s) {
		h.hear("year")
	}
}

// shouted reports whether s is all capitals, where a capital says nothing.
func shouted(s string) bool { return s == strings.ToUpper(s) && s != strings.ToLower(s) }

// against hears what the web has no part in.
func (h signs) against(s string, words, body []text.Word, ofWeather bool) {
	if namesTitle(body) {
		return // "who sings hello is it me you are looking for" says nothing to anybody
	}
	for _, f := range Against.FindAll(s, words) {
		if f.Cue == "smalltalk" && f.From > 1 && f.To < len(words) {
			continue // "what does true love mean" is no yes
		}
		if f.Cue == "smalltalk" && f.To-f.From == len(words) {
			h.hear("greeting only")
		}
		if f.Cue == "clock" && ofWeather {
			continue // "the weather at this time in Lima" asks for no clock
		}
		h.hear(f.Cue)
	}
	for _, f := range Persons.FindAll(s, body) {
		if f.Cue == "you" && meansAnyone(body, f.From) {
			continue
		}
		h.hear(f.Cue)
	}
	if n, cue := commands.Prefix(body); n > 0 {
		h.hear(cue)
	}
	for _, w := range words {
		if everybody[w.Key] {
			h.hear("to the room")
		}
	}
	if (strings.ContainsAny(s, "0123456789") || strings.Contains(s, " times ")) && sum.MatchString(s) {
		h.hear("sums")
	}
	if (strings.ContainsAny(s, "{};(>$#=:&|") || codeWords[words[0].Key]) && codeLike.MatchString(s) {
		h.hear("code")
	}
}

// meansAnyone tells the "you" of "how do you prepare tacos" from that of "how do you feel".
func meansAnyone(body []text.Word, at int) bool {
	return at == 2 && body[0].Key == "how" && generic[body[1].Key] && len(body) > 4 && !selfVerbs[body[3].Key]
}

var (
	generic   = text.Set(lang.All().Need.GenericYou)
	selfVerbs = text.Set(lang.All().Need.BotVerbs)
)

var (
	sum      = regexp.MustCompile(`\d\s*% of \d|\d\s*[+*×÷^=]\s*\d|\d\s+[-/x]\s+\d|(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty) times (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b`)
	codeLike = regexp.MustCompile(`[{};]\s*$|\w+\([^)]*\)\s*[{;]|^\s*(?:\$|>>>|sudo |#include|import |def |func )|=>|::|&&|\|\|`)
)

// codeWords begin a line of code that has no other sign of it.
var codeWords = text.Set("sudo import def func")

// makers are what is done with a song, a book or a film, after "who".
var makers = text.Set(lang.All().Need.MakerVerbs)

// namesTitle reports whether a question is for who made something whose title is given: its words are no words to
// those present. One word or two after the verb may be: "who wrote you", "who sings this".
func namesTitle(body []text.Word) bool {
	return len(body) > 4 && body[0].Key == "who" && makers[body[1].Key]
}

// everybody are the words for all who are present, but the bot.
var everybody = text.Set(lang.All().Need.Everybody)
