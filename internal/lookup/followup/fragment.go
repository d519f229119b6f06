package followup

import (
	"cmp"
	"slices"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// maxFragment is how many words a fragment has at most.
const maxFragment = 7

// fragment returns what a follow-up such as "and in Berlin?" has for the question before it: "in Berlin".
func fragment(u utterance.Utterance) (string, bool) {
	n, cue := openings.Prefix(u.Words)
	if n >= len(u.Words) || len(u.Words) > maxFragment || n == 0 && !isSlot(u) {
		return "", false
	}
	rest := withoutArticle(u.Words[n:], n > 0)
	opensSlot := text.Prepositions[rest[0].Key]
	if !(u.HasQuestionMark() || cue == "what about" || opensSlot || isNeighbour(rest) || n > 0 && (isTime(rest) || allNames(rest))) {
		return "", false
	}
	switch (utterance.Utterance{Text: u.Text, Words: rest, Body: rest}).Form() {
	case utterance.Wh, utterance.Request:
		return "", false
	case utterance.YesNo:
		if !opensSlot { // German "am" is no English one
			return "", false
		}
	}
	if len(rest) == 1 && adverbs[rest[0].Key] || slices.ContainsFunc(rest, namesSpeaker) {
		return "", false
	}
	return u.Text[rest[0].Start:rest[len(rest)-1].End], true
}

func isFragment(u utterance.Utterance) bool {
	_, ok := fragment(u)
	return ok
}

// withoutArticle drops what stands before the words that fill a slot: a second "and" if there is a first, and "the one"
// of "and the one in 2014?", "¿y el de 2014?".
func withoutArticle(rest []text.Word, and bool) []text.Word {
	if more, _ := openings.Prefix(rest); and && more == 1 && len(rest) > 1 && !text.Prepositions[rest[0].Key] {
		rest = rest[1:]
	}
	switch {
	case len(rest) <= 2:
	case articles[rest[0].Key] && proForms[rest[1].Key] && text.Prepositions[rest[2].Key]:
		return rest[2:]
	case (articles[rest[0].Key] || proForms[rest[0].Key]) && text.Prepositions[rest[1].Key]:
		return rest[1:]
	}
	return rest
}

// namesSpeaker reports whether a word stands for one of those who talk, or for somebody whom a fragment cannot replace.
func namesSpeaker(w text.Word) bool {
	return w.Key == "i" || w.Key == "you" || text.Pronouns[w.Key] == "he" && possessives[w.Key].of == ""
}

// isSlot reports whether an utterance fills one slot of a question and says no more: "in Berlin?", "Germany?", "1922?".
func isSlot(u utterance.Utterance) bool {
	words := u.Words
	switch {
	case !u.HasQuestionMark() || len(words) > 3:
		return false
	case isTime(words) || isNeighbour(words):
		return true
	case text.Prepositions[words[0].Key] && len(words) > 1:
		noun := words[1]
		if articles[noun.Key] {
			noun = words[len(words)-1]
		}
		return noun.Upper || text.Numeric(noun.Key) || !text.StopWords[noun.Key] && !reactions[noun.Key] && text.Pronouns[noun.Key] == "" && !articles[noun.Key]
	}
	return allNames(words) && u.Suffix(0).Form() == utterance.NoForm && !u.Has(utterance.Against)
}

// allNames reports whether words are names and numbers, three at most.
func allNames(words []text.Word) bool {
	return len(words) <= 3 && !slices.ContainsFunc(words, func(w text.Word) bool {
		return !w.Upper && !text.Numeric(w.Key) || text.StopWords[w.Key] || reactions[w.Key]
	})
}

// isBareQuestion reports whether an utterance is a question without a subject: "why?", "since when", "what year".
func isBareQuestion(u utterance.Utterance) bool {
	n, form := utterance.Openings["en"].Prefix(u.Body)
	if utterance.Form(form) != utterance.Wh {
		return false
	}
	rest, opens := u.Body[n:], u.Body[0].Key
	return len(rest) == 0 || len(rest) == 1 && (opens == "what" || opens == "which") && timeKinds[rest[0].Key]
}

// fillFragment puts what a fragment has into the question before it.
func fillFragment(u utterance.Utterance, p prior) (string, bool) {
	rest, _ := fragment(u)
	if s, ok := p.shiftTime(rest); ok {
		return s, true
	}
	words := text.Words(rest)
	if pronoun, ok := possessives[words[0].Key]; ok && len(words) > 1 {
		thing := rest[words[1].Start:]
		if at, owner := p.ownerOf(pronoun); at > 0 {
			return p.Text[:p.Words[at].Start] + pronoun.join(owner, thing), true
		}
		if owner := cmp.Or(p.antecedent(pronoun.kind == "he"), p.antecedent(false)); owner != "" {
			rest = pronoun.join(owner, thing)
		}
	}
	return p.fillSlot(rest), true
}
