package factcheck

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/text"
)

// event is something that happens to a thing once, with its date.
type event struct {
	kind    string // cue of [eventPhrases]
	date    text.Date
	written string      // the date as written
	subject []text.Word // what it happened to, in words of content
	manner  []text.Word // the words of content between event and date: where, by whom, to whom
}

// eventPhrases are phrases for what happens once, by kind. Two years of an election belong to two elections, but two
// years of a birth contradict each other.
var eventPhrases = sync.OnceValue(func() text.Phrases { return text.Compile(text.AllTables().Conflict.Events) })

var (
	// notHappened are words for what did not happen, has not yet, only partly, or again.
	notHappened = text.LazySet(func() text.WordList { return text.AllTables().Conflict.NotHappened })
	// nearDate are words before a date that is not the event's.
	nearDate = text.LazySet(func() text.WordList { return text.AllTables().Conflict.NearDate })
	// beforeYear are words that make the number after them a year. dateFillers are words before a date that say nothing.
	beforeYear  = text.LazySet(func() text.WordList { return text.AllTables().Conflict.BeforeYear })
	dateFillers = text.LazySet(func() text.WordList { return text.AllTables().Conflict.DateFillers })
	dash        = text.NewLazyRegexp(`^\s*[-–—/]|[-–—/]\s*$`)
)

// eventsOf returns the dated events of a text. A denial has none.
func eventsOf(s string) []event {
	if text.Denies(s) {
		return nil
	}
	dates, rest := text.Dates(s)
	for _, m := range text.YearPattern.FindAllStringIndex(rest, -1) {
		year, _ := strconv.Atoi(rest[m[0]:m[1]]) // digits by the pattern
		dates = append(dates, text.DateSpan{Date: text.Date{Year: year}, Span: text.Span{From: m[0], To: m[1]}})
	}
	var out []event
	for _, d := range dates {
		if e, ok := eventAt(s, rest, d); ok {
			out = append(out, e)
		}
	}
	return out
}

// eventAt reads what happened at a date of the text. rest is the text without full dates.
func eventAt(s, rest string, d text.DateSpan) (e event, ok bool) {
	from, to := clauseAround(rest, d.Span)
	before, behind := s[from:d.From], s[d.To:to]
	words, after := text.Words(before), text.Words(behind)
	if inRange(s, d.Span) || inexact(words) || slices.ContainsFunc(slices.Concat(words, after), func(w text.Word) bool { return notHappened()[w.Key] && !w.Upper }) {
		return e, false
	}
	e = event{date: d.Date, written: s[d.From:d.To]}
	if all := eventPhrases().FindAll(before, words); len(all) > 0 {
		m := all[len(all)-1]
		e.kind = m.Cue
		e.subject, e.manner = text.ContentWords(before[:words[m.From].Start]), text.ContentWords(before[words[m.To-1].End:])
		if byPlace[e.kind] {
			e.manner = append(e.manner, text.ContentWords(behind)...)
		}
		if len(e.subject) == 0 {
			e.subject = text.ContentWords(rest[:from])
		}
		// A number is a year if a function word says so, or if the event precedes it directly.
		ok = d.Month > 0 || len(words) == m.To || follows(words, beforeYear()) || follows(words, seasons())
	} else if all := eventPhrases().FindAll(behind, after); len(all) > 0 {
		m := all[0]
		e.kind = m.Cue
		e.subject = append(text.ContentWords(before), text.ContentWords(behind[:after[m.From].Start])...)
		ok = d.Month > 0 || follows(words, beforeYear()) || follows(words, auxiliaries())
	}
	e.subject = nameOf(e.subject)
	return e, ok && len(e.subject) > 0
}

// clauseAround returns the range of the clause around a part of a text.
func clauseAround(s string, at text.Span) (from, to int) {
	to = len(s)
	for _, b := range breaks.FindAllStringIndex(s, -1) {
		switch {
		case b[1] <= at.From:
			from = b[1]
		case b[0] >= at.To:
			return from, b[0]
		}
	}
	return from, to
}

// inRange reports whether a date is one end of a range, by a dash next to it.
func inRange(s string, at text.Span) bool {
	return dash.MatchString(s[max(0, at.From-3):at.From]) && strings.ContainsAny(s[max(0, at.From-6):at.From], "0123456789") ||
		dash.MatchString(s[at.To:min(len(s), at.To+3)])
}

// inexact reports whether the words before a date make it inexact.
func inexact(words []text.Word) bool {
	for _, w := range slices.Backward(words) {
		if !dateFillers()[w.Key] {
			return nearDate()[w.Key]
		}
	}
	return false
}

// follows reports whether the last word is in a table.
func follows(words []text.Word, table map[string]bool) bool {
	return len(words) > 0 && table[words[len(words)-1].Key]
}

// nameOf keeps the words that name a thing. A number belongs to the name before it: Windows 10 is not Windows 11.
func nameOf(words []text.Word) []text.Word {
	var out []text.Word
	named := false
	for _, w := range words {
		if !auxiliaries()[w.Key] && text.MonthNames()[w.Key] == 0 && (!text.Numeric(w.Key) || named) {
			out = append(out, w)
		}
		named = w.Upper
	}
	return out
}

var (
	// auxiliaries are words between a thing and what happens to it.
	auxiliaries = text.LazySet(func() text.WordList { return text.AllTables().Conflict.Auxiliaries })
	seasons     = text.LazySet(func() text.WordList { return text.AllTables().Conflict.Seasons })
)

// agrees reports whether two events are of one kind with compatible dates.
func (e event) agrees(f event) bool { return e.kind == f.kind && !e.date.Clashes(f.date) }

