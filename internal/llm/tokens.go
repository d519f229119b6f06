package llm

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/cache"
)

// Counter counts tokens with the o200k vocabulary, which is part of the binary. The zero value is ready. A Counter is
// safe for concurrent use and must not be copied after the first Count.
type Counter struct {
	// Model is the model whose tokens are counted. If it has another vocabulary, the count is an estimate and is raised by 10 %. A prompt that
	// is too long is worse than a short one. Empty: no margin.
	Model string

	once    sync.Once
	foreign bool                    // set by once
	counts  *cache.LRU[string, int] // set by once; key: text
}

const (
	cachedBytes = 256 << 10 // of text in the cache, enough for parts of some personas
	minCached   = 512       // shorter texts are counted as fast as they are found
	maxCached   = 64 << 10  // longer texts would displace too many others
)

// Count returns the number of tokens in text. It takes 10 µs per kilobyte, and almost no time for a cached text.
func (c *Counter) Count(text string) int {
	if text == "" {
		return 0
	}
	c.once.Do(c.load)
	if len(text) < minCached || len(text) > maxCached {
		return c.margin(countTokens(text))
	}
	if n, ok := c.counts.Get(text); ok {
		return n
	}
	n := c.margin(countTokens(text))
	// Clone the text, or a substring would keep a long text alive.
	c.counts.Set(strings.Clone(text), n)
	return n
}

// Forget drops the cached texts.
func (c *Counter) Forget() {
	c.once.Do(c.load)
	c.counts.Clear()
}

func (c *Counter) load() {
	c.foreign = c.Model != "" && !speaksO200k(c.Model)
	c.counts = cache.NewLRU(cachedBytes, func(text string, _ int) int64 { return int64(len(text)) })
}

// margin adds 10 %, rounded up, if the model has another vocabulary.
func (c *Counter) margin(n int) int {
	if c.foreign {
		n += (n + 9) / 10
	}
	return n
}

