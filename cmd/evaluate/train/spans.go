package train

import (
	"math"
	"slices"

	"familiar/internal/memory/order"
	"familiar/internal/text"
)

// spanned is a message with an order, and where its text is.
type spanned struct {
	units              [][]order.Unit
	sentence, from, to int
	block              string
}

const (
	spanPenalty = 2
	spanSeldom  = 6
	spanLevels  = 24
)

// trainSpans fits the weights. The text of an order should be the likeliest run of units among all runs of a message's sentences.
func trainSpans(rows []spanned, penalty float64, seldom int) *text.Model {
	counts := map[string]int{}
	for _, r := range rows {
		seen := map[string]bool{}
		for _, all := range r.units {
			for _, u := range all {
				for _, f := range u.Features {
					if !seen[f.Name] {
						seen[f.Name] = true
						counts[f.Name]++
					}
				}
			}
		}
	}
	var examples []sample
	for _, r := range rows {
		for _, all := range r.units {
			for _, u := range all {
				examples = append(examples, sample{Features: slices.DeleteFunc(slices.Clone(u.Features), func(f text.Feature) bool { return counts[f.Name] < seldom })})
			}
		}
	}
	t := newTrainer(order.SpanClasses, examples, penalty)
	t.levels, t.rounds = spanLevels, orderRounds
	t.descend(func() []float64 { return t.spanSlope(rows) })
	return t.model()
}

// spanSlope returns the gradient for [trainSpans].
func (t *trainer) spanSlope(rows []spanned) []float64 {
	const k = 3
	slope := make([]float64, len(t.weights)+k)
	for i, w := range t.weights {
		slope[i] = t.penalty * w
	}
	at := 0
	for _, r := range rows {
		first := at
		var sums [][k]float64
		for _, all := range r.units {
			for range all {
				sum := [k]float64{t.bias[0], t.bias[1], t.bias[2]}
				for j, column := range t.columns[at] {
					for c := range k {
						sum[c] += t.weights[column*k+c] * t.values[at][j]
					}
				}
				sums = append(sums, sum)
				at++
			}
		}
		shares := shareOut(r, sums)
		for i, share := range shares {
			for c := range k {
				slope[len(t.weights)+c] += share[c]
				if share[c] != 0 {
					for j, column := range t.columns[first+i] {
						slope[column*k+c] += share[c] * t.values[first+i][j]
					}
				}
			}
		}
	}
	return slope
}

// shareOut returns the expected minus the right number of times that each unit is part of the text. It counts where a unit is within,
// begins or ends it.
func shareOut(r spanned, sums [][3]float64) [][3]float64 {
	shares := make([][3]float64, len(sums))
	before := make([]float64, len(sums)) // log of the sum over all texts that end here
	behind := make([]float64, len(sums)) // … that begin here
	total := math.Inf(-1)
	at := 0
	for _, all := range r.units {
		n := len(all)
		running := math.Inf(-1)
		for i := at; i < at+n; i++ {
			running = logAdd(running, sums[i][1]) + sums[i][0]
			before[i] = running // open texts with i
			total = logAdd(total, running+sums[i][2])
		}
		running = math.Inf(-1)
		for i := at + n - 1; i >= at; i-- {
			running = logAdd(running, sums[i][2]) + sums[i][0]
			behind[i] = running
		}
		at += n
	}
	at = 0
	for s, all := range r.units {
		for i := range all {
			n := at + i
			shares[n] = [3]float64{math.Exp(before[n] + behind[n] - sums[n][0] - total), math.Exp(sums[n][1] + behind[n] - total), math.Exp(before[n] + sums[n][2] - total)}
			if s == r.sentence {
				shares[n][0] -= float64(yes(i >= r.from && i <= r.to))
				shares[n][1] -= float64(yes(i == r.from))
				shares[n][2] -= float64(yes(i == r.to))
			}
		}
		at += len(all)
	}
	return shares
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func readSpans() (rows []spanned, err error) {
	lines, err := orderLines()
	for _, l := range lines {
		if l.text != "" {
			r := spanned{block: l.block}
			if r.units, r.sentence, r.from, r.to = order.Spans(l.said, orderNames, l.deed, l.text); r.sentence >= 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows, err
}
