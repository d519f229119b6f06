package need

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// cues are the cues that a sentence has, by name.
type cues map[string]bool

func (c cues) add(cue string, present bool) {
	if present {
		c[cue] = true
	}
}

// shownAs are the names under which people are shown cues.
var shownAs = map[utterance.Form]string{utterance.Wh: "question word", utterance.YesNo: "yes-or-no question", utterance.Request: "request"}

// score sums the weights of the cues into n's score, and lists the cues, strongest first.
func (c cues) score(n *Need) {
	n.Cues = slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Abs(weights[b]), math.Abs(weights[a])), strings.Compare(a, b))
	})
	sum := bias
	for i, cue := range n.Cues {
		sum += weights[cue]
		n.Barred = n.Barred || barring[cue]
		switch cue {
		case "topic":
			n.Cues[i] = "topic: " + strings.Join(n.Topics, ", ")
		case "time":
			n.Cues[i] = "time: " + strings.Join(n.Times, ", ")
		default:
			n.Cues[i] = cmp.Or(shownAs[utterance.Form(cue)], cue)
		}
	}
	n.Score = math.Round(logistic(sum)*1000) / 1000
	n.ruleScore = n.Score
}

// addForm adds how the sentence is built.
func (c cues) addForm(u utterance.Utterance, form utterance.Form) {
	switch {
	case form != utterance.NoForm:
		c[string(form)] = true
	case u.HasQuestionMark():
	default:
		c.add("fragment", len(u.Words) <= 5)
		c.add("statement", len(u.Words) > 5)
		c.add("long statement", len(u.Words) > 12)
	}
	c.add("question mark", u.HasQuestionMark())
	c.add("nothing named", !hasContent(u))
	c.add("pointing", len(u.Body) <= 6 && form != utterance.Request && text.ContainsAny(u.Body, deictics))
}

// hasContent reports whether a word carries meaning: none does in "what?" and "why is that".
func hasContent(u utterance.Utterance) bool {
	return text.Unspaced(u.Text) || slices.ContainsFunc(u.Body, func(w text.Word) bool { return !text.StopWords[w.Key] })
}

// addTopics adds what the sentence is about, and when, and lists both in n.
func (c cues) addTopics(n *Need, u utterance.Utterance, form utterance.Form) {
	for _, f := range u.Find(utterance.Topics) {
		n.Topics = text.AddOnce(n.Topics, f.Cue)
	}
	for _, f := range u.Find(utterance.Times) {
		n.Times = text.AddOnce(n.Times, f.Cue)
	}
	if (len(n.Times) > 0 || hasPlace(u)) && u.Has(weatherWords) {
		n.Topics = text.AddOnce(n.Topics, "weather")
	}
	// In a long sentence that asks nothing, "movie" and "today" are talk.
	if form != utterance.NoForm || u.HasQuestionMark() || len(u.Words) <= 7 {
		c.add("topic", len(n.Topics) > 0)
		c.add("topics", len(n.Topics) > 1)
		c.add("time", len(n.Times) > 0)
	}
	n.Check = u.Has(checks) || form == utterance.YesNo && asksIfTrue(u)
	c.add("factcheck", n.Check)
}

// hasPlace reports whether words name a place by its preposition, or the one where the speaker is.
func hasPlace(u utterance.Utterance) bool {
	for i, w := range u.Words {
		if here[w.Key] || i > 0 && i+1 < len(u.Words) && atPlace[w.Key] {
			return true
		}
	}
	return false
}

// asksIfTrue reports whether a yes-or-no question is whether something is true: it ends with a word of doubt, or has one
// about something with a name, as in "did Ada really write it?".
func asksIfTrue(u utterance.Utterance) bool {
	if doubts[u.Words[len(u.Words)-1].Key] && len(u.Words) > 3 {
		return true
	}
	named := slices.ContainsFunc(u.Words[1:], func(w text.Word) bool { return w.Upper })
	return named && text.ContainsAny(u.Words, doubtAdverbs) && !u.Has(utterance.Persons) && !allCapitals(u)
}

// addNames adds proper names and years: things of the world outside.
func (c cues) addNames(u utterance.Utterance) {
	names := 0
	for i, w := range u.Words {
		if w.Upper && i > 0 && w.Key != "i" && !text.SameWord(u.Words[i-1], w) {
			names++
		}
	}
	if names > 0 && !allCapitals(u) {
		c.add("name", true)
		c.add("names", names > 1)
	}
	c.add("year", strings.ContainsAny(u.Text, "0123456789") && text.YearPattern.MatchString(u.Text))
}

