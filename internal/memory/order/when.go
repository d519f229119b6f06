package order

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// A time in the future is read in parts. They are a span ("in two days"), a day, and a time of day. Each part is read once, wherever it is in a
// sentence. What is left of the sentence is what somebody is to be reminded of.
//
// The cues of the words are
//
//	begin, end, lead    an order at the beginning or the end of a sentence; what is before it: "remind me", "kannst du mich … erinnern"
//	call, keep, wake    an order only with a time: "ping me", "don't let me forget", "wake me"
//	tell, timer         one only with a time beside it: "tell me", "set a timer"
//	link, strip, tail   between an order and its text; after the text; after an order that ends a sentence
//	date                before a day of the month: "on the"
//	on, behind          before or after any part, where they say nothing more: "on", "at the"
//	in, later           before or after a span: "in", "from now"; half is after it: "and a half"
//	s i h d w m y       units of a span, and the letter of an article before them: a
//	m15 m30 m45 m90     spans by their minutes: "half an hour"
//	at, clock, min      before or after an hour: "at", "o'clock"; after the minutes that follow
//	past30 past_15 …    minutes before an hour: "half past", "quarter to"; more30 … follow it
//	am, pm, p9 p19 …    parts of the day, by the hour that is meant if no other is said
//	d0 d1 d2 w1 m1      days, a week and a month from now; past is before now
//	next                before a weekday: that of the next week
//	every, daily        what comes again, before a unit or by itself
//	both                phrases with two cues: "morgenavond: d1+p19"
//	n15 …               numbers
//	about               between the word before a span and its number: "in like 10 minutes"
type timeWords struct {
	phrases  map[byte][]cued // by their first byte, the longest first
	orders   []string        // phrases that show an order
	asks     []string
	unspaced bool // words are not divided, or have particles; in a date of two numbers, the month is first
	either   bool // it may be, or the day
}

var (
	orderCues = []string{"begin", "end", "zone", "call", "keep", "wake", "tell", "timer"}
	weakCues  = orderCues[3:]
)

// cued is a phrase in the form of [folded], with its cues.
type cued struct {
	words string
	cues  []string
}

var timeWordsOf = sync.OnceValue(func() map[string]*timeWords {
	all := map[string]*timeWords{}
	for _, code := range text.Languages() {
		if t := text.TablesOf(code); t.Remind.Words != nil {
			all[code] = newTimeWords(t)
			all[code].either = code == "en"
		}
	}
	return all
})

func newTimeWords(t *text.Tables) *timeWords {
	w := &timeWords{phrases: map[byte][]cued{}, asks: t.Remind.Asks.Fields()}
	add := func(words string, cues ...string) {
		f := fold(strings.TrimSpace(strings.ReplaceAll(words, "_", " ")))
		w.phrases[f.s[0]] = append(w.phrases[f.s[0]], cued{f.s, cues})
		if slices.Contains(orderCues, cues[0]) {
			w.orders = append(w.orders, f.s)
		}
	}
	rows := func(cue string, row text.Row, first int) {
		for i, name := range row.All() {
			add(name, cue+strconv.Itoa(first+i))
		}
	}
	rows("wd", t.Remind.Weekdays, 0)
	rows("n", t.Remind.Numbers, 1)
	rows("o", t.Remind.Ordinals, 1)
	for _, months := range []text.Row{t.Time.Months, t.Time.ShortMonths, t.Remind.Months} {
		rows("month", months, 1)
	}
	for cue, list := range t.Remind.Words {
		for one := range strings.SplitSeq(string(list), ",") {
			if words, two, both := strings.Cut(one, ":"); both && cue == "both" {
				add(words, strings.Split(strings.TrimSpace(two), "+")...)
			} else {
				add(one, cue)
			}
		}
	}
	for _, some := range w.phrases {
		slices.SortStableFunc(some, func(a, b cued) int { return len(b.words) - len(a.words) })
	}
	w.unspaced = text.Unspaced(t.Remind.Weekdays.Name(0))
	return w
}

// folded is a text without case and accents. It knows the place of each of its bytes in the text as written.
type folded struct {
	s  string
	at []int
}

