// Package factcheck decides whether pages support a statement or contradict it, by counting and by rules.
//
// [Statement] reads the statement out of a question. [StanceOf] says where one page stands (stance.go): it compares the
// statement with the page's sentences (compare.go, match.go); a linear model (verify.model) says whether they bear it
// out, and a handful of rules whether one of them contradicts it (contradict.go). [Verdict] counts the stances: each
// site once, and copies of a page not at all. Of a living person (living.go) it says nothing on thin evidence.
package factcheck

import (
	"math"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/framing"
)

const (
	independent = 3   // sites that a verdict needs
	sureEnough  = 0.7 // confidence below which nothing is said of a living person
)

// Page is a page that may speak to a statement. One without Text was not read.
type Page struct {
	Title, Text string
	Site        string // host

	Framing *framing.Page // of the text; nil: every sentence is what the page says
}

// Verdict decides what the stances of pages make of a statement, and how confidently, from 0 to 1.
func Verdict(statement string, stances []Stance, pages []Page) (label turn.VerdictLabel, confidence float64) {
	count := map[bool]int{}
	for i, s := range stances {
		if !s.repeats(stances[:i]) {
			count[s.Against]++
		}
	}
	label, confidence = majority(count[false], count[true])
	if confidence < sureEnough && aboutLiving(statement, pages) {
		return turn.VerdictUnverified, 0
	}
	return label, confidence
}

// majority makes a verdict of how many independent sites are for and against. Its confidence grows with their agreement
// and their number.
func majority(pro, contra int) (label turn.VerdictLabel, confidence float64) {
	n := pro + contra
	agreement := float64(max(pro, contra)) / math.Max(1, float64(n))
	confidence = math.Round(100*min(0.95, max(0.5, 0.7*agreement+0.3*float64(min(n, 10))/10))) / 100
	switch {
	case pro >= independent && pro > 2*contra:
		return turn.VerdictSupports, confidence
	case contra >= independent && contra > 2*pro:
		return turn.VerdictContradicts, confidence
	}
	return turn.VerdictInconclusive, math.Round(100*(0.3+0.2*float64(min(n, 5))/5)) / 100
}
