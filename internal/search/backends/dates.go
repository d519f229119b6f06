package backends

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How services write when a page was published, where the text says the instant. time.Parse takes fractions anyway.
var instantLayouts = [...]string{time.RFC3339, time.RFC1123, time.RFC1123Z, "01/02/2006, 03:04 PM, -0700 MST", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05-0700"}

// The same where the text says the day, or an hour without its zone. None can be read in two ways.
var dayLayouts = [...]string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly, "Jan 2, 2006", "January 2, 2006", "Monday, January 2, 2006",
	"2 Jan 2006", "2 January 2006", "02.01.2006", "2.1.2006",
}

// dated reads when a page was published from the texts in which a service tells it: timestamps, days, and ages as
// in "3 hours ago", which count back from now. The first that gives the hour wins, else the first that gives the
// day. What is not known to the day ("2 months ago"), or lies after tomorrow, is no date.
func dated(now time.Time, texts ...string) (at time.Time, dayOnly bool) {
	for _, text := range texts {
		t, day := dateOf(now, strings.TrimSpace(text))
		switch {
		case t.Year() <= 1900 || t.After(now.Add(48*time.Hour)):
		case !day:
			return t, false
		case at.IsZero():
			at, dayOnly = t, true
		}
	}
	return at, dayOnly
}

func dateOf(now time.Time, text string) (at time.Time, dayOnly bool) {
	if len(text) > 64 {
		return time.Time{}, false
	}
	for _, layout := range instantLayouts {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// An abbreviation other than these is parsed but not understood, and midnight is how a day looks in a
		// field for timestamps.
		if zone, offset := t.Zone(); offset == 0 && zone != "" && zone != "UTC" && zone != "GMT" || t.Equal(dayOf(t.UTC())) {
			return dayOf(t), true
		}
		return t, false
	}
	for _, layout := range dayLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return dayOf(t), true
		}
	}
	return ageOf(now, strings.ToLower(text))
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// agePattern is a number and a unit; one more number beside them and it is something else.
var agePattern = regexp.MustCompile(`^[^\d]*(\d{1,3}|\ban?\b) ?(\pL+)\.?[^\d]*$`)

// The units of an age in the languages that services are asked in.
const (
	minuteWords    = "m min mins minute minutes minuten minuto minutos minuti minuut 分前 分钟前 分鐘前"
	hourWords      = "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren 時間前 小时前 小時前 시간"
	dayWords       = "d day days tag tagen jour jours día días dia dias giorno giorni dag dagen 日前 天前 일"
	yesterdayWords = "yesterday gestern hier ayer ontem ieri gisteren 昨日 昨天 어제"
)

// ageOf reads "3 hours ago", "vor 2 Tagen", "il y a 5 minutes".
func ageOf(now time.Time, text string) (at time.Time, dayOnly bool) {
	is := func(words, word string) bool { return slices.Contains(strings.Fields(words), word) }
	now = now.UTC()
	if is(yesterdayWords, text) {
		return dayOf(now.AddDate(0, 0, -1)), true
	}
	m := agePattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1 // "an hour ago"
	}
	switch unit := m[2]; {
	case is(minuteWords, unit):
		return now.Add(-time.Duration(n) * time.Minute).Truncate(time.Minute), false
	case is(hourWords, unit):
		return now.Add(-time.Duration(n) * time.Hour).Truncate(time.Hour), false
	case is(dayWords, unit):
		return dayOf(now.AddDate(0, 0, -n)), true
	}
	return time.Time{}, false
}

// since is the oldest moment wanted by Query.Fresh; zero if that sets no limit.
func since(now time.Time, fresh string) time.Time {
	switch fresh {
	case "day":
		return now.AddDate(0, 0, -1)
	case "week":
		return now.AddDate(0, 0, -7)
	case "month":
		return now.AddDate(0, -1, 0)
	case "year":
		return now.AddDate(-1, 0, 0)
	}
	return time.Time{}
}

// span is Query.Fresh as one letter behind a prefix, which is how Google ("qdr:w") and Brave ("pw") write it.
func span(prefix, fresh string) string {
	if since(time.Time{}, fresh).IsZero() {
		return ""
	}
	return prefix + fresh[:1]
}
