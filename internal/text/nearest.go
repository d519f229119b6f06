package text

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that was probably meant by key, or "" if none is close: by edit distance,
// and by the last part alone, for a key put into the wrong table.
func Nearest(key string, candidates []string) string {
	best, bestDistance := "", max(2, len(key)/4)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		d := distance(key, c)
		if last(key) == last(c) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is the Levenshtein distance in bytes: how many must be added, removed or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
