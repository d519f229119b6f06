package text

import (
	"slices"
	"unicode"
)

// stemLetters is how many letters of a word its hash is made of, so that a word and its inflections are one.
const stemLetters = 7

// HashTerms appends the words of s as hashes, and returns them: for comparing texts, without an allocation a word.
// Words of one or two letters, which are in any text, are left out. Scripts that are written without spaces give every
// character and every pair of neighbours.
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

// UnspacedRune reports whether a character is of a script that puts no spaces between words.
func UnspacedRune(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Shingles returns the set of the hashes of all runs of n words (Broder, "On the resemblance and containment of
// documents", 1997). The words are hashes, as [HashTerms] makes them.
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

// Sketch returns the n smallest of a set of shingles, which stand for all of them: the share that the sketches of two
// texts have in common is about the share of the longer text that is in the shorter one.
func Sketch(shingles []uint32, n int) []uint32 {
	return slices.Clone(shingles[:min(n, len(shingles))])
}

// fewestShingles is the size of the smallest set that can tell a copy: anybody may write a sentence twice.
const fewestShingles = 10

// NearDuplicates reports whether at least a share of the smaller of two sets of shingles, from 0 to 1, is in the other.
func NearDuplicates(a, b []uint32, share float64) bool {
	return min(len(a), len(b)) >= fewestShingles && Containment(a, b) >= share
}
