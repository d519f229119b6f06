package websearch

import (
	"slices"
	"strings"
)

// pronouns stand for somebody or something named before. The value tells what: "he" a person, "it" a thing, and
// with an s the owner of something.
var pronouns = map[string]string{
	"he": "he", "she": "he", "him": "he", "his": "he's", "her": "he's", "hers": "he's",
	"it": "it", "its": "it's", "they": "it", "them": "it", "their": "it's", "that": "it", "this": "it",
	"sie": "he", "er": "he", "ihn": "he", "ihm": "he", "elle": "he", "lui": "he", "ella": "he", "ele": "he", "ela": "he", "он": "he", "она": "he", "его": "he's", "ее": "he's",
	"there": "there", "dort": "there", "alli": "there", "alla": "there", "там": "there",
}

// englishPerson are the pronouns that stand for nobody but persons: in other languages things are he and she, too.
var englishPerson = set("he she him his her hers")

// named replaces the pronoun of a question by the name that it stands for. Where the question before has no
// name to offer, it is added whole: enough for a search.
func named(text string, words []word, before string) (string, bool) {
	at := pronounAt(text, words)
	if at < 0 {
		return "", false
	}
	kind := pronouns[words[at].key]
	if kind == "there" {
		return placed(text, words, at, before)
	}
	if next := at + 1; words[at].key == "it" && next < len(words) && words[next].key == "take" { // what takes time is all that was asked
		return strings.TrimRight(strings.TrimSpace(text), "?？ ") + ": " + before, true
	}
	name := subject(before, strings.HasPrefix(kind, "he"))
	if name == "" && !englishPerson[words[at].key] {
		name = subject(before, false)
	}
	if name == "" {
		if weigh(before, nil).score < threshold {
			return "", false
		}
		return strings.TrimRight(strings.TrimSpace(text), "?？ ") + ": " + before, true
	}
	owner := strings.HasSuffix(kind, "s") && at+1 < len(words) && !slotted[words[at+1].key]
	if owner {
		name += "'s"
	}
	if at > 0 && sameWord(words[at-1], words[at]) { // "he's" is one piece of text
		return "", false
	}
	out := text[:words[at].start] + name
	if rest := at + 1; rest < len(words) && words[rest].start < words[at].end+2 && words[rest].key == "is" {
		return out + " is" + text[words[rest].end:], true
	}
	return out + text[words[at].end:], true
}

// pronounAt finds the pronoun of a question that names nobody itself, or -1.
func pronounAt(text string, words []word) int {
	from, _ := lead(words)
	body := words[from:]
	if opening(text, words, body) == "" && !strings.ContainsAny(text, "?？") {
		return -1
	}
	at := -1
	for i, w := range words {
		if i > 0 && w.upper && w.key != "i" {
			if at >= 0 && strings.HasPrefix(pronouns[words[at].key], "he") { // "did he win an Oscar?"
				return at
			}
			return -1
		}
		if w.key == "it" && slices.ContainsFunc(topics.in(text, words), func(f found) bool { return f.cue == "weather" }) {
			continue // "will it snow there?"
		}
		if kind := pronouns[w.key]; at < 0 && kind != "" && !(kind == "there" && (i == 0 || existing[words[i-1].key])) {
			at = i
		}
	}
	return at
}

// existing are the words with which "there" is no place: "are there", "how many are there".
var existing = set("is are was were be been will would has have had")

// subject finds what a question is about. A question that leans on another one itself has nothing to offer.
func subject(text string, isPerson bool) string {
	name, content := topic(text, isPerson), false
	for _, w := range split(name) {
		if pronouns[w.key] != "" && !w.upper {
			return ""
		}
		content = content || !stopWords[w.key] || w.upper
	}
	if !content {
		return ""
	}
	return name
}

