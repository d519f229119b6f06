package text

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// InZone returns at in a zone; nil means UTC.
func InZone(at time.Time, zone *time.Location) time.Time { return at.In(cmp.Or(zone, time.UTC)) }

// ZoneNamed returns the time zone with a name of the IANA database, which may lack its area: "Europe/Paris", "Paris". It is nil if there is
// none.
func ZoneNamed(name string) *time.Location {
	for _, area := range [...]string{"", "Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/", "Indian/"} {
		if zone, err := time.LoadLocation(area + name); err == nil {
			return zone
		}
	}
	return nil
}

// ZoneCalled returns the time zone that a person calls "Europe/Paris", "Paris" or "UTC+2".
func ZoneCalled(called string) (zone *time.Location, known bool) {
	called = strings.ReplaceAll(strings.TrimSpace(called), " ", "_")
	if called == "" || strings.EqualFold(called, "local") {
		return nil, false
	}
	for _, from := range []string{"UTC", "GMT"} {
		if offset, is := strings.CutPrefix(strings.ToUpper(called), from); is && offset != "" {
			hours, err := strconv.Atoi(offset)
			if err != nil || hours < -12 || hours > 14 {
				return nil, false
			}
			return time.FixedZone(fmt.Sprintf("UTC%+d", hours), hours*3600), true
		}
	}
	name := strings.ToLower(called)
	for i := range name {
		if i == 0 || strings.IndexByte("/_-", name[i-1]) >= 0 {
			name = name[:i] + strings.ToUpper(name[i:i+1]) + name[i+1:]
		}
	}
	for _, one := range []string{called, strings.ToUpper(called), name} {
		if zone := ZoneNamed(one); zone != nil {
			return zone, true
		}
	}
	return nil, false
}

// ZonedNow returns the current time of a clock in a zone. A nil clock is time.Now, and a nil zone is UTC.
func ZonedNow(clock func() time.Time, zone *time.Location) time.Time {
	if clock == nil {
		clock = time.Now
	}
	return InZone(clock(), zone)
}

// CalendarPhrases holds the phrases for days, weeks, months and years relative to now. The cue is a unit and a
// distance: "d-1" is yesterday. The cue "" marks a phrase that only begins like a shorter one.
var CalendarPhrases = sync.OnceValue(func() Phrases { return Compile(AllTables().Time.Calendar) })

// whichOf holds weekdays, months and seasons with a word that selects one: "last Friday", "this summer", "next May".
// The cue is "<", "=" or ">", then the kind, then the number, counted from Sunday, January or spring.
var whichOf = sync.OnceValue(func() Phrases {
	rows := map[string]PhraseList{}
	add := func(kind string, names Row, which map[string]PhraseList) {
		for i, name := range names.All() {
			for dir, words := range map[string]string{"<": "last", "=": "this", ">": "next"} {
				rows[dir+kind+strconv.Itoa(i)] += "," + PhraseList(strings.ReplaceAll(string(which[words]), "%s", name))
			}
		}
	}
	for _, code := range Languages() {
		t := TablesOf(code).Time
		add("d", t.Weekdays, t.Which)
		add("m", t.Months, t.Which)
		add("s", t.Seasons, t.Which)
		add("d", cmp.Or(t.WhichDays, t.Weekdays), t.WhichDay)
		for cue, phrases := range t.WhichOther {
			rows[cue] += "," + phrases
		}
	}
	return Compile(rows)
})

// dayNumber holds the numbers of weekdays by name, from 0 for Sunday.
var dayNumber = sync.OnceValue(func() map[string]int {
	days := map[string]int{}
	for i, name := range AllTables().Time.Weekdays.All() {
		days[Fold(name)] = i
	}
	return days
})

// sinceWords are words after which a weekday is the last one of that name: "since Monday".
var sinceWords = LazySet(func() WordList { return AllTables().Time.Since })

