package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// numeral is a number in digits, with the text before and behind it.
type numeral struct{ before, digits, behind string }

// counts reports whether the page has a number, or one that it may stand for: rounded, in words, or in a smaller unit.
func (p *Page) counts(n numeral) bool {
	if p.spans(n) {
		return true
	}
	scale := 0.0 // of the word for millions behind it
	if w, ok := text.WordBehind(n.behind); ok {
		if scale = text.Scales[w.Key]; scale > 0 && strings.Contains(p.text, n.digits+n.behind[:w.End]) {
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
		if value == math.Trunc(value) && slices.ContainsFunc(asWords[int(value)], func(word string) bool { return p.index().words[word] }) {
			return true
		}
		scale = unitScale(n.behind)
	}
	q := text.Quantity{Value: value * max(scale, 1), Before: n.before[max(0, len(n.before)-24):]}
	return p.admits(q) || (scale > 0 || significant(all[0]) > 1) && p.rounds(q.Value, significant(all[0]))
}

// admits reports whether the page has the value, or one near it that the quantity's words allow: "over 5,000" is said
// of 5,200.
func (p *Page) admits(q text.Quantity) bool {
	return slices.ContainsFunc(p.values(), func(v float64) bool {
		return v == q.Value || v != 0 && math.Abs(v-q.Value) <= q.Value/4 && q.Admits(v)
	})
}

// rounds reports whether the page has a number that is the value when it is rounded to so many digits.
func (p *Page) rounds(value float64, digits int) bool {
	step := math.Pow(10, math.Floor(math.Log10(value))-float64(digits-1))
	return slices.ContainsFunc(p.values(), func(v float64) bool { return math.Abs(v-value) <= step/2 })
}

// significant counts the digits of a number without the zeros around them.
func significant(number string) int {
	return len(strings.Trim(strings.ReplaceAll(number, ".", ""), "0"))
}

var (
	// decadeEnd and centuryEnd stand behind a number that is a span of years, and hourEnd behind one that is an hour.
	decadeEnd  = regexp.MustCompile(`^['’]?s\b`)
	centuryEnd = regexp.MustCompile(`^(?:st|nd|rd|th)[- ]centur`)
	hourEnd    = regexp.MustCompile(`(?i)^\s?([ap])\.?m\b`)
	// yearBefore stands before the last two digits of another year.
	yearBefore = regexp.MustCompile(`\b(\d{2})\d{2}[–-]$`)
)

// spans reports whether a number stands for a span of years, an hour or half a year, and the page has one of those: "the
// 1980s", "the 19th century", "5 pm", "1871–74".
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

// within reports whether the page has a number between two others.
func (p *Page) within(from, to float64) bool {
	return slices.ContainsFunc(p.values(), func(v float64) bool { return from <= v && v <= to })
}

// unitScale is what a number is multiplied by for the smaller unit that a page may use instead: 1.28 km is 1,280 metres.
func unitScale(behind string) float64 {
	if w, ok := text.WordBehind(behind); ok && thousandfold[w.Key] {
		return 1000
	}
	return 0
}

var thousandfold = text.Set(lang.All().Number.Thousandfold)
