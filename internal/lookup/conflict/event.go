package conflict

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// event is something that happens to a thing once, and its date.
type event struct {
	kind    string // cue of [eventPhrases]
	date    text.Date
	written string      // the date
	subject []text.Word // what it happened to: words of content
	manner  []text.Word // … and those between the event and the date: where, by whom, to whom
}

// eventPhrases are for what happens to a thing a single time, by kind. Two years of an election are those of two
// elections; two years of a birth contradict each other.
var eventPhrases = text.Compile(lang.All().Conflict.Events)

var (
	// notHappened are words for what did not happen, or not yet, or to a part, or once more.
	notHappened = text.Set(lang.All().Conflict.NotHappened)
	// nearDate are words before a date that is not that of the event.
	nearDate = text.Set(lang.All().Conflict.NearDate)
	// beforeYear are words by which a number is a year; dateFillers are words before a date that say nothing.
	beforeYear  = text.Set(lang.All().Conflict.BeforeYear)
	dateFillers = text.Set(lang.All().Conflict.DateFillers)
	dash        = regexp.MustCompile(`^\s*[-–—/]|[-–—/]\s*$`)
)

// eventsOf returns the dated events of a text. One that denies has none.
func eventsOf(s string) []event {
	if text.Denies(s) {
		return nil
	}
	dates, rest := text.Dates(s)
	for _, m := range text.YearPattern.FindAllStringIndex(rest, -1) {
		year, _ := strconv.Atoi(rest[m[0]:m[1]]) // digits, as the pattern says
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

// eventAt reads what happened at a date of the text. The rest is the text without its full dates.
func eventAt(s, rest string, d text.DateSpan) (e event, ok bool) {
	from, to := clauseAround(rest, d.Span)
	before, behind := s[from:d.From], s[d.To:to]
	words, after := text.Words(before), text.Words(behind)
	if inRange(s, d.Span) || inexact(words) || slices.ContainsFunc(slices.Concat(words, after), func(w text.Word) bool { return notHappened[w.Key] && !w.Upper }) {
		return e, false
	}
	e = event{date: d.Date, written: s[d.From:d.To]}
	if all := eventPhrases.FindAll(before, words); len(all) > 0 {
		m := all[len(all)-1]
		e.kind = m.Cue
		e.subject, e.manner = text.ContentWords(before[:words[m.From].Start]), text.ContentWords(before[words[m.To-1].End:])
		if byPlace[e.kind] {
			e.manner = append(e.manner, text.ContentWords(behind)...)
		}
		if len(e.subject) == 0 {
			e.subject = text.ContentWords(rest[:from])
		}
		// A number is a year if a little word says so, or the event itself stands right before it.
		ok = d.Month > 0 || len(words) == m.To || follows(words, beforeYear) || follows(words, seasons)
	} else if all := eventPhrases.FindAll(behind, after); len(all) > 0 {
		m := all[0]
		e.kind = m.Cue
		e.subject = append(text.ContentWords(before), text.ContentWords(behind[:after[m.From].Start])...)
		ok = d.Month > 0 || follows(words, beforeYear) || follows(words, auxiliaries)
	}
	e.subject = nameOf(e.subject)
	return e, ok && len(e.subject) > 0
}

// clauseAround returns where the clause around a part of a text begins and ends.
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

// inRange reports whether a date is one end of a range, by the dash beside it.
func inRange(s string, at text.Span) bool {
	return dash.MatchString(s[max(0, at.From-3):at.From]) && strings.ContainsAny(s[max(0, at.From-6):at.From], "0123456789") ||
		dash.MatchString(s[at.To:min(len(s), at.To+3)])
}

// inexact reports whether the words before a date say that it is not the date itself.
func inexact(words []text.Word) bool {
	for _, w := range slices.Backward(words) {
		if !dateFillers[w.Key] {
			return nearDate[w.Key]
		}
	}
	return false
}

// follows reports whether the last of the words is in a table.
func follows(words []text.Word, table map[string]bool) bool {
	return len(words) > 0 && table[words[len(words)-1].Key]
}

// nameOf keeps the words that name a thing. A number is a part of the name before it: Windows 10 is not Windows 11.
func nameOf(words []text.Word) []text.Word {
	var out []text.Word
	named := false
	for _, w := range words {
		if !auxiliaries[w.Key] && text.MonthNames[w.Key] == 0 && (!text.Numeric(w.Key) || named) {
			out = append(out, w)
		}
		named = w.Upper
	}
	return out
}

var (
	// auxiliaries stand between a thing and what happens to it.
	auxiliaries = text.Set(lang.All().Conflict.Auxiliaries)
	seasons     = text.Set(lang.All().Conflict.Seasons)
)

// agrees reports whether two events are of one kind and may have one date.
func (e event) agrees(f event) bool { return e.kind == f.kind && !e.date.Clashes(f.date) }

// contradicts reports whether two events are the same one, and their dates cannot both be right.
func (e event) contradicts(f event) bool {
	return e.kind == f.kind && e.date.Clashes(f.date) && sameThing(e.subject, f.subject) && e.alongside(f)
}

// sameThing reports whether two phrases name the same thing: they have the same words, or the one is a name with more
// before it, as "Everest" and "Mount Everest".
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

// byPlace is what happens to a thing once in each place, or to each part of it.
var byPlace = map[string]bool{"release": true, "publishing": true, "opening": true, "launch": true}

// alongside reports whether the manners of two events go together: they share a word, or one says nothing.
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
