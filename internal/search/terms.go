package search

import (
	"slices"
	"unicode"
)

// stem is how many letters of a word count, so that a word and its inflections are one.
const stem = 7

// terms appends the words of s as hashes, and returns them: for telling texts apart, not for reading. Words of one or
// two letters, which are in any text, are left out. Scripts that are written without spaces give every character and
// every pair of neighbours.
func terms(s string, into []uint32) []uint32 {
	into = slices.Grow(into, len(s)/5)
	const offset, prime = 2166136261, 16777619 // FNV-1a, over characters
	hash, n, digits, before := uint32(offset), 0, false, rune(0)
	end := func() {
		if n > 2 || digits {
			into = append(into, hash)
		}
		hash, n, digits = offset, 0, false
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
		case unspaced(r):
			end()
			into = append(into, (offset^uint32(r))*prime)
			if before != 0 {
				into = append(into, ((offset^uint32(before))*prime^uint32(r))*prime)
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
		if digits = digits || digit; n < stem || digit {
			hash = (hash ^ uint32(r)) * prime
		}
		n++
	}
	end()
	return into
}

// unspaced is whether a character is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