func fold(s string) (f folded) {
	var b strings.Builder
	for i, r := range s {
		if r < utf8.RuneSelf {
			f.at = append(f.at, i)
			b.WriteRune(unicode.ToLower(r))
			continue
		}
		if r = text.ASCIIDigit(r); r == '’' || r == '：' {
			r = map[rune]rune{'’': '\'', '：': ':'}[r]
		}
		one := text.Dotted(text.Unaccented(strings.ToLower(string(r))))
		for range len(one) {
			f.at = append(f.at, i)
		}
		b.WriteString(one)
	}
	f.s, f.at = b.String(), append(f.at, len(s))
	return f
}

// cue returns the end of the longest phrase at i that has one of some cues, and the cue. Without a phrase the cue is "". A name that ends
// with "*" stands for all cues that begin so.
func (w *timeWords) cue(s string, i int, names ...string) (end int, cue string) {
	if i == len(s) {
		return i, ""
	}
	for _, p := range w.phrases[s[i]] {
		if !strings.HasPrefix(s[i:], p.words) || !w.bounded(s, i, i+len(p.words)) {
			continue
		}
		for _, name := range names {
			stem, open := strings.CutSuffix(name, "*")
			for _, c := range p.cues {
				if c == name || open && strings.HasPrefix(c, stem) && number(c, stem) {
					return i + len(p.words), strings.Join(p.cues, "+")
				}
			}
		}
	}
	return i, ""
}

// number reports whether a cue is a stem and a number.
func number(cue, stem string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(cue[len(stem):], "_"))
	return err == nil
}

func (w *timeWords) bounded(s string, from, to int) bool {
	if w.unspaced {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s[from:])
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !(unicode.IsLetter(first) && unicode.IsLetter(before)) && !(unicode.IsLetter(last) && (unicode.IsLetter(after) || unicode.IsDigit(after)))
}