// contradicts reports whether two events are the same with incompatible dates.
func (e event) contradicts(f event) bool {
	return e.kind == f.kind && e.date.Clashes(f.date) && sameThing(e.subject, f.subject) && e.alongside(f)
}

// sameThing reports whether two phrases name the same thing. They have the same words, or one has more words before the name, as "Everest"
// and "Mount Everest".
func sameThing(a, b []text.Word) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || a[len(a)-1].Key != b[len(b)-1].Key {
		return false
	}
	named := len(a) == len(b) || slices.ContainsFunc(a, isUpper)
	return named && !slices.ContainsFunc(a, func(w text.Word) bool { return !hasWord(b, w) }) &&
		!slices.ContainsFunc(b, func(w text.Word) bool { return !w.Upper && !hasWord(a, w) })
}

// byPlace are the kinds that happen once in each place, or to each part.
var byPlace = map[string]bool{"release": true, "publishing": true, "opening": true, "launch": true}

// alongside reports whether the manners of two events are compatible: they share a word, or one is empty.
func (e event) alongside(f event) bool {
	if len(e.manner) == 0 || len(f.manner) == 0 {
		return !byPlace[e.kind] || !slices.ContainsFunc(slices.Concat(e.manner, f.manner), isUpper)
	}
	return slices.ContainsFunc(e.manner, func(w text.Word) bool { return hasWord(f.manner, w) })
}

func isUpper(w text.Word) bool { return w.Upper }

func hasWord(words []text.Word, w text.Word) bool {
	return slices.ContainsFunc(words, func(o text.Word) bool { return o.Key == w.Key })
}

// measure is a quantity and what it measures. Its lists are sets, except years.
type measure struct {
	text.Quantity
	written string
	before  []string // the terms before it
	names   []string // the names among them
	name    string   // the last name
	aspect  []string // the other words, and the dimension: "long" is a length
	after   []string // the words after it in its clause: where, when, of what
	years   []string // before it or in its clause
}

// breaks match the end of one statement and the beginning of another.
var breaks = text.LazyRegexpOf(func() string {
	return `(?i)[,;:()–—]\s|[;:()–—]|\s(?:` + text.AllTables().Conflict.Breaks.String() + `)\s`
})

// dimensions maps words after a unit to what was measured.
var dimensions = sync.OnceValue(func() map[string]string { return text.ByWord(text.AllTables().Number.Dimensions) })

// measuresOf returns the measures of a text. A denial has none.
func measuresOf(s string) []measure {
	if text.Denies(s) {
		return nil
	}
	var out []measure
	from := 0
	for _, q := range text.Quantities(s) {
		before, behind := s[from:q.Span.From], s[q.To:]
		from = q.To
		clause := behind
		if b := breaks.FindStringIndex(behind); b != nil {
			clause = behind[:b[0]]
		}
		m := measure{Quantity: q, written: strings.TrimSpace(s[q.Span.From:q.To] + " " + text.UnitBehind(behind))}
		m.years = text.YearPattern.FindAllString(s[:q.Span.From]+" ; "+clause, -1)
		m.readBefore(before[strings.LastIndexAny(before, ";:")+1:])
		m.readBehind(clause)
		m.before, m.names, m.aspect, m.after = text.Unique(m.before), text.Unique(m.names), text.Unique(m.aspect), text.Unique(m.after)
		out = append(out, m)
	}
	return out
}

func (m *measure) readBefore(s string) {
	m.before = text.Terms(s, "")
	for _, w := range text.ContentWords(s) {
		if w.Upper {
			m.names, m.name = append(m.names, w.Key), w.Key
		} else {
			m.aspect = append(m.aspect, aspectOf(w))
		}
	}
}

func (m *measure) readBehind(clause string) {
	for i, w := range text.Words(clause) {
		switch dimension := dimensions()[w.Key]; {
		case dimension != "" && i < 3:
			m.aspect = append(m.aspect, dimension)
		case text.Meaningful(w.Key) && !(i == 0 && m.Unit != ""):
			m.after = append(m.after, aspectOf(w))
		}
	}
}

// aspectOf returns the dimension of a word, or its stem.
func aspectOf(w text.Word) string {
	stem := text.Stem(w.Key, "")
	return cmp.Or(dimensions()[stem], stem)
}

// contradicts reports whether two measures of the same thing cannot both be right.
func (m measure) contradicts(n measure) bool {
	return m.alike(n) && !m.Agrees(n.Quantity) && m.sameTime(n) && (len(m.after) == 0 || len(n.after) == 0 || nested(m.after, n.after))
}

// alike reports whether two measures seem to be of the same thing. They have the same unit and last name, and share most words before it.
// The names and aspects of one include the other's.
func (m measure) alike(n measure) bool {
	if m.Unit != n.Unit || !nested(m.names, n.names) || !nested(m.aspect, n.aspect) || (len(m.aspect) == 0) != (len(n.aspect) == 0) {
		return false
	}
	if m.name != "" && n.name != "" && m.name != n.name {
		return false
	}
	shared := text.Common(m.before, n.before)
	return shared >= 2 && shared*10 >= min(len(m.before), len(n.before))*6
}

// sameTime reports whether two measures may be of the same time: a count of 2010 differs from one of 2020.
func (m measure) sameTime(n measure) bool {
	if len(m.years) == 0 || len(n.years) == 0 {
		return len(m.years) == len(n.years)
	}
	return slices.ContainsFunc(m.years, func(y string) bool { return slices.Contains(n.years, y) })
}

// nested reports whether one of two sets contains the other.
func nested(a, b []string) bool { return text.Common(a, b) == min(len(a), len(b)) }
