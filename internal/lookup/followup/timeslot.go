package followup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// timeAt returns how many words at words[at:] are a time: one seen from now, a day of the week, a year, or a month with
// its day or year. Some of them are a time only behind a preposition.
func timeAt(words []text.Word, at int) int {
	n, cue := calendar.At(words, at)
	if n > 0 && cue != "" {
		return n
	}
	if n, cue = need.Times.Prefix(words[at:]); cue == "day" || cue == "week" || cue == "year" {
		return n
	}
	if n, _ := calendar.AtOnce.Prefix(words[at:]); n > 0 {
		return n
	}
	if _, is := calendar.DayNumber[words[at].Key]; is {
		return 1
	}
	year := func(i int) bool {
		return i < len(words) && text.YearPattern.MatchString(words[i].Key) && len(words[i].Key) == 4
	}
	switch {
	case year(at):
		return 1
	case text.MonthNames[words[at].Key] == 0:
	case year(at + 1):
		return 2
	case at+1 < len(words) && text.Numeric(words[at+1].Key) && year(at+2):
		return 3
	case at > 0 && text.Prepositions[words[at-1].Key] && words[at].Upper:
		return 1
	}
	return 0
}

// timeIn returns the range of the first time in a text, with its preposition.
func timeIn(words []text.Word) (from, to int) {
	for i := range words {
		if n := timeAt(words, i); n > 0 {
			if from = i; i > 0 && text.Prepositions[words[i-1].Key] {
				from--
			}
			return from, i + n
		}
	}
	return 0, 0
}

// isTime reports whether words are a time and nothing else: "tomorrow", "on Sunday", "the day after tomorrow".
func isTime(words []text.Word) bool {
	from, to := timeIn(words)
	return from == 0 && to == len(words) && to > 0
}

// inTime puts a time in the place of the one that stands in old[from:to], or behind all.
func inTime(before string, old []text.Word, from, to int, rest string, added []text.Word) string {
	switch {
	case to == 0:
		return before + " " + rest
	case text.Prepositions[old[from].Key] && len(added) == 1 && text.Numeric(added[0].Key) == text.Numeric(old[from+1].Key) && (text.Numeric(added[0].Key) || added[0].Upper):
		from++ // "2022" for "2018", "Monday" for "Sunday": the preposition stays
	}
	return replaced(before, old, from, to, rest)
}

// neighbours are the words for the time before or after one that was named: the unit, and the way.
var neighbours = text.Compile(lang.All().Time.Neighbours)

// isNeighbour reports whether words are such a time and nothing else.
func isNeighbour(words []text.Word) bool {
	n, _ := neighbours.Prefix(words)
	return n > 0 && n == len(words)
}

// moved turns "and the day after?" into the question before it, of another time.
func moved(before, rest string) (string, bool) {
	words := text.Words(rest)
	n, cue := neighbours.Prefix(words)
	if n == 0 || n < len(words) {
		return "", false
	}
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := text.Words(before)
	by, _ := strconv.Atoi(cue[1:])
	from, to := timeIn(old)
	if year := text.YearPattern.FindStringIndex(before); year != nil && (cue[0] == 'y' || cue[0] == 'o') {
		if cue[0] == 'y' {
			was, _ := strconv.Atoi(before[year[0]:year[1]])
			return before[:year[0]] + strconv.Itoa(was+by) + before[year[1]:], true
		}
		return replaced(before, old, from, to, map[int]string{-1: "before ", 1: "after "}[by]+before[year[0]:year[1]]), to > from
	}
	if to == 0 {
		with, ok := shifted(cue[0], by, before+" "+rest)
		return before + " " + with, ok
	}
	if day, is := calendar.DayNumber[old[to-1].Key]; is && cue[0] == 'd' {
		return replaced(before, old, to-1, to, weekday(old[to-1].Key, (day+by+7)%7)), true
	}
	at := from
	if text.Prepositions[old[from].Key] {
		at++
	}
	was := 0
	if _, c := calendar.At(old, at); c != "" && c[0] == cue[0] {
		was, _ = strconv.Atoi(c[1:])
	} else if c != "" {
		return "", false
	}
	with, ok := shifted(cue[0], was+by, before+" "+rest)
	return replaced(before, old, from, to, with), ok
}

// shifted words the time so many units from now in the language of a text.
func shifted(unit byte, by int, s string) (string, bool) {
	words := lang.Of(text.Language(s, text.Words(s))).Time.Around
	if words == nil {
		words = lang.Of("en").Time.Around
	}
	row := words[string(unit)]
	if len(row) == 0 {
		return "", false
	}
	named, now := len(row)-2, (len(row)-3)/2
	switch {
	case 0 <= now+by && now+by < named:
		return row[now+by], true
	case by > 0:
		return fmt.Sprintf(row[named], by), true
	}
	return fmt.Sprintf(row[named+1], -by), true
}

// weekday is the day of a number in the language of another's name.
func weekday(like string, number int) string {
	for _, row := range calendar.DayRows {
		if names := strings.Fields(row); slices.ContainsFunc(names, func(name string) bool { return text.Fold(name) == like }) {
			return names[number]
		}
	}
	return like
}
