package ranking

import (
	"cmp"
	"maps"
	"slices"
)

// fuseK keeps the first places of a list from counting for more than agreement between lists.
const fuseK = 60

// Fuse makes one list of several, the best first: what stands high in many of them (reciprocal-rank fusion; Cormack, Clarke and Büttcher,
// 2009). What is equal stands as in the first list that has it.
func Fuse[K comparable](lists ...[]K) []K {
	scores, seen := map[K]float64{}, map[K]int{}
	for _, list := range lists {
		for i, k := range list {
			scores[k] += worth(i)
			if _, is := seen[k]; !is {
				seen[k] = len(seen)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(a, b K) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(seen[a], seen[b]))
	})
}

// worth is what a place in a list adds to the score of what stands there.
func worth(place int) float64 { return 1 / float64(fuseK+place+1) }
