package text

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Date is a date. Missing parts are 0.
type Date struct{ Year, Month, Day int }

// MonthNames holds the numbers of months by name, long and short, in all languages.
var MonthNames = sync.OnceValue(func() map[string]int {
	names := map[string]int{}
	for _, row := range []Row{AllTables().Time.Months, AllTables().Time.ShortMonths} {
		for i, name := range row.All() {
			names[Fold(name)] = i + 1
		}
	}
	return names
})

// dateLinks are the words between day, month and year, each followed by a space: "8th of December".
var dateLinks = sync.OnceValue(func() (all []string) {
	for _, w := range AllTables().Time.DateLinks.Fields() {
		all = AddOnce(all, w+" ")
	}
	return all
})

// DateSpan is a date and its position.
type DateSpan struct {
	Date
	Span
}

// Dates returns the dates of s, and s with each date replaced by a semicolon and spaces. So its digits are not read as numbers.
func Dates(s string) (found []DateSpan, rest string) {
	var out strings.Builder
	copied := 0
	for i := 0; i < len(s); {
		if !startsToken(s, i) {
			i++
			continue
		}
		d, end, ok := dateAt(s, i)
		if !ok {
			i = tokenEnd(s, i)
			continue
		}
		found = append(found, DateSpan{d, Span{i, end}})
		out.WriteString(s[copied:i])
		out.WriteString(" ;" + strings.Repeat(" ", max(0, end-i-2))) // keeps the text on both sides apart
		i, copied = end, end
	}
	if copied == 0 {
		return nil, s
	}
	return found, out.String() + s[copied:]
}

// dateAt parses the date at i, such as "2020-12-08", "8th of December 2020", "Dec. 8, 2020", "December 2020" or "8
// December", in the languages of the month names.
func dateAt(s string, i int) (d Date, end int, ok bool) {
	n, width, end := digitsAt(s, i)
	switch {
	case width == 4:
		return numericDate(s, n, end)
	case 1 <= width && width <= 2 && end < len(s) && (s[end] == '.' || s[end] == '/'):
		if d, end, ok := yearLast(s, n, end); ok {
			return d, end, true
		}
		return dayFirst(s, n, end)
	case 1 <= width && width <= 2:
		return dayFirst(s, n, end)
	case width > 0:
		return Date{}, 0, false
	}
	month, end := monthAt(s, i)
	if month == 0 {
		return Date{}, 0, false
	}
	return monthFirst(s, month, end)
}

// numericDate parses what follows a year: "-12-08", "年12月8日".
func numericDate(s string, year, i int) (Date, int, bool) {
	if year < 1000 || year > 2999 || i >= len(s) {
		return Date{}, 0, false
	}
	if strings.HasPrefix(s[i:], "年") {
		month, w, j := digitsAt(s, i+len("年"))
		if w == 0 || w > 2 || !strings.HasPrefix(s[j:], "月") {
			return Date{}, 0, false
		}
		day, w, j := digitsAt(s, j+len("月"))
		if w == 0 || w > 2 || !strings.HasPrefix(s[j:], "日") {
			return Date{}, 0, false
		}
		return valid(Date{year, month, day}, j+len("日"))
	}
	if strings.IndexByte("-/.", s[i]) < 0 {
		return Date{}, 0, false
	}
	month, w, j := digitsAt(s, i+1)
	if w == 0 || w > 2 || j >= len(s) || strings.IndexByte("-/.", s[j]) < 0 {
		return Date{}, 0, false
	}
	day, w, j := digitsAt(s, j+1)
	if w == 0 || w > 2 || j < len(s) && wordByte(s[j]) && !startsTime(s[j:]) {
		return Date{}, 0, false
	}
	return valid(Date{year, month, day}, j)
}

// startsTime reports whether a time follows a date, as in "2020-12-08T07:00" (RFC 3339).
func startsTime(s string) bool { return len(s) > 1 && s[0] == 'T' && IsDigit(s[1]) }

// yearLast parses what follows the first number of "14.9.1874". For "14/9/1874" only one of the two numbers may be a
// possible day.
func yearLast(s string, first, i int) (Date, int, bool) {
	second, w, j := digitsAt(s, i+1)
	if w == 0 || w > 2 || j >= len(s) || s[j] != s[i] {
		return Date{}, 0, false
	}
	year, w, end := digitsAt(s, j+1)
	if w != 4 || year < 1000 || year > 2999 || end < len(s) && wordByte(s[end]) {
		return Date{}, 0, false
	}
	switch {
	case s[i] == '.' || first > 12:
		return valid(Date{year, second, first}, end)
	case second > 12:
		return valid(Date{year, first, second}, end)
	}
	return Date{}, 0, false
}

// dayFirst parses what follows a day: "th of December 2020", ". Dezember", " de diciembre de 2020".
func dayFirst(s string, day, i int) (Date, int, bool) {
	if j := skipOrdinal(s, i); j > i {
		i = j
	} else {
		i = skipWord(s, i, ".")
	}
	i, ok := skipBlank(s, i)
	if !ok || day == 0 {
		return Date{}, 0, false
	}
	month, end := monthAt(s, skipLinks(s, i))
	if month == 0 {
		return Date{}, 0, false
	}
	if year, at := yearBehind(s, end); year > 0 {
		return valid(Date{year, month, day}, at)
	}
	if _, year, _, _ := dayBehind(s, end); year > 0 { // "version 12 May 31, 2020": the month belongs to the next day
		return Date{}, 0, false
	}
	return valid(Date{0, month, day}, end)
}

