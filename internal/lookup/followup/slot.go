package followup

import (
	"cmp"
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// articles begin a noun.
var articles = text.Set(lang.All().Grammar.Articles)

// opensSlot reports whether a word is a preposition in a language: some are articles in others.
func opensSlot(key, language string) bool {
	in := lang.Of(language).FollowUp
	switch {
	case lang.All().FollowUp.OwnPrepositions.Has(key):
		return in.OwnPrepositions.Has(key)
	case in.NotPrepositions.Has(key):
		return false
	}
	return text.Prepositions[key]
}

// places are the prepositions of which one takes the place of another: "at Heathrow?" after "weather in London".
var places = text.Set(lang.All().FollowUp.PlacePrepositions)

// slot is a preposition without the article that some languages melt into it: that goes with the noun.
func slot(key string) string { return cmp.Or(unmelted[key], key) }

var unmelted = text.ByWord(lang.All().FollowUp.ArticlePrepositions)

// inSlot puts rest into the question before it, in place of what it replaces: the words after the same
// preposition, the time, or the name.
func inSlot(before, rest string) string {
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old, added := text.Words(before), text.Words(rest)
	from, to := timeIn(old)
	if isTime(added) {
		return inTime(before, old, from, to, rest, added)
	}
	timed := func(i int) bool { return from <= i && i < to }
	if len(added) > 1 && opensSlot(added[0].Key, text.Language(before, old)) {
		return behind(before, old, timed, rest, added)
	}
	if at := sameNumber(old, added, timed); at > 0 {
		return replaced(before, old, at, at+1, added[len(added)-1].Key)
	}
	if from, to := sameHead(old, added); to > from {
		return replaced(before, old, from, to, rest)
	}
	if at := commonSlot(old, timed, articles[added[0].Key]); at > 0 && !slices.ContainsFunc(added, func(w text.Word) bool { return w.Upper || text.Numeric(w.Key) }) {
		return replaced(before, old, at, slotEnd(old, at), rest)
	}
	if from, to := lastName(old, timed); to > from {
		switch {
		case !articles[added[0].Key] || len(added) == 1:
		case added[0].Key == "the" && !added[1].Upper: // "who wrote Dune?" "and the sequel?"
			rest += " of " + before[old[from].Start:old[to-1].End]
		case articles[old[from-1].Key]:
			from--
		}
		return replaced(before, old, from, to, rest)
	}
	for i := len(old) - 2; i > 0; i-- {
		if text.Prepositions[old[i].Key] && !timed(i) {
			return replaced(before, old, i+1, slotEnd(old, i+1), rest)
		}
	}
	return inNoun(before, old, timed, rest)
}

// behind puts rest, which begins with a preposition, in the place of what stands behind the same one.
func behind(before string, old []text.Word, timed func(int) bool, rest string, added []text.Word) string {
	instead := -1
	for i := len(old) - 2; i > 0; i-- {
		switch {
		case timed(i) || text.Numeric(old[i+1].Key) != text.Numeric(added[1].Key):
		case slot(old[i].Key) == slot(added[0].Key):
			return replaced(before, old, i, slotEnd(old, i+1), rest)
		case instead < 0 && added[len(added)-1].Upper && places[old[i].Key] && places[added[0].Key]:
			instead = i
		}
	}
	if instead > 0 {
		return replaced(before, old, instead, slotEnd(old, instead+1), rest)
	}
	return before + " " + rest
}

// sameHead returns the range of the noun with the last word of added, from the first word that both share, or from as
// many words before it: "the next solar eclipse" for "the next lunar eclipse".
func sameHead(old, added []text.Word) (from, to int) {
	if len(added) < 2 {
		return 0, 0
	}
	for j := len(old) - 1; j > 0; j-- {
		if old[j].Key != added[len(added)-1].Key {
			continue
		}
		for i := j - 1; i > 0 && i >= j-4; i-- {
			if old[i].Key == added[0].Key {
				return i, j + 1
			}
		}
		if !articles[added[0].Key] && !text.StopWords[old[j-1].Key] && !old[j-1].Upper {
			return j - 1, j + 1
		}
	}
	return 0, 0
}

// sameNumber returns the place of the number for which a number alone stands, "and the 16?" after "an iPhone 15", or 0.
func sameNumber(old, added []text.Word, timed func(int) bool) int {
	if !text.Numeric(added[len(added)-1].Key) || len(added) > 2 || len(added) == 2 && !articles[added[0].Key] {
		return 0
	}
	for i := len(old) - 1; i > 0; i-- {
		if text.Numeric(old[i].Key) && !timed(i) {
			return i
		}
	}
	return 0
}

// commonSlot returns the place of the last words behind a preposition that are no name, "physics" in "the prize in
// physics", or 0: those with an article where one is asked for.
func commonSlot(old []text.Word, timed func(int) bool, article bool) int {
	for i := len(old) - 2; i > 0; i-- {
		if text.Prepositions[old[i].Key] && !timed(i) && !old[i+1].Upper && articles[old[i+1].Key] == article && (article || !text.StopWords[old[i+1].Key]) {
			return i + 1
		}
	}
	return 0
}

// inNoun puts rest in the place of what a question without names and prepositions is about.
func inNoun(before string, old []text.Word, timed func(int) bool, rest string) string {
	from, _ := need.Lead(old)
	body := old[from:]
	if n, _ := abouts.Prefix(body); n > 0 && n < len(body) {
		return replaced(before, old, from+n, slotEnd(old, from+n), rest)
	}
	if need.Opening(before, old, body) != "" || len(body) > 4 {
		return before + " " + rest
	}
	topical := need.Topics.FindAll(before, body)
	var others []int
	for i := range body {
		if !timed(from+i) && !slices.ContainsFunc(topical, func(f text.Match) bool { return f.From <= i && i < f.To }) {
			others = append(others, i)
		}
	}
	switch {
	case len(topical) == 0:
		return before + " " + rest
	case len(others) == 1: // "bergen" for the place in "weather oslo"
		return replaced(before, old, from+others[0], from+others[0]+1, rest)
	case len(others) == 0 && len(body) > 1: // "bitcoin price"
		return replaced(before, old, from, from+1, rest)
	}
	return before + " " + rest
}

// slotEnd returns where the words that begin at from stop being one slot: at a preposition or a time.
func slotEnd(words []text.Word, from int) int {
	at, _ := timeIn(words)
	for i := from + 1; i < len(words); i++ {
		if text.Prepositions[words[i].Key] || i == at {
			return i
		}
	}
	return len(words)
}

func replaced(s string, words []text.Word, from, to int, with string) string {
	return s[:words[from].Start] + with + s[words[to-1].End:]
}
