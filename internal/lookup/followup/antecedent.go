package followup

import (
	"familiar/internal/text"
)

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

// behindTopicOpening returns the index of the word behind a beginning such as "who is" or "how old is", or 0, and the row
// of topicOpenings that the beginning is in.
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
	if owner := p.span(to-1, to); to < len(words) && text.Possessive(owner) && !text.StopWords[words[to].Key] {
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
