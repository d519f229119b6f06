package websearch

// index is a page's text prepared for checks: made once a page, and not changed after.
type index struct {
	text    string // white space folded
	numbers map[string]bool
	dates   map[date]bool   // with the less exact ones that each implies
	words   map[string]bool // folded
}

func newIndex(text string) *index {
	x := &index{text: oneLine(text), numbers: map[string]bool{}, dates: map[date]bool{}, words: make(map[string]bool, len(text)/20)}
	for _, w := range split(x.text) {
		x.words[w.key] = true
	}
	for _, n := range numbersIn(x.text) {
		x.numbers[n] = true
	}
	dates, _ := datesIn(x.text)
	for _, d := range dates {
		x.dates[d] = true
		if d.year > 0 && d.day > 0 {
			x.dates[date{year: d.year, month: d.month}] = true
			x.dates[date{month: d.month, day: d.day}] = true
		}
	}
	return x
}
