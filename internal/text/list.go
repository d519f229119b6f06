package text

import (
	"slices"
)

func Overlap(of, with []string) float64 {
	have := map[string]bool{}
	for _, s := range with {
		have[s] = true
	}
	n := 0
	for _, s := range of {
		if have[s] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(of)))
}

// Jaccard is the share of the words of two lists that are in both.
func Jaccard(a, b []string) float64 {
	a, b = Unique(a), Unique(b)
	both := 0
	for _, t := range a {
		if _, in := slices.BinarySearch(b, t); in {
			both++
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}

func Unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func AddOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
