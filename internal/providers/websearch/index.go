package websearch

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// index is a page's text prepared for checks.
type index struct {
	text string // white space folded

	once    sync.Once // makes what follows, which does not change after
	numbers map[string]bool
	dates   map[date]bool   // with the less exact ones that each implies
	words   map[string]bool // folded
}

func newIndex(text string) *index { return &index{text: oneLine(text)} }

// ready reads the words, numbers and dates of the page. Sentences that are quoted as they stand need none of it.
func (x *index) ready() {
	x.once.Do(func() {
		x.numbers, x.dates, x.words = map[string]bool{}, map[date]bool{}, make(map[string]bool, len(x.text)/20)
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
	})
}

// verbatim reports whether a text is the quote, but for the marks of what is left out, and the quote stands on the page
// with no word or number cut: then so does all that is in it.
func (x *index) verbatim(text, quote string) bool {
	i := strings.Index(x.text, quote)
	if i < 0 || quote == "" || strings.Trim(text, "…") != quote {
		return false
	}
	before, rest := x.text[:i], x.text[i+len(quote):]
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(rest)
	return !inWord(last) && !inWord(next) &&
		!(isDigit(quote[0]) && len(before) > 1 && joins(last) && endsInDigit(strings.TrimSuffix(before, string(last)))) &&
		!(endsInDigit(quote) && joins(next) && len(rest) > size && isDigit(rest[size]))
}

// joins reports whether a sign between digits makes one number of them.
func joins(r rune) bool { return strings.ContainsRune(".,:'’ -–", r) }

func endsInDigit(s string) bool { return s != "" && isDigit(s[len(s)-1]) }
