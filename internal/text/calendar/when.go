package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Calendar are the words for days, weeks, months and years seen from now. The cue is the unit and how many of it
// away: "d-1" is yesterday. A cue of "" keeps a phrase from being taken for a shorter one.
var Calendar = text.Compile(lang.All().Time.Calendar)

// whichOf are the days of the week, the months and the seasons with a word for which of them is meant: "last Friday", "this
// summer", "next May". The cue is "<", "=" or ">", what it is, and its number, from Sunday, January or spring on.
var whichOf = func() text.Phrases {
	rows := map[string]lang.Phrases{}
	add := func(kind string, names lang.Row, which map[string]lang.Phrases) {
		for i, forms := range names.Forms() {
			for _, name := range forms {
				for dir, words := range map[string]string{"<": "last", "=": "this", ">": "next"} {
					rows[dir+kind+strconv.Itoa(i)] += "," + lang.Phrases(strings.ReplaceAll(string(which[words]), "%s", name))
				}
			}
		}
	}
	for _, code := range lang.Codes() {
		t := lang.Of(code).Time
		add("d", t.Weekdays, t.Which)
		add("m", t.Months, t.Which)
		add("s", t.Seasons, t.Which)
		add("d", cmp.Or(t.WhichDays, t.Weekdays), t.WhichDay)
		for cue, phrases := range t.WhichOther {
			rows[cue] += "," + phrases
		}
	}
	return text.Compile(rows)
}()

// DayRows are the names of the days in several languages, from Sunday on.
var DayRows = func() (rows []string) {
	for _, code := range lang.Codes() {
		if days := lang.Of(code).Time.Weekdays; days != "" {
			rows = append(rows, string(days))
		}
	}
	return rows
}()

// DayNumber are the days of the week by their names, from Sunday on.
var DayNumber = func() map[string]int {
	days := map[string]int{}
	for _, row := range DayRows {
		for i, name := range strings.Fields(row) {
			days[text.Fold(name)] = i
		}
	}
	return days
}()

// sinceWords are those behind which a day of the week is the last of that name: "since Monday".
var sinceWords = text.Set(lang.All().Time.Since)

// spelledCounts are small numbers in words, and units those that time is counted in, by the letters of the calendar's cues.
var (
	spelledCounts = func() map[string]int {
		all := map[string]int{}
		for i, forms := range lang.All().Number.Counts.Forms() {
			for _, form := range forms {
				all[text.Fold(form)] = i + 1
			}
		}
		return all
	}()
	units = text.ByWord(lang.All().Time.Units)
)

// What stands before or behind a number of days that lie in the past or ahead. "In" is more often said of how long
// something takes, and is heard only where lasting finds no word of that.
var (
	pastBefore  = text.Compile(map[string]lang.Phrases{"-": lang.All().Time.PastBefore})
	pastBehind  = text.Set(lang.All().Time.PastAfter)
	aheadBefore = text.Compile(lang.All().Time.FutureBefore)
	lasting     = text.Set(lang.All().Time.Duration)
	ahead       = text.Set(lang.All().Time.Future)
)

// awayAt reads "3 days ago" and "in two weeks" at the beginning of words[at:]: how many words that are, and their cue.
func awayAt(words []text.Word, at int) (n int, cue string) {
	rest := words[at:]
	n, sign := pastBefore.Prefix(rest)
	if n == 0 {
		n, sign = aheadBefore.Prefix(rest)
	}
	if n+1 >= len(rest) {
		return 0, ""
	}
	count, unit := spelledCounts[rest[n].Key], units[rest[n+1].Key]
	if text.Numeric(rest[n].Key) {
		count, _ = strconv.Atoi(rest[n].Key)
	}
	end := n + 2
	switch {
	case count == 0 || count > 5000 || unit == "":
		return 0, ""
	case n == 0 && end < len(rest) && pastBehind[rest[end].Key]:
		end, sign = end+1, "-"
	case n == 0:
		return 0, ""
	case sign == "in":
		told := func(set map[string]bool) bool {
			return slices.ContainsFunc(words, func(w text.Word) bool { return set[w.Key] })
		}
		if count < 2 || unit == "m" || unit == "y" || told(lasting) || !told(ahead) {
			return 0, ""
		}
		sign = ""
	}
	return end, unit + strings.TrimPrefix(sign, "+") + strconv.Itoa(count)
}