// topic is what the words of a question say that it is about: for a person the first name in it, for a thing the last, else what
// stands after "who is", "tell me about" and the like.
func topic(text string, isPerson bool) string {
	text = strings.TrimRight(strings.TrimSpace(text), "?？!. ")
	words := split(text)
	if len(words) == 0 {
		return ""
	}
	from, _ := lead(words)
	body := words[from:]
	if len(body) == 0 {
		return ""
	}
	n, asksOf := abouts.at(body)
	if isPerson && asksOf == "" {
		if first := body[0].key; first == "who" || first == "wer" || first == "qui" {
			return "" // "who won the prize?": the person is the answer, and the names in it are none of hers
		}
	}
	if isPerson && n > 0 && n < len(body) && !body[n].upper { // "who is the mayor of Rome?": that very person
		return text[body[n].start:body[len(body)-1].end]
	}
	asksWho := asksOf == "about" && personal[body[0].key]
	if !isPerson && asksOf == "about" && !asksWho && n < len(body) && len(body)-n <= 8 && !body[n].upper { // "what is the capital of Peru?"
		return text[body[n].start:body[len(body)-1].end]
	}
	a, b := firstName(words)
	if !isPerson {
		a, b = thingName(words)
	}
	if b > a {
		a, b = withHead(text, words, a, b)
		return text[words[a].start:words[b-1].end]
	}
	if n > 0 && n < len(body) {
		return text[body[n].start:body[slotEnd(body, n)-1].end]
	}
	return ""
}

// thingName is the last name of a question that stands behind no preposition but "of", or else the last. One of a time
// is none.
func thingName(words []word) (from, to int) {
	at, until := timeIn(words)
	timed := func(i int) bool { return at <= i && i < until }
	apart := func(i int) bool { return slotted[words[i].key] && !linksName[words[i].key] }
	from, to = lastName(words, func(i int) bool {
		return timed(i) || apart(i-1) || i > 1 && articles[words[i-1].key] && apart(i-2)
	})
	if to == from {
		from, to = lastName(words, timed)
	}
	return from, to
}

// linksName are the prepositions with which a name is what a thing belongs to.
var linksName = set("of von de du del do da di der des")

// withHead adds to a name the thing that it owns: "Peru's capital", "the sequel of Dune".
func withHead(text string, words []word, from, to int) (int, int) {
	if owner := text[words[to-1].start:words[to-1].end]; to < len(words) && (strings.HasSuffix(owner, "'s") || strings.HasSuffix(owner, "’s")) && !stopWords[words[to].key] {
		return from, to + 1
	}
	if from > 2 && slotted[words[from-1].key] && !linksName[words[from-1].key] { // "a hotel in Porto"
		for i := from - 2; i > 0 && i >= from-5 && !stopWords[words[from-2].key]; i-- {
			if articles[words[i].key] {
				return i + 1, to
			}
		}
	}
	if from > 2 && words[from-1].key == "of" && relational[words[from-2].key] && words[from-3].key == "the" {
		return from - 3, to
	}
	return from, to
}

// abouts are the beginnings behind which a question names what it is about; behind "of" something more may follow.
var abouts = table(map[string]string{
	"about": "who is, who was, who are, what is, what was, what are, tell me about, about, define, wer ist, wer war, was ist, was sind, qui est, qui etait, quien es, quien fue, que es, cual es, cuales son, quel est, quelle est, qual e, wie lautet, quem e, quem foi, o que e, chi e, chi era, кто такой, кто такая, кто это, что такое, расскажи о, parle-moi de, hablame de, me fale sobre, erzahl mir von",
	"of":    "how old is, how tall is, how big is, how far is, how long is, how high is, how much is, how much are, how does, when is, when are, when does, when will, where is, where was, when was, wie alt ist, wo ist, ou est, donde esta, onde fica, где находится",
})

// firstName and lastName return the range of the first and the last run of capitalised words, the sentence's
// first word aside. No name begins where skip, if there is one, says so.
func firstName(words []word) (from, to int) {
	for i := 1; i < len(words); i++ {
		if words[i].upper && words[i].key != "i" {
			return i, nameEnd(words, i)
		}
	}
	return 0, 0
}

func lastName(words []word, skip func(int) bool) (from, to int) {
	for i := 1; i < len(words); {
		if words[i].upper && words[i].key != "i" {
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
func nameEnd(words []word, from int) int {
	end := from + 1
	for i := end; i < len(words); i++ {
		switch {
		case words[i].upper || numeric(words[i].key):
			end = i + 1
		case !inName[words[i].key]:
			return end
		}
	}
	return end
}

var inName = set("of the de la von van der du di da")
