package question

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/text"
)

// maxFragment is the length of a fragment, in words.
const maxFragment = 7

// fragment returns the content of a fragment: "in Berlin" for "and in Berlin?".
func fragment(u Utterance) (string, bool) {
	n, cue := fragmentOpenings().Prefix(u.Words)
	if n >= len(u.Words) || len(u.Words) > maxFragment || n == 0 && !isSlot(u) {
		return "", false
	}
	rest := withoutArticle(u.Words[n:], n > 0)
	opensSlot := text.Prepositions()[rest[0].Key]
	if !(u.HasQuestionMark() || cue == "what about" || opensSlot || isNeighbour(rest) || n > 0 && (isTime(rest) || allNames(rest))) {
		return "", false
	}
	switch (Utterance{Text: u.Text, Words: rest, Body: rest}).Form() {
	case Wh, Request:
		return "", false
	case YesNo:
		if !opensSlot { // the German "am" is not the English one
			return "", false
		}
	}
	if len(rest) == 1 && adverbs()[rest[0].Key] || slices.ContainsFunc(rest, namesSpeaker) {
		return "", false
	}
	return u.Text[rest[0].Start:rest[len(rest)-1].End], true
}

func isFragment(u Utterance) bool {
	_, ok := fragment(u)
	return ok
}

// isPlainFragment reports whether the rules know what a fragment replaces. Outside English that is a time or the owner of something.
// A name after an opening replaces the only name, the last word, or what follows the same preposition.
func isPlainFragment(u Utterance, p prior, language string) bool {
	rest, ok := fragment(u)
	if !ok || language == "en" {
		return ok
	}
	words := text.Words(rest)
	slot := len(words) > 1 && startsSlot(words[0].Key, language)
	_, shifts := p.shiftTime(rest)
	if _, owned := possessives()[words[0].Key]; shifts || owned || isTime(words) || slot && isTime(words[1:]) {
		return true
	}
	if opened, _ := fragmentOpenings().Prefix(u.Words); opened == 0 {
		return false
	}
	_, first := firstName(p.Words)
	from, last := lastName(p.Words, nil)
	if language == "de" && !slot && last-from > len(words) {
		return false // two nouns, or a name of two words
	}
	if slot {
		return allNames(words[1:]) && !strings.HasPrefix(p.fillSlot(rest), p.Text)
	}
	return allNames(words) && (first == last || last == len(p.Words))
}

// withoutArticle drops words before the content. They are a second "and", and "the one" in "and the one in 2014?", "¿y el de 2014?".
func withoutArticle(rest []text.Word, and bool) []text.Word {
	if more, _ := fragmentOpenings().Prefix(rest); and && more == 1 && len(rest) > 1 && !text.Prepositions()[rest[0].Key] {
		rest = rest[1:]
	}
	switch {
	case len(rest) <= 2:
	case articles()[rest[0].Key] && proForms()[rest[1].Key] && text.Prepositions()[rest[2].Key]:
		return rest[2:]
	case (articles()[rest[0].Key] || proForms()[rest[0].Key]) && text.Prepositions()[rest[1].Key]:
		return rest[1:]
	}
	return rest
}

// namesSpeaker reports whether a word means one of the speakers, or a person whom a fragment cannot replace.
func namesSpeaker(w text.Word) bool {
	return w.Key == "i" || w.Key == "you" || text.Pronouns()[w.Key] == "he" && possessives()[w.Key].of == ""
}

// isSlot reports whether an utterance only fills one slot of a question: "in Berlin?", "Germany?", "1922?".
func isSlot(u Utterance) bool {
	words := u.Words
	switch {
	case !u.HasQuestionMark() || len(words) > 3:
		return false
	case isTime(words) || isNeighbour(words):
		return true
	case text.Prepositions()[words[0].Key] && len(words) > 1:
		noun := words[1]
		if articles()[noun.Key] {
			noun = words[len(words)-1]
		}
		return noun.Upper || text.Numeric(noun.Key) || !text.StopWords()[noun.Key] && !reactions()[noun.Key] && text.Pronouns()[noun.Key] == "" && !articles()[noun.Key]
	}
	return allNames(words) && u.from(0).Form() == NoForm && !u.has(notForWeb())
}

// allNames reports whether words are at most three names and numbers.
func allNames(words []text.Word) bool {
	return len(words) <= 3 && !slices.ContainsFunc(words, func(w text.Word) bool {
		return !w.Upper && !text.Numeric(w.Key) || text.StopWords()[w.Key] || reactions()[w.Key]
	})
}

