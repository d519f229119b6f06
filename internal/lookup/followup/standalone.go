// Package followup rewrites a follow-up so that it can be understood by itself: "and in Berlin?" after "what's the weather
// in Paris today?" becomes "what's the weather in Berlin today". It reads what people wrote and nothing else.
//
// [Standalone] goes back from message to message until one of them completes the follow-up:
//
//   - fragment.go tells a fragment such as "and in Berlin?" or "1922?". slot.go puts it in the place of what it replaces
//     in the question before, time.go a time such as "the day after", and possessive.go "his wife".
//   - pronoun.go puts names in the places of pronouns (coreference): "how old is he?", "what's the weather there?".
//     antecedent.go finds these names in the question before.
//   - ellipsis.go adds the subject to a question that lacks one: "who won?", "who was the captain?".
//   - repetition.go tells what asks for the question before once more: "any update?", "look it up".
//   - unspaced.go does some of this for Japanese.
//   - lean.go does, in all languages, what these rules do not: a model decides whether the message leans on the question, and another which of
//     all the ways to complete it (reading.go) is the best, by what is seen of it (trait.go) in pieces of words (cell.go).
//
// lexicon.go has the words that all of them look for.
package followup

import (
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// maxWords is how many words a follow-up has at most, and longest how many bytes it has, and the question before it, for the models to complete
// it: words of scripts without spaces are no measure.
const (
	maxWords = 25
	longest  = 600
)

// Standalone completes a message with what people wrote before it, newest first, and returns the message that helped.
// That one is made to stand alone before. Where nothing is missing, or nothing helps, Standalone returns message as it is.
// The bot's own words must not be in earlier.
func Standalone(message string, names []string, earlier []turn.Message) (whole string, helper *turn.Message) {
	u := utterance.Parse(afterSmallTalk(message, names), names)
	if len(u.Words) == 0 || len(u.Words) > maxWords {
		return message, nil
	}
	for i := range earlier {
		if !canHelp(earlier[i].Text, names) && !wantsMore(earlier[i].Text) {
			continue
		}
		before, help := Standalone(earlier[i].Text, names, earlier[i+1:])
		if help == nil && isFragment(utterance.Parse(before, nil)) {
			continue // itself a follow-up that nothing completed
		}
		p := parsePrior(before)
		if s, ok := builtIn().complete(u, p); ok {
			return s, &earlier[i]
		}
	}
	return message, nil
}

// IsFollowUp reports whether a message has a pronoun, or the form of a fragment, so that it may need what was written
// before it.
func IsFollowUp(message string, names []string) bool {
	u := utterance.Parse(message, names)
	return 0 < len(u.Words) && len(u.Words) <= maxWords && (isFragment(u) || hasPronoun(u))
}

// complete completes an utterance from the question before it, if it leans on that. The rules come first where they know the language: English,
// and some others if names have capitals.
func (m Models) complete(u utterance.Utterance, p prior) (string, bool) {
	language := text.Language(u.Text+" "+p.raw, slices.Concat(u.Words, p.Words))
	_, names := firstName(p.Words)
	named := names > 0 && len(lang.Of(language).FollowUp.TopicOpenings) > 0
	if language == "en" || named || text.Unspaced(u.Text) || isRepetition(u) {
		if s, ok := rewrite(u, p); ok {
			return s, true
		}
	}
	if len(u.Text) > longest || len(p.raw) > longest {
		return "", false
	}
	return m.lean(newPair(u, p, language))
}

// wantsMore reports whether the message before was looked up, so that one that leans on it may be, too.
func wantsMore(before string) bool { return need.Weigh(before, nil).Score >= need.Threshold }

// afterSmallTalk returns a message without the small talk before its question, "thanks! ok and what about Rome?", and without what is said
// behind it, "any others? played those".
func afterSmallTalk(s string, names []string) string {
	if all := text.MessageSentences(s); len(all) == 2 {
		first, second := need.WeighSentence(all[0], names), need.WeighSentence(all[1], names)
		switch asked := utterance.Parse(all[0], names); {
		case first.Order == utterance.NoOrder && (first.Barred || len(asked.Words) == 0):
			s = all[1]
		case asked.HasQuestionMark() && !second.Asks && second.Order == utterance.NoOrder && second.Score < need.Threshold:
			s = all[0]
		}
	}
	words := text.Words(s)
	for i := range words {
		if n, _ := openings.Prefix(words[i:]); n > 0 {
			if courtesies, _ := utterance.Courtesies(words[:i]); courtesies == i {
				return s[words[i].Start:]
			}
			break
		}
	}
	return s
}

// forms are the forms of follow-ups, and how each is completed from the question before, in the order of trying.
var forms = []struct {
	is       func(utterance.Utterance) bool
	complete func(utterance.Utterance, prior) (string, bool)
}{
	{isRepetition, func(_ utterance.Utterance, p prior) (string, bool) { return p.raw, true }},
	{isBareCheck, addStatement},
	{hasInvertedPronoun, replaceInvertedPronoun},
	{isFragment, fillFragment},
	{isBareQuestion, func(u utterance.Utterance, p prior) (string, bool) { return withQuestion(u.Text, p.raw), true }},
	{hasPronoun, replacePronoun},
	{func(u utterance.Utterance) bool { return lacksSubject(u) || lacksOwner(u) }, addSubject},
}

// rewrite completes an utterance from the question before it, if that is what it needs.
func rewrite(u utterance.Utterance, p prior) (string, bool) {
	if text.Unspaced(u.Text) {
		return rewriteUnspaced(u, p)
	}
	for _, form := range forms {
		if form.is(u) {
			if s, ok := form.complete(u, p); ok {
				return s, true
			}
		}
	}
	return "", false
}

// canHelp reports whether a message can complete a follow-up: it is a question, or something to look up. Thanks and
// questions about the bot are not.
func canHelp(s string, names []string) bool {
	u := utterance.Parse(s, names)
	if len(u.Words) == 0 {
		return false
	}
	if isFragment(u) || text.Unspaced(s) || u.Has(utterance.Topics) {
		return true
	}
	if len(u.Body) == 1 && adverbs[u.Body[0].Key] {
		return false
	}
	aboutSpeaker := false
	for _, f := range utterance.Persons.FindAll(s, u.Body) {
		if _, end := firstName(u.Body); f.Cue == "you" && end == 0 {
			return false
		}
		aboutSpeaker = aboutSpeaker || f.Cue == "me"
	}
	if asks(u) || u.Has(utterance.Orders) {
		return true
	}
	_, end := firstName(u.Words)
	return end > 0 && !aboutSpeaker && !u.Has(utterance.Against)
}

// asks reports whether an utterance has a question's form or mark.
func asks(u utterance.Utterance) bool { return u.Form() != utterance.NoForm || u.HasQuestionMark() }

// isBareCheck reports whether an utterance asks if something is true and does not say what: "is this true?".
func isBareCheck(u utterance.Utterance) bool {
	return len(u.Words) > 0 && len(u.Words) <= 5 && !slices.ContainsFunc(u.Words[1:], func(w text.Word) bool { return w.Upper }) && need.Checks(u.Text)
}

// addStatement appends the statement before. A question before is not one.
func addStatement(u utterance.Utterance, p prior) (string, bool) {
	return withQuestion(u.Text, p.raw), !asks(p.Utterance) && !strings.ContainsAny(p.raw, "?？") && len(p.Words) > 3
}

// withQuestion appends the whole question before, which is enough for a search.
func withQuestion(s, before string) string {
	return strings.TrimRight(strings.TrimSpace(s), "?？ ") + ": " + before
}
