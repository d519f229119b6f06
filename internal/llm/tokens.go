package llm

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/maypok86/otter/v2"
	"github.com/tiktoken-go/tokenizer"
)

// Counter counts the tokens of texts with the o200k vocabulary, which travels in the binary. The zero value is
// ready; the vocabulary is loaded by the first Count (some 30 ms and 13 MiB). Safe for concurrent use; a
// Counter must not be copied after the first Count.
type Counter struct {
	// Model is whose tokens are wanted. For a model with another vocabulary the count is raised by 10 %, as it is
	// an estimate then and a prompt that is too long costs more than one with room to spare. Empty: no margin.
	Model string

	once    sync.Once
	codec   tokenizer.Codec           // set by once; nil if the vocabulary could not be loaded
	foreign bool                      // set by once
	counts  *otter.Cache[string, int] // set by once; by text
}

const (
	cachedBytes = 1 << 20  // of text in the cache: some hundred messages and a few personas
	maxCached   = 64 << 10 // a longer text is not worth its place
	pieceBytes  = 16 << 10 // a longer text is counted in pieces, so that no input makes one match run on and on
)

// Count returns how many tokens text has. Texts that were counted before cost next to nothing.
func (c *Counter) Count(text string) int {
	if text == "" {
		return 0
	}
	c.once.Do(c.load)
	if len(text) > maxCached {
		return c.margin(c.pieces(text))
	}
	if n, ok := c.counts.GetIfPresent(text); ok {
		return n
	}
	n := c.margin(c.pieces(text))
	// The clone keeps a short text from holding on to the long one it was cut from.
	c.counts.Set(strings.Clone(text), n)
	return n
}

func (c *Counter) load() {
	c.foreign = c.Model != "" && !speaksO200k(c.Model)
	c.counts = otter.Must(&otter.Options[string, int]{
		MaximumWeight: cachedBytes,
		Weigher:       func(text string, _ int) uint32 { return uint32(len(text)) },
	})
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return // cannot happen with a vocabulary of the library's own; bytes are counted then
	}
	codec.SetErrorMode(tokenizer.ErrorModeReplace)
	c.codec = codec
}

// margin adds 10 %, rounded up, for a vocabulary that is not the model's own.
func (c *Counter) margin(n int) int {
	if c.foreign {
		n += (n + 9) / 10
	}
	return n
}

// pieces counts a text of any length.
func (c *Counter) pieces(text string) int {
	n := 0
	for len(text) > 0 {
		cut := pieceEnd(text)
		n += c.count(text[:cut])
		text = text[cut:]
	}
	return n
}

func (c *Counter) count(text string) int {
	if c.codec != nil {
		if n, err := c.codec.Count(text); err == nil {
			return n
		}
	}
	return len(text)/3 + 1
}

// pieceEnd says where the first piece of text ends: before a space, where most tokens begin, so that the sum of
// the pieces is the count of the whole; in a text without spaces, between two characters.
func pieceEnd(text string) int {
	if len(text) <= pieceBytes {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:pieceBytes], ' '); i > pieceBytes/2 {
		return i
	}
	cut := pieceBytes
	for cut > pieceBytes-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return cut
}

// speaksO200k says whether a model's vocabulary is o200k: OpenAI's models since gpt-4o, its open ones included.
func speaksO200k(model string) bool {
	name := plainName(model)
	for _, family := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// plainName is a model's name without the vendor that routers put before it ("openai/gpt-5").
func plainName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}
