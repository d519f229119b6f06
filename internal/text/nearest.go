package text

import (
	"slices"
	"strings"
)

// shortWord is the length, in bytes, up to which a word allows one mistake alone.
const shortWord = 4

// Nearest returns the candidate that was probably meant by key, or "" if none is close: by edit distance,
// and by the last part alone, for a key put into the wrong table.
func Nearest(key string, candidates []string) string {
	best, bestDistance := "", mostMistakes(key)+1
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

func mostMistakes(key string) int {
	if len(key) <= shortWord {
		return 1
	}
	return max(2, len(key)/4)
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is how many bytes must be added, removed, replaced or swapped with their neighbour, no part of the word being changed twice
// (the optimal string alignment distance, https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance).
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
