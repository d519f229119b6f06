package evidence

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/text"
)

// numeral is a number in digits with the text around it.
type numeral struct{ before, digits, behind string }

// counts reports whether the page has a number, exactly or in a form it may represent. That is rounded, in words, or in a smaller unit.
func (p *Page) counts(n numeral) bool {
	if p.spans(n) {
		return true
	}
	scale := 0.0 // of a word for millions after it
	if w, ok := text.WordBehind(n.behind); ok {
		if scale = text.Scales()[w.Key]; scale > 0 && strings.Contains(p.text, n.digits+n.behind[:w.End]) {
			return true
		}
	}
	all := text.Numbers(n.digits)
	exact := scale == 0 && !slices.ContainsFunc(all, func(m string) bool { return !p.index().numbers[m] })
	if exact || len(all) != 1 {
		return exact
	}
	value, err := strconv.ParseFloat(all[0], 64)
	if err != nil || value == 0 {
		return false
	}
	if scale == 0 {
		if value == math.Trunc(value) && slices.ContainsFunc(wordsOfValue()[int(value)], func(word string) bool { return p.index().words[word] }) {
			return true
		}
		scale = unitScale(n.behind)
	}
	q := text.Quantity{Value: value * max(scale, 1), Before: n.before[max(0, len(n.before)-24):]}
	return p.admits(q) || (scale > 0 || significant(all[0]) > 1) && p.rounds(q.Value, significant(all[0]))
}

// admits reports whether the page has the value, or one nearby that the quantity's words allow: "over 5,000" allows
// 5,200.
func (p *Page) admits(q text.Quantity) bool {
	return slices.ContainsFunc(p.values(), func(v float64) bool {
		return v == q.Value || v != 0 && math.Abs(v-q.Value) <= q.Value/4 && q.Admits(v)
	})
}

// rounds reports whether the page has a number that rounds to the value, to a number of digits.
func (p *Page) rounds(value float64, digits int) bool {
	step := math.Pow(10, math.Floor(math.Log10(value))-float64(digits-1))
	return slices.ContainsFunc(p.values(), func(v float64) bool { return math.Abs(v-value) <= step/2 })
}

// significant counts the significant digits of a number.
func significant(number string) int {
	return len(strings.Trim(strings.ReplaceAll(number, ".", ""), "0"))
}

var (
	// decadeEnd and centuryEnd match what follows a span of years, and hourEnd what follows an hour.
	decadeEnd  = text.NewLazyRegexp(`^['’]?s\b`)
	centuryEnd = text.NewLazyRegexp(`^(?:st|nd|rd|th)[- ]centur`)
	hourEnd    = text.NewLazyRegexp(`(?i)^\s?([ap])\.?m\b`)
	// yearBefore matches a year before the last two digits of another.
	yearBefore = text.NewLazyRegexp(`\b(\d{2})\d{2}[–-]$`)
)

// spans reports whether a number means a span of years, an hour or a shortened year that the page has. Examples are "the 1980s", "the 19th
// century", "5 pm" and "1871–74".
func (p *Page) spans(n numeral) bool {
	number, err := strconv.Atoi(n.digits)
	if err != nil {
		return false
	}
	first, hour := float64(number), hourEnd.FindStringSubmatch(n.behind)
	switch {
	case decadeEnd.MatchString(n.behind) && number >= 1000 && number%100 == 0:
		return p.within(first, first+99)
	case decadeEnd.MatchString(n.behind) && number >= 1000:
		return p.within(first, first+9)
	case centuryEnd.MatchString(n.behind):
		return p.within(100*first-100, 100*first)
	case hour != nil && number <= 12:
		number %= 12
		if strings.EqualFold(hour[1], "p") {
			number += 12
		}
		return slices.ContainsFunc([]string{"%d:00", "%02d:00", "%d"}, func(form string) bool { return p.index().numbers[fmt.Sprintf(form, number)] })
	case len(n.digits) == 2 && yearBefore.MatchString(n.before):
		return p.index().numbers[yearBefore.FindStringSubmatch(n.before)[1]+n.digits]
	}
	return false
}

// within reports whether the page has a number in a range, ends included.
func (p *Page) within(from, to float64) bool {
	return slices.ContainsFunc(p.values(), func(v float64) bool { return from <= v && v <= to })
}

// unitScale returns the factor to a smaller unit that a page may use, or 0: 1.28 km is 1,280 metres.
func unitScale(behind string) float64 {
	if w, ok := text.WordBehind(behind); ok && thousandfold()[w.Key] {
		return 1000
	}
	return 0
}

var thousandfold = text.LazySet(func() text.WordList { return text.AllTables().Number.Thousandfold })

// wordsOfValue has the English words of values.
var wordsOfValue = sync.OnceValue(func() map[int][]string {
	all := map[int][]string{}
	for i, w := range text.TablesOf("en").Number.Cardinals.All() {
		all[i+1] = append(all[i+1], w)
	}
	for i, w := range text.TablesOf("en").Number.Tens.All() {
		all[10*i+30] = append(all[10*i+30], w)
	}
	return all
})

// spelledValues returns the values of the numbers in words.
func spelledValues(s string) (values []float64) {
	for _, n := range spelledNumbers(s) {
		values = append(values, n.Value)
	}
	return values
}

// spelledNumbers returns the numbers in words of an English text.
func spelledNumbers(s string) []text.Spelled { return text.NumbersInWords(s, text.Words(s), "en") }

// countsInWords reports whether the page has a number that a text has in words, in words or digits.
func (p *Page) countsInWords(s string, n text.Spelled) bool {
	return strings.Contains(p.text, s[n.From:n.To]) ||
		p.counts(numeral{s[:n.From], strconv.FormatFloat(n.Value, 'f', -1, 64), s[n.To:]})
}

// dated reports whether the page has a date or a more exact one. Its day and its year may be in two places, since news give the year once.
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

// undatedOf returns the days and months without a year in a text.
func undatedOf(s string) map[text.Date]bool {
	undated := map[text.Date]bool{}
	dates, _ := text.Dates(s)
	next := 0
	for _, w := range text.Words(s) {
		for next < len(dates) && dates[next].To <= w.Start {
			next++
		}
		if m := text.MonthNames()[w.Key]; m > 0 && w.Upper && (next == len(dates) || w.Start < dates[next].From) {
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