// allReactions reports whether an utterance only reacts: "really?".
func allReactions(u Utterance) bool {
	return !slices.ContainsFunc(u.Words, func(w text.Word) bool { return !reactions()[w.Key] })
}

// isBareQuestion reports whether an utterance is a question without a subject: "why?", "since when", "what year".
func isBareQuestion(u Utterance) bool {
	n, form := questionOpenings()["en"].Prefix(u.Body)
	if Form(form) != Wh {
		return false
	}
	rest, opens := u.Body[n:], u.Body[0].Key
	return len(rest) == 0 || len(rest) == 1 && (opens == "what" || opens == "which") && timeKinds()[rest[0].Key]
}

// fillFragment puts the content of a fragment into the question before it.
func fillFragment(u Utterance, p prior) (string, bool) {
	rest, _ := fragment(u)
	if s, ok := p.shiftTime(rest); ok {
		return s, true
	}
	words := text.Words(rest)
	if pronoun, ok := possessives()[words[0].Key]; ok && len(words) > 1 {
		thing := rest[words[1].Start:]
		if at, owner := p.ownerOf(pronoun); at > 0 {
			return p.Text[:p.Words[at].Start] + pronoun.join(owner, thing), true
		}
		if owner := cmp.Or(p.antecedent(pronoun.kind == "he"), p.antecedent(false)); owner != "" {
			rest = pronoun.join(owner, thing)
		}
	}
	s := p.fillSlot(rest)
	return s, s != p.Text+" "+rest || isTime(words) || startsSlot(words[0].Key, text.MessageLanguage(p.Text)) // what only follows the question takes the place of nothing
}

// startsSlot reports whether a word is a preposition in a language. Some are articles in others.
func startsSlot(key, language string) bool {
	return text.Prepositions()[key] && !text.TablesOf(language).FollowUp.NotPrepositions.Has(key)
}

// plainPreposition returns a preposition without the article that is merged into it: "in" for "im".
func plainPreposition(key string) string { return cmp.Or(articlePrepositions()[key], key) }

// fillSlot puts a fragment in the place of what it replaces. That is the time, the phrase after the same preposition, a number, a noun, the
// last name, or the topic.
func (p prior) fillSlot(rest string) string {
	added := text.Words(rest)
	article := articles()[added[0].Key]
	switch {
	case isTime(added):
		return p.replaceTime(rest, added)
	case len(added) > 1 && startsSlot(added[0].Key, text.MessageLanguage(p.Text)):
		return p.fillBehind(rest, added)
	}
	if at := p.numberFor(added); at > 0 {
		return p.replace(at, at+1, added[len(added)-1].Key)
	}
	if from, to := p.sameNoun(added); to > from {
		return p.replace(from, to, rest)
	}
	if common := p.commonNoun(article); common > 0 && !slices.ContainsFunc(added, func(w text.Word) bool { return w.Upper || text.Numeric(w.Key) }) {
		return p.replace(common, p.slotEnd(common), rest)
	}
	if from, to := lastName(p.Words, p.inTime); to > from {
		switch {
		case !article || len(added) == 1:
		case added[0].Key == "the" && !added[1].Upper: // "who wrote Dune?" "and the sequel?"
			rest += " of " + p.span(from, to)
		case articles()[p.Words[from-1].Key]:
			from--
		}
		return p.replace(from, to, rest)
	}
	return p.replaceSubject(rest)
}

// fillBehind puts a fragment in the place of the phrase with the same preposition.
// No common noun replaces a name: "for kids?" after "what does a ticket for the Veltrain cost?".
func (p prior) fillBehind(rest string, added []text.Word) string {
	exact := slices.ContainsFunc(added, func(w text.Word) bool { return startsName(w) || text.Numeric(w.Key) })
	for i := len(p.Words) - 2; i > 0; i-- {
		if p.inTime(i) || text.Numeric(p.Words[i+1].Key) != text.Numeric(added[1].Key) || plainPreposition(p.Words[i].Key) != plainPreposition(added[0].Key) {
			continue
		}
		if exact || !slices.ContainsFunc(p.Words[i+1:p.slotEnd(i+1)], startsName) {
			return p.replace(i, p.slotEnd(i+1), rest)
		}
	}
	return p.Text + " " + rest
}

// numberFor returns the index of the number that a fragment replaces, or 0: "and the 16?" after "an iPhone 15".
func (p prior) numberFor(added []text.Word) int {
	if n := len(added); !text.Numeric(added[n-1].Key) || n > 2 || n == 2 && !articles()[added[0].Key] {
		return 0
	}
	for i := len(p.Words) - 1; i > 0; i-- {
		if text.Numeric(p.Words[i].Key) && !p.inTime(i) {
			return i
		}
	}
	return 0
}

