package text

import (
	"slices"
	"strings"
	"unicode"
)

// stemLetters is how many letters of a word are hashed, so that inflections of a word share a hash.
const stemLetters = 7

// HashTerms appends the hashes of the words of s to hashes and returns it. It allocates nothing per word. Words of one
// or two letters occur in any text and are left out. Scripts without spaces give a hash for every character and every
// pair of neighbours.
func HashTerms(hashes []uint32, s string) []uint32 {
	hashes = slices.Grow(hashes, len(s)/5)
	const offset, prime = 2166136261, 16777619 // FNV-1a, over characters
	hash, letters, digits, before := uint32(offset), 0, false, rune(0)
	end := func() {
		if letters > 2 || digits {
			hashes = append(hashes, hash)
		}
		hash, letters, digits = offset, 0, false
	}
	for _, r := range s {
		switch {
		case r < 0x80 && ('a' <= r && r <= 'z' || '0' <= r && r <= '9'):
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r < 0x80:
			end()
			before = 0
			continue
		case UnspacedRune(r):
			end()
			hashes = append(hashes, (offset^uint32(r))*prime)
			if before != 0 {
				hashes = append(hashes, ((offset^uint32(before))*prime^uint32(r))*prime)
			}
			before = r
			continue
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			r = unicode.ToLower(r)
		default:
			end()
			before = 0
			continue
		}
		before = 0
		digit := '0' <= r && r <= '9'
		if digits = digits || digit; letters < stemLetters || digit {
			hash = (hash ^ uint32(r)) * prime
		}
		letters++
	}
	end()
	return hashes
}

// UnspacedRune reports whether a character belongs to a script without spaces between words.
func UnspacedRune(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Shingles returns the set of hashes of all runs of n words. See Broder, "On the resemblance and containment of documents", 1997. The words
// are hashes from [HashTerms].
func Shingles(words []uint32, n int) []uint32 {
	if len(words) < n {
		return nil
	}
	all := make([]uint32, 0, len(words)-n+1)
	for i := range len(words) - n + 1 {
		h := uint32(0)
		for _, w := range words[i : i+n] {
			h = h*31 + w
		}
		all = append(all, h)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Sketch returns the n smallest of a set of shingles. The share that two sketches have in common approximates the
// containment of the texts.
func Sketch(shingles []uint32, n int) []uint32 {
	return slices.Clone(shingles[:min(n, len(shingles))])
}

// fewestShingles is the size of the smallest set that can prove a copy. Two authors may write the same sentence.
const fewestShingles = 10

// NearDuplicates reports whether at least share of the smaller set of shingles, from 0 to 1, is in the other.
func NearDuplicates(a, b []uint32, share float64) bool {
	return min(len(a), len(b)) >= fewestShingles && Containment(a, b) >= share
}

// shortWord is the length in bytes up to which a word allows only one mistake.
const shortWord = 4

// Nearest returns the candidate that key probably means, or "" if none is close. It compares by edit distance, and also
// by the last part of a key, in case the table is wrong.
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

// distance returns the number of bytes to add, remove, replace or swap with a neighbour, without changing a part twice. It is the optimal
// string alignment distance (https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance).
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