func blank(s string, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// number reads a number in digits or words at i. words says that an article counts as one.
func (w *timeWords) number(s string, i int, article bool) (n, end int, digits bool) {
	for end = i; end < len(s) && text.IsDigit(s[end]) && end < i+4; end++ {
		n = 10*n + int(s[end]-'0')
	}
	if end > i {
		return n, end, true
	}
	if n, end = hanNumber(s, i); end > i {
		return n, end, false
	}
	if end, cue := w.cue(s, i, "n*"); cue != "" {
		n, _ = strconv.Atoi(cue[1:])
		return n, end, false
	}
	if end, cue := w.cue(s, i, "a"); article && cue != "" {
		return 1, end, false
	}
	return 0, i, false
}

// hanNumber reads a number below a hundred in Chinese characters.
func hanNumber(s string, i int) (n, end int) {
	digit := 0
	for end = i; end < len(s); {
		r, size := utf8.DecodeRuneInString(s[end:])
		switch d := strings.IndexRune("零一二三四五六七八九", r); {
		case r == '两' || r == '兩':
			digit = 2
		case r == '十':
			n, digit = n+10*max(1, digit), 0
		case d >= 0:
			digit = d / len("一")
		default:
			return n + digit, end
		}
		end += size
	}
	return n + digit, end
}

// parts are the parts of a time.
type parts struct {
	span                       time.Duration
	days, months               int // of a span
	spanned                    bool
	date                       text.Date
	ahead, weekday, week       int // days from now, a weekday, the weeks until it
	dated, named, later        bool
	day                        bool // there is a day of some kind
	hour, minute, part         int
	clocked, bare, parted, bad bool // bare: it may be of a clock of twelve hours
	past, again                bool
}

// read reads one part at i into p. It returns its end, or i.
func (w *timeWords) read(s string, i int, p *parts) (end int) {
	best, found := i, *p
	try := func(f func(string, int, *parts) int) {
		one := *p
		if end := f(s, i, &one); end > best {
			best, found = end, one
		}
	}
	for _, f := range []func(string, int, *parts) int{w.again, w.readSpan, w.readDate, w.readDay, w.readClock} {
		try(f)
	}
	if best == i {
		if j, cue := w.cue(s, i, "on"); cue != "" {
			one := *p
			j = blank(s, j)
			if end := w.read(s, j, &one); end > j {
				best, found = end, one
			} else if d, end := w.shortDate(s, j); end > j && !p.day && strings.Contains(s[j:end], "/") {
				one.date, one.dated, one.day = d, true, true
				best, found = end, one
			}
		}
	}
	*p = found
	if best == i {
		return i
	}
	for {
		j, cue := w.cue(s, blank(s, best), "behind")
		if cue == "" {
			return best
		}
		best = j
	}
}

// again reads what comes again: "every Monday", "daily".
func (w *timeWords) again(s string, i int, p *parts) int {
	end, daily := w.cue(s, i, "daily")
	if j, every := w.cue(s, i, "every"); every != "" {
		j = blank(s, j)
		if _, end, _ := w.number(s, j, false); end > j {
			j = blank(s, end)
		}
		if k, unit := w.cue(s, j, "wd*", "p*", "i", "h", "d", "w", "m", "y"); unit != "" {
			p.again = true
			return k
		}
	}
	p.again = p.again || daily != ""
	return end
}

// readSpan reads "in two hours and 10 minutes", "20 minutes from now" and "half an hour later".
func (w *timeWords) readSpan(s string, i int, p *parts) int {
	if p.spanned {
		return i
	}
	j, before := w.cue(s, i, "in")
	j = blank(s, j)
	if before != "" {
		j, _ = w.cue(s, j, "about")
		j = blank(s, j)
	}
	one := *p
	end := w.amounts(s, j, &one, before != "")
	if end == j || !one.spanned {
		return i
	}
	if k, behind := w.cue(s, blank(s, end), "later"); behind != "" {
		before, end = behind, k
	}
	if before == "" {
		return i
	}
	*p = one
	return end
}

// amounts adds up to two amounts to a span: "1 hour 30 minutes".
func (w *timeWords) amounts(s string, i int, p *parts, alone bool) (end int) {
	end = w.amount(s, i, p, alone)
	if end > i {
		if next := w.amount(s, blank(s, end), p, false); next > blank(s, end) {
			end = next
		}
	}
	return end
}

// amount adds an amount of a unit to a span. alone says that the unit needs no number: "in an hour", "через час".
func (w *timeWords) amount(s string, i int, p *parts, alone bool) int {
	if end, cue := w.cue(s, i, "m15", "m30", "m45", "m90"); cue != "" {
		minutes, _ := strconv.Atoi(cue[1:])
		p.span, p.spanned = p.span+time.Duration(minutes)*time.Minute, true
		return end
	}
	if m := hoursMinutes.FindStringSubmatch(s[i:]); m != nil && alone {
		hours, _ := strconv.Atoi(m[1])
		minutes, _ := strconv.Atoi(m[2])
		p.span, p.spanned = p.span+time.Duration(hours)*time.Hour+time.Duration(minutes)*time.Minute, true
		return i + len(m[0])
	}
	if m := tenths.FindStringSubmatch(s[i:]); m != nil {
		if end, unit := w.cue(s, i+len(m[0]), "h"); unit != "" {
			hours, _ := strconv.ParseFloat(m[1]+"."+m[2], 64)
			p.span, p.spanned = p.span+time.Duration(hours*float64(time.Hour)), true
			return end
		}
	}
	n, j, _ := w.number(s, i, true)
	if j == i {
		if !alone {
			return i
		}
		n = 1
	}
	end, unit := w.cue(s, blank(s, j), "s", "i", "h", "d", "w", "m", "y")
	switch n = min(n, 9999); unit {
	case "":
		return i
	case "s":
		p.span += time.Duration(n) * time.Second
	case "i":
		p.span += time.Duration(n) * time.Minute
	case "h":
		p.span += time.Duration(n) * time.Hour
	case "d":
		p.days += n
	case "w":
		p.days += 7 * n
	case "m":
		p.months += n
	case "y":
		p.months += 12 * n
	}
	p.spanned = true
	if k, half := w.cue(s, blank(s, end), "half"); half != "" && unit == "h" {
		p.span += 30 * time.Minute
		end = k
	}
	return end
}

// readDate reads "2026-04-01", "24.12.", "25th of December", "4月1日".
func (w *timeWords) readDate(s string, i int, p *parts) int {
	if p.day {
		return i
	}
	d, end := w.date(s, i)
	if end == i {
		if d, end = w.monthDay(s, i); end == i {
			return i
		}
	}
	p.date, p.dated, p.day = d, true, true
	return end
}

// monthDay reads a day of this month or the next: "on the 15th at 9". What stands behind it must belong to a time or an order: "on the 2nd
// draft" is no day.
func (w *timeWords) monthDay(s string, i int) (d text.Date, end int) {
	j, before := w.cue(s, i, "date")
	j = blank(s, j)
	if before != "" {
		if d, end = w.date(s, j); end > j {
			return d, end
		}
	}
	m := monthDay.FindStringSubmatch(s[j:])
	if m == nil || before == "" && m[2] == "" || i > 0 && text.IsDigit(s[i-1]) {
		return text.Date{}, i
	}
	d.Day, _ = strconv.Atoi(m[1])
	end = j + len(m[0])
	if _, goesOn := w.cue(s, blank(s, end), "at", "link", "on", "behind", "p*", "am", "pm"); d.Day < 1 || d.Day > 31 || goesOn == "" && strings.TrimLeft(s[end:], " ,.:!?") != "" {
		return text.Date{}, i
	}
	return d, end
}

func (w *timeWords) date(s string, i int) (d text.Date, end int) {
	for _, one := range datePatterns {
		if m := one.pattern.FindStringSubmatch(s[i:]); m != nil && (i == 0 || !text.IsDigit(s[i-1])) {
			d.Year, _ = strconv.Atoi(m[one.year])
			d.Month, _ = strconv.Atoi(m[one.month])
			d.Day, _ = strconv.Atoi(m[one.day])
			return d, i + len(m[0])
		}
	}
	if month, j := hanNumber(s, i); j > i && strings.HasPrefix(s[j:], "月") && month <= 12 {
		day, k := hanNumber(s, j+len("月"))
		for _, behind := range []string{"日", "号", "號"} {
			if day > 0 && strings.HasPrefix(s[k:], behind) {
				return text.Date{Month: month, Day: day}, k + len(behind)
			}
		}
	}
	day, j := 0, i
	if m := dayNumber.FindStringSubmatch(s[i:]); m != nil {
		day, _ = strconv.Atoi(m[1])
		j = i + len(m[0])
	} else if k, cue := w.cue(s, i, "o*"); cue != "" { // "the first of May"; but "the first may wait"
		if of := ofMonth.FindString(s[k:]); len(of) > 1 || !w.either {
			day, _ = strconv.Atoi(cue[1:])
			j = k + len(of)
		}
	}
	if k, cue := w.cue(s, j, "month*"); cue != "" && day > 0 {
		d.Day = day
		d.Month, _ = strconv.Atoi(strings.TrimPrefix(cue, "month"))
		return w.year(s, k, d)
	}
	if j, cue := w.cue(s, i, "month*"); cue != "" {
		d.Month, _ = strconv.Atoi(strings.TrimPrefix(cue, "month"))
		if m := dayBehind.FindStringSubmatch(s[j:]); m != nil {
			d.Day, _ = strconv.Atoi(m[1])
			return w.year(s, j+len(m[0]), d)
		}
		if rest, the := strings.CutPrefix(s[j:], " the "); the {
			if k, cue := w.cue(s, len(s)-len(rest), "o*"); cue != "" {
				d.Day, _ = strconv.Atoi(cue[1:])
				return w.year(s, k, d)
			}
		}
		d.Month = 0
	}
	return d, i
}

func (w *timeWords) year(s string, end int, d text.Date) (text.Date, int) {
	if m := yearBehind.FindStringSubmatch(s[end:]); m != nil {
		d.Year, _ = strconv.Atoi(m[1])
		end += len(m[0])
	}
	return d, end
}

var (
	datePatterns = []struct {
		pattern          *text.LazyRegexp
		year, month, day int // groups
	}{
		{text.NewLazyRegexp(`^(\d{4})-(\d\d?)-(\d\d?)\b`), 1, 2, 3},
		{text.NewLazyRegexp(`^(\d\d?)\.(\d\d?)\.(\d{4})?`), 3, 2, 1},
		{text.NewLazyRegexp(`^(?:(\d{4})[年년] ?)?(\d\d?)[月월] ?(\d\d?)[日号號일]`), 1, 2, 3},
	}
	monthDay     = text.NewLazyRegexp(`^(\d\d?)(?:st|nd|rd|th|er|e|o|\.|([日号號일]の?|-?го|-?go| числа))?`)
	hoursMinutes = text.NewLazyRegexp(`^(\d\d?) ?h ?(\d\d?)(?: ?(?:m|mn|min))?\b`)
	tenths       = text.NewLazyRegexp(`^(\d\d?)[.,](\d) ?`)

	dayNumber  = text.NewLazyRegexp(`^(\d\d?)(?:\.|st|nd|rd|th|er|e|o|a|[°º])? ?(?:of |de |di |d')?`)
	ofMonth    = text.NewLazyRegexp(`^ (?:of |de |di |d')?`)
	dayBehind  = text.NewLazyRegexp(`^ (\d\d?)(?:st|nd|rd|th)?\b`)
	twoNumbers = text.NewLazyRegexp(`^(\d\d?)([./])(\d\d?)(?:[./](\d{4}))?\b`)
	yearBehind = text.NewLazyRegexp(`^,? (?:de )?(20\d\d)\b`)
)

// DayOf returns the only day of the year that a text in a language names. It is "3 May", or else "25/5", or else "tomorrow" or "next Friday" as seen
// from now. The day is 0 if it names none, or several. rest is the text without it. weekday says that it names a day of the week.
func DayOf(said, code string, now time.Time) (d text.Date, rest string, weekday bool) {
	w, f := timeWordsOf()[code], fold(said)
	if w == nil {
		return d, said, false
	}
	var named, short, near []text.DateSpan
	for i := 0; i < len(f.s); {
		_, n := utf8.DecodeRuneInString(f.s[i:])
		next := i + n
		if i == 0 || w.unspaced || !unicode.IsLetter(last(f.s[:i])) && !text.IsDigit(f.s[i-1]) {
			var p parts
			found := func(all *[]text.DateSpan, d text.Date, end int) {
				*all = append(*all, text.DateSpan{Date: text.Date{Month: d.Month, Day: d.Day}, Span: text.Span{From: f.at[i], To: f.at[end]}})
				next = end
			}
			if d, end := w.date(f.s, i); end > i {
				found(&named, d, end)
			} else if d, end := w.shortDate(f.s, i); end > i {
				found(&short, d, end)
			} else if end := w.readDay(f.s, w.behindOn(f.s, i), &p); p.day && !p.later {
				at := now.AddDate(0, 0, p.ahead)
				if p.named {
					at, _ = p.at(now)
					weekday = true
				}
				found(&near, text.Date{Month: int(at.Month()), Day: at.Day()}, end)
			}
		}
		i = next
	}
	for _, all := range [][]text.DateSpan{named, short, near} {
		if len(all) == 0 {
			continue
		}
		if d := all[0].Date; len(all) == 1 && time.Date(leapYear, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Day() == d.Day {
			return d, said[:all[0].From] + said[all[0].To:], weekday && len(named)+len(short) == 0
		}
		break
	}
	return text.Date{}, said, false
}

// behindOn returns where a day begins at i: behind a word such as "on", if there is one.
func (w *timeWords) behindOn(s string, i int) int {
	j, _ := w.cue(s, i, "on")
	return blank(s, j)
}

// Around reports whether a text in a language has only words that stand around a day: "on", "です".
func Around(said, code string) bool {
	w, f := timeWordsOf()[code], fold(strings.Trim(said, between+"?"))
	for i := 0; i < len(f.s); {
		end, cue := w.cue(f.s, i, "on", "behind", "tail", "link")
		if cue == "" {
			return false
		}
		i = blank(f.s, end)
	}
	return true
}

const leapYear = 2000

// shortDate reads two numbers, and perhaps a year: "3.5", "5/3/1990". Where either may be the day, one has to be above twelve.
func (w *timeWords) shortDate(s string, i int) (d text.Date, end int) {
	m := twoNumbers.FindStringSubmatch(s[i:])
	if m == nil {
		return d, i
	}
	d.Day, _ = strconv.Atoi(m[1])
	d.Month, _ = strconv.Atoi(m[3])
	d.Year, _ = strconv.Atoi(m[4])
	if m[2] == "/" && (w.unspaced || w.either && d.Month > 12) {
		d.Day, d.Month = d.Month, d.Day
	}
	if d.Day == 0 || d.Month == 0 || d.Month > 12 || m[2] == "/" && w.either && d.Day <= 12 && d.Day != d.Month {
		return text.Date{}, i
	}
	return d, i + len(m[0])
}

// readDay reads "tomorrow", "next Friday" and "next week".
func (w *timeWords) readDay(s string, i int, p *parts) int {
	if end, cue := w.cue(s, i, "past"); cue != "" {
		p.past = true
		return end
	}
	j, next := w.cue(s, i, "next")
	if end, cue := w.cue(s, blank(s, j), "wd*"); cue != "" && (!p.day || p.later) && !p.named {
		p.weekday, _ = strconv.Atoi(cue[2:])
		p.named, p.day = true, true
		if next != "" {
			p.week = 1
		} else if k, behind := w.cue(s, blank(s, end), "next"); behind != "" {
			p.week, end = 1, k
		}
		return end
	}

	if end, cue := w.cue(s, i, "w1"); cue != "" && p.week == 0 {
		p.week, p.later = 1, true
		return end
	}
	if end, cue := w.cue(s, i, "m1"); cue != "" && !p.day {
		p.months, p.later, p.day = 1, true, true
		return end
	}
	if end, cue := w.cue(s, i, "d*"); cue != "" && !p.day {
		day, part, _ := strings.Cut(cue, "+")
		p.ahead, _ = strconv.Atoi(day[1:])
		p.day = true
		if part != "" {
			w.setPart(p, part)
		}
		return end
	}
	return i
}

func (w *timeWords) setPart(p *parts, cue string) {
	p.parted = true
	switch cue {
	case "am":
		p.part = 9
	case "pm":
		p.part = 15
	default:
		p.part, _ = strconv.Atoi(cue[1:])
	}
}

// readClock reads a time of day: "at 9", "18:30", "half past seven", "3pm", "noon", "下午三点半".
func (w *timeWords) readClock(s string, i int, p *parts) int {
	if !p.parted {
		if end, cue := w.cue(s, i, "am", "pm", "p*"); cue != "" {
			w.setPart(p, cue)
			return end
		}
	}
	if p.clocked {
		return i
	}
	j, at := w.cue(s, i, "at")
	j = blank(s, j)
	k, before := w.cue(s, j, "past*", "past_*")
	n, end, digits := w.number(s, blank(s, k), false)
	if end == blank(s, k) {
		return i
	}
	written := s[blank(s, k):end]
	minute, more := clockMinute(s, end, at != "")
	if more > end {
		end = more
	}
	last := end
	end, clock := w.cue(s, blank(s, end), "clock")
	if clock == "" {
		end = last
	} else if m, after, d := w.number(s, blank(s, end), false); d || w.unspaced {
		if u, unit := w.cue(s, blank(s, after), "min"); after > blank(s, end) && (unit != "" || d && after == blank(s, end)+2) {
			minute, end, more = m, after, after
			if unit != "" {
				end = u
			}
		}
	}
	if u, half := w.cue(s, blank(s, end), "more*", "more_*"); half != "" && minute == 0 {
		minute, end = minutesOf(half, "more"), u
	}
	part, meridiem := w.cue(s, blank(s, end), "am", "pm")
	if at == "" && before == "" && clock == "" && meridiem == "" && more == last && !strings.ContainsAny(s[:last], ":") && minute == 0 {
		return i // a number alone
	}
	if at == "" && before == "" && clock == "" && meridiem == "" && minute == 0 && more <= last && !strings.Contains(s[i:end], ":") {
		return i
	}
	if meridiem != "" {
		w.setPart(p, meridiem)
		end = part
	}
	if before != "" {
		minute = minutesOf(before, "past")
		if before == "past_30" {
			n, minute = n-1, 30
		}
	}
	if minute < 0 {
		n, minute = n-1, minute+60
	}
	p.hour, p.minute, p.clocked = n, minute, true
	p.bare = n >= 1 && n <= 12 && !(digits && written[0] == '0')
	p.bad = n > 24 || minute > 59
	return end
}

func minutesOf(cue, stem string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(cue[len(stem):], "_", "-"))
	return n
}

// clockMinute reads the minutes after an hour: ":30", "h30", and ".30" after a word for a time.
func clockMinute(s string, i int, at bool) (minute, end int) {
	if i+2 >= len(s) || !(s[i] == ':' || s[i] == 'h' || s[i] == '.' && at) || !text.IsDigit(s[i+1]) || !text.IsDigit(s[i+2]) {
		return 0, i
	}
	if i+3 < len(s) && (text.IsDigit(s[i+3]) || s[i] == '.' && s[i+3] == '.') {
		return 0, i
	}
	return int(s[i+1]-'0')*10 + int(s[i+2]-'0'), i + 3
}

// at returns the moment that the parts name as seen from now, in its zone, and why there is none.
func (p *parts) at(now time.Time) (at time.Time, why Why) {
	switch {
	case p.again:
		return at, Again
	case p.past:
		return at, Past
	case p.bad || !p.spanned && !p.day && !p.later && !p.clocked && !p.parted:
		return at, NoTime
	}
	y, m, d := now.Date()
	hour, minute, sec := now.Clock()
	if p.clocked || p.parted {
		hour, minute, sec = p.ofDay()
	} else if p.day || p.later {
		hour, minute, sec = 9, 0, 0
	}
	build := func(days int) time.Time {
		return time.Date(y, m+time.Month(p.months), d+p.days+days, hour, minute, sec, 0, now.Location())
	}
	switch {
	case p.dated:
		return p.onDate(now, hour, minute)
	case p.named:
		days := (p.weekday - int(now.Weekday()) + 7) % 7
		if p.week > 0 { // that of the next week, which begins on Monday
			days = (8-int(now.Weekday()))%7 + (p.weekday+6)%7
			if now.Weekday() == time.Monday {
				days += 7
			}
		}
		if at = build(days); !at.After(now) {
			at = build(days + 7)
		}
	case p.day || p.later || p.days > 0 || p.months > 0:
		if at = build(p.ahead + 7*p.week).Add(p.span); p.today() && !at.After(now) {
			if p.bare && !p.parted && p.hour < 12 && at.Add(12*time.Hour).After(now) {
				return at.Add(12 * time.Hour), ""
			}
			if !p.clocked && !p.parted {
				return at, NoTime
			}
			return at, Past
		}
	case p.spanned && !p.clocked && !p.parted:
		at = now.Add(p.span)
	default: // a time of the day alone
		at = build(0)
		if p.bare && !p.parted && p.hour <= 12 {
			at = time.Date(y, m, d, p.hour%12, minute, 0, 0, now.Location())
			for !at.After(now) {
				at = at.Add(12 * time.Hour)
			}
		} else if !at.After(now) {
			at = build(1)
		}
	}
	return at, ""
}

func (p *parts) today() bool {
	return p.day && p.ahead == 0 && !p.later && p.days == 0 && p.months == 0
}

// ofDay returns the time of the day. A bare hour of the afternoon is more likely than one of the night.
func (p *parts) ofDay() (hour, minute, sec int) {
	switch hour, minute = p.hour, p.minute; {
	case !p.clocked:
		return p.part, 0, 0
	case p.parted && p.part <= 9:
		if hour == 12 {
			hour = 0
		}
	case p.parted && p.part >= 19 && hour < 6: // "tonight at 2"
		hour += 24
	case p.parted && hour < 12 && (p.part > 12 || hour < 4):
		hour += 12
	case p.parted && p.part == 24 && hour == 12:
		hour = 24
	case !p.parted && p.bare && hour < 7 && !p.today():
		hour += 12
	}
	return hour, minute, 0
}

// onDate returns a moment of a date. A date without a year is the next one.
func (p *parts) onDate(now time.Time, hour, minute int) (at time.Time, why Why) {
	year := p.date.Year
	if year == 0 {
		year = now.Year()
	}
	if p.date.Month == 0 {
		for month := now.Month(); ; month++ { // to one that has such a day
			if at = time.Date(year, month, p.date.Day, hour, minute, 0, 0, now.Location()); at.After(now) && time.Date(year, month, p.date.Day, 12, 0, 0, 0, time.UTC).Day() == p.date.Day {
				return at, ""
			}
		}
	}
	at = time.Date(year, time.Month(p.date.Month), p.date.Day, hour, minute, 0, 0, now.Location())
	if day := time.Date(year, time.Month(p.date.Month), p.date.Day, 12, 0, 0, 0, now.Location()); day.Day() != p.date.Day || int(day.Month()) != p.date.Month {
		return at, NoTime
	}
	if !at.After(now) {
		if p.date.Year > 0 {
			return at, Past
		}
		at = at.AddDate(1, 0, 0)
	}
	return at, ""
}