// modelEnd matches the number at the end of a model's name: "g84".
var modelEnd = text.NewLazyRegexp(`\b(\pL+)\d+\b`)

// otherModel replaces the number of a model by another: "and the 54?" after "does the moto g84 have nfc?".
func (p prior) otherModel(number string) (string, bool) {
	at := modelEnd.FindStringSubmatchIndex(p.Text)
	if at == nil || !text.Numeric(number) {
		return "", false
	}
	return p.Text[:at[3]] + number + p.Text[at[1]:], true
}

// sameNoun returns the range of the noun phrase with the same last word. It begins at the first shared word or one word before the noun. An
// example is "the next solar eclipse" for "the next lunar eclipse".
func (p prior) sameNoun(added []text.Word) (from, to int) {
	if len(added) < 2 {
		return 0, 0
	}
	first, last := added[0].Key, added[len(added)-1].Key
	for j := len(p.Words) - 1; j > 0; j-- {
		if p.Words[j].Key != last {
			continue
		}
		for i := j - 1; i > 0 && i >= j-4; i-- {
			if p.Words[i].Key == first {
				return i, j + 1
			}
		}
		if before := p.Words[j-1]; !articles()[first] && !text.StopWords()[before.Key] && !before.Upper {
			return j - 1, j + 1
		}
	}
	return 0, 0
}

// commonNoun returns the index of the last common noun after a preposition ("physics" in "the prize in physics"). It may be that of its
// article, and is 0 if there is none.
func (p prior) commonNoun(article bool) int {
	for i := len(p.Words) - 1; i > 1; i-- {
		w := p.Words[i]
		if text.Prepositions()[p.Words[i-1].Key] && !p.inTime(i-1) && !w.Upper && articles()[w.Key] == article && (article || !text.StopWords()[w.Key]) {
			return i
		}
	}
	return 0
}

// replaceSubject replaces the topic of a question without names and prepositions.
func (p prior) replaceSubject(rest string) string {
	if at, _ := p.behindTopicOpening(); at > 0 {
		return p.replace(at, p.slotEnd(at), rest)
	}
	lead := len(p.Words) - len(p.Body)
	if topics := topicPhrases().FindAll(p.Text, p.Body); len(topics) > 0 && len(p.Body) <= 4 && p.Form() == NoForm {
		var others []int
		for i := range p.Body {
			if !p.inTime(lead+i) && !slices.ContainsFunc(topics, func(f text.Match) bool { return f.From <= i && i < f.To }) {
				others = append(others, lead+i)
			}
		}
		switch {
		case len(others) == 1: // "weather oslo": "bergen" replaces the place
			return p.replace(others[0], others[0]+1, rest)
		case len(others) == 0 && len(p.Body) > 1: // "bitcoin price"
			return p.replace(lead, lead+1, rest)
		}
	}
	return p.Text + " " + rest
}

// possessive is a word for an owner, such as "his".
type possessive struct {
	kind string // as for pronouns
	of   string // between the thing and its owner; "'s" follows the owner
}

// possessives are the words that begin fragments such as "his brother".
var possessives = sync.OnceValue(func() map[string]possessive {
	all := map[string]possessive{}
	for _, code := range text.Languages() {
		f := text.TablesOf(code).FollowUp
		for w, kind := range text.ByWord(f.Possessives) {
			if _, taken := all[w]; !taken {
				all[w] = possessive{kind, f.PossessiveLink}
			}
		}
	}
	return all
})

// ownerOf returns the owner that a fragment such as "its capital" means, and the index of the words to replace. The index is 0 if there is
// none. For "its", the owner in "what is the population of Peru" is the name. For "his wife", it is everything after "who is" in "who is
// the president of Peru".
func (p prior) ownerOf(pronoun possessive) (at int, owner string) {
	at, asksOf := p.behindTopicOpening()
	if at == 0 || asksOf != "about" || p.Words[at].Upper {
		return 0, ""
	}
	if from, to := lastName(p.Words, nil); from > at && !(pronoun.kind == "he" && p.asksForPerson()) {
		return at, p.span(from, to)
	}
	return at, p.span(at, len(p.Words))
}

// join returns the thing with its owner.
func (p possessive) join(owner, thing string) string {
	if p.of == "'s" {
		return owner + "'s " + thing
	}
	return text.OneLine(thing + " " + p.of + " " + owner)
}

// asksForPerson reports whether the question begins with "who".
func (p prior) asksForPerson() bool { return len(p.Body) > 0 && who()[p.Body[0].Key] }
