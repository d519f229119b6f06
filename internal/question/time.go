package question

import (
	"fmt"
	"maps"
	"strconv"
	"sync"

	"familiar/internal/text"
)

// timeAt returns how many words at words[at:] are a time expression. That is one relative to now, a weekday, a year, or a month with a day
// or year. Some are time expressions only after a preposition.
func timeAt(words []text.Word, at int) int {
	if n, m := text.MomentAt(words, at); m != (text.Moment{}) {
		return n
	}
	if n, cue := Times().Prefix(words[at:]); cue == "day" || cue == "week" || cue == "year" {
		return n
	}
	if n, _ := text.NowWords().Prefix(words[at:]); n > 0 {
		return n
	}
	if isWeekday(words[at].Key) {
		return 1
	}
	isYear := func(i int) bool {
		return i < len(words) && len(words[i].Key) == 4 && text.YearPattern.MatchString(words[i].Key)
	}
	switch {
	case isYear(at):
		return 1
	case text.MonthNames()[words[at].Key] == 0:
	case isYear(at + 1):
		return 2
	case at+1 < len(words) && text.Numeric(words[at+1].Key) && isYear(at+2):
		return 3
	case at > 0 && text.Prepositions()[words[at-1].Key] && words[at].Upper:
		return 1
	}
	return 0
}

// isWeekday reports whether a word is the name of a day, and of nothing else.
func isWeekday(key string) bool {
	_, is := text.Weekday(key)
	return is || moreWeekdays()[key]
}

// moreWeekdays are those of the languages whose dates are not reckoned. Where the names of days have other meanings they are left out.
var moreWeekdays = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, code := range text.Languages() {
		if t := text.TablesOf(code); t.Time.WhichDays == "" {
			maps.Copy(all, text.Set(t.Memory.Days))
		}
	}
	return all
})

// timeIn returns the range of the first time expression, with its preposition.
func timeIn(words []text.Word) (from, to int) {
	for i := range words {
		if n := timeAt(words, i); n > 0 {
			if from = i; i > 0 && text.Prepositions()[words[i-1].Key] {
				from--
			}
			return from, i + n
		}
	}
	return 0, 0
}

// isTime reports whether words are only a time expression: "tomorrow", "on Sunday", "the day after tomorrow".
func isTime(words []text.Word) bool {
	from, to := timeIn(words)
	return from == 0 && to == len(words) && to > 0
}

// replaceTime replaces the question's time expression, or appends one.
func (p prior) replaceTime(rest string, added []text.Word) string {
	if p.timeTo == 0 {
		return p.Text + " " + rest
	}
	from := p.timeFrom
	if old := p.Words[from:p.timeTo]; len(added) == 1 && text.Prepositions()[old[0].Key] {
		number := text.Numeric(added[0].Key)
		if number == text.Numeric(old[1].Key) && (number || added[0].Upper) {
			from++ // "2022" for "2018", "Monday" for "Sunday": keep the preposition
		}
	}
	return p.replace(from, p.timeTo, rest)
}

// isNeighbour reports whether words are only a neighbouring time: "the day after".
func isNeighbour(words []text.Word) bool {
	n, _ := neighbours().Prefix(words)
	return n > 0 && n == len(words)
}

// shiftTime moves the question's time: "and the day after?".
func (p prior) shiftTime(rest string) (string, bool) {
	words := text.Words(rest)
	n, cue := neighbours().Prefix(words)
	if n == 0 || n < len(words) {
		return "", false
	}
	unit := cue[0]
	by, _ := strconv.Atoi(cue[1:])
	if year := text.YearPattern.FindStringIndex(p.Text); year != nil && (unit == 'y' || unit == 'o') {
		number := p.Text[year[0]:year[1]]
		if unit == 'y' {
			was, _ := strconv.Atoi(number)
			return p.Text[:year[0]] + strconv.Itoa(was+by) + p.Text[year[1]:], true
		}
		if p.timeTo == 0 {
			return "", false
		}
		return p.replace(p.timeFrom, p.timeTo, map[int]string{-1: "before ", 1: "after "}[by]+number), true
	}
	if p.timeTo == 0 {
		with, ok := relativeTime(unit, by, p.Text+" "+rest)
		return p.Text + " " + with, ok
	}
	if last := p.Words[p.timeTo-1].Key; unit == 'd' {
		if day, ok := text.Weekday(last); ok {
			return p.replace(p.timeTo-1, p.timeTo, text.WeekdayLike(last, day+by)), true
		}
	}
	at, was := p.timeFrom, 0
	if text.Prepositions()[p.Words[at].Key] {
		at++
	}
	if _, m := text.MomentAt(p.Words, at); m != (text.Moment{}) {
		var ok bool
		if was, ok = m.Away(unit); !ok {
			return "", false
		}
	}
	with, ok := relativeTime(unit, was+by, p.Text+" "+rest)
	return p.replace(p.timeFrom, p.timeTo, with), ok
}

// relativeTime returns the words for a time a number of units from now, in the language of a text.
func relativeTime(unit byte, by int, s string) (string, bool) {
	words := text.TablesOf(text.MessageLanguage(s)).Time.Around
	if words == nil {
		words = text.TablesOf("en").Time.Around
	}
	row := words[string(unit)]
	if len(row) == 0 {
		return "", false
	}
	future, past := len(row)-2, len(row)-1
	now := (future - 1) / 2
	switch {
	case 0 <= now+by && now+by < future:
		return row[now+by], true
	case by > 0:
		return fmt.Sprintf(row[future], by), true
	}
	return fmt.Sprintf(row[past], -by), true
}
