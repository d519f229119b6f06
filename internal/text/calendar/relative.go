// Package calendar reads words for times seen from now, such as "yesterday", "last Friday" and "3 days ago", and gives
// their dates.
//
// relative.go finds the words: [At] makes a [Moment] of them. absolute.go makes dates of moments: [Absolute] writes them
// into a text, and [Day] returns the day that a question is about.
package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Phrases has the words for days, weeks, months and years seen from now. The cue is the unit and how many of it
// away: "d-1" is yesterday. A cue of "" keeps a phrase from being taken for a shorter one.
var Phrases = text.Compile(lang.All().Time.Calendar)

// whichOf has the days of the week, the months and the seasons with a word for which of them is meant: "last Friday",
// "this summer", "next May". The cue is "<", "=" or ">", what it is, and its number, from Sunday, January or spring on.
var whichOf = func() text.Phrases {
	rows := map[string]lang.Phrases{}
	add := func(kind string, names lang.Row, which map[string]lang.Phrases) {
		for i, name := range names.All() {
			for dir, words := range map[string]string{"<": "last", "=": "this", ">": "next"} {
				rows[dir+kind+strconv.Itoa(i)] += "," + lang.Phrases(strings.ReplaceAll(string(which[words]), "%s", name))
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

// dayNumber has the days of the week by their names, from Sunday on.
var dayNumber = func() map[string]int {
	days := map[string]int{}
	for i, name := range lang.All().Time.Weekdays.All() {
		days[text.Fold(name)] = i
	}
	return days
}()

// sinceWords are the words behind which a day of the week is the last of that name: "since Monday".
var sinceWords = text.Set(lang.All().Time.Since)

// spelledCounts has small numbers in words, and units the words for units of time with their letters in cues.
var (
	spelledCounts = func() map[string]int {
		all := map[string]int{}
		for i, form := range lang.All().Number.Counts.All() {
			all[text.Fold(form)] = i + 1
		}
		return all
	}()
	units = text.ByWord(lang.All().Time.Units)
)

// What stands before or behind a number of days in the past or ahead. "In" more often tells how long something takes:
// it counts where no word of lasting is, and one of ahead.
var (
	pastBefore  = text.Compile(map[string]lang.Phrases{"-": lang.All().Time.PastBefore})
	pastBehind  = text.Set(lang.All().Time.PastAfter)
	aheadBefore = text.Compile(lang.All().Time.FutureBefore)
	lasting     = text.Set(lang.All().Time.Duration)
	ahead       = text.Set(lang.All().Time.Future)
)

// Moment is a time seen from now: a number of units away, or a day, month or season of a name. The zero Moment is none.
type Moment struct {
	which   byte // '<', '=' or '>': the last, this or the next one of its name; 0: n units away
	unit    byte // of day, week, weekend ('e'), month, season, quarter or year, the first letter
	n       int  // how many units away, or the number of the name
	weekday int  // that is meant of a week, from 1 for Sunday; 0: the whole week
}

// parseCue reads the cues of the tables: "d-1" is yesterday, and ">m4" next May.
func parseCue(cue string) Moment {
	var m Moment
	if cue == "" {
		return m
	}
	if strings.IndexByte("<=>", cue[0]) >= 0 {
		m.which, cue = cue[0], cue[1:]
	}
	m.unit = cue[0]
	m.n, _ = strconv.Atoi(cue[1:])
	return m
}

// Away returns how many of a unit away a moment is: 'd' is for days, 'w' for weeks, 'm' for months, 'y' for years. It
// reports false for one that is counted otherwise.
func (m Moment) Away(unit byte) (n int, ok bool) { return m.n, m.which == 0 && m.unit == unit }

// At reads the words for a time seen from now that begin at words[at]: how many they are, and the time. That is zero for
// words that only look like one.
func At(words []text.Word, at int) (n int, m Moment) {
	n, cue := Phrases.Prefix(words[at:])
	if longer, c := whichOf.Prefix(words[at:]); longer > n && (c[1] == 'd' || endsPhrase(words, at+longer)) {
		n, cue = longer, c
	}
	m = parseCue(cue)
	if longer, counted := countedAt(words, at); longer > n {
		n, m = longer, counted
	}
	if n == 0 && at > 0 && sinceWords[words[at-1].Key] {
		if day, ok := Weekday(words[at].Key); ok {
			return 1, Moment{which: '<', unit: 'd', n: day}
		}
	}
	return n, m
}

// countedAt reads "3 days ago" and "in two weeks" at the beginning of words[at:].
func countedAt(words []text.Word, at int) (n int, m Moment) {
	rest := words[at:]
	n, sign := pastBefore.Prefix(rest)
	if n == 0 {
		n, sign = aheadBefore.Prefix(rest)
	}
	if n+1 >= len(rest) {
		return 0, m
	}
	count, unit, end := spelledCounts[rest[n].Key], units[rest[n+1].Key], n+2
	if text.Numeric(rest[n].Key) {
		count, _ = strconv.Atoi(rest[n].Key)
	}
	switch {
	case count == 0 || count > 5000 || unit == "":
		return 0, m
	case n == 0 && end < len(rest) && pastBehind[rest[end].Key]:
		end, sign = end+1, "-"
	case n == 0, sign == "in" && (count < 2 || unit == "m" || unit == "y" || text.ContainsAny(words, lasting) || !text.ContainsAny(words, ahead)):
		return 0, m
	}
	if sign == "-" {
		count = -count
	}
	return end, Moment{unit: unit[0], n: count}
}

// endsPhrase reports whether no noun follows, unless behind a mark: "next winter" is a time, and "next winter olympics"
// is none.
func endsPhrase(words []text.Word, at int) bool {
	return at >= len(words) || text.StopWords[words[at].Key] || text.Prepositions[words[at].Key] || words[at].Start > words[at-1].End+1
}

// Weekday returns the number of a day of the week, from 0 for Sunday, by its name as a word's key.
func Weekday(key string) (day int, ok bool) {
	day, ok = dayNumber[key]
	return day, ok
}

// WeekdayLike returns the name of a day of the week in the language of another day's name. A day may be of the week
// before or after.
func WeekdayLike(key string, day int) string {
	for _, code := range lang.Codes() {
		days := lang.Of(code).Time.Weekdays
		for _, name := range days.All() {
			if text.Fold(name) == key {
				return days.Name((day + 7) % 7)
			}
		}
	}
	return key
}

// unspaced are the phrases of scripts without spaces, the longest first.
var unspaced = func() []text.Phrase {
	all := slices.Concat(whichOf.Inside, Phrases.Inside)
	slices.SortStableFunc(all, func(a, b text.Phrase) int { return cmp.Compare(len(b.Words[0]), len(a.Words[0])) })
	return all
}()

// IsUnspaced reports whether s is a time seen from now in a script without spaces.
func IsUnspaced(s string) bool {
	return slices.ContainsFunc(unspaced, func(p text.Phrase) bool { return p.Words[0] == s })
}

// CutUnspaced removes the times seen from now from a text without spaces, with the particle behind them.
func CutUnspaced(s, particle string) string {
	for _, p := range unspaced {
		s = strings.ReplaceAll(strings.ReplaceAll(s, p.Words[0]+particle, ""), p.Words[0], "")
	}
	return s
}

// NowWords has the words for now.
var NowWords = text.CompileOne(lang.All().Time.Now)