// monthFirst parses what follows a month: " 8th, 2020", " 2020", " 8".
func monthFirst(s string, month, i int) (Date, int, bool) {
	if year, at := yearBehind(s, i); year > 0 {
		return valid(Date{year, month, 0}, at)
	}
	day, year, digits, end := dayBehind(s, i)
	if day == 0 {
		return Date{}, 0, false
	}
	if _, _, other := dayFirst(s, day, digits); other { // "March 3 April 2020": the day belongs to the next month
		return Date{}, 0, false
	}
	return valid(Date{year, month, day}, end)
}

// dayBehind parses a day after a month, and its year if there is one: ". 8th, 2020". digits is the end of the day's
// digits.
func dayBehind(s string, i int) (day, year, digits, end int) {
	i, ok := skipBlank(s, skipWord(s, i, "."))
	day, w, digits := digitsAt(s, i)
	end = skipOrdinal(s, digits)
	if !ok || w == 0 || w > 2 || end < len(s) && wordByte(s[end]) {
		return 0, 0, 0, 0
	}
	if at, ok := skipBlank(s, skipWord(s, end, ",")); ok {
		if year, at := yearAt(s, at); year > 0 {
			return day, year, digits, at
		}
	}
	return day, 0, digits, end
}

// valid returns the date and its end, and whether such a date can exist.
func valid(d Date, end int) (Date, int, bool) {
	return d, end, 1 <= d.Month && d.Month <= 12 && d.Day <= 31 && (d.Day > 0 || d.Year > 0)
}

// yearBehind parses a year after a month: " 2020", "., of 2020", " de 2020".
func yearBehind(s string, i int) (year, end int) {
	i, ok := skipBlank(s, skipWord(s, skipWord(s, i, "."), ","))
	if !ok {
		return 0, 0
	}
	return yearAt(s, skipLinks(s, i))
}

// yearAt parses a year from 1000 to 2999 that does not begin another date.
func yearAt(s string, i int) (year, end int) {
	n, w, end := digitsAt(s, i)
	if w != 4 || n < 1000 || n > 2999 || end < len(s) && wordByte(s[end]) {
		return 0, 0
	}
	if _, _, other := numericDate(s, n, end); other {
		return 0, 0
	}
	return n, end
}

// monthAt parses the name of a month.
func monthAt(s string, i int) (month, end int) {
	if i >= len(s) || !monthBytes()[s[i]] {
		return 0, 0
	}
	for end = i; end < len(s); {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !InWord(r) {
			break
		}
		end += n
	}
	if n := end - i; n < 3 || n > 20 || end < len(s) && s[end] == '_' {
		return 0, 0
	}
	return MonthNames()[Fold(s[i:end])], end
}

// monthBytes are the first bytes of month names. They save a look-up for most words.
var monthBytes = sync.OnceValue(func() *[256]bool {
	var first [256]bool
	for name := range MonthNames() {
		first[name[0]] = true
		first[strings.ToUpper(name)[0]] = true
	}
	return &first
})

// digitsAt parses a number of at most five digits and returns its width.
func digitsAt(s string, i int) (n, width, end int) {
	for end = i; end < len(s) && IsDigit(s[end]); end++ {
		if width < 5 {
			n = 10*n + int(s[end]-'0')
			width++
		}
	}
	return n, width, end
}

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(b byte) bool { return '0' <= b && b <= '9' }

// wordByte reports whether an ASCII byte is part of a word or number.
func wordByte(b byte) bool { return IsDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_' }

// startsToken reports whether a word or number begins at i. In scripts without spaces, a number may begin inside a
// word.
func startsToken(s string, i int) bool {
	b := s[i]
	switch {
	case b < utf8.RuneSelf && !wordByte(b), !utf8.RuneStart(b):
		return false
	case i == 0:
		return true
	case s[i-1] < utf8.RuneSelf:
		return !wordByte(s[i-1])
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	return IsDigit(b) || !InWord(before)
}

// tokenEnd returns the end of the word or number that begins at i.
func tokenEnd(s string, i int) int {
	_, n := utf8.DecodeRuneInString(s[i:])
	for i += n; i < len(s); i += n {
		var r rune
		if r, n = utf8.DecodeRuneInString(s[i:]); !InWord(r) && r != '_' || IsDigit(s[i]) && s[i-1] >= utf8.RuneSelf {
			break
		}
	}
	return i
}

func skipOrdinal(s string, i int) int {
	for _, end := range [...]string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(s[i:], end) {
			return i + len(end)
		}
	}
	return i
}

// skipBlank skips white space and reports whether there was any.
func skipBlank(s string, i int) (end int, ok bool) {
	for end = i; end < len(s) && (s[end] == ' ' || s[end] == '\n' || s[end] == '\t'); end++ {
	}
	return end, end > i
}

func skipLinks(s string, i int) int {
	for _, link := range dateLinks() {
		i = skipWord(s, i, link)
	}
	return i
}

func skipWord(s string, i int, word string) int {
	if strings.HasPrefix(s[i:], word) {
		return i + len(word)
	}
	return i
}

// Clashes reports whether two dates differ in a part that both have.
func (d Date) Clashes(e Date) bool {
	if d.Year > 0 && e.Year > 0 && d.Year != e.Year {
		return true
	}
	return d.Month > 0 && e.Month > 0 && (d.Month != e.Month || d.Day > 0 && e.Day > 0 && d.Day != e.Day)
}
