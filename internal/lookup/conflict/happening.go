package conflict

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// happening is a date of something that happens to a thing once, and the thing.
type happening struct {
	event   string // cue of [once]
	when    text.Date
	written string
	subject []text.Word // of content, what it happened to
	manner  []text.Word // … and between the event and the date: where, by whom, to whom
}

// once are the words for what happens to a thing a single time, by what happens. Two years of an election or a victory
// are two of them; two years of a birth contradict each other.
var once = text.Compile(lang.All().Conflict.Events)

var (
	// notSo are words for what did not happen, has not yet, or happened to a part or once more.
	notSo = text.Set(lang.All().Conflict.NotHappened)
	// nearly are words before a date that is not the date itself.
	nearly = text.Set(lang.All().Conflict.NearDate)
	// atYear are the words before a year that is one; skipped are those before a date that say nothing.
	atYear  = text.Set(lang.All().Conflict.BeforeYear)
	skipped = text.Set(lang.All().Conflict.DateFillers)
	dash    = regexp.MustCompile(`^\s*[-–—/]|[-–—/]\s*$`)
)

// happenings finds the dates of a text that are those of something that happens once.
func happenings(s string) []happening {
	if text.Denies(s) {
		return nil
	}
	dated, rest := text.DateSpans(s)
	var out []happening
	for _, d := range dated {
		if h, ok := happened(s, rest, d); ok {
			out = append(out, h)
		}
	}
	for _, m := range text.YearIn.FindAllStringIndex(rest, -1) {
		d := text.DateSpan{Date: text.Date{Year: atoi(rest[m[0]:m[1]])}, Span: text.Span{From: m[0], To: m[1]}}
		if h, ok := happened(s, rest, d); ok {
			out = append(out, h)
		}
	}
	return out
}

// happened reads what happened at a date of the text. The rest is the text without its full dates.
func happened(s, rest string, d text.DateSpan) (h happening, ok bool) {
	from, to := 0, len(s)
	for _, b := range breaks.FindAllStringIndex(rest, -1) {
		switch {
		case b[1] <= d.From:
			from = b[1]
		case b[0] >= d.To:
			to = min(to, b[0])
		}
	}
	before, behind := s[from:d.From], s[d.To:to]
	if dash.MatchString(s[max(0, d.From-3):d.From]) && strings.ContainsAny(s[max(0, d.From-6):d.From], "0123456789") || dash.MatchString(s[d.To:min(len(s), d.To+3)]) {
		return h, false
	}
	words := text.Words(before)
	last := len(words) - 1
	for last >= 0 && skipped[words[last].Key] {
		last--
	}
	if last >= 0 && nearly[words[last].Key] {
		return h, false
	}
	if slices.ContainsFunc(append(text.Words(before), text.Words(behind)...), func(w text.Word) bool { return notSo[w.Key] && !w.Upper }) {
		return h, false
	}
	h = happening{when: d.Date, written: s[d.From:d.To]}
	early, late := once.FindAll(before, words), once.FindAll(behind, text.Words(behind))
	switch {
	case len(early) > 0:
		e := early[len(early)-1]
		h.event = e.Cue
		h.subject, h.manner = text.ContentWords(before[:words[e.From].Start]), text.ContentWords(before[words[e.To-1].End:])
		if byPlace[h.event] {
			h.manner = append(h.manner, text.ContentWords(behind)...)
		}
		if len(h.subject) == 0 {
			h.subject = text.ContentWords(rest[:from])
		}
		if d.Month == 0 && !yearHere(words, e.To) {
			return h, false
		}
	case len(late) > 0:
		e, after := late[0], text.Words(behind)
		h.event = e.Cue
		h.subject = append(text.ContentWords(before), text.ContentWords(behind[:after[e.From].Start])...)
		if d.Month == 0 && !(len(words) > 0 && (atYear[words[len(words)-1].Key] || auxiliaries[words[len(words)-1].Key])) {
			return h, false
		}
	default:
		return h, false
	}
	h.subject = subjectOf(h.subject)
	return h, len(h.subject) > 0
}

// subjectOf keeps the words that name a thing. A number is a part of the name that it stands behind: Windows 10 is not
// Windows 11.
func subjectOf(words []text.Word) []text.Word {
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

// auxiliaries stand between a thing and what happens to it.
var auxiliaries = text.Set(lang.All().Conflict.Auxiliaries)

// yearHere says whether the number behind these words is a year: a little word says so, or the event itself stands
// before it.
func yearHere(words []text.Word, event int) bool {
	return len(words) == event || len(words) > 0 && (atYear[words[len(words)-1].Key] || seasons[words[len(words)-1].Key])
}

var seasons = text.Set(lang.All().Conflict.Seasons)

// contradicts reports whether two happenings are the same one and cannot both be right about its date.
func (h happening) contradicts(g happening) bool {
	return h.event == g.event && h.when.Clashes(g.when) && sameThing(h.subject, g.subject) && h.alongside(g)
}

// sameThing reports whether two phrases name the same thing: the same words, or the one a name with more before it, as
// "Everest" and "Mount Everest".
func sameThing(a, b []text.Word) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || a[len(a)-1].Key != b[len(b)-1].Key {
		return false
	}
	named := len(a) == len(b)
	for _, w := range a {
		named = named || w.Upper
		if !slices.ContainsFunc(b, func(o text.Word) bool { return o.Key == w.Key }) {
			return false
		}
	}
	return named && !slices.ContainsFunc(b, func(w text.Word) bool {
		return !w.Upper && !slices.ContainsFunc(a, func(o text.Word) bool { return o.Key == w.Key })
	})
}

// byPlace is what happens to a thing once in each place, or to each part of it.
var byPlace = map[string]bool{"release": true, "publishing": true, "opening": true, "launch": true}

// alongside reports whether the manners of two happenings go together: they share a word, or one says nothing.
func (h happening) alongside(g happening) bool {
	if len(h.manner) == 0 || len(g.manner) == 0 {
		return !byPlace[h.event] || !slices.ContainsFunc(slices.Concat(h.manner, g.manner), func(w text.Word) bool { return w.Upper })
	}
	return slices.ContainsFunc(h.manner, func(w text.Word) bool {
		return slices.ContainsFunc(g.manner, func(o text.Word) bool { return o.Key == w.Key })
	})
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // digits, as the pattern says
	return n
}
