package websearch

import (
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// conflict is two sources, by number, that give different numbers for what looks like the same statement.
type conflict struct{ a, b int }

// measure is one number of a claim: what it counts and what it is said of.
type measure struct {
	number string
	unit   string   // the word behind it
	of     []string // the words before it in its clause, sorted
}

// conflicts compares the claims of different sources. Both sides of a conflict stay: the reader decides.
func conflicts(claims []turn.Claim) []conflict {
	all := make([][]measure, len(claims))
	for i, c := range claims {
		all[i] = measures(c.Text)
	}
	var out []conflict
	for i := range claims {
		for j := i + 1; j < len(claims); j++ {
			c := conflict{min(claims[i].Source, claims[j].Source), max(claims[i].Source, claims[j].Source)}
			if c.a != c.b && !slices.Contains(out, c) && disagree(all[i], all[j]) {
				out = append(out, c)
			}
		}
	}
	return out
}

// measures finds the numbers of a claim, dates and years aside.
func measures(text string) []measure {
	_, text = datesIn(text)
	var out []measure
	from := 0
	for _, m := range aNumber.FindAllStringIndex(text, -1) {
		raw := text[m[0]:m[1]]
		if aYear.MatchString(raw) && len(raw) == 4 {
			continue
		}
		before := text[from:m[0]]
		from = m[1]
		before = before[strings.LastIndexAny(before, ";:")+1:]
		out = append(out, measure{oneNumber(raw), unitOf(text[m[1]:]), unique(terms(before, ""))})
	}
	return out
}

// unitOf is the word right behind a number, or its sign.
func unitOf(rest string) string {
	trimmed := strings.TrimLeft(rest, " -")
	if strings.HasPrefix(trimmed, "%") {
		return "%"
	}
	words := split(trimmed[:min(len(trimmed), 30)])
	if len(words) == 0 || words[0].start > 0 {
		return ""
	}
	return stem(words[0].key, "")
}

// disagree reports whether a and b give different numbers, and none in common, for the same thing: the same unit,
// and most of the words before it shared.
func disagree(a, b []measure) bool {
	differ := false
	for _, m := range a {
		for _, n := range b {
			if m.unit != n.unit {
				continue
			}
			if m.number == n.number {
				return false
			}
			shared := int(overlap(m.of, n.of)*float64(len(m.of)) + 0.5)
			if least := min(len(m.of), len(n.of)); shared >= 2 && shared*10 >= least*6 {
				differ = true
			}
		}
	}
	return differ
}
