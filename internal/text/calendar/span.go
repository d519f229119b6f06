package calendar

import (
	"strconv"
	"strings"
	"time"

	"familiar/internal/text"
)

// Span is a stretch of time, from From up to To.
type Span struct{ From, To time.Time }

// Past returns the time that s speaks of, seen from now, where that lies in the past: "yesterday", "last week", "since Monday", "the last 3
// days", "in May", "2026-11-03". The words that say so are returned with it, as indexes. It is the first such time in s.
func Past(s string, words []text.Word, now time.Time) (span Span, of []int, ok bool) {
	for i := 0; i < len(words); i++ {
		if n, span, ok := lately(words[i:], now); ok {
			return span, indexes(i, n), true
		}
		n, m := At(words, i)
		if span, ok := m.span(now); ok {
			of := indexes(i, n)
			if i > 0 && sinceWords[words[i-1].Key] {
				span.To, of = now, indexes(i-1, n+1)
			}
			if span.From.Before(now) {
				return span, of, true
			}
		}
		i += max(0, n-1)
	}
	for _, p := range unspaced {
		if span, ok := parseCue(p.Cue).span(now); ok && span.From.Before(now) && strings.Contains(s, p.Words[0]) {
			return span, nil, true
		}
	}
	dates, _ := text.Dates(s)
	for _, d := range dates {
		if span, ok := dateSpan(d.Date, now); ok {
			var of []int
			for i, w := range words {
				if w.Start >= d.Span.From && w.End <= d.Span.To {
					of = append(of, i)
				}
			}
			return span, of, true
		}
	}
	return Span{}, nil, false
}

func indexes(from, n int) (all []int) {
	for i := range n {
		all = append(all, from+i)
	}
	return all
}

// latelyWords stand before a number of units up to now, and everyUnit has the units that no table counts.
var (
	latelyWords = text.Set("last past letzten vergangenen últimos últimas derniers dernières passés")
	everyUnit   = map[string]time.Duration{"minute": time.Minute, "minutes": time.Minute, "min": time.Minute, "mins": time.Minute, "hour": time.Hour, "hours": time.Hour, "h": time.Hour}
)

// lately reads "last 3 days", "past hour" and "last 24 hours" at the beginning of words: how many of them they are.
func lately(words []text.Word, now time.Time) (n int, span Span, ok bool) {
	if len(words) < 2 || !latelyWords[words[0].Key] {
		return 0, span, false
	}
	count, n := 1, 1
	if c := spelledCounts[words[1].Key]; c > 0 && len(words) > 2 {
		count, n = c, 2
	} else if text.Numeric(words[1].Key) && len(words) > 2 {
		count, _ = strconv.Atoi(words[1].Key)
		n = 2
	}
	if count < 1 || count > 5000 {
		return 0, span, false
	}
	if unit := everyUnit[words[n].Key]; unit > 0 {
		return n + 1, Span{now.Add(-time.Duration(count) * unit), now}, true
	}
	unit := units[words[n].Key]
	if n == 1 || unit == "" {
		return 0, span, false // "last week" is one of the tables'
	}
	from := map[byte]time.Time{'d': now.AddDate(0, 0, -count), 'w': now.AddDate(0, 0, -7*count), 'm': now.AddDate(0, -count, 0), 'y': now.AddDate(-count, 0, 0)}[unit[0]]
	return n + 1, Span{from, now}, !from.IsZero()
}

// span returns the time that a moment is: the day, the week, the month or the year.
func (m Moment) span(now time.Time) (Span, bool) {
	days := func(from time.Time, months, days int) (Span, bool) {
		from = midnight(from)
		return Span{from, from.AddDate(0, months, days)}, true
	}
	if t, ok := m.day(now); ok {
		return days(t, 0, 1)
	}
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	switch m.unit {
	case 'w':
		return days(monday(now).AddDate(0, 0, 7*m.n), 0, 7)
	case 'e':
		return days(monday(now).AddDate(0, 0, 7*m.n+5), 0, 2)
	case 'm':
		if m.which == 0 {
			return days(first.AddDate(0, m.n, 0), 1, 0)
		}
		away := m.n + 1 - int(now.Month())
		if m.which == '<' && away >= 0 {
			away -= 12
		}
		return days(first.AddDate(0, away, 0), 1, 0)
	case 's':
		return days(m.season(now), 3, 0)
	case 'y':
		return days(time.Date(now.Year()+m.n, 1, 1, 0, 0, 0, 0, now.Location()), 12, 0)
	}
	return Span{}, false
}

// dateSpan returns the day or the month of a date. One without a year is the last of its kind.
func dateSpan(d text.Date, now time.Time) (Span, bool) {
	if d.Month == 0 || d.Month > 12 {
		return Span{}, false
	}
	year, month, day := d.Year, 0, 1
	if d.Day == 0 {
		month, day = 1, 0
	}
	if year == 0 {
		year = now.Year()
	}
	from := time.Date(year, time.Month(d.Month), max(1, d.Day), 0, 0, 0, 0, now.Location())
	if d.Year == 0 && from.After(now) {
		from = from.AddDate(-1, 0, 0)
	}
	return Span{from, from.AddDate(0, month, day)}, from.Before(now)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
