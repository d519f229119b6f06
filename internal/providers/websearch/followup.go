package websearch

import (
	"regexp"
	"strings"

	"familiar/internal/context/turn"
)

// followUps are the beginnings of a question that leans on the one before it. Behind "what about" no question mark is
// needed.
var followUps = table(map[string]string{
	"and": "and, or, und, oder, et, ou, y, o, e, ou, ed, en, of, а, и, или, i, a, lub",
	"what about": "what about, how about, and what about, and how about, same for, same question for, and for, was ist mit, und was ist mit, wie ist es mit, und wie ist es mit, wie sieht es aus mit, " +
		"et pour, et qu'en est-il de, qu'en est-il de, que tal, y que hay de, que hay de, e quanto a, e quanto ao, e che dire di, hoe zit het met, en hoe zit het met, а как насчет, как насчет, а что насчет, a co z",
})

// pronouns stand for somebody or something named before. The value tells what: "he" a person, "it" a thing, and
// with an s the owner of something.
var pronouns = map[string]string{
	"he": "he", "she": "he", "him": "he", "his": "he's", "her": "he's", "hers": "he's",
	"it": "it", "its": "it's", "they": "it", "them": "it", "their": "it's", "that": "it", "this": "it",
	"sie": "he", "er": "he", "ihn": "he", "ihm": "he", "elle": "he", "lui": "he", "ella": "he", "ele": "he", "ela": "he", "он": "he", "она": "he", "его": "he's", "ее": "he's",
	"there": "there", "dort": "there", "alli": "there", "alla": "there", "там": "there",
}

// maxFollowUp is how many words a question has at most that is nothing without the one before it.
const maxFollowUp = 7

// standalone makes a question that can be understood by itself of text, with the help of what people, never the
// bot, have said before, newest first (P7), and returns the message that helped. It returns text unchanged where it
// needs no help or there is none.
func standalone(text string, names []string, earlier []turn.Message) (whole string, helped *turn.Message) {
	words, _ := dropNames(split(text), text, names)
	if len(words) == 0 || len(words) > 25 {
		return text, nil
	}
	for i := range earlier {
		if s, ok := leaning(text, words, earlier[i].Text); ok {
			return s, &earlier[i]
		}
	}
	return text, nil
}

// leaning completes text from one message before it, if that is what it needs.
func leaning(text string, words []word, before string) (string, bool) {
	if unspaced(text) {
		return unspacedFollowUp(text, before)
	}
	if s, ok := pronounBehind(text, before); ok {
		return s, true
	}
	if rest, ok := fragment(text, words); ok {
		if s, ok := relatedYear(before, rest); ok {
			return s, true
		}
		return inSlot(before, owned(rest, before)), true
	}
	if bareQuestion(words) {
		return strings.TrimRight(strings.TrimSpace(text), "?？ ") + ": " + before, true
	}
	if s, ok := named(text, words, before); ok {
		return s, true
	}
	return subjectless(text, words, before)
}

// fragment returns what a follow-up like "and in Berlin?" has to add.
func fragment(text string, words []word) (string, bool) {
	n, cue := followUps.at(words)
	if n >= len(words) || len(words) > maxFollowUp || n == 0 && !slotAlone(text, words) {
		return "", false
	}
	rest := words[n:]
	if leadsOn, _ := followUps.at(rest); n > 0 && leadsOn == 1 && len(rest) > 1 {
		rest = rest[1:]
	}
	asked := strings.ContainsAny(text, "?？") || cue == "what about" || slotted[rest[0].key]
	if form := opening(text, rest, rest); !asked || form == "wh" || form == "aux" || form == "get" {
		return "", false
	}
	for _, w := range rest {
		if w.key == "i" || w.key == "you" || pronouns[w.key] == "he" && possessives[w.key].of == "" {
			return "", false
		}
	}
	return text[rest[0].start:rest[len(rest)-1].end], true
}

// slotAlone reports whether a text is one slot of a question and no more: "in Berlin?", "Germany?", "1922?".
func slotAlone(text string, words []word) bool {
	if !strings.ContainsAny(text, "?？") || len(words) > 3 {
		return false
	}
	if slotted[words[0].key] && len(words) > 1 {
		return words[1].upper || numeric(words[1].key) || len(times.in(text, words)) > 0
	}
	for _, w := range words {
		if !w.upper && !numeric(w.key) || stopWords[w.key] || reactions[w.key] {
			return false
		}
	}
	return opening(text, words, words) == "" && len(against.in(text, words)) == 0
}

