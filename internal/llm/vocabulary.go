package llm

import (
	_ "embed"
	"unicode/utf8"
)

// vocabulary finds the tokens of o200k. It is a hash table of 1 MiB over the tokens as they stand in the binary; the
// library's map of the same tokens takes 13 MiB of a process that wants to live in 30.
//
// The tokens stand in the order of their ranks, so that where one stands serves as its rank: of two pairs, byte pair
// encoding merges the one whose token stands first.
type vocabulary struct {
	table []uint32 // open addressing; an entry is where a token stands + 1, and above it some bits of the token's hash
}

// tokens is each token of o200k, one byte for its length before it. TestVocabulary makes the file and compares it.
//
//go:embed o200k.bin
var tokens string

const (
	tableBits = 18 // three quarters of the entries are in use
	placeBits = 21
	place     = 1<<placeBits - 1

	longestToken = 128 // bytes
)

func newVocabulary() *vocabulary {
	v := &vocabulary{table: make([]uint32, 1<<tableBits)}
	for at := 0; at < len(tokens); {
		next := at + 1 + int(tokens[at])
		h := hash(tokens[at+1 : next])
		i := h >> (32 - tableBits)
		for v.table[i] != 0 {
			i = (i + 1) & (1<<tableBits - 1)
		}
		v.table[i] = h<<placeBits | uint32(at+1)
		at = next
	}
	return v
}

// rank is where a token stands, or none.
func (v *vocabulary) rank(token string) uint32 {
	if len(token) > longestToken {
		return none
	}
	h := hash(token)
	for i := h >> (32 - tableBits); ; i = (i + 1) & (1<<tableBits - 1) {
		e := v.table[i]
		if e == 0 {
			return none
		}
		if e&^place == h<<placeBits {
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

// count returns how many tokens text has: one for each word that is one, and what byte pair encoding makes of the
// others (github.com/openai/tiktoken, _educational.py).
func (v *vocabulary) count(text string) int {
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
			n += v.merged(word[:cut])
			word = word[cut:]
		}
		n += v.merged(word)
	}
	return n
}

// merged is the number of tokens of one word, which is not empty.
func (v *vocabulary) merged(word string) int {
	if v.rank(word) != none {
		return 1
	}
	var room [maxPiece + 1]part
	parts := room[:len(word)+1]
	for i := range parts {
		parts[i] = part{at: i, rank: none}
	}
	for i := range len(parts) - 2 {
		parts[i].rank = v.pair(word, parts, i)
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
		parts[best].rank = v.pair(word, parts, best)
		if best > 0 {
			parts[best-1].rank = v.pair(word, parts, best-1)
		}
	}
	return len(parts) - 1
}

// part is a stretch of a word, up to the next part.
type part struct {
	at   int
	rank uint32 // of this part and the next one merged
}

func (v *vocabulary) pair(word string, parts []part, i int) uint32 {
	if i+2 >= len(parts) {
		return none
	}
	return v.rank(word[parts[i].at:parts[i+2].at])
}
