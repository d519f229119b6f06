package ranking

import (
	"cmp"
	"slices"
)

// Near fuses the order of the hits with that of another list of ids: of messages near in meaning, each once, the best first. Ids that are
// no hits change nothing.
func (r *Result) Near(near []string) {
	if len(near) == 0 {
		return
	}
	own := make([]string, len(r.Hits))
	for i, h := range r.Hits {
		own[i] = h.ID
		if place := slices.Index(near, h.ID); place >= 0 {
			r.Hits[i].Why = slices.Insert(h.Why, 0, Reason{"near in meaning", worth(place)})
		}
	}
	places := map[string]int{}
	for i, id := range Fuse(own, near) {
		places[id] = i
	}
	slices.SortStableFunc(r.Hits, func(a, b Hit) int { return cmp.Compare(places[a.ID], places[b.ID]) })
}
