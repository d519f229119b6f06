package followup

import (
	"cmp"
	"slices"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// opensSlot reports whether a word is a preposition in a language: some are articles in others.
func opensSlot(key, language string) bool {
	in := lang.Of(language).FollowUp
	switch {
	case lexicon.OwnPrepositions.Has(key):
		return in.OwnPrepositions.Has(key)
	case in.NotPrepositions.Has(key):
		return false
	}
	return text.Prepositions[key]
}

// plainPreposition returns a preposition without the article that some languages melt into it.
func plainPreposition(key string) string { return cmp.Or(articlePrepositions[key], key) }

// fillSlot puts a fragment into the question, in the place of what it replaces: the time, what stands behind the same
// preposition, a number, a noun, the last name, or what the question is about.
func (p prior) fillSlot(rest string) string {
	added := text.Words(rest)
	article := articles[added[0].Key]
	switch {
	case isTime(added):
		return p.replaceTime(rest, added)
	case len(added) > 1 && opensSlot(added[0].Key, text.Language(p.Text, p.Words)):
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
		case articles[p.Words[from-1].Key]:
			from--
		}
		return p.replace(from, to, rest)
	}
	return p.replaceSubject(rest)
}

// fillBehind puts a fragment that begins with a preposition in the place of what stands behind the same one, or behind
// another one of place.
func (p prior) fillBehind(rest string, added []text.Word) string {
	place := -1
	for i := len(p.Words) - 2; i > 0; i-- {
		switch key := p.Words[i].Key; {
		case p.inTime(i) || text.Numeric(p.Words[i+1].Key) != text.Numeric(added[1].Key):
		case plainPreposition(key) == plainPreposition(added[0].Key):
			return p.replace(i, p.slotEnd(i+1), rest)
		case place < 0 && added[len(added)-1].Upper && placePrepositions[key] && placePrepositions[added[0].Key]:
			place = i
		}
	}
	if place > 0 {
		return p.replace(place, p.slotEnd(place+1), rest)
	}
	return p.Text + " " + rest
}

// numberFor returns the index of the number that a number alone replaces, "and the 16?" after "an iPhone 15", or 0.
func (p prior) numberFor(added []text.Word) int {
	if n := len(added); !text.Numeric(added[n-1].Key) || n > 2 || n == 2 && !articles[added[0].Key] {
		return 0
	}
	for i := len(p.Words) - 1; i > 0; i-- {
		if text.Numeric(p.Words[i].Key) && !p.inTime(i) {
			return i
		}
	}
	return 0
}

// sameNoun returns the range of the noun with the same last word, from the first word that both share, or with one word
// before it: "the next solar eclipse" for "the next lunar eclipse".
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
		if before := p.Words[j-1]; !articles[first] && !text.StopWords[before.Key] && !before.Upper {
			return j - 1, j + 1
		}
	}
	return 0, 0
}

// commonNoun returns the index of the last noun without a capital behind a preposition, "physics" in "the prize in
// physics", or of its article, or 0.
func (p prior) commonNoun(article bool) int {
	for i := len(p.Words) - 1; i > 1; i-- {
		w := p.Words[i]
		if text.Prepositions[p.Words[i-1].Key] && !p.inTime(i-1) && !w.Upper && articles[w.Key] == article && (article || !text.StopWords[w.Key]) {
			return i
		}
	}
	return 0
}

// replaceSubject puts a fragment in the place of what a question without names and prepositions is about.
func (p prior) replaceSubject(rest string) string {
	if at, _ := p.behindTopicOpening(); at > 0 {
		return p.replace(at, p.slotEnd(at), rest)
	}
	lead := len(p.Words) - len(p.Body)
	if topics := utterance.Topics.FindAll(p.Text, p.Body); len(topics) > 0 && len(p.Body) <= 4 && p.Form() == utterance.NoForm {
		var others []int
		for i := range p.Body {
			if !p.inTime(lead+i) && !slices.ContainsFunc(topics, func(f text.Match) bool { return f.From <= i && i < f.To }) {
				others = append(others, lead+i)
			}
		}
		switch {
		case len(others) == 1: // "bergen" for the place in "weather oslo"
			return p.replace(others[0], others[0]+1, rest)
		case len(others) == 0 && len(p.Body) > 1: // "bitcoin price"
			return p.replace(lead, lead+1, rest)
		}
	}
	return p.Text + " " + rest
}
