package ranking

import (
	"cmp"
	"slices"
)

// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), with the constant of the paper. Both lists weigh the same.
const (
	fusionDamping = 60
	meaningWorth  = 1.0
)

// Fuse puts hits into the order of two lists, theirs and another one of ids, the best first: of messages near in meaning. Ids that are no
// hits change nothing.
func (r *Result) Fuse(near []string) {
	if len(near) == 0 {
		return
	}
	places := map[string]int{}
	for i, id := range near {
		if _, twice := places[id]; !twice {
			places[id] = i
		}
	}
	fused := make(map[string]float64, len(r.Hits))
	for i, h := range r.Hits {
		fused[h.ID] = 1 / float64(fusionDamping+i+1)
		if place, ok := places[h.ID]; ok {
			gain := meaningWorth / float64(fusionDamping+place+1)
			fused[h.ID] += gain
			r.Hits[i].Why = slices.Insert(r.Hits[i].Why, 0, Reason{"near in meaning", gain})
		}
	}
	slices.SortStableFunc(r.Hits, func(a, b Hit) int { return cmp.Compare(fused[b.ID], fused[a.ID]) })
}
