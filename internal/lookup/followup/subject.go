package followup

import (
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// englishPerson are the pronouns that stand for nobody but persons: in other languages things are he and she, too.
var englishPerson = text.Set(lang.All().FollowUp.PersonPronouns)

// named replaces the pronoun of a question by the name that it stands for. Where the question before has no
// name to offer, it is added whole: enough for a search.
func named(s string, words []text.Word, before string) (string, bool) {
	at := PronounAt(s, words)
	if at < 0 {
		return "", false
	}
	kind := text.Pronouns[words[at].Key]
	if kind == "there" {
		return placed(s, words, at, before)
	}
	if next := at + 1; words[at].Key == "it" && next < len(words) && words[next].Key == "take" { // what takes time is all that was asked
		return strings.TrimRight(strings.TrimSpace(s), "?？ ") + ": " + before, true
	}
	name := subject(before, strings.HasPrefix(kind, "he"))
	if name == "" && !englishPerson[words[at].Key] {
		name = subject(before, false)
	}
	if name == "" {
		if need.Weigh(before, nil).Score < need.Threshold {
			return "", false
		}
		return strings.TrimRight(strings.TrimSpace(s), "?？ ") + ": " + before, true
	}
	owner := strings.HasSuffix(kind, "s") && at+1 < len(words) && !text.Prepositions[words[at+1].Key]
	if owner {
		name += "'s"
	}
	if at > 0 && text.SameWord(words[at-1], words[at]) { // "he's" is one piece of text
		return "", false
	}
	out := s[:words[at].Start] + name
	if rest := at + 1; rest < len(words) && words[rest].Start < words[at].End+2 && words[rest].Key == "is" {
		return out + " is" + s[words[rest].End:], true
	}
	return out + s[words[at].End:], true
}

// PronounAt finds the pronoun of a question that names nobody itself, or -1.
func PronounAt(s string, words []text.Word) int {
	from, _ := need.Lead(words)
	body := words[from:]
	if need.Opening(s, words, body) == "" && !strings.ContainsAny(s, "?？") {
		return -1
	}
	at := -1
	for i, w := range words {
		if i > 0 && w.Upper && w.Key != "i" {
			if at >= 0 && strings.HasPrefix(text.Pronouns[words[at].Key], "he") { // "did he win an Oscar?"
				return at
			}
			return -1
		}
		if w.Key == "it" && slices.ContainsFunc(need.Topics.FindAll(s, words), func(f text.Match) bool { return f.Cue == "weather" }) {
			continue // "will it snow there?"
		}
		if kind := text.Pronouns[w.Key]; at < 0 && kind != "" && !(kind == "there" && (i == 0 || existing[words[i-1].Key])) {
			at = i
		}
	}
	return at
}

// existing are the words with which "there" is no place: "are there", "how many are there".
var existing = text.Set(lang.All().FollowUp.Existentials)

// subject finds what a question is about. A question that leans on another one itself has nothing to offer.
func subject(s string, isPerson bool) string {
	name, content := topic(s, isPerson), false
	for _, w := range text.Words(name) {
		if text.Pronouns[w.Key] != "" && !w.Upper {
			return ""
		}
		content = content || !text.StopWords[w.Key] || w.Upper
	}
	if !content {
		return ""
	}
	return name
}

// topic is what the words of a question say that it is about: for a person the first name in it, for a thing the last, else what
// stands after "who is", "tell me about" and the like.
func topic(s string, isPerson bool) string {
	s = strings.TrimRight(strings.TrimSpace(s), "?？!. ")
	words := text.Words(s)
	if len(words) == 0 {
		return ""
	}
	from, _ := need.Lead(words)
	body := words[from:]
	if len(body) == 0 {
		return ""
	}
	n, asksOf := abouts.Prefix(body)
	if isPerson && asksOf == "" {
		if answerWho[body[0].Key] {
			return "" // "who won the prize?": the person is the answer, and the names in it are none of hers
		}
	}
	if isPerson && n > 0 && n < len(body) && !body[n].Upper { // "who is the mayor of Rome?": that very person
		return s[body[n].Start:body[len(body)-1].End]
	}
	asksWho := asksOf == "about" && personal[body[0].Key]
	if !isPerson && asksOf == "about" && !asksWho && n < len(body) && len(body)-n <= 8 && !body[n].Upper { // "what is the capital of Peru?"
		return s[body[n].Start:body[len(body)-1].End]
	}
	a, b := firstName(words)
	if !isPerson {
		a, b = thingName(words)
	}
	if b > a {
		a, b = withHead(s, words, a, b)
		return s[words[a].Start:words[b-1].End]
	}
	if n > 0 && n < len(body) {
		return s[body[n].Start:body[slotEnd(body, n)-1].End]
	}
	return ""
}

// answerWho are the words with which a question asks for a person, and for none of those that it names.
var answerWho = text.Set(lang.All().FollowUp.AnswerWho)

// thingName is the last name of a question that stands behind no preposition but "of", or else the last. One of a time
// is none.
func thingName(words []text.Word) (from, to int) {
	at, until := timeIn(words)
	timed := func(i int) bool { return at <= i && i < until }
	apart := func(i int) bool { return text.Prepositions[words[i].Key] && !linksName[words[i].Key] }
	from, to = lastName(words, func(i int) bool {
		return timed(i) || apart(i-1) || i > 1 && articles[words[i-1].Key] && apart(i-2)
	})
	if to == from {
		from, to = lastName(words, timed)
	}
	return from, to
}

// linksName are the prepositions with which a name is what a thing belongs to.
var linksName = text.Set(lang.All().FollowUp.NameLinks)

// withHead adds to a name the thing that it owns: "Peru's capital", "the sequel of Dune".
func withHead(s string, words []text.Word, from, to int) (int, int) {
	if owner := s[words[to-1].Start:words[to-1].End]; to < len(words) && (strings.HasSuffix(owner, "'s") || strings.HasSuffix(owner, "’s")) && !text.StopWords[words[to].Key] {
		return from, to + 1
	}
	if from > 2 && text.Prepositions[words[from-1].Key] && !linksName[words[from-1].Key] { // "a hotel in Porto"
		for i := from - 2; i > 0 && i >= from-5 && !text.StopWords[words[from-2].Key]; i-- {
			if articles[words[i].Key] {
				return i + 1, to
			}
		}
	}
	if from > 2 && words[from-1].Key == "of" && relational[words[from-2].Key] && words[from-3].Key == "the" {
		return from - 3, to
	}
	return from, to
}

// abouts are the beginnings behind which a question names what it is about; behind "of" something more may follow.
var abouts = text.Compile(lang.All().FollowUp.TopicOpenings)

// firstName and lastName return the range of the first and the last run of capitalised words, the sentence's
// first word aside. No name begins where skip, if there is one, says so.
func firstName(words []text.Word) (from, to int) {
	for i := 1; i < len(words); i++ {
		if words[i].Upper && words[i].Key != "i" {
			return i, nameEnd(words, i)
		}
	}
	return 0, 0
}

func lastName(words []text.Word, skip func(int) bool) (from, to int) {
	for i := 1; i < len(words); {
		if words[i].Upper && words[i].Key != "i" {
			end := nameEnd(words, i)
			if skip == nil || !skip(i) {
				from, to = i, end
			}
			i = end
			continue
		}
		i++
	}
	return from, to
}

// nameEnd lets a name hold "of", "the", "de" and a number: "Lord of the Rings", "Windows 11".
func nameEnd(words []text.Word, from int) int {
	end := from + 1
	for i := end; i < len(words); i++ {
		switch {
		case words[i].Upper || text.Numeric(words[i].Key):
			end = i + 1
		case !inName[words[i].Key]:
			return end
		}
	}
	return end
}

var inName = text.Set(lang.All().FollowUp.NameParticles)
