package backends

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/text/lang"
)

// placeIn finds the place that a question about the weather asks about: "Will it rain in New York tonight?" is about
// "New York", and so is "New York weather". Without one it returns "".
func placeIn(text string) string {
	known := &lang.All().Weather
	tokens := strings.Fields(cjkWeather(text))
	for i, token := range tokens {
		// A name may hold a preposition too ("Rio de Janeiro"): one that leads to a name follows a common word.
		if !known.Before.Has(fold(token)) || i > 0 && !isAround(fold(tokens[i-1])) {
			continue
		}
		if found := placeName(tokens[i+1:]); found != "" {
			return found
		}
	}
	// No preposition leads to one: what is left when the words of the question go.
	for len(tokens) > 0 && isAround(fold(tokens[0])) {
		if known.Articles.Has(fold(tokens[0])) && len(tokens) > 1 && !isAround(fold(tokens[1])) {
			break
		}
		tokens = tokens[1:]
	}
	return placeName(tokens)
}

// isAround reports whether a word is one of the question's and not of the place's.
func isAround(word string) bool {
	known := &lang.All().Weather
	return word == "" || endsPlace(word) || known.Filler.Has(word) || known.Before.Has(word) || known.Articles.Has(word)
}

// endsPlace reports whether a place's name is over before the word.
func endsPlace(word string) bool {
	known := &lang.All().Weather
	return known.When.Has(word) || known.Week.Has(word) || known.Weather.Has(word)
}

// maxPlaceWords is as many words as a place's name has: "Santa Cruz de la Sierra, Bolivia" has six.
const maxPlaceWords = 6

// placeName takes words up to the first that a place cannot have; small words inside a name stay.
func placeName(tokens []string) string {
	known := &lang.All().Weather
	var name []string
	for _, token := range tokens {
		word := fold(token)
		if endsPlace(word) || len(name) == maxPlaceWords || len(name) == 0 && known.Filler.Has(word) {
			break
		}
		name = append(name, token)
		if strings.HasSuffix(token, "?") || strings.HasSuffix(token, "!") {
			break
		}
	}
	for len(name) > 0 { // "Berlin for" was on its way to "for tomorrow"
		if last := fold(name[len(name)-1]); last != "" && !known.Before.Has(last) && !known.Articles.Has(last) {
			break
		}
		name = name[:len(name)-1]
	}
	return strings.TrimFunc(strings.Join(name, " "), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
}

// fold is a word as the lists have it.
func fold(token string) string {
	return strings.ToLower(strings.TrimFunc(token, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }))
}

// cjkWeather sets the words for weather and time apart in languages that write without spaces, or without one before a
// particle.
func cjkWeather(text string) string {
	var pairs []string
	for word := range strings.SplitSeq(string(lang.All().Weather.Unspaced), ",") {
		pairs = append(pairs, strings.TrimSpace(word), " ")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// forecastDays is how many days a forecast should have, today included: today and three more, or enough for a weekday or
// a weekend if the question has one.
func forecastDays(text string) int {
	known := &lang.All().Weather
	weekday := func(word string) bool { return known.Week.Has(fold(word)) }
	within := func(part string) bool { return strings.Contains(text, part) }
	if slices.ContainsFunc(strings.Fields(text), weekday) || slices.ContainsFunc(known.UnspacedWeek.Fields(), within) {
		return 7
	}
	return 4
}
