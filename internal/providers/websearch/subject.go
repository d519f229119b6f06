package websearch

import "strings"

// pronouns stand for somebody or something named before. The value tells what: "he" a person, "it" a thing, and
// with an s the owner of something.
var pronouns = map[string]string{
	"he": "he", "she": "he", "him": "he", "his": "he's", "her": "he's", "hers": "he's",
	"it": "it", "its": "it's", "they": "it", "them": "it", "their": "it's", "that": "it", "this": "it",
	"sie": "he", "er": "he", "ihn": "he", "ihm": "he", "elle": "he", "lui": "he", "ella": "he", "ele": "he", "ela": "he", "он": "he", "она": "he", "его": "he's", "ее": "he's",
	"there": "there", "dort": "there", "alli": "there", "alla": "there", "там": "there",
}

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
	name := subject(before, strings.HasPrefix(kind, "he"))
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
			return -1
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
	n, asksOf := abouts.at(body)
	if isPerson && asksOf == "" {
		if first := body[min(len(body)-1, 0)].key; first == "who" || first == "wer" || first == "qui" {
			return "" // "who won the prize?": the person is the answer, and the names in it are none of hers
		}
	}
	if isPerson && n > 0 && n < len(body) && !body[n].upper { // "who is the mayor of Rome?": that very person
		return text[body[n].start:body[len(body)-1].end]
	}
	if !isPerson && asksOf == "about" && n < len(body) && len(body)-n <= 8 && !body[n].upper { // "what is the capital of Peru?"
		return text[body[n].start:body[len(body)-1].end]
	}
	a, b := lastName(words)
	if isPerson {
		a, b = firstName(words)
	}
	if b > a {
		return text[words[a].start:words[b-1].end]
	}
	if n > 0 && n < len(body) {
		return text[body[n].start:body[len(body)-1].end]
	}
	return ""
}

// abouts are the beginnings behind which a question names what it is about; behind "of" something more may follow.
var abouts = table(map[string]string{
	"about": "who is, who was, who are, what is, what was, what are, tell me about, about, define, wer ist, wer war, was ist, was sind, qui est, qui etait, quien es, quien fue, que es, quem e, quem foi, o que e, chi e, chi era, кто такой, кто такая, кто это, что такое, расскажи о, parle-moi de, hablame de, me fale sobre, erzahl mir von",
	"of":    "how old is, how tall is, where is, where was, when was, wie alt ist, wo ist, ou est, donde esta, onde fica, где находится",
})

// firstName and lastName return the range of the first and the last run of capitalised words, the sentence's
// first word aside.
func firstName(words []word) (from, to int) {
	for i := 1; i < len(words); i++ {
		if words[i].upper && words[i].key != "i" {
			return i, nameEnd(words, i)
		}
	}
	return 0, 0
}

func lastName(words []word) (from, to int) {
	for i := 1; i < len(words); {
		if words[i].upper && words[i].key != "i" {
			from, to = i, nameEnd(words, i)
			i = to
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