// spelledCounts holds small numbers in words, and units the letter of each unit of time.
var (
	spelledCounts = sync.OnceValue(func() map[string]int {
		all := map[string]int{}
		for i, form := range AllTables().Number.Counts.All() {
			all[Fold(form)] = i + 1
		}
		return all
	})
	units = sync.OnceValue(func() map[string]string { return ByWord(AllTables().Time.Units) })
)

// Words before or after a number of days in the past or future. "In" often gives a duration. So it counts only with a word of the future
// and without a word of duration.
var (
	pastBefore  = sync.OnceValue(func() Phrases { return Compile(map[string]PhraseList{"-": AllTables().Time.PastBefore}) })
	pastBehind  = LazySet(func() WordList { return AllTables().Time.PastAfter })
	aheadBefore = sync.OnceValue(func() Phrases { return Compile(AllTables().Time.FutureBefore) })
	lasting     = LazySet(func() WordList { return AllTables().Time.Duration })
	ahead       = LazySet(func() WordList { return AllTables().Time.Future })
)

// Moment is a time relative to now: a number of units away, or a named day, month or season. The zero Moment is none.
type Moment struct {
	which   byte // '<', '=' or '>': the last, this or the next one of its name; 0: n units away
	unit    byte // of day, week, weekend ('e'), month, season, quarter or year, the first letter
	n       int  // how many units away, or the number of the name
	weekday int  // weekday within a week, from 1 for Sunday; 0: the whole week
}

// parseCue parses a cue of the tables: "d-1" is yesterday, and ">m4" is next May.
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

// Away returns how many units away a moment is. The unit is 'd' for days, 'w' for weeks, 'm' for months, 'y' for years. ok is false if the
// moment is not counted in that unit.
func (m Moment) Away(unit byte) (n int, ok bool) { return m.n, m.which == 0 && m.unit == unit }

// MomentAt parses a relative time at words[at]. It returns the number of its words and the time, which is zero for
// words that only look like one.
func MomentAt(words []Word, at int) (n int, m Moment) {
	n, cue := CalendarPhrases().Prefix(words[at:])
	if longer, c := whichOf().Prefix(words[at:]); longer > n && (c[1] == 'd' || endsPhrase(words, at+longer)) {
		n, cue = longer, c
	}
	m = parseCue(cue)
	if longer, counted := countedAt(words, at); longer > n {
		n, m = longer, counted
	}
	if n == 0 && at > 0 && sinceWords()[words[at-1].Key] {
		if day, ok := Weekday(words[at].Key); ok {
			return 1, Moment{which: '<', unit: 'd', n: day}
		}
	}
	return n, m
}

// countedAt parses "3 days ago" and "in two weeks" at words[at].
func countedAt(words []Word, at int) (n int, m Moment) {
	rest := words[at:]
	n, sign := pastBefore().Prefix(rest)
	if n == 0 {
		n, sign = aheadBefore().Prefix(rest)
	}
	if n+1 >= len(rest) {
		return 0, m
	}
	count, unit, end := spelledCounts()[rest[n].Key], units()[rest[n+1].Key], n+2
	if Numeric(rest[n].Key) {
		count, _ = strconv.Atoi(rest[n].Key)
	}
	switch {
	case count == 0 || count > 5000 || unit == "":
		return 0, m
	case n == 0 && end < len(rest) && pastBehind()[rest[end].Key]:
		end, sign = end+1, "-"
	case n == 0, sign == "in" && (count < 2 || unit == "m" || unit == "y" || ContainsAny(words, lasting()) || !ContainsAny(words, ahead())):
		return 0, m
	}
	if sign == "-" {
		count = -count
	}
	return end, Moment{unit: unit[0], n: count}
}

// endsPhrase reports whether no noun follows directly: "next winter" is a time, and "next winter olympics" is not.
func endsPhrase(words []Word, at int) bool {
	return at >= len(words) || StopWords()[words[at].Key] || Prepositions()[words[at].Key] || words[at].Start > words[at-1].End+1
}

// Weekday returns the number of a weekday, from 0 for Sunday, by the key of its name.
func Weekday(key string) (day int, ok bool) {
	day, ok = dayNumber()[key]
	return day, ok
}

