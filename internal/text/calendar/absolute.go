package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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

// seasonNames are the seasons in the languages whose words for them are known.
var seasonNames = map[string][]string{
	"de": strings.Fields("Frühling Sommer Herbst Winter"), "fr": strings.Fields("printemps été automne hiver"),
	"es": strings.Fields("primavera verano otoño invierno"), "": strings.Fields("spring summer autumn winter"),
}

// seasonWords words the last, this or next season as those of the north are counted, a winter by both its years.
func seasonWords(season int, dir byte, lang string, now time.Time) string {
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
	names := seasonNames[lang]
	if names == nil {
		names = seasonNames[""]
	}
	if season == 3 {
		return fmt.Sprintf("%s %d/%d", names[season], year, year+1)
	}
	return fmt.Sprintf("%s %d", names[season], year)
}

// months are their names as they stand in a date.
var months = map[string][]string{
	"de": strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
	"fr": strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	"es": strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
	"pt": strings.Fields("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
	"it": strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
	"ru": strings.Fields("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
}

func dayWords(t time.Time, lang string) string {
	switch lang {
	case "ja", "zh":
		return fmt.Sprintf("%d年%d月%d日", t.Year(), t.Month(), t.Day())
	case "de":
		return fmt.Sprintf("%d. %s", t.Day(), monthWords(t, lang))
	case "es", "pt":
		return fmt.Sprintf("%d de %s de %d", t.Day(), months[lang][t.Month()-1], t.Year())
	}
	return fmt.Sprintf("%d %s", t.Day(), monthWords(t, lang))
}

func monthWords(t time.Time, lang string) string {
	switch {
	case lang == "ja" || lang == "zh":
		return fmt.Sprintf("%d年%d月", t.Year(), t.Month())
	case months[lang] != nil:
		return fmt.Sprintf("%s %d", months[lang][t.Month()-1], t.Year())
	}
	return t.Format("January 2006")
}