// speaksO200k reports whether a model uses o200k: OpenAI's models since gpt-4o, including its open ones.
func speaksO200k(model string) bool {
	name := plainName(model)
	for _, family := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// plainName returns a model's name without the vendor that routers prefix ("openai/gpt-5").
func plainName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// table finds the rank of a token by the hash of its text. The texts themselves would take twice the room. The first bits of a hash choose
// one of the buckets. The table begins with where each bucket begins, as the number of entries before it. An entry has 6 bytes: the rank in
// rankBits, and above them the last bits of the hash. One text in a hundred million has the hash of a token without being it. It is counted
// as that token. Numbers have their low byte first. TestVocabulary writes and checks the file.
//
//go:embed o200k.table
var table string

const (
	bucketBits  = 14
	bucketBytes = 3
	entries     = (1<<bucketBits + 1) * bucketBytes // where the first entry begins
	entryBytes  = 6
	rankBits    = 18
	hashBits    = 8*entryBytes - rankBits

	longestToken = 128 // bytes
)

// rank returns the position of a token in the vocabulary, or none. Byte pair encoding merges the pair whose token comes
// first.
func rank(token string) uint32 {
	if len(token) > longestToken {
		return none
	}
	h := hash(token)
	bucket := h >> (64 - bucketBits) * bucketBytes
	first, end := word(bucket)&(1<<24-1), word(bucket+bucketBytes)&(1<<24-1)
	for at := entries + first*entryBytes; at < entries+end*entryBytes; at += entryBytes {
		if e := word(at); (e>>rankBits^h)&(1<<hashBits-1) == 0 {
			return uint32(e & (1<<rankBits - 1))
		}
	}
	return none
}

// word returns 8 bytes of the table, which are faster to read than 3 or 6.
func word(at uint64) uint64 {
	s := table[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hash is FNV-1a with another mixing step, because its upper bits choose the bucket.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

// none is greater than every rank.
const none = 1<<32 - 1

// maxPiece limits the bytes that are merged at once, because merging takes quadratic time. Longer runs without a space
// or a change of script are not words, and are counted in parts.
const maxPiece = 512

// countTokens returns the number of tokens in text. A word that is a token counts as one, and other words are split by byte pair encoding
// (github.com/openai/tiktoken, _educational.py).
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

// merged returns the number of tokens in one word, which must not be empty.
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

// part is a section of a word, up to the next part.
type part struct {
	at   int
	rank uint32 // of this part merged with the next one
}

func pair(word string, parts []part, i int) uint32 {
	if i+2 >= len(parts) {
		return none
	}
	return rank(word[parts[i].at:parts[i+2].at])
}

// wordEnd returns the length in bytes of the first word of text, which must not be empty. o200k cuts text into words
// before it looks for tokens. It uses this expression and tries its alternatives in order
// (github.com/openai/tiktoken, openai_public.py):
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func wordEnd(text string) int {
	first, size := classOf(text)
	switch {
	case first&(upper|lower) != 0:
		return letters(text, 0)
	case first&number != 0:
		return run(text, 0, number, 3)
	case first&newline != 0:
		return spaces(text)
	}
	if end := letters(text, size); end > 0 { // any character may precede a word
		return end
	}
	switch {
	case text[0] == ' ':
		if end := signs(text, 1); end > 1 {
			return end
		}
	case first&space == 0:
		return signs(text, 0)
	}
	return spaces(text)
}

// class is the set of character classes that the expression distinguishes.
type class uint8

const (
	upper class = 1 << iota // Lu, Lt, Lm, Lo, M
	lower                   // Ll, Lm, Lo, M
	letter
	number
	space
	newline // \r, \n
)

// classOf returns the class and size of the first character; both are 0 for an empty text.
func classOf(text string) (class, int) {
	if text == "" {
		return 0, 0
	}
	switch c := text[0]; {
	case 'a' <= c && c <= 'z':
		return lower | letter, 1
	case 'A' <= c && c <= 'Z':
		return upper | letter, 1
	case '0' <= c && c <= '9':
		return number, 1
	case c == '\n' || c == '\r':
		return space | newline, 1
	case c == ' ' || '\t' <= c && c <= '\r':
		return space, 1
	case c < utf8.RuneSelf:
		return 0, 1
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.Is(unicode.Ll, r):
		return lower | letter, size
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter, size
	case unicode.IsLetter(r):
		return upper | lower | letter, size
	case unicode.Is(unicode.M, r):
		return upper | lower, size
	case unicode.Is(unicode.N, r):
		return number, size
	case unicode.IsSpace(r):
		return space, size
	}
	return 0, size
}

// run returns the end of the run of characters of a class at from, limited to most characters.
func run(text string, from int, of class, most int) int {
	for ; most > 0; most-- {
		c, size := classOf(text[from:])
		if c&of == 0 {
			break
		}
		from += size
	}
	return from
}

const all = 1 << 30

// letters returns the end of a word whose letters begin at from, or 0. A word is lower-case letters after any number of
// upper-case ones, or only upper-case letters. Letters of scripts without case, and accents, are both. A contraction
// such as "'ll" belongs to the word.
func letters(text string, from int) int {
	great := run(text, from, upper, all)
	end := run(text, great, lower, all)
	if end == great { // without lower-case letters, the last character that is both ends the word, if any
		for at := great; at > from; {
			_, size := utf8.DecodeLastRuneInString(text[:at])
			if c, _ := classOf(text[at-size:]); c&lower != 0 {
				end = at
				break
			}
			at -= size
		}
	}
	if end == from {
		return 0
	}
	if end < len(text) && text[end] == '\'' {
		for _, short := range [...]string{"'s", "'ſ", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
			if len(text) >= end+len(short) && strings.EqualFold(text[end:end+len(short)], short) {
				return end + len(short)
			}
		}
	}
	return end
}

// signs returns the end of characters that are not letters, numbers or spaces. The line breaks and slashes after them belong to it. It
// returns from if there are none.
func signs(text string, from int) int {
	at := from
	for at < len(text) {
		c, size := classOf(text[at:])
		if c&(space|letter|number) != 0 {
			break
		}
		at += size
	}
	if at == from {
		return from
	}
	for at < len(text) && (text[at] == '\r' || text[at] == '\n' || text[at] == '/') {
		at++
	}
	return at
}

// spaces returns the end of white space. It is after its last line break, else before its last character if other text follows.
func spaces(text string) int {
	end := run(text, 0, space, all)
	if last := strings.LastIndexAny(text[:end], "\r\n"); last >= 0 {
		return last + 1
	}
	if _, size := utf8.DecodeLastRuneInString(text[:end]); end < len(text) && end > size {
		return end - size
	}
	return end
}