// WeekdayLike returns the name of a weekday in the language of key, another weekday's name. day may be in the week
// before or after.
func WeekdayLike(key string, day int) string {
	for _, code := range Languages() {
		days := TablesOf(code).Time.Weekdays
		for _, name := range days.All() {
			if Fold(name) == key {
				return days.Name((day + 7) % 7)
			}
		}
	}
	return key
}

// unspaced lists the phrases of scripts without spaces, longest first.
var unspaced = sync.OnceValue(func() []Phrase {
	all := slices.Concat(whichOf().Inside, CalendarPhrases().Inside)
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(len(b.Words[0]), len(a.Words[0])) < 0
	})
	return all
})

// IsUnspaced reports whether s is a relative time in a script without spaces.
func IsUnspaced(s string) bool {
	return slices.ContainsFunc(unspaced(), func(p Phrase) bool { return p.Words[0] == s })
}

// CutUnspaced removes relative times from a text without spaces, with the particle after each.
func CutUnspaced(s, particle string) string {
	for _, p := range unspaced() {
		s = strings.ReplaceAll(strings.ReplaceAll(s, p.Words[0]+particle, ""), p.Words[0], "")
	}
	return s
}

// NowWords holds the words for now.
var NowWords = sync.OnceValue(func() Phrases { return CompileOne(AllTables().Time.Now) })

// AbsoluteDates replaces relative days, weeks, months and years by dates in a language. It returns the replacements: "yesterday → 19
// November 2026". It changes nothing in quotation marks or in capitalised names: "The Day After Tomorrow".
func AbsoluteDates(s, language string, now time.Time) (dated string, steps []string) {
	date := func(phrase string, m Moment) string {
		with := m.format(language, now)
		steps = append(steps, phrase+" → "+with)
		return with
	}
	for _, p := range unspaced() {
		if strings.Contains(s, p.Words[0]) {
			s = strings.ReplaceAll(s, p.Words[0], date(p.Words[0], parseCue(p.Cue)))
		}
	}
	words := Words(s)
	var out strings.Builder
	copied := 0
	for i := 0; i < len(words); i++ {
		n, m := MomentAt(words, i)
		if n == 0 || words[i].Start < copied {
			continue
		}
		from, end := words[i].Start, words[i+n-1].End
		_, isDay := Weekday(words[i].Key)
		title := i > 0 && words[i].Upper && !isDay || strings.Count(s[:from], `"`)%2 == 1
		if m != (Moment{}) && !title {
			if day, ok := Weekday(words[max(0, i-1)].Key); ok && m.unit == 'w' { // "Monday next week"
				from, m.weekday = words[i-1].Start, day+1
			}
			out.WriteString(s[copied:from] + date(s[from:end], m))
			copied = end
		}
		i += n - 1
	}
	return out.String() + s[copied:], steps
}

// DayIn returns the day that a question names in words like "tomorrow", or the zero date.
func DayIn(s string, words []Word, now time.Time) Date {
	date := func(t time.Time) Date { return Date{Year: t.Year(), Month: int(t.Month()), Day: t.Day()} }
	for i := 0; i < len(words); i++ {
		n, m := MomentAt(words, i)
		if t, ok := m.Day(now); ok {
			return date(t)
		}
		i += max(0, n-1)
	}
	for _, p := range unspaced() {
		if t, ok := parseCue(p.Cue).Day(now); ok && strings.Contains(s, p.Words[0]) {
			return date(t)
		}
	}
	if len(NowWords().FindAll(s, words)) > 0 {
		return date(now)
	}
	return Date{}
}

// Day returns the day of a moment, and whether the moment is a day.
func (m Moment) Day(now time.Time) (time.Time, bool) {
	switch {
	case m.unit == 'w' && m.weekday > 0:
		return monday(now).AddDate(0, 0, 7*m.n+(m.weekday+5)%7), true
	case m.unit != 'd':
		return time.Time{}, false
	case m.which == 0:
		return now.AddDate(0, 0, m.n), true
	}
	away := (m.n - int(now.Weekday()) + 7) % 7 // to the next day of that name, today included
	if m.which == '<' || m.which == '>' && away == 0 {
		away += map[byte]int{'<': -7, '>': 7}[m.which]
	}
	return now.AddDate(0, 0, away), true
}

