package calendar

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Absolute replaces the words for days, weeks, months and years seen from now by their dates in a language, and returns
// what it replaced: "yesterday → 19 November 2026". In quotation marks and in names with capitals they stay: "The Day
// After Tomorrow".
func Absolute(s, language string, now time.Time) (dated string, steps []string) {
	date := func(phrase string, m Moment) string {
		with := m.format(language, now)
		steps = append(steps, phrase+" → "+with)
		return with
	}
	for _, p := range unspaced {
		if strings.Contains(s, p.Words[0]) {
			s = strings.ReplaceAll(s, p.Words[0], date(p.Words[0], parseCue(p.Cue)))
		}
	}
	words := text.Words(s)
	var out strings.Builder
	copied := 0
	for i := 0; i < len(words); i++ {
		n, m := At(words, i)
		if n == 0 || words[i].Start < copied {
			continue
		}
		from, end := words[i].Start, words[i+n-1].End
		_, isDay := Weekday(words[i].Key)
		title := i > 0 && words[i].Upper && !isDay || strings.Count(s[:from], `"`)%2 == 1
		if m != (Moment{}) && !title {
			if day, ok := Weekday(words[max(0, i-1)].Key); ok && m.unit == 'w' { // "Monday next week"
				from, m.weekday = words[i-1].Start, day+1
			}
			out.WriteString(s[copied:from] + date(s[from:end], m))
			copied = end
		}
		i += n - 1
	}
	return out.String() + s[copied:], steps
}

// Day returns the day that a question names in words like "tomorrow", or the zero date.
func Day(s string, words []text.Word, now time.Time) text.Date {
	date := func(t time.Time) text.Date { return text.Date{Year: t.Year(), Month: int(t.Month()), Day: t.Day()} }
	for i := 0; i < len(words); i++ {
		n, m := At(words, i)
		if t, ok := m.day(now); ok {
			return date(t)
		}
		i += max(0, n-1)
	}
	for _, p := range unspaced {
		if t, ok := parseCue(p.Cue).day(now); ok && strings.Contains(s, p.Words[0]) {
			return date(t)
		}
	}
	if len(NowWords.FindAll(s, words)) > 0 {
		return date(now)
	}
	return text.Date{}
}

// day returns the day that a moment is, if it is one.
func (m Moment) day(now time.Time) (time.Time, bool) {
	switch {
	case m.unit == 'w' && m.weekday > 0:
		return monday(now).AddDate(0, 0, 7*m.n+(m.weekday+5)%7), true
	case m.unit != 'd':
		return time.Time{}, false
	case m.which == 0:
		return now.AddDate(0, 0, m.n), true
	}
	away := (m.n - int(now.Weekday()) + 7) % 7 // to the next day of that name, today included
	if m.which == '<' || m.which == '>' && away == 0 {
		away += map[byte]int{'<': -7, '>': 7}[m.which]
	}
	return now.AddDate(0, 0, away), true
}

// format words a moment as a date: a day, or the month, season, quarter or year that it is in.
func (m Moment) format(language string, now time.Time) string {
	if t, ok := m.day(now); ok {
		return formatDay(t, language)
	}
	month := func(away int) time.Time { // the first of it: no other day is in every month
		return time.Date(now.Year(), now.Month()+time.Month(away), 1, 12, 0, 0, 0, now.Location())
	}
	switch m.unit {
	case 'm':
		if m.which == 0 {
			return formatMonth(month(m.n), language)
		}
		away := m.n + 1 - int(now.Month())
		switch {
		case m.which == '<' && away >= 0:
			away -= 12
		case m.which == '>' && away <= 0:
			away += 12
		}
		return formatMonth(month(away), language)
	case 's':
		return m.formatSeason(language, now)
	case 'w': // the month that most of its days are in
		return formatMonth(monday(now).AddDate(0, 0, 7*m.n+3), language)
	case 'e':
		return formatMonth(monday(now).AddDate(0, 0, 7*m.n+5), language)
	case 'q':
		t := month(3 * m.n)
		return fmt.Sprintf("Q%d %d", (t.Month()+2)/3, t.Year())
	}
	return strconv.Itoa(now.Year() + m.n)
}

// monday is that of the week of t.
func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

// formatSeason words a season, a winter by both its years.
func (m Moment) formatSeason(language string, now time.Time) string {
	year := m.season(now).Year()
	name := cmp.Or(lang.Of(language).Time.Seasons, lang.Of("en").Time.Seasons).Name(m.n)
	if m.n == 3 {
		return fmt.Sprintf("%s %d/%d", name, year, year+1)
	}
	return fmt.Sprintf("%s %d", name, year)
}

// season returns when a season begins, as those of the north are counted.
func (m Moment) season(now time.Time) time.Time {
	begins := func(year int) time.Time {
		return time.Date(year, time.Month(3+3*m.n), 1, 0, 0, 0, 0, now.Location())
	}
	year, winter := now.Year(), m.n == 3
	switch {
	case m.which == '<': // the last that is over
		for begins(year).AddDate(0, 3, 0).After(now) {
			year--
		}
	case m.which == '>': // the first that has not begun
		for !begins(year).After(now) {
			year++
		}
	case winter && now.Month() < time.March:
		year--
	}
	return begins(year)
}

func formatDay(t time.Time, language string) string {
	in := writing(language)
	return format(t, in.DateLayout, in.Months)
}

func formatMonth(t time.Time, language string) string {
	in := writing(language)
	return format(t, in.MonthLayout, in.Months)
}

// writing returns the words in which a language writes dates, or English ones if it has none.
func writing(language string) lang.Time {
	if in := lang.Of(language).Time; in.DateLayout != "" {
		return in
	}
	return lang.Of("en").Time
}

// format is t.Format with the language's own name for the month.
func format(t time.Time, layout string, months lang.Row) string {
	before, after, named := strings.Cut(layout, "January")
	if !named {
		return t.Format(layout)
	}
	return t.Format(before) + months.Name(int(t.Month())-1) + t.Format(after)
}
