package llm

import (
	_ "embed"
	"unicode/utf8"
)

// tokens is each token of o200k, one byte for its length before it. They stand in the order of their ranks, so that where one
// stands serves as its rank: of two pairs, byte pair encoding merges the one whose token stands first.
//
//go:embed o200k.tokens
var tokens string

// table finds the tokens where they stand in the binary. It is a hash table with open addressing, 3 bytes an entry, the low one
// first: where a token stands + 1, and above it 3 bits of its hash. Made at run time it would be 1 MiB of heap, as the
// library's map of the same tokens is 13. TestVocabulary makes both files and compares them.
//
//go:embed o200k.table
var table string

const (
	tableBits = 18 // three quarters of the entries are in use
	placeBits = 21
	place     = 1<<placeBits - 1
	hashed    = 1<<(24-placeBits) - 1

	longestToken = 128 // bytes
)

func entry(i uint32) uint32 {
	e := table[3*i : 3*i+3]
	return uint32(e[0]) | uint32(e[1])<<8 | uint32(e[2])<<16
}

// rank is where a token stands, or none.
func rank(token string) uint32 {
	if len(token) > longestToken {
		return none
	}
	h := hash(token)
	for i := h >> (32 - tableBits); ; i = (i + 1) & (1<<tableBits - 1) {
		e := entry(i)
		if e == 0 {
			return none
		}
		if e>>placeBits == h&hashed {
			at := int(e & place)
			if int(tokens[at-1]) == len(token) && tokens[at:at+len(token)] == token {
				return uint32(at)
			}
		}
	}
}

// hash is FNV-1a, mixed once more, for its upper bits choose the entry.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	h ^= h >> 15
	return h * 0x2c1b3c6d
}

// none is behind every rank.
const none = 1<<32 - 1

// maxPiece bounds the bytes that are merged at once, for merging takes their square. Longer runs without a space or
// a change of script are no words of any language; they are counted in parts.
const maxPiece = 512

// countTokens returns how many tokens text has: one for each word that is one, and what byte pair encoding makes of the
// others (github.com/openai/tiktoken, _educational.py).
func countTokens(text string) int {
	n := 0
	for len(text) > 0 {
		end := wordEnd(text)
		word := text[:end]
		text = text[end:]
		for len(word) > maxPiece {
			cut := maxPiece
			for !utf8.RuneStart(word[cut]) {
				cut--
			}
			n += merged(word[:cut])
			word = word[cut:]
		}
		n += merged(word)
	}
	return n
}

// merged is the number of tokens of one word, which is not empty.
func merged(word string) int {
	if rank(word) != none {
		return 1
	}
	var room [maxPiece + 1]part
	parts := room[:len(word)+1]
	for i := range parts {
		parts[i] = part{at: i, rank: none}
	}
	for i := range len(parts) - 2 {
		parts[i].rank = pair(word, parts, i)
	}
	for len(parts) > 2 {
		best := 0
		for i := range parts {
			if parts[i].rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == none {
			break
		}
		parts = append(parts[:best+1], parts[best+2:]...)
		parts[best].rank = pair(word, parts, best)
		if best > 0 {
			parts[best-1].rank = pair(word, parts, best-1)
		}
	}
	return len(parts) - 1
}

// part is a stretch of a word, up to the next part.
type part struct {
	at   int
	rank uint32 // of this part and the next one merged
}

func pair(word string, parts []part, i int) uint32 {
	if i+2 >= len(parts) {
		return none
	}
	return rank(word[parts[i].at:parts[i+2].at])
}
