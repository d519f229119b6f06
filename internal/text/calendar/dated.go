package calendar

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/text/lang"
)

// dated words a cue of the calendar as a date.
func dated(cue, lang string, now time.Time) string {
	if t, ok := dayOf(cue, now); ok {
		return dayWords(t, lang)
	}
	if strings.ContainsRune("<=>", rune(cue[0])) {
		n, _ := strconv.Atoi(cue[2:])
		if cue[1] == 's' {
			return seasonWords(n, cue[0], lang, now)
		}
		return monthWords(time.Date(nearest(cue[0], now.Year(), n+1-int(now.Month())), time.Month(n+1), 1, 12, 0, 0, 0, now.Location()), lang)
	}
	n, _ := strconv.Atoi(cue[1:])
	switch cue[0] {
	case 'w': // of the month in which the most of its days are
		return monthWords(monday(now).AddDate(0, 0, 7*n+3), lang)
	case 'e':
		return monthWords(monday(now).AddDate(0, 0, 7*n+5), lang)
	case 'm': // from the first: the last of a month has no fellow in every other
		return monthWords(time.Date(now.Year(), now.Month()+time.Month(n), 1, 12, 0, 0, 0, now.Location()), lang)
	case 'q':
		t := time.Date(now.Year(), now.Month()+time.Month(3*n), 1, 12, 0, 0, 0, now.Location())
		return fmt.Sprintf("Q%d %d", (t.Month()+2)/3, t.Year())
	}
	return strconv.Itoa(now.Year() + n)
}

// dayOf returns the day that a cue is, if it is one.
func dayOf(cue string, now time.Time) (time.Time, bool) {
	switch {
	case cue == "":
	case cue[0] == 'd':
		n, _ := strconv.Atoi(cue[1:])
		return now.AddDate(0, 0, n), true
	case cue[0] == 'w':
		week, day, both := strings.Cut(cue[1:], ".")
		n, _ := strconv.Atoi(week)
		d, _ := strconv.Atoi(day)
		return monday(now).AddDate(0, 0, 7*n+(d+6)%7), both
	case len(cue) > 2 && cue[1] == 'd':
		n, _ := strconv.Atoi(cue[2:])
		away := (n - int(now.Weekday()) + 7) % 7 // to the next day of that name, today included
		if cue[0] == '<' {
			away -= 7
		} else if away == 0 && cue[0] == '>' {
			away = 7
		}
		return now.AddDate(0, 0, away), true
	}
	return time.Time{}, false
}

// monday is that of the week of t.
func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

// nearest returns the year of the last, this or next month that lies so many months ahead of now's in the same year.
func nearest(dir byte, year, ahead int) int {
	switch {
	case dir == '<' && ahead >= 0:
		return year - 1
	case dir == '>' && ahead <= 0:
		return year + 1
	}
	return year
}

// seasonWords words the last, this or next season as those of the north are counted, a winter by both its years.
func seasonWords(season int, dir byte, language string, now time.Time) string {
	begins := func(year int) time.Time {
		return time.Date(year, time.Month(3+3*season), 1, 0, 0, 0, 0, now.Location())
	}
	year := now.Year()
	switch dir {
	case '<': // the last that is over
		for begins(year).AddDate(0, 3, 0).After(now) {
			year--
		}
	case '>': // the first that has not begun
		for !begins(year).After(now) {
			year++
		}
	default:
		if season == 3 && now.Month() < time.March {
			year--
		}
	}
	names := cmp.Or(lang.Of(language).Time.Seasons, lang.Of("en").Time.Seasons).Forms()[season]
	if season == 3 {
		return fmt.Sprintf("%s %d/%d", names[0], year, year+1)
	}
	return fmt.Sprintf("%s %d", names[0], year)
}

func dayWords(t time.Time, language string) string {
	in := writing(language)
	return format(t, in.DateLayout, in.Months)
}

func monthWords(t time.Time, language string) string {
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
	return t.Format(before) + months.Forms()[t.Month()-1][0] + t.Format(after)
}
