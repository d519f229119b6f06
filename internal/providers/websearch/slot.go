package websearch

import (
	"strconv"
	"strings"
)

// slotted are the prepositions that a slot begins with.
var slotted = set("in at for on to from near of by with during since im am fur nach aus bei pour dans en a au aux de du des del do da dos das em para desde nel per в на из для w na dla")

// articles begin a noun that leans on the name before it.
var articles = set("the")

// slot is a preposition without the article that some languages melt into it: that goes with the noun.
func slot(key string) string {
	switch key {
	case "du", "des", "del", "do", "da", "dos", "das":
		return "de"
	case "im":
		return "in"
	case "au", "aux":
		return "a"
	case "em", "na":
		return "en"
	}
	return key
}

// inSlot puts rest into the question before it, in place of what it replaces: the words after the same
// preposition, the time, or the name.
func inSlot(before, rest string) string {
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old, added := split(before), split(rest)
	if isTime(rest, added) {
		if was := times.in(before, old); len(was) > 0 && was[0].to > was[0].from {
			return replaced(before, old, was[0].from, was[0].to, rest)
		}
		return before + " " + rest
	}
	if slotted[added[0].key] && len(added) > 1 {
		for i := len(old) - 2; i > 0; i-- {
			if slot(old[i].key) == slot(added[0].key) && numeric(old[i+1].key) == numeric(added[1].key) {
				return replaced(before, old, i, slotEnd(before, old, i+1), rest)
			}
		}
		return before + " " + rest
	}
	if from, to := lastName(old); to > from {
		if articles[added[0].key] && len(added) > 1 && !added[1].upper { // "who wrote Dune?" "and the sequel?"
			rest += " of " + before[old[from].start:old[to-1].end]
		}
		return replaced(before, old, from, to, rest)
	}
	for i := len(old) - 2; i > 0; i-- {
		if slotted[old[i].key] {
			return replaced(before, old, i+1, slotEnd(before, old, i+1), rest)
		}
	}
	return before + " " + rest
}

// isTime reports whether words are a time and nothing else: "tomorrow", "on Sunday", "the day after tomorrow".
func isTime(text string, words []word) bool {
	if slotted[words[0].key] && len(words) > 1 {
		words = words[1:]
	}
	if n, _ := calendar.at(words); n == len(words) {
		return true
	}
	if t := times.in(text, words); len(t) > 0 && t[0].to-t[0].from == len(words) {
		return true
	}
	return len(words) == 1 && dayNames[words[0].key]
}

// dayNames are the days of the week.
var dayNames = set("monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo понедельник вторник среду четверг пятницу субботу воскресенье")

// slotEnd returns where the words that begin at from stop being one slot: at a preposition or a time.
func slotEnd(text string, words []word, from int) int {
	when := times.in(text, words)
	for i := from + 1; i < len(words); i++ {
		if slotted[words[i].key] {
			return i
		}
		for _, t := range when {
			if t.from == i && t.to > i {
				return i
			}
		}
	}
	return len(words)
}

func replaced(text string, words []word, from, to int, with string) string {
	return text[:words[from].start] + with + text[words[to-1].end:]
}

func numeric(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// neighbours are the words for the year before or after one that was named.
var neighbours = table(map[string]string{
	"-1": "the year before, year before, the previous year, das jahr davor, im jahr davor, l'annee d'avant, el ano anterior, o ano anterior, no ano anterior, годом раньше",
	"1":  "the year after, year after, the following year, das jahr danach, im jahr danach, l'annee d'apres, el ano siguiente, o ano seguinte, no ano seguinte, годом позже",
})

// relatedYear turns "and the year before?" into the question before it, of another year.
func relatedYear(before, rest string) (string, bool) {
	words := split(rest)
	n, cue := neighbours.at(words)
	year := aYear.FindStringIndex(before)
	if n == 0 || n < len(words) || year == nil {
		return "", false
	}
	was, _ := strconv.Atoi(before[year[0]:year[1]])
	by, _ := strconv.Atoi(cue)
	return strings.TrimRight(before[:year[0]]+strconv.Itoa(was+by)+before[year[1]:], "?？ "), true
}
