package factcheck

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/claim"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The rules by which a sentence contradicts a statement. Each asks first that the two speak of the same thing.
const (
	otherNumber  = "number"     // another number of the same unit
	otherDate    = "date"       // another year
	otherName    = "name"       // another name in the same place
	opposite     = "opposite"   // a word that means the opposite
	oneDenies    = "negation"   // one denies what the other says
	lessSweeping = "quantifier" // it allows what the statement rules out
)

// conflict returns the first rule by which one of the best passages contradicts the statement, and which one does.
// What any of the others confirms is not contradicted.
func (s *statement) conflict(near []passage) (rule string, at int) {
	for i, p := range near[:min(best, len(near))] {
		for _, r := range []struct {
			name string
			hit  func(passage, []passage) bool
		}{
			{otherNumber, s.otherNumber},
			{otherDate, s.otherYear},
			{otherName, s.otherName},
			{opposite, s.opposite},
			{oneDenies, s.denied},
			{lessSweeping, s.narrowed},
		} {
			if r.hit(p, near) {
				return r.name, i
			}
		}
	}
	return "", 0
}

// about is the share of the statement's parts that p holds, of those that are asked for.
func (s *statement) about(p passage, which func(term) bool) float64 {
	var shares []float64
	for i, held := range s.held([]passage{p}) {
		if which(s.parts[i]) {
			shares = append(shares, weight(held >= enough, 1))
		}
	}
	return mean(shares, 0)
}

func anyPart(term) bool { return true }

func (p term) numeric() bool { return text.Numeric(p.key) || text.SpelledNumbers[p.key] }

func unnumbered(p term) bool { return !p.numeric() && !text.Bounds[p.key] }

func commonWords(p term) bool { return !p.name }

func (s *statement) otherNumber(p passage, near []passage) bool {
	claimed := text.Quantities(s.text)
	if len(claimed) == 0 || s.about(p, unnumbered) < 0.5 {
		return false
	}
	for _, c := range claimed {
		if c.Unit == "" {
			continue
		}
		differs := false
		for _, h := range text.Quantities(p.text) {
			differs = differs || h.Unit == c.Unit && !c.Admits(h.Value)
		}
		agrees := slices.ContainsFunc(near, func(q passage) bool {
			return slices.ContainsFunc(text.Quantities(q.text), func(h text.Quantity) bool { return (h.Unit == c.Unit || h.Unit == "") && c.Admits(h.Value) })
		})
		if differs && !agrees {
			return true
		}
	}
	return false
}

// decade is a year that stands for ten, or for a hundred.
var decade = regexp.MustCompile(`\b[0-9]{3}0['’]?s\b`)

func (s *statement) otherYear(p passage, near []passage) bool {
	claimed := text.YearIn.FindAllString(decade.ReplaceAllString(s.text, " "), -1)
	there := text.YearIn.FindAllString(p.text, -1)
	if len(claimed) == 0 || len(there) == 0 || s.about(p, unnumbered) < 0.6 {
		return false
	}
	for _, q := range near {
		for _, y := range claimed {
			if strings.Contains(q.text, y) {
				return false
			}
		}
	}
	return true
}

// roleName finds a name behind the little word that says what it is to the rest.
var roleName = regexp.MustCompile(`\b(in|by|from|at|near|against|for|to)\s+(?:the\s+)?(\p{Lu}[\pL'’-]+(?:\s+\p{Lu}[\pL'’-]+)*)`)

func (s *statement) otherName(p passage, near []passage) bool {
	for _, m := range roleName.FindAllStringSubmatch(s.text, -1) {
		key := text.Fold(m[2])
		if s.about(p, commonWords) < 1 || len(s.parts) < 2 {
			return false
		}
		named := slices.ContainsFunc(near, func(q passage) bool { return strings.Contains(strings.ToLower(q.text), key) })
		if named || isMonth(key) {
			continue
		}
		for _, n := range roleName.FindAllStringSubmatch(p.text, -1) {
			if n[1] == m[1] && !isMonth(text.Fold(n[2])) && !strings.Contains(s.text, n[2]) {
				return true
			}
		}
	}
	return false
}

func isMonth(key string) bool { return text.MonthNames[key] > 0 }

// opposites are pairs of words of which no two of a pair are true of the same. Where a text has words of both sides,
// it says nothing.
var opposites = func() (pairs [][2]map[string]bool) {
	for _, row := range lang.All().FactCheck.Opposites {
		one, other, _ := strings.Cut(row, "|")
		pairs = append(pairs, [2]map[string]bool{text.Set(lang.Words(one)), text.Set(lang.Words(other))})
	}
	return pairs
}()

func (s *statement) opposite(p passage, _ []passage) bool {
	if s.about(p, anyPart) < 0.75 {
		return false
	}
	here, there := s.says, text.Keys(text.Words(p.text))
	for _, pair := range opposites {
		for i := range pair {
			if text.Intersects(here, pair[i]) && !text.Intersects(here, pair[1-i]) && text.Intersects(there, pair[1-i]) && !text.Intersects(there, pair[i]) {
				return text.Denies(s.text) == text.Denies(p.text)
			}
		}
	}
	return false
}

func affirmed(p term) bool { return !text.Negations[p.key] }

// denied says whether exactly one of the two denies nearly the same.
func (s *statement) denied(p passage, _ []passage) bool {
	least := 0.8
	if len(claim.Refutals.FindAll(p.text, text.Words(p.text))) > 0 { // plain words, and often a claim in other words
		least = 0.7
	}
	return claim.Negates(s.text) != claim.Negates(p.text) && s.about(p, affirmed) >= least
}

var (
	sweeping  = text.Set(lang.All().FactCheck.Quantifiers)
	tempering = text.Set(lang.All().FactCheck.Hedges)
)

// narrowed says whether the statement rules out what p allows.
func (s *statement) narrowed(p passage, _ []passage) bool {
	if !text.Intersects(s.says, sweeping) || s.about(p, func(q term) bool { return !sweeping[q.key] }) < 0.8 {
		return false
	}
	there := text.Keys(text.Words(p.text))
	return !text.Intersects(there, sweeping) && text.Intersects(there, tempering)
}

// weight is n where something is so.
func weight(so bool, n float64) float64 {
	if so {
		return n
	}
	return 0
}