// reactions are what people say of an answer in one word.
var reactions = set("really seriously sure source sources huh eh hm hmm lol wow what why when who where ok okay right true honestly yes no please sorry again anyone hello wirklich echt ernsthaft warum quelle sicher vraiment serieux pourquoi source verdad serio fuente seguro mesmo fonte davvero sicuro правда серьезно точно источник")

// slotted are the prepositions that a slot begins with.
var slotted = set("in at for on to from near of by with during since im am fur nach aus bei pour dans en a au aux de du des del do da dos das em para desde nel per в на из для w na dla")

// articles begin a noun that leans on the name before it.
var articles = set("the")

// slot is a preposition without the article that some languages melt into it: that goes with the noun.
func slot(key string) string {
	switch key {
	case "du", "des", "del", "do", "da", "dos", "das":
		return "de"
	case "im":
		return "in"
	case "au", "aux":
		return "a"
	case "em", "na":
		return "en"
	}
	return key
}

// inSlot puts rest into the question before it, in place of what it replaces: the words after the same
// preposition, the time, or the name.
func inSlot(before, rest string) string {
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old, added := split(before), split(rest)
	if isTime(rest, added) {
		if was := times.in(before, old); len(was) > 0 && was[0].to > was[0].from {
			return replaced(before, old, was[0].from, was[0].to, rest)
		}
		return before + " " + rest
	}
	if slotted[added[0].key] && len(added) > 1 {
		for i := len(old) - 2; i > 0; i-- {
			if slot(old[i].key) == slot(added[0].key) && numeric(old[i+1].key) == numeric(added[1].key) {
				return replaced(before, old, i, slotEnd(before, old, i+1), rest)
			}
		}
		return before + " " + rest
	}
	if from, to := lastName(old); to > from {
		if articles[added[0].key] && len(added) > 1 && !added[1].upper { // "who wrote Dune?" "and the sequel?"
			rest += " of " + before[old[from].start:old[to-1].end]
		}
		return replaced(before, old, from, to, rest)
	}
	for i := len(old) - 2; i > 0; i-- {
		if slotted[old[i].key] {
			return replaced(before, old, i+1, slotEnd(before, old, i+1), rest)
		}
	}
	return before + " " + rest
}

// isTime reports whether words are a time and nothing else: "tomorrow", "on Sunday", "the day after tomorrow".
func isTime(text string, words []word) bool {
	if slotted[words[0].key] && len(words) > 1 {
		words = words[1:]
	}
	if n, _ := calendar.at(words); n == len(words) {
		return true
	}
	if t := times.in(text, words); len(t) > 0 && t[0].to-t[0].from == len(words) {
		return true
	}
	return len(words) == 1 && dayNames[words[0].key]
}

// dayNames are the days of the week.
var dayNames = set("monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo понедельник вторник среду четверг пятницу субботу воскресенье")

// slotEnd returns where the words that begin at from stop being one slot: at a preposition or a time.
func slotEnd(text string, words []word, from int) int {
	when := times.in(text, words)
	for i := from + 1; i < len(words); i++ {
		if slotted[words[i].key] {
			return i
		}
		for _, t := range when {
			if t.from == i && t.to > i {
				return i
			}
		}
	}
	return len(words)
}

func replaced(text string, words []word, from, to int, with string) string {
	return text[:words[from].start] + with + text[words[to-1].end:]
}

func numeric(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// bareQuestion reports whether words are a question without a subject: "why?", "since when", "how much".
func bareQuestion(words []word) bool {
	n, cue := openings["en"].at(words)
	return cue == "wh" && n == len(words)
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

// said returns what people have said before the message, newest first, without the mentions. The bot's own words are
// left out, for they may come from the web (P7), and so is everything older than the reply chain (P10).
func said(req turn.Request) []turn.Message {
	var out []turn.Message
	seen := map[string]bool{req.Message.ID: true}
	add := func(m turn.Message) {
		if m.Text = oneLine(mentioned.ReplaceAllString(m.Text, " ")); m.Own || m.Text == "" || m.ID != "" && seen[m.ID] || len(out) == 4 {
			return
		}
		seen[m.ID] = true
		out = append(out, m)
	}
	if req.Parent != nil {
		add(*req.Parent)
	}
	for _, m := range req.Chain {
		add(m)
	}
	return out
}

// mentioned is a mention in an earlier message, of which nobody has kept how long the name is.
var mentioned = regexp.MustCompile(`@[\pL\pN_.\-]+(?: \p{Lu}[\pL\pN_.\-'’]*)*`)
