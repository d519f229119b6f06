package websearch

import (
	"regexp"
	"slices"
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

// maxFollowUp is how many words a question has at most that is nothing without the one before it.
const maxFollowUp = 7

// standalone makes a question that can be understood by itself of text, with the help of what people, never the
// bot, have said before, newest first (P7), and returns the message that helped. Where that message leans on an older
// one, it is made to stand alone before. It returns text unchanged where it needs no help or there is none.
func standalone(text string, names []string, earlier []turn.Message) (whole string, helped *turn.Message) {
	all := text
	text = spokenTo(text, names)
	words, _ := dropNames(split(text), text, names)
	if len(words) == 0 || len(words) > 25 || !leans(text, words) {
		return all, nil
	}
	for i := range earlier {
		if !lends(earlier[i].Text, names) {
			continue
		}
		before, help := standalone(earlier[i].Text, names, earlier[i+1:])
		if _, is := fragment(before, split(before)); is && help == nil {
			continue // it hangs in the air itself
		}
		if s, ok := leaning(text, words, before); ok {
			return s, &earlier[i]
		}
		if helped == nil && lacksOwner(text, words) && weigh(before, nil).score >= threshold {
			whole, helped = strings.TrimRight(strings.TrimSpace(text), "?？ ")+": "+before, &earlier[i] // unless an older one has a name
		}
	}
	if helped == nil {
		return all, nil
	}
	return whole, helped
}

// spokenTo is a message without the courtesies before what it asks: "thanks! ok and what about Rome?".
func spokenTo(text string, names []string) string {
	if all := sentences(text); len(all) == 2 {
		if first := weighSentence(all[0], names); first.order == "" && (first.barred || slices.Contains(first.cues, "nothing said")) {
			text = all[1]
		}
	}
	words := split(text)
	for i := range words {
		if n, _ := followUps.at(words[i:]); n > 0 {
			if polite, _ := lead(words[:i]); polite == i {
				return text[words[i].start:]
			}
			break
		}
	}
	return text
}

// leans reports whether a text has a form that leaning can complete.
func leans(text string, words []word) bool {
	_, is := fragment(text, words)
	return is || unspaced(text) || inversion.MatchString(text) || bareQuestion(words) || pronounAt(text, words) >= 0 ||
		subjectless(text, words) || lacksOwner(text, words) || onlyAnew(words) || onlyOrder(words)
}

// lends reports whether a message is one that another can lean on: a question, or something to look up. Thanks and
// questions about the bot are not.
func lends(text string, names []string) bool {
	words, _ := dropNames(split(text), text, names)
	if len(words) == 0 {
		return false
	}
	if _, is := fragment(text, words); is || unspaced(text) || len(topics.in(text, words)) > 0 {
		return true
	}
	from, _ := lead(words)
	body := words[from:]
	if len(body) == 1 && adverbs[body[0].key] {
		return false
	}
	for _, f := range persons.in(text, body) {
		if _, to := firstName(body); f.cue == "you" && to == 0 {
			return false
		}
	}
	if opening(text, words, body) != "" || strings.ContainsAny(text, "?？") || len(orders.in(text, words)) > 0 {
		return true
	}
	_, to := firstName(words)
	ofTheirOwn := slices.ContainsFunc(persons.in(text, body), func(f found) bool { return f.cue == "me" })
	return to > 0 && !ofTheirOwn && len(against.in(text, words)) == 0
}

// leaning completes text from one message before it, if that is what it needs.
func leaning(text string, words []word, before string) (string, bool) {
	if unspaced(text) {
		return unspacedFollowUp(text, before)
	}
	if onlyAnew(words) || onlyOrder(words) {
		return before, true
	}
	if s, ok := pronounBehind(text, before); ok {
		return s, true
	}
	if rest, ok := fragment(text, words); ok {
		if s, ok := moved(before, rest); ok {
			return s, true
		}
		if s, ok := ownedInstead(before, rest); ok {
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
	return completed(text, words, before)
}

// fragment returns what a follow-up like "and in Berlin?" has to add.
func fragment(text string, words []word) (string, bool) {
	n, cue := followUps.at(words)
	if n >= len(words) || len(words) > maxFollowUp || n == 0 && !slotAlone(text, words) {
		return "", false
	}
	rest := words[n:]
	if leadsOn, _ := followUps.at(rest); n > 0 && leadsOn == 1 && len(rest) > 1 && !slotted[rest[0].key] {
		rest = rest[1:]
	}
	if one := len(rest) > 2 && articles[rest[0].key] && theOne[rest[1].key]; one && slotted[rest[2].key] {
		rest = rest[2:] // "and the one in 2014?"
	} else if len(rest) > 2 && (articles[rest[0].key] || theOne[rest[0].key]) && slotted[rest[1].key] {
		rest = rest[1:] // "¿y el de 2014?"
	}
	asked := strings.ContainsAny(text, "?？") || cue == "what about" || slotted[rest[0].key] || isNeighbour(rest) || n > 0 && (isTime(rest) || allNames(rest))
	if form := opening(text, rest, rest); !asked || form == "wh" || form == "aux" && !slotted[rest[0].key] || form == "get" { // German "am" is no English one

		return "", false
	}
	if len(rest) == 1 && adverbs[rest[0].key] {
		return "", false
	}
	for _, w := range rest {
		if w.key == "i" || w.key == "you" || pronouns[w.key] == "he" && possessives[w.key].of == "" {
			return "", false
		}
	}
	return text[rest[0].start:rest[len(rest)-1].end], true
}

// theOne are the words for a thing that was named before.
var theOne = set("one celui celle ceux quello quella")

// adverbs follow "and" and fill no slot.
var adverbs = set("back then now else more again so zuruck dann jetzt alors apres entonces luego")

// slotAlone reports whether a text is one slot of a question and no more: "in Berlin?", "Germany?", "1922?".
func slotAlone(text string, words []word) bool {
	if !strings.ContainsAny(text, "?？") || len(words) > 3 {
		return false
	}
	if isTime(words) || isNeighbour(words) {
		return true
	}
	if slotted[words[0].key] && len(words) > 1 {
		noun := words[1]
		if articles[noun.key] {
			noun = words[len(words)-1]
		}
		return noun.upper || numeric(noun.key) || !stopWords[noun.key] && !reactions[noun.key] && pronouns[noun.key] == "" && !articles[noun.key]
	}
	return allNames(words) && opening(text, words, words) == "" && len(against.in(text, words)) == 0
}

// allNames reports whether words are names and numbers, three at most.
func allNames(words []word) bool {
	return len(words) <= 3 && !slices.ContainsFunc(words, func(w word) bool {
		return !w.upper && !numeric(w.key) || stopWords[w.key] || reactions[w.key]
	})
}

// reactions are what people say of an answer in one word.
var reactions = set("real fun free good now really seriously sure source sources huh eh hm hmm lol wow what why when who where ok okay right true honestly yes no please sorry again anyone hello wirklich echt ernsthaft warum quelle sicher vraiment serieux pourquoi source verdad serio fuente seguro mesmo fonte davvero sicuro правда серьезно точно источник")

// bareQuestion reports whether words are a question without a subject: "why?", "since when", "how much".
func bareQuestion(words []word) bool {
	from, _ := lead(words)
	n, cue := openings["en"].at(words[from:])
	return cue == "wh" && (from+n == len(words) || from+n+1 == len(words) && (words[from].key == "what" || words[from].key == "which") && kindsOfTime[words[from+n].key])
}

// kindsOfTime follow "what" in a question for no more than when something was.
var kindsOfTime = set("year day time date month century")

// said returns what people have said before the message, newest first, without the mentions. The words of bots are
// left out, its own too, for they may come from the web (P7), and so is everything older than the reply chain (P10).
func said(req turn.Request) []turn.Message {
	var out []turn.Message
	seen := map[string]bool{req.Message.ID: true}
	add := func(m turn.Message) {
		if m.Text = oneLine(mentioned.ReplaceAllString(m.Text, " ")); !m.ByPerson() || m.Text == "" || m.ID != "" && seen[m.ID] || len(out) == 4 {
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