// format formats a moment as a date: a day, or the month, season, quarter or year that contains it.
func (m Moment) format(language string, now time.Time) string {
	if t, ok := m.Day(now); ok {
		return FormatDay(t, language)
	}
	month := func(away int) time.Time { // the first of it: no other day is in every month
		return time.Date(now.Year(), now.Month()+time.Month(away), 1, 12, 0, 0, 0, now.Location())
	}
	switch m.unit {
	case 'm':
		return formatMonth(month(m.monthsAway(now)), language)
	case 's':
		return m.formatSeason(language, now)
	case 'w': // the month with most of its days
		return formatMonth(monday(now).AddDate(0, 0, 7*m.n+3), language)
	case 'e':
		return formatMonth(monday(now).AddDate(0, 0, 7*m.n+5), language)
	case 'q':
		t := month(3 * m.n)
		return fmt.Sprintf("Q%d %d", (t.Month()+2)/3, t.Year())
	}
	return strconv.Itoa(now.Year() + m.n)
}

// monthsAway returns how many months away a month is.
func (m Moment) monthsAway(now time.Time) int {
	away := m.n + 1 - int(now.Month())
	switch {
	case m.which == 0:
		return m.n
	case m.which == '<' && away >= 0:
		away -= 12
	case m.which == '>' && away <= 0:
		away += 12
	}
	return away
}

// monday returns the Monday of the week of t.
func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

// formatSeason formats a season. A winter has both of its years.
func (m Moment) formatSeason(language string, now time.Time) string {
	year := m.season(now).Year()
	name := cmp.Or(TablesOf(language).Time.Seasons, TablesOf("en").Time.Seasons).Name(m.n)
	if m.n == 3 {
		return fmt.Sprintf("%s %d/%d", name, year, year+1)
	}
	return fmt.Sprintf("%s %d", name, year)
}

// season returns the start of a season of the northern hemisphere.
func (m Moment) season(now time.Time) time.Time {
	begins := func(year int) time.Time {
		return time.Date(year, time.Month(3+3*m.n), 1, 0, 0, 0, 0, now.Location())
	}
	year, winter := now.Year(), m.n == 3
	switch {
	case m.which == '<': // the last one that is over
		for begins(year).AddDate(0, 3, 0).After(now) {
			year--
		}
	case m.which == '>': // the first one that has not begun
		for !begins(year).After(now) {
			year++
		}
	case winter && now.Month() < time.March:
		year--
	}
	return begins(year)
}

// FormatDay writes a day as people do in a language.
func FormatDay(t time.Time, language string) string {
	in := writing(language)
	return format(t, in.DateLayout, in.Months)
}

func formatMonth(t time.Time, language string) string {
	in := writing(language)
	return format(t, in.MonthLayout, in.Months)
}

// writing returns the words for dates in a language, or the English ones if it has none.
func writing(language string) timeTables {
	if in := TablesOf(language).Time; in.DateLayout != "" {
		return in
	}
	return TablesOf("en").Time
}

// format is t.Format with the language's own name for the month.
func format(t time.Time, layout string, months Row) string {
	before, after, named := strings.Cut(layout, "January")
	if !named {
		return t.Format(layout)
	}
	return t.Format(before) + months.Name(int(t.Month())-1) + t.Format(after)
}

