package claim

import (
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// Page is a page's text prepared for checks.
type Page struct {
	text string // white space folded

	once    sync.Once // makes what follows, which does not change after
	numbers map[string]bool
	dates   map[text.Date]bool // with the less exact ones that each implies
	words   map[string]bool    // folded
}

func NewPage(s string) *Page { return &Page{text: text.OneLine(s)} }

// ready reads the words, numbers and dates of the page. Sentences that are quoted as they stand need none of it.
func (x *Page) ready() {
	x.once.Do(func() {
		x.numbers, x.dates, x.words = map[string]bool{}, map[text.Date]bool{}, make(map[string]bool, len(x.text)/20)
		for _, w := range text.Words(x.text) {
			x.words[w.Key] = true
		}
		for _, n := range text.Numbers(x.text) {
			x.numbers[n] = true
		}
		dates, _ := text.Dates(x.text)
		for _, d := range dates {
			x.dates[d] = true
			if d.Year > 0 && d.Day > 0 {
				x.dates[text.Date{Year: d.Year, Month: d.Month}] = true
				x.dates[text.Date{Month: d.Month, Day: d.Day}] = true
			}
		}
	})
}

// verbatim reports whether a text is the quote, but for the marks of what is left out, and the quote stands on the page
// with no word or number cut: then so does all that is in it.
func (x *Page) verbatim(s, quote string) bool {
	i := strings.Index(x.text, quote)
	if i < 0 || quote == "" || strings.Trim(s, "…") != quote {
		return false
	}
	before, rest := x.text[:i], x.text[i+len(quote):]
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(rest)
	return !text.InWord(last) && !text.InWord(next) &&
		!(text.IsDigit(quote[0]) && len(before) > 1 && joins(last) && endsInDigit(strings.TrimSuffix(before, string(last)))) &&
		!(endsInDigit(quote) && joins(next) && len(rest) > size && text.IsDigit(rest[size]))
}

// joins reports whether a sign between digits makes one number of them.
func joins(r rune) bool { return strings.ContainsRune(".,:'’ -–", r) }

func endsInDigit(s string) bool { return s != "" && text.IsDigit(s[len(s)-1]) }
