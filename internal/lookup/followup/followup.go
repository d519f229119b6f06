package followup

import (
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// followUps are the beginnings of a question that leans on the one before it. Behind "what about" no question mark is
// needed.
var followUps = text.Compile(lang.All().FollowUp.Openings)

// maxFollowUp is how many words a question has at most that is nothing without the one before it.
const maxFollowUp = 7

// Standalone makes a question that can be understood by itself of text, with the help of what people, never the
// bot, have said before, newest first (P7), and returns the message that helped. Where that message leans on an older
// one, it is made to stand alone before. It returns text unchanged where it needs no help or there is none.
func Standalone(body string, names []string, earlier []turn.Message) (whole string, helped *turn.Message) {
	all := body
	body = spokenTo(body, names)
	words, _ := need.DropNames(text.Words(body), body, names)
	if len(words) == 0 || len(words) > 25 || !leans(body, words) {
		return all, nil
	}
	for i := range earlier {
		if !lends(earlier[i].Text, names) {
			continue
		}
		before, help := Standalone(earlier[i].Text, names, earlier[i+1:])
		if _, is := Fragment(before, text.Words(before)); is && help == nil {
			continue // it hangs in the air itself
		}
		if s, ok := leaning(body, words, before); ok {
			return s, &earlier[i]
		}
		if helped == nil && lacksOwner(body, words) && need.Weigh(before, nil).Score >= need.Threshold {
			whole, helped = strings.TrimRight(strings.TrimSpace(body), "?？ ")+": "+before, &earlier[i] // unless an older one has a name
		}
	}
	if helped == nil {
		return all, nil
	}
	return whole, helped
}

// spokenTo is a message without the courtesies before what it asks: "thanks! ok and what about Rome?".
func spokenTo(s string, names []string) string {
	if all := text.MessageSentences(s); len(all) == 2 {
		if first := need.WeighSentence(all[0], names); first.Order == "" && (first.Barred || slices.Contains(first.Cues, "nothing said")) {
			s = all[1]
		}
	}
	words := text.Words(s)
	for i := range words {
		if n, _ := followUps.Prefix(words[i:]); n > 0 {
			if polite, _ := need.Lead(words[:i]); polite == i {
				return s[words[i].Start:]
			}
			break
		}
	}
	return s
}

// leans reports whether a text has a form that leaning can complete.
func leans(s string, words []text.Word) bool {
	_, is := Fragment(s, words)
	return is || text.Unspaced(s) || inversion.MatchString(s) || bareQuestion(words) || PronounAt(s, words) >= 0 ||
		subjectless(s, words) || lacksOwner(s, words) || OnlyAnew(words) || OnlyOrder(words)
}

// lends reports whether a message is one that another can lean on: a question, or something to look up. Thanks and
// questions about the bot are not.
func lends(s string, names []string) bool {
	words, _ := need.DropNames(text.Words(s), s, names)
	if len(words) == 0 {
		return false
	}
	if _, is := Fragment(s, words); is || text.Unspaced(s) || len(need.Topics.FindAll(s, words)) > 0 {
		return true
	}
	from, _ := need.Lead(words)
	body := words[from:]
	if len(body) == 1 && adverbs[body[0].Key] {
		return false
	}
	for _, f := range need.Persons.FindAll(s, body) {
		if _, to := firstName(body); f.Cue == "you" && to == 0 {
			return false
		}
	}
	if need.Opening(s, words, body) != "" || strings.ContainsAny(s, "?？") || len(need.Orders.FindAll(s, words)) > 0 {
		return true
	}
	_, to := firstName(words)
	ofTheirOwn := slices.ContainsFunc(need.Persons.FindAll(s, body), func(f text.Match) bool { return f.Cue == "me" })
	return to > 0 && !ofTheirOwn && len(need.Against.FindAll(s, words)) == 0
}

// leaning completes text from one message before it, if that is what it needs.
func leaning(body string, words []text.Word, before string) (string, bool) {
	if text.Unspaced(body) {
		return unspacedFollowUp(body, before)
	}
	if OnlyAnew(words) || OnlyOrder(words) {
		return before, true
	}
	if s, ok := pronounBehind(body, before); ok {
		return s, true
	}
	if rest, ok := Fragment(body, words); ok {
		if s, ok := moved(before, rest); ok {
			return s, true
		}
		if s, ok := ownedInstead(before, rest); ok {
			return s, true
		}
		return inSlot(before, owned(rest, before)), true
	}
	if bareQuestion(words) {
		return strings.TrimRight(strings.TrimSpace(body), "?？ ") + ": " + before, true
	}
	if s, ok := named(body, words, before); ok {
		return s, true
	}
	return completed(body, words, before)
}

// Fragment returns what a follow-up like "and in Berlin?" has to add.
func Fragment(s string, words []text.Word) (string, bool) {
	n, cue := followUps.Prefix(words)
	if n >= len(words) || len(words) > maxFollowUp || n == 0 && !slotAlone(s, words) {
		return "", false
	}
	rest := words[n:]
	if leadsOn, _ := followUps.Prefix(rest); n > 0 && leadsOn == 1 && len(rest) > 1 && !text.Prepositions[rest[0].Key] {
		rest = rest[1:]
	}
	if one := len(rest) > 2 && articles[rest[0].Key] && theOne[rest[1].Key]; one && text.Prepositions[rest[2].Key] {
		rest = rest[2:] // "and the one in 2014?"
	} else if len(rest) > 2 && (articles[rest[0].Key] || theOne[rest[0].Key]) && text.Prepositions[rest[1].Key] {
		rest = rest[1:] // "¿y el de 2014?"
	}
	asked := strings.ContainsAny(s, "?？") || cue == "what about" || text.Prepositions[rest[0].Key] || isNeighbour(rest) || n > 0 && (isTime(rest) || allNames(rest))
	if form := need.Opening(s, rest, rest); !asked || form == "wh" || form == "aux" && !text.Prepositions[rest[0].Key] || form == "get" { // German "am" is no English one

		return "", false
	}
	if len(rest) == 1 && adverbs[rest[0].Key] {
		return "", false
	}
	for _, w := range rest {
		if w.Key == "i" || w.Key == "you" || text.Pronouns[w.Key] == "he" && possessives[w.Key].of == "" {
			return "", false
		}
	}
	return s[rest[0].Start:rest[len(rest)-1].End], true
}

// theOne are the words for a thing that was named before.
var theOne = text.Set(lang.All().FollowUp.ProForms)

// adverbs follow "and" and fill no slot.
var adverbs = text.Set(lang.All().FollowUp.Adverbs)

// slotAlone reports whether a text is one slot of a question and no more: "in Berlin?", "Germany?", "1922?".
func slotAlone(s string, words []text.Word) bool {
	if !strings.ContainsAny(s, "?？") || len(words) > 3 {
		return false
	}
	if isTime(words) || isNeighbour(words) {
		return true
	}
	if text.Prepositions[words[0].Key] && len(words) > 1 {
		noun := words[1]
		if articles[noun.Key] {
			noun = words[len(words)-1]
		}
		return noun.Upper || text.Numeric(noun.Key) || !text.StopWords[noun.Key] && !reactions[noun.Key] && text.Pronouns[noun.Key] == "" && !articles[noun.Key]
	}
	return allNames(words) && need.Opening(s, words, words) == "" && len(need.Against.FindAll(s, words)) == 0
}

// allNames reports whether words are names and numbers, three at most.
func allNames(words []text.Word) bool {
	return len(words) <= 3 && !slices.ContainsFunc(words, func(w text.Word) bool {
		return !w.Upper && !text.Numeric(w.Key) || text.StopWords[w.Key] || reactions[w.Key]
	})
}

// reactions are what people say of an answer in one word.
var reactions = text.Set(lang.All().FollowUp.Reactions)

// bareQuestion reports whether words are a question without a subject: "why?", "since when", "how much".
func bareQuestion(words []text.Word) bool {
	from, _ := need.Lead(words)
	n, cue := need.Openings["en"].Prefix(words[from:])
	return cue == "wh" && (from+n == len(words) || from+n+1 == len(words) && (words[from].Key == "what" || words[from].Key == "which") && kindsOfTime[words[from+n].Key])
}

// kindsOfTime follow "what" in a question for no more than when something was.
var kindsOfTime = text.Set(lang.All().Time.Kinds)
