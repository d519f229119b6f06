package followup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// replacePronoun puts the name that a pronoun stands for in its place. Where the question before has none, that is added
// whole.
func replacePronoun(u need.Utterance, p prior) (string, bool) {
	at := pronounAt(u)
	pronoun, kind, next := u.Words[at], text.Pronouns[u.Words[at].Key], at+1
	if kind == "there" {
		return replaceThere(u, at, p)
	}
	if pronoun.Key == "it" && next < len(u.Words) && u.Words[next].Key == "take" { // what takes time is all that was asked
		return withQuestion(u.Text, p.raw), true
	}
	name := p.antecedent(strings.HasPrefix(kind, "he"))
	if name == "" && !personPronouns[pronoun.Key] {
		name = p.antecedent(false)
	}
	if name == "" {
		return withQuestion(u.Text, p.raw), need.Weigh(p.raw, nil).Score >= need.Threshold
	}
	if at > 0 && text.SameWord(u.Words[at-1], pronoun) { // "he's" is one piece of text
		return "", false
	}
	if strings.HasSuffix(kind, "s") && next < len(u.Words) && !text.Prepositions[u.Words[next].Key] {
		name += "'s"
	}
	end := pronoun.End
	if next < len(u.Words) && u.Words[next].Key == "is" && u.Words[next].Start < end+2 {
		name, end = name+" is", u.Words[next].End
	}
	return u.Text[:pronoun.Start] + name + u.Text[end:], true
}

// replaceThere puts the place that the question before names in the place of "there".
func replaceThere(u need.Utterance, at int, p prior) (string, bool) {
	from, to := lastName(p.Words, p.inTime)
	for i := len(p.Words) - 2; from == to && i > 0; i-- {
		if placePrepositions[p.Words[i].Key] && timeAt(p.Words, i+1) == 0 { // "weather in oslo"
			from, to = i+1, p.slotEnd(i+1)
		}
	}
	if from >= to {
		return "", false
	}
	there := u.Words[at]
	in := cmp.Or(placeLinks[there.Key], lang.Of("en").FollowUp.PlaceLink)
	return u.Text[:there.Start] + in + " " + p.span(from, to) + u.Text[there.End:], true
}

func hasPronoun(u need.Utterance) bool { return pronounAt(u) >= 0 }

// pronounAt finds the pronoun of a question that names nobody itself, or -1.
func pronounAt(u need.Utterance) int {
	if !asks(u) {
		return -1
	}
	at := -1
	for i, w := range u.Words {
		if i > 0 && w.Upper && w.Key != "i" {
			if at >= 0 && strings.HasPrefix(text.Pronouns[u.Words[at].Key], "he") { // "did he win an Oscar?"
				return at
			}
			return -1
		}
		if w.Key == "it" && slices.ContainsFunc(u.Find(need.Topics), func(f text.Match) bool { return f.Cue == "weather" }) {
			continue // "will it snow there?"
		}
		if kind := text.Pronouns[w.Key]; at < 0 && kind != "" && !(kind == "there" && (i == 0 || existentials[u.Words[i-1].Key])) {
			at = i
		}
	}
	return at
}

