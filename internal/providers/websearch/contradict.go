package websearch

import (
	"regexp"
	"slices"
	"strings"
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

func anyPart(term) bool       { return true }
func (p term) numeric() bool  { return numeric(p.key) || spelledNumbers[p.key] }
func unnumbered(p term) bool  { return !p.numeric() && !bounds[p.key] }
func commonWords(p term) bool { return !p.name }

func (s *statement) otherNumber(p passage, near []passage) bool {
	claimed := counted(s.text)
	if len(claimed) == 0 || s.about(p, unnumbered) < 0.5 {
		return false
	}
	for _, c := range claimed {
		if c.unit == "" {
			continue
		}
		differs := false
		for _, h := range counted(p.text) {
			differs = differs || h.unit == c.unit && !c.admits(h.value)
		}
		agrees := slices.ContainsFunc(near, func(q passage) bool {
			return slices.ContainsFunc(counted(q.text), func(h quantity) bool { return (h.unit == c.unit || h.unit == "") && c.admits(h.value) })
		})
		if differs && !agrees {
			return true
		}
	}
	return false
}

// yearIn finds years, as they are written in prose.
var yearIn = regexp.MustCompile(`\b(?:1[0-9]{3}|20[0-9]{2})\b`)

// decade is a year that stands for ten, or for a hundred.
var decade = regexp.MustCompile(`\b[0-9]{3}0['’]?s\b`)

func (s *statement) otherYear(p passage, near []passage) bool {
	claimed := yearIn.FindAllString(decade.ReplaceAllString(s.text, " "), -1)
	there := yearIn.FindAllString(p.text, -1)
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
		key := fold(m[2])
		if s.about(p, commonWords) < 1 || len(s.parts) < 2 {
			return false
		}
		named := slices.ContainsFunc(near, func(q passage) bool { return strings.Contains(strings.ToLower(q.text), key) })
		if named || isMonth(key) {
			continue
		}
		for _, n := range roleName.FindAllStringSubmatch(p.text, -1) {
			if n[1] == m[1] && !isMonth(fold(n[2])) && !strings.Contains(s.text, n[2]) {
				return true
			}
		}
	}
	return false
}

func isMonth(key string) bool { return monthNames[key] > 0 }

// opposites are pairs of words of which no two of a pair are true of the same. Where a text has words of both sides,
// it says nothing.
var opposites = func() (pairs [][2]map[string]bool) {
	for _, row := range [][2]string{
		{"rich wealthy", "poor impoverished"}, {"large big huge largest biggest", "small tiny smallest"}, {"before", "after"},
		{"win won winner victory defeated beat", "lose lost loss defeat"}, {"increase increased rose grew more higher", "decrease decreased fell declined less lower fewer"},
		{"north northern", "south southern"}, {"east eastern", "west western"}, {"alive", "dead died killed"},
		{"mother", "father"}, {"brother", "sister"}, {"son", "daughter"}, {"husband", "wife"}, {"male man men", "female woman women"},
		{"praised acclaimed positive favorable success successful", "panned criticized negative unfavorable failure failed unsuccessful"},
		{"alone solo", "together jointly"}, {"younger youngest", "older oldest elder eldest"}, {"same identical", "different"},
		{"supported favored allowed accepted approved", "opposed rejected banned refused denied prohibited"}, {"loved liked enjoyed", "hated disliked"},
		{"strong stronger", "weak weaker"}, {"hot warm", "cold cool"}, {"democrat democratic", "republican"}, {"catholic", "protestant"},
		{"common", "rare uncommon"}, {"peaceful", "violent"}, {"guilty", "innocent acquitted"}, {"began begin started opened", "ended finished closed stopped"},
		{"majority", "minority"}, {"public", "private"}, {"true real authentic", "false fake fictional hoax"}, {"safe harmless", "dangerous harmful unsafe"},
	} {
		pairs = append(pairs, [2]map[string]bool{set(row[0]), set(row[1])})
	}
	return pairs
}()

func (s *statement) opposite(p passage, _ []passage) bool {
	if s.about(p, anyPart) < 0.75 {
		return false
	}
	here, there := s.says, keySet(split(p.text))
	for _, pair := range opposites {
		for i := range pair {
			if meets(here, pair[i]) && !meets(here, pair[1-i]) && meets(there, pair[1-i]) && !meets(there, pair[i]) {
				return denies(s.text) == denies(p.text)
			}
		}
	}
	return false
}

func meets(a, b map[string]bool) bool {
	for k := range b {
		if a[k] {
			return true
		}
	}
	return false
}

func affirmed(p term) bool { return !negations[p.key] }

// denied says whether exactly one of the two denies nearly the same.
func (s *statement) denied(p passage, _ []passage) bool {
	least := 0.8
	if len(refutals.in(p.text, split(p.text))) > 0 { // plain words, and often a claim in other words
		least = 0.7
	}
	return negates(s.text) != negates(p.text) && s.about(p, affirmed) >= least
}

var (
	sweeping  = set("all only sole solely exclusively never always every none entirely")
	tempering = set("also another other others sometimes several some often mostly usually besides various")
)

// narrowed says whether the statement rules out what p allows.
func (s *statement) narrowed(p passage, _ []passage) bool {
	if !meets(s.says, sweeping) || s.about(p, func(q term) bool { return !sweeping[q.key] }) < 0.8 {
		return false
	}
	there := keySet(split(p.text))
	return !meets(there, sweeping) && meets(there, tempering)
}

// weight is n where something is so.
func weight(so bool, n float64) float64 {
	if so {
		return n
	}
	return 0
}
