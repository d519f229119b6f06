package text

import (
	"hash/fnv"
	"slices"
)

// sketch is how many shingles stand for a page.
const sketch = 64

// Shingles are the smallest hashes of a page's runs of four words (Broder, 1997): the share that two pages have in
// common is about that of their runs.
func Shingles(text string) map[uint64]bool {
	words := Words(text)
	var all []uint64
	for i := 0; i+4 <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+4] {
			h.Write([]byte(w.Key))
			h.Write([]byte{0})
		}
		all = append(all, h.Sum64())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	near := make(map[uint64]bool, sketch)
	for _, h := range all[:min(sketch, len(all))] {
		near[h] = true
	}
	return near
}

func Similar(a, b map[uint64]bool) bool {
	least := min(len(a), len(b))
	both := 0
	for h := range a {
		if b[h] {
			both++
		}
	}
	return least >= 16 && both*2 >= least
}
