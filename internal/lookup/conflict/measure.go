package conflict

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// measure is a quantity and what it is said of.
type measure struct {
	text.Quantity
	written string
	of      []string // the words before it, sorted
	names   []string // of these, the names, in their order
	doing   []string // and the others, sorted, with what is measured: "long" is a length
	after   []string // the words behind it in its clause, sorted: where, when, of which
	years   []string // before it, or in its clause
}

var (
	// breaks are where one statement ends and another begins.
	breaks = regexp.MustCompile(`(?i)[,;:()–—]\s|[;:()–—]|\s(?:` + lang.All().Conflict.Breaks.String() + `)\s`)
	// A range is one statement of two numbers.
	rangeBehind = regexp.MustCompile(`(?i)^\s*(?:[-–—/×x]|` + lang.All().Conflict.RangeLinks.String() + `)\s*[$€£¥]?\d`)
	rangeBefore = regexp.MustCompile(`(?i)\d\s*(?:[-–—/×x]|` + lang.All().Conflict.RangeLinks.String() + `)\s*[$€£¥]?$`)
)

// dimensions are the words behind a unit that say what was measured.
var dimensions = text.ByWord(lang.All().Number.Dimensions)

// measures finds what a text counts, of ranges and what is denied nothing.
func measures(s string) []measure {
	if text.Denies(s) {
		return nil
	}
	var out []measure
	from := 0
	for _, q := range text.Quantities(s) {
		before, behind := s[from:q.Span.From], s[q.To:]
		from = q.To
		if rangeBefore.MatchString(s[:q.Span.From]) || rangeBehind.MatchString(behind) {
			continue
		}
		before = before[strings.LastIndexAny(before, ";:")+1:]
		m := measure{Quantity: q, written: strings.TrimSpace(s[q.Span.From:q.To] + " " + oneWord(behind)), of: text.Unique(text.Terms(before, ""))}
		for _, w := range text.ContentWords(before) {
			if stemmed := text.Stem(w.Key, ""); w.Upper {
				m.names = append(m.names, w.Key)
			} else {
				m.doing = append(m.doing, orSame(dimensions, stemmed))
			}
		}
		clause := behind
		if b := breaks.FindStringIndex(behind); b != nil {
			clause = behind[:b[0]]
		}
		for i, w := range text.Words(clause) {
			switch dim := dimensions[w.Key]; {
			case dim != "" && i < 3:
				m.doing = append(m.doing, dim)
			case text.Meaningful(w.Key) && !(i == 0 && q.Unit != ""):
				m.after = append(m.after, orSame(dimensions, text.Stem(w.Key, "")))
			}
		}
		m.after = text.Unique(m.after)
		m.doing = text.Unique(m.doing)
		m.years = text.YearIn.FindAllString(s[:q.Span.From]+" ; "+clause, -1)
		out = append(out, m)
	}
	return out
}

func orSame(table map[string]string, key string) string {
	if v := table[key]; v != "" {
		return v
	}
	return key
}

func oneWord(s string) string {
	s = strings.TrimLeft(s, " -")
	if strings.HasPrefix(s, "%") {
		return "%"
	}
	words := text.Words(s[:min(len(s), 30)])
	if len(words) == 0 || words[0].Start > 0 {
		return ""
	}
	return s[:words[0].End]
}

// contradicts reports whether two measures are of the same thing and cannot both be right.
func (m measure) contradicts(n measure) bool {
	return m.alike(n) && !m.Agrees(n.Quantity) && m.sameTime(n) && (len(m.after) == 0 || len(n.after) == 0 || nested(m.after, n.after))
}

// alike reports whether two measures look like those of the same thing: the same unit, most of the words before it
// shared, the names of one those of the other, and the same said of them.
func (m measure) alike(n measure) bool {
	if m.Unit != n.Unit || !nested(m.names, n.names) || !nested(m.doing, n.doing) || (len(m.doing) == 0) != (len(n.doing) == 0) {
		return false
	}
	if len(m.names) > 0 && len(n.names) > 0 && m.names[len(m.names)-1] != n.names[len(n.names)-1] {
		return false
	}
	shared := int(text.Overlap(m.of, n.of)*float64(len(m.of)) + 0.5)
	return shared >= 2 && shared*10 >= min(len(m.of), len(n.of))*6
}

// sameTime reports whether two measures can be of one time: what is counted in 2010 is another number in 2020.
func (m measure) sameTime(n measure) bool {
	if len(m.years) == 0 || len(n.years) == 0 {
		return len(m.years) == len(n.years)
	}
	return slices.ContainsFunc(m.years, func(y string) bool { return slices.Contains(n.years, y) })
}

// nested reports whether one list holds all of the other.
func nested(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
