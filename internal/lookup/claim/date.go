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
	case d.Day == 0:
		return x.months[d.Month]
	}
	return x.days[text.Date{Month: d.Month, Day: d.Day}]
}

// undatedMonths returns the months that are named without a year, by number.
func undatedMonths(words []text.Word, dates []text.DateSpan) map[int]bool {
	months := map[int]bool{}
	next := 0
	for _, w := range words {
		for next < len(dates) && dates[next].To <= w.Start {
			next++
		}
		if dated := next < len(dates) && dates[next].From <= w.Start && dates[next].Year > 0; w.Upper && !dated {
			if m := text.MonthNames[w.Key]; m > 0 {
				months[m] = true
			}
		}
	}
	return months
}
