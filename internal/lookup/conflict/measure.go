package conflict

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// measure is a quantity and what it is said of. Its lists but years are sets.
type measure struct {
	text.Quantity
	written string
	before  []string // the terms before it
	names   []string // … the names among them
	name    string   // … and the last of those
	aspect  []string // … and the other words, and what is measured: "long" is a length
	after   []string // the words behind it in its clause: where, when, of which
	years   []string // before it, or in its clause
}

// breaks are where one statement ends and another begins.
var breaks = regexp.MustCompile(`(?i)[,;:()–—]\s|[;:()–—]|\s(?:` + lang.All().Conflict.Breaks.String() + `)\s`)

// dimensions are the words behind a unit that say what was measured.
var dimensions = text.ByWord(lang.All().Number.Dimensions)

// measuresOf returns the measures of a text. One that denies has none.
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
		m := measure{Quantity: q, written: strings.TrimSpace(s[q.Span.From:q.To] + " " + unit(behind))}
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
			m.aspect = append(m.aspect, aspect(w))
		}
	}
}

func (m *measure) readBehind(clause string) {
	for i, w := range text.Words(clause) {
		switch dimension := dimensions[w.Key]; {
		case dimension != "" && i < 3:
			m.aspect = append(m.aspect, dimension)
		case text.Meaningful(w.Key) && !(i == 0 && m.Unit != ""):
			m.after = append(m.after, aspect(w))
		}
	}
}

// aspect returns the dimension that a word stands for, or its stem.
func aspect(w text.Word) string {
	stem := text.Stem(w.Key, "")
	return cmp.Or(dimensions[stem], stem)
}

// unit returns the unit right behind a number, as written.
func unit(behind string) string {
	behind = strings.TrimLeft(behind, " -")
	if strings.HasPrefix(behind, "%") {
		return "%"
	}
	if w, ok := text.WordBehind(behind); ok && w.Start == 0 {
		return behind[:w.End]
	}
	return ""
}

// contradicts reports whether two measures are of the same thing and cannot both be right.
func (m measure) contradicts(n measure) bool {
	return m.alike(n) && !m.Agrees(n.Quantity) && m.sameTime(n) && (len(m.after) == 0 || len(n.after) == 0 || nested(m.after, n.after))
}

// alike reports whether two measures look like those of the same thing: they have the same unit, most of the words
// before it and the last name are the same, and the names and aspects of one are among those of the other.
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

// sameTime reports whether two measures can be of one time: what is counted in 2010 is another number in 2020.
func (m measure) sameTime(n measure) bool {
	if len(m.years) == 0 || len(n.years) == 0 {
		return len(m.years) == len(n.years)
	}
	return slices.ContainsFunc(m.years, func(y string) bool { return slices.Contains(n.years, y) })
}

// nested reports whether one of two sets holds all of the other.
func nested(a, b []string) bool { return text.Common(a, b) == min(len(a), len(b)) }
