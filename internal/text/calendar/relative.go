// Package calendar reads words for times seen from now, such as "yesterday", "last Friday" and "3 days ago", and gives
// their dates.
//
// relative.go finds the words: [At] gives each time a cue, its unit and how many of it away. absolute.go makes dates of
// cues: [Absolute] writes them into a text, and [Day] returns the day that a question is about.
package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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

// DayNumber are the days of the week by their names, from Sunday on.
var DayNumber = func() map[string]int {
	days := map[string]int{}
	for i, name := range lang.All().Time.Weekdays.All() {
		days[text.Fold(name)] = i
	}
	return days
}()

// sinceWords are those behind which a day of the week is the last of that name: "since Monday".
var sinceWords = text.Set(lang.All().Time.Since)

// spelledCounts are small numbers in words, and units those that time is counted in, by the letters of the calendar's cues.
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

// What stands before or behind a number of days that lie in the past or ahead. "In" is more often said of how long
// something takes, and is heard only where lasting finds no word of that.
var (
	pastBefore  = text.Compile(map[string]lang.Phrases{"-": lang.All().Time.PastBefore})
	pastBehind  = text.Set(lang.All().Time.PastAfter)
	aheadBefore = text.Compile(lang.All().Time.FutureBefore)
	lasting     = text.Set(lang.All().Time.Duration)
	ahead       = text.Set(lang.All().Time.Future)
)

// countedAt reads "3 days ago" and "in two weeks" at the beginning of words[at:]: how many words that are, and their cue.
func countedAt(words []text.Word, at int) (n int, cue string) {
	rest := words[at:]
	n, sign := pastBefore.Prefix(rest)
	if n == 0 {
		n, sign = aheadBefore.Prefix(rest)
	}
	if n+1 >= len(rest) {
		return 0, ""
	}
	count, unit, end := spelledCounts[rest[n].Key], units[rest[n+1].Key], n+2
	if text.Numeric(rest[n].Key) {
		count, _ = strconv.Atoi(rest[n].Key)
	}
	switch {
	case count == 0 || count > 5000 || unit == "":
		return 0, ""
	case n == 0 && end < len(rest) && pastBehind[rest[end].Key]:
		end, sign = end+1, "-"
	case n == 0:
		return 0, ""
	case sign == "in" && (count < 2 || unit == "m" || unit == "y" || text.ContainsAny(words, lasting) || !text.ContainsAny(words, ahead)):
		return 0, ""
	}
	if sign != "-" {
		sign = ""
	}
	return end, unit + sign + strconv.Itoa(count)
}

// endsPhrase reports whether no noun follows, unless behind a mark: "next winter" is a time, and "next winter olympics"
// is none.
func endsPhrase(words []text.Word, at int) bool {
	return at >= len(words) || text.StopWords[words[at].Key] || text.Prepositions[words[at].Key] || words[at].Start > words[at-1].End+1
}

// At reads the words for a time seen from now that begin at words[at]: how many they are, and the time's cue. The cue is
// "" for words that only look like a time.
func At(words []text.Word, at int) (n int, cue string) {
	n, cue = Calendar.Prefix(words[at:])
	if m, c := whichOf.Prefix(words[at:]); m > n && (c[1] == 'd' || endsPhrase(words, at+m)) {
		n, cue = m, c
	}
	if m, c := countedAt(words, at); m > n {
		n, cue = m, c
	}
	if n == 0 && at > 0 && sinceWords[words[at-1].Key] {
		if day, ok := DayNumber[words[at].Key]; ok {
			return 1, "<d" + strconv.Itoa(day)
		}
	}
	return n, cue
}

// DayLike returns the name of a day of the week, from Sunday on, in the language of another day's name. The number may
// be that of a day in the week before or after.
func DayLike(name string, number int) string {
	for _, code := range lang.Codes() {
		days := lang.Of(code).Time.Weekdays
		for _, day := range days.All() {
			if text.Fold(day) == name {
				return days.Name((number + 7) % 7)
			}
		}
	}
	return name
}

// UnspacedMoments are the phrases of scripts without spaces, the longest first.
var UnspacedMoments = func() []text.Phrase {
	all := slices.Concat(whichOf.Inside, Calendar.Inside)
	slices.SortStableFunc(all, func(a, b text.Phrase) int { return cmp.Compare(len(b.Words[0]), len(a.Words[0])) })
	return all
}()

// AtOnce are the words for now.
var AtOnce = text.Compile(map[string]lang.Phrases{"d0": lang.All().Time.Now})
