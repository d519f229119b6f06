package claim

import (
	"strconv"

	"familiar/internal/text"
)

// dated reports whether the page has a date, or a more exact one, or its day and its year in two places: news give the
// year once.
func (p *Page) dated(d text.Date) bool {
	x := p.index()
	switch {
	case x.dates[d]:
		return true
	case d.Year == 0 || !x.numbers[strconv.Itoa(d.Year)]:
		return false
	}
	return p.undated()[text.Date{Month: d.Month, Day: d.Day}]
}

// undatedOf returns the days and the months that a text has without a year.
func undatedOf(s string) map[text.Date]bool {
	undated := map[text.Date]bool{}
	dates, _ := text.Dates(s)
	next := 0
	for _, w := range text.Words(s) {
		for next < len(dates) && dates[next].To <= w.Start {
			next++
		}
		if m := text.MonthNames[w.Key]; m > 0 && w.Upper && (next == len(dates) || w.Start < dates[next].From) {
			undated[text.Date{Month: m}] = true
		}
	}
	for _, d := range dates {
		if d.Year == 0 {
			undated[d.Date], undated[text.Date{Month: d.Month}] = true, true
		}
	}
	return undated
}