// endsPhrase reports whether no noun follows, but for one behind a comma: "next winter" is a time, and "next winter olympics" none.
func endsPhrase(words []text.Word, at int) bool {
	return at >= len(words) || text.StopWords[words[at].Key] || text.Prepositions[words[at].Key] || words[at].Start > words[at-1].End+1
}

// At reads the words for a time seen from now that begin at words[at].
func At(words []text.Word, at int) (n int, cue string) {
	n, cue = Calendar.Prefix(words[at:])
	if m, c := whichOf.Prefix(words[at:]); m > n && (c[1] == 'd' || endsPhrase(words, at+m)) {
		n, cue = m, c
	}
	if m, c := awayAt(words, at); m > n {
		n, cue = m, c
	}
	if n == 0 && at > 0 && sinceWords[words[at-1].Key] {
		if day, is := DayNumber[words[at].Key]; is {
			return 1, "<d" + strconv.Itoa(day)
		}
	}
	return n, cue
}

// UnspacedMoments are the phrases of scripts without spaces, the longest first.
var UnspacedMoments = func() []text.Phrase {
	all := slices.Concat(whichOf.Inside, Calendar.Inside)
	slices.SortStableFunc(all, func(a, b text.Phrase) int { return cmp.Compare(len(b.Words[0]), len(a.Words[0])) })
	return all
}()

// Absolute replaces the words for days, weeks, months and years seen from now by their dates, and returns what it
// replaced: "yesterday → 19 November 2026". In quotation marks and in names with capitals they stay: "The Day After
// Tomorrow".
func Absolute(s, lang string, now time.Time) (string, []string) {
	var steps []string
	put := func(phrase, cue string) string {
		with := dated(cue, lang, now)
		steps = append(steps, phrase+" → "+with)
		return with
	}
	for _, p := range UnspacedMoments {
		if strings.Contains(s, p.Words[0]) {
			s = strings.ReplaceAll(s, p.Words[0], put(p.Words[0], p.Cue))
		}
	}
	words := text.Words(s)
	var out strings.Builder
	last := 0
	for i := 0; i < len(words); i++ {
		n, cue := At(words, i)
		if n == 0 || words[i].Start < last {
			continue
		}
		from, end := words[i].Start, words[i+n-1].End
		_, isDay := DayNumber[words[i].Key]
		title := i > 0 && words[i].Upper && !isDay || strings.Count(s[:from], `"`)%2 == 1
		if cue != "" && !title {
			if day, is := DayNumber[words[max(0, i-1)].Key]; is && cue[0] == 'w' { // "Monday next week"
				from, cue = words[i-1].Start, cue+"."+strconv.Itoa(day)
			}
			out.WriteString(s[last:from] + put(s[from:end], cue))
			last = end
		}
		i += n - 1
	}
	return out.String() + s[last:], steps
}

// DayAsked returns the day that a question names in words like "tomorrow", or the zero date.
func DayAsked(s string, words []text.Word, now time.Time) text.Date {
	on := func(t time.Time) text.Date { return text.Date{Year: t.Year(), Month: int(t.Month()), Day: t.Day()} }
	for i := 0; i < len(words); i++ {
		n, cue := At(words, i)
		if t, is := dayOf(cue, now); is {
			return on(t)
		}
		i += max(0, n-1)
	}
	for _, p := range UnspacedMoments {
		if day, is := dayOf(p.Cue, now); is && strings.Contains(s, p.Words[0]) {
			return on(day)
		}
	}
	if len(AtOnce.FindAll(s, words)) > 0 {
		return on(now)
	}
	return text.Date{}
}

// AtOnce are the words for now.
var AtOnce = text.Compile(map[string]lang.Phrases{"d0": lang.All().Time.Now})