// antecedent returns what a pronoun of a follow-up stands for: a person or a thing. A question that has a pronoun itself
// has none.
func (p prior) antecedent(isPerson bool) string {
	name, content := p.topic(isPerson), false
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

// topic returns what a question is about: a person by the first name in it, a thing by the last, and else what stands
// behind "who is", "tell me about" and the like.
func (p prior) topic(isPerson bool) string {
	if len(p.Body) == 0 {
		return ""
	}
	at, asksOf := p.behindTopicOpening()
	end, first := len(p.Words), p.Body[0].Key
	described := at > 0 && !p.Words[at].Upper // "who is the mayor of Rome?"
	switch {
	case isPerson && asksOf == "" && answerWho[first]:
		return "" // "who won the prize?": the person is the answer, and no name in the question is hers
	case described && isPerson, described && asksOf == "about" && !who[first] && end-at <= 8:
		return p.span(at, end)
	}
	from, to := firstName(p.Words)
	if !isPerson {
		from, to = p.thingName()
	}
	switch {
	case to > from:
		return p.span(p.withHead(from, to))
	case at > 0:
		return p.span(at, p.slotEnd(at))
	}
	return ""
}

// behindTopicOpening returns the index of the word behind a beginning such as "who is" or "how old is", 0 if there is none, and the
// row of topicOpenings.
func (p prior) behindTopicOpening() (at int, asksOf string) {
	n, asksOf := topicOpenings.Prefix(p.Body)
	if n == 0 || n == len(p.Body) {
		return 0, asksOf
	}
	return len(p.Words) - len(p.Body) + n, asksOf
}

// thingName returns the range of the last name that stands behind no preposition but "of", or else of the last. One in a
// time does not count.
func (p prior) thingName() (from, to int) {
	apart := func(i int) bool { return text.Prepositions[p.Words[i].Key] && !nameLinks[p.Words[i].Key] }
	from, to = lastName(p.Words, func(i int) bool {
		return p.inTime(i) || apart(i-1) || i > 1 && articles[p.Words[i-1].Key] && apart(i-2)
	})
	if to == from {
		from, to = lastName(p.Words, p.inTime)
	}
	return from, to
}

// withHead adds to a name the thing that it owns: "Peru's capital", "the sequel of Dune", "a hotel in Porto".
func (p prior) withHead(from, to int) (int, int) {
	words := p.Words
	if owner := p.span(to-1, to); to < len(words) && isGenitive(owner) && !text.StopWords[words[to].Key] {
		return from, to + 1
	}
	if from <= 2 {
		return from, to
	}
	before, head := words[from-1].Key, words[from-2].Key
	if text.Prepositions[before] && !nameLinks[before] && !text.StopWords[head] {
		for i := from - 2; i > 0 && i >= from-5; i-- {
			if articles[words[i].Key] {
				return i + 1, to
			}
		}
	}
	if before == "of" && relationalNouns[head] && words[from-3].Key == "the" {
		return from - 3, to
	}
	return from, to
}

func isGenitive(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}

// firstName returns the range of the first run of capitalised words behind the first word; 0, 0 if there is none.
func firstName(words []text.Word) (from, to int) {
	for i := 1; i < len(words); i++ {
		if startsName(words[i]) {
			return i, nameEnd(words, i)
		}
	}
	return 0, 0
}

// lastName returns the range of the last one, of those that do not begin where skip says so; skip may be nil.
func lastName(words []text.Word, skip func(int) bool) (from, to int) {
	for i := 1; i < len(words); i++ {
		if !startsName(words[i]) {
			continue
		}
		end := nameEnd(words, i)
		if skip == nil || !skip(i) {
			from, to = i, end
		}
		i = end - 1
	}
	return from, to
}

func startsName(w text.Word) bool { return w.Upper && w.Key != "i" }

// nameEnd returns the end of the name that begins at from. It may hold "of", "the", "de" and numbers: "Lord of the Rings",
// "Windows 11".
func nameEnd(words []text.Word, from int) int {
	end := from + 1
	for i := end; i < len(words); i++ {
		switch {
		case words[i].Upper || text.Numeric(words[i].Key):
			end = i + 1
		case !nameParticles[words[i].Key]:
			return end
		}
	}
	return end
}

// inversion is the pronoun behind a French verb, and impersonal a verb with one that stands for nothing.
var (
	inversion  = regexp.MustCompile(`(?i)(?:` + lexicon.InvertedPronouns.String() + `)\b`)
	impersonal = regexp.MustCompile(lexicon.ImpersonalVerbs.String())
)

func hasInvertedPronoun(u need.Utterance) bool { return inversion.MatchString(u.Text) }

// replaceInvertedPronoun puts a name in the place of the pronoun behind a French verb: "quel âge a-t-il ?".
func replaceInvertedPronoun(u need.Utterance, p prior) (string, bool) {
	at, all := inversion.FindStringIndex(u.Text), need.Parse(u.Text, nil)
	named := slices.ContainsFunc(all.Words[1:], func(w text.Word) bool { return w.Upper })
	if named || all.Has(need.Topics) && impersonal.MatchString(text.Fold(u.Text)) {
		return "", false
	}
	name := cmp.Or(p.antecedent(true), p.antecedent(false)) // "il" is a thing, too
	if name == "" {
		return "", false
	}
	return text.OneLine(u.Text[:at[0]] + " " + name + " " + u.Text[at[1]:]), true
}