// ParseSince parses how far back somebody wants to look, in any language of the tables. Examples are "3h", "2 days", "yesterday" and "since
// Monday". s must hold nothing else, so it also accepts words that mean something else in another language: "hier".
func ParseSince(s string, now time.Time) (from time.Time, ok bool) {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	if d, err := time.ParseDuration(strings.ReplaceAll(s, " ", "")); err == nil {
		return now.Add(-d), d > 0
	}
	bare := withoutSince(s)
	if m := amount.FindStringSubmatch(bare); m != nil {
		n, _ := strconv.Atoi(m[1])
		return before(now, n, amountUnits()[Fold(m[2])])
	}
	if day, ok := weekdayOf(bare); ok {
		from, ok = (Moment{which: '<', unit: 'd', n: day}).Day(now)
		return midnight(from), ok
	}
	if n, ok := aloneDays[bare]; ok {
		return midnight(now.AddDate(0, 0, n)), true
	}
	for _, s := range []string{s, bare, "last " + bare, "the last " + strings.TrimPrefix(bare, "last ")} {
		if found, _, ok := PastSpan(s, Words(s), now); ok {
			return found.From, true
		}
	}
	return time.Time{}, false
}

// aloneDays are words for days that are too short or too ambiguous for the tables.
var aloneDays = map[string]int{"hier": -1, "avant-hier": -2, "anteayer": -2, "anteontem": -2, "一昨日": -2, "おととい": -2, "きのう": -1}

// amount is a number of units of time, with nothing around it but words for what is past.
var (
	amountUnits = sync.OnceValue(func() map[string]string {
		return ByWord(map[string]WordList{
			"i": "min mins minute minutes minuten minuto minutos 分 分間 分前",
			"h": "h hr hrs hour hours std stunde stunden heure heures hora horas 時間 時間前",
			"d": "d day days tag tage tagen jour jours dia dias día días 日 日間 日前",
			"w": "w week weeks woche wochen semaine semaines semana semanas 週間 週間前",
			"m": "month months monat monate monaten mois mes meses mês か月 ヶ月 か月前 ヶ月前",
		})
	})
	amount = NewLazyRegexp(`^(?:(?:the |die |den |les |las |los |os |as )?(?:last|past|letzten|vergangenen|derniers|dernières|últimos|últimas|hace|há|ha|il y a|vor) )?(\d{1,4}) ?([^\d\s]+)(?: (?:ago|atrás|passadas|pasadas|passados|pasados))?$`)
)