// allCapitals reports whether the text is all capitals, where a capital marks no name.
func allCapitals(u utterance.Utterance) bool {
	return u.Text == strings.ToUpper(u.Text) && u.Text != strings.ToLower(u.Text)
}

// addAgainst adds what speaks against a look at the web.
func (c cues) addAgainst(u utterance.Utterance, weather bool) {
	if asksForMaker(u) {
		return // in "who sings hello is it me you are looking for", "you" is nobody here
	}
	for _, f := range u.Find(utterance.Against) {
		switch {
		case f.Cue == "smalltalk" && f.From > 1 && f.To < len(u.Words): // "true" in "what does true love mean"
		case f.Cue == "clock" && weather: // "the weather at this time in Lima" asks for no clock
		default:
			c[f.Cue] = true
			c.add("greeting only", f.Cue == "smalltalk" && f.To-f.From == len(u.Words))
		}
	}
	for _, f := range utterance.Persons.FindAll(u.Text, u.Body) {
		c.add(f.Cue, f.Cue != "you" || !meansAnyone(u, f.From))
	}
	if n, cue := commands.Prefix(u.Body); n > 0 {
		c[cue] = true
	}
	c.add("to the room", text.ContainsAny(u.Words, everybody))
	c.add("sums", (strings.ContainsAny(u.Text, "0123456789") || strings.Contains(u.Text, " times ")) && arithmetic.MatchString(u.Text))
	c.add("code", (strings.ContainsAny(u.Text, "{};(>$#=:&|") || codeWords[u.Words[0].Key]) && codeLike.MatchString(u.Text))
}

// meansAnyone tells the "you" of "how do you prepare tacos" from that of "how do you feel".
func meansAnyone(u utterance.Utterance, you int) bool {
	return you == 2 && len(u.Body) > 4 && u.Body[0].Key == "how" && genericYou[u.Body[1].Key] && !botVerbs[u.Body[3].Key]
}

var (
	arithmetic = regexp.MustCompile(`\d\s*% of \d|\d\s*[+*×÷^=]\s*\d|\d\s+[-/x]\s+\d|(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty) times (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b`)
	codeLike   = regexp.MustCompile(`[{};]\s*$|\w+\([^)]*\)\s*[{;]|^\s*(?:\$|>>>|sudo |#include|import |def |func )|=>|::|&&|\|\|`)
)

// codeWords begin a line of code that has no other sign of it.
var codeWords = text.Set("sudo import def func")

// asksForMaker reports whether a question is for who made something whose title is given: "who sings …". One word or two
// after the verb may be no title: "who wrote you", "who sings this".
func asksForMaker(u utterance.Utterance) bool {
	return len(u.Body) > 4 && u.Body[0].Key == "who" && makerVerbs[u.Body[1].Key]
}

// vocative is a name at a message's beginning, of somebody who is spoken to.
var vocative = regexp.MustCompile(`^[\pL\d_\-\[\]|` + "`" + `^{}\\]{2,24}([:,>]) `)

// toAnother reports whether a message is spoken to somebody else: "bob: how do I mount it?". "ok, how high is it?" is not.
func toAnother(u utterance.Utterance) bool {
	name, _ := called(u)
	return name != ""
}

// Addressee returns who a message calls by name at its beginning, as in "bob, how high is it?", other than the bot, whose names are given; or "".
// What stands before a colon may be a subject.
func Addressee(message string, names []string) string {
	u := utterance.Parse(message, names)
	if name, mark := called(u); mark == ',' && !u.ToBot {
		return name
	}
	return ""
}

// called returns the name at a message's beginning that somebody else is spoken to by, and the mark behind it; or "".
func called(u utterance.Utterance) (name string, mark byte) {
	m := vocative.FindStringSubmatchIndex(u.Text)
	if m == nil || utterance.Parse(u.Text[:m[1]], nil).Has(checks) {
		return "", 0
	}
	name, mark = u.Text[:m[2]], u.Text[m[2]]
	if mark != ',' || len(u.Words) == 0 {
		return name, mark
	}
	n, _ := utterance.Leads.Prefix(u.Words)
	if n > 0 || utterance.Everyday(u.Words[0].Key) || fillers[u.Words[0].Key] || isTalk(name) {
		return "", 0
	}
	return name, mark
}

// isTalk reports whether a word is small talk in some language: "moin, wann kommt …" is said to nobody else.
func isTalk(word string) bool {
	for _, found := range kindsOf().find(spelled(word)) {
		if slices.ContainsFunc(found, func(f foundKind) bool { return f.kind == "talk" }) {
			return true
		}
	}
	return false
}
