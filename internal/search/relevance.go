package search

import (
	"math"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009): how soon more of a
// word stops to count, how much a long text is held against it, and what a word in the title counts.
const (
	saturation = 1.2
	lengthy    = 0.75
	inTitle    = 2
)

// relevance is how well title and snippet of each page fit the query, by BM25 over the pages themselves: 1 for the
// one that fits best, 0 for those without a word of it.
func relevance(query []uint32, pages []*candidate) []float64 {
	query = text.Unique(query)
	scores := make([]float64, len(pages))
	if len(query) == 0 || len(pages) == 0 {
		return scores
	}
	counts := make([]float64, len(pages)*len(query)) // of word j in page i, at i*len(query)+j
	lengths, mean := make([]float64, len(pages)), 0.0
	holding := make([]int, len(query)) // how many pages hold word j
	for i, p := range pages {
		row := counts[i*len(query) : (i+1)*len(query)]
		tally(row, query, p.title, inTitle)
		tally(row, query, p.snippet, 1)
		for j, n := range row {
			if n > 0 {
				holding[j]++
			}
		}
		lengths[i] = float64(inTitle*len(p.title) + len(p.snippet))
		mean += lengths[i] / float64(len(pages))
	}
	rarity := make([]float64, len(query))
	for j, n := range holding {
		rarity[j] = text.IDF(n, len(pages))
	}
	best := 0.0
	for i := range pages {
		for j, n := range counts[i*len(query) : (i+1)*len(query)] {
			if n > 0 {
				scores[i] += rarity[j] * n * (saturation + 1) / (n + saturation*(1-lengthy+lengthy*lengths[i]/mean))
			}
		}
		best = max(best, scores[i])
	}
	for i := range scores {
		if best > 0 {
			scores[i] /= best
		}
	}
	return scores
}

func tally(row []float64, query, words []uint32, weight float64) {
	for _, w := range words {
		if j, ok := slices.BinarySearch(query, w); ok {
			row[j] += weight
		}
	}
}

// half is how fast a page's worth fades with its age, and how much a new page gains by being new.
type half struct {
	life time.Duration
	gain float64
}

// halves says where newer is better.
func halves(q Query) half {
	const day = 24 * time.Hour
	switch {
	case q.Intent == turn.IntentNews:
		return half{2 * day, 0.5}
	case q.Fresh == "day":
		return half{day, 0.3}
	case q.Fresh == "week":
		return half{4 * day, 0.3}
	case q.Fresh == "month":
		return half{15 * day, 0.3}
	case q.Fresh == "year":
		return half{120 * day, 0.2}
	case q.Intent == turn.IntentForum, q.Intent == turn.IntentDocs:
		return half{365 * day, 0.1}
	}
	return half{}
}

// recency is what a page gains by its date, 0 where it has none or dates do not matter.
func (h half) recency(published, now time.Time) float64 {
	age := now.Sub(published)
	if h.gain == 0 || published.IsZero() || age < -24*time.Hour {
		return 0
	}
	return h.gain * math.Exp2(-max(0, age.Hours())/h.life.Hours())
}