func before(now time.Time, n int, unit string) (time.Time, bool) {
	switch {
	case n < 1:
	case unit == "i":
		return now.Add(-time.Duration(n) * time.Minute), true
	case unit == "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case unit == "d":
		return now.AddDate(0, 0, -n), true
	case unit == "w":
		return now.AddDate(0, 0, -7*n), true
	case unit == "m":
		return now.AddDate(0, -n, 0), true
	case unit == "y":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}

// withoutSince removes the words that only say "from then until now".
func withoutSince(s string) string {
	first, rest, more := strings.Cut(s, " ")
	if more && sinceWords()[Fold(first)] {
		s = rest
		for _, article := range []string{"el ", "le ", "la ", "a ", "o "} {
			s = strings.TrimPrefix(s, article)
		}
	}
	for _, particle := range []string{"から", "以来"} {
		s = strings.TrimSuffix(s, particle)
	}
	return s
}

// weekdayOf returns the number of a weekday. It also knows names that are too ambiguous for the tables.
func weekdayOf(s string) (day int, ok bool) {
	if day, ok = Weekday(Fold(s)); ok {
		return day, true
	}
	day, ok = aloneWeekdays[strings.TrimSuffix(strings.TrimSuffix(s, "-feira"), "日")]
	return day, ok
}

var aloneWeekdays = map[string]int{
	"segunda": 1, "terça": 2, "quarta": 3, "quinta": 4, "sexta": 5,
	"日曜": 0, "月曜": 1, "火曜": 2, "水曜": 3, "木曜": 4, "金曜": 5, "土曜": 6,
}

// TimeSpan is the time from From up to To.
type TimeSpan struct{ From, To time.Time }

// PastSpan returns the first time in s that lies in the past. Examples are "yesterday", "last week", "since Monday", "the last 3 days", "in
// May" and "2026-11-03". It also returns the indexes of the words that name it.
func PastSpan(s string, words []Word, now time.Time) (span TimeSpan, of []int, ok bool) {
	for i := 0; i < len(words); i++ {
		if n, span, ok := lately(words[i:], now); ok {
			return span, indexes(i, n), true
		}
		n, m := MomentAt(words, i)
		if span, ok := m.span(now); ok {
			of := indexes(i, n)
			if i > 0 && sinceWords()[words[i-1].Key] {
				span.To, of = now, indexes(i-1, n+1)
			}
			if span.From.Before(now) {
				return span, of, true
			}
		}
		i += max(0, n-1)
	}
	for _, p := range unspaced() {
		if span, ok := parseCue(p.Cue).span(now); ok && span.From.Before(now) && strings.Contains(s, p.Words[0]) {
			return span, nil, true
		}
	}
	dates, _ := Dates(s)
	for _, d := range dates {
		if span, ok := dateSpan(d.Date, now); ok {
			var of []int
			for i, w := range words {
				if w.Start >= d.Span.From && w.End <= d.Span.To {
					of = append(of, i)
				}
			}
			return span, of, true
		}
	}
	return TimeSpan{}, nil, false
}

func indexes(from, n int) (all []int) {
	for i := range n {
		all = append(all, from+i)
	}
	return all
}

// latelyWords precede a number of units up to now. shortUnits holds the units that the tables leave out.
var (
	latelyWords = LazySet(func() WordList { return "last past letzten vergangenen últimos últimas derniers dernières passés" })
	shortUnits  = map[string]string{"minute": "i", "minutes": "i", "min": "i", "mins": "i", "hour": "h", "hours": "h", "h": "h"}
)

// lately parses "last 3 days", "past hour" and "last 24 hours" at the start of words. It returns how many words it used.
func lately(words []Word, now time.Time) (n int, span TimeSpan, ok bool) {
	if len(words) < 2 || !latelyWords()[words[0].Key] {
		return 0, span, false
	}
	count, n := 1, 1
	if c := spelledCounts()[words[1].Key]; c > 0 && len(words) > 2 {
		count, n = c, 2
	} else if Numeric(words[1].Key) && len(words) > 2 {
		count, _ = strconv.Atoi(words[1].Key)
		n = 2
	}
	if count > 5000 {
		return 0, span, false
	}
	unit := shortUnits[words[n].Key]
	if unit == "" && n > 1 { // "last week" is in the tables
		unit = units()[words[n].Key]
	}
	from, ok := before(now, count, unit)
	return n + 1, TimeSpan{from, now}, ok
}

// span returns the day, week, month or year of a moment.
func (m Moment) span(now time.Time) (TimeSpan, bool) {
	days := func(from time.Time, months, days int) (TimeSpan, bool) {
		from = midnight(from)
		return TimeSpan{from, from.AddDate(0, months, days)}, true
	}
	if t, ok := m.Day(now); ok {
		return days(t, 0, 1)
	}
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	switch m.unit {
	case 'w':
		return days(monday(now).AddDate(0, 0, 7*m.n), 0, 7)
	case 'e':
		return days(monday(now).AddDate(0, 0, 7*m.n+5), 0, 2)
	case 'm':
		return days(first.AddDate(0, m.monthsAway(now), 0), 1, 0)
	case 's':
		return days(m.season(now), 3, 0)
	case 'y':
		return days(time.Date(now.Year()+m.n, 1, 1, 0, 0, 0, 0, now.Location()), 12, 0)
	}
	return TimeSpan{}, false
}

// dateSpan returns the day or month of a date. A date without a year is the last one of its kind.
func dateSpan(d Date, now time.Time) (TimeSpan, bool) {
	if d.Month == 0 || d.Month > 12 {
		return TimeSpan{}, false
	}
	year, month, day := d.Year, 0, 1
	if d.Day == 0 {
		month, day = 1, 0
	}
	if year == 0 {
		year = now.Year()
	}
	from := time.Date(year, time.Month(d.Month), max(1, d.Day), 0, 0, 0, 0, now.Location())
	if d.Year == 0 && from.After(now) {
		from = from.AddDate(-1, 0, 0)
	}
	return TimeSpan{from, from.AddDate(0, month, day)}, from.Before(now)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
