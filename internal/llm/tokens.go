package llm

import (
	"strings"
	"sync"

	"familiar/internal/lru"
)

// Counter counts the tokens of texts with the o200k vocabulary, which travels in the binary. The zero value is
// ready. Safe for concurrent use; a Counter must not be copied after the first Count.
type Counter struct {
	// Model is whose tokens are wanted. For a model with another vocabulary the count is raised by 10 %, as it is
	// an estimate then and a prompt that is too long costs more than one with room to spare. Empty: no margin.
	Model string

	once    sync.Once
	foreign bool                    // set by once
	counts  *lru.Cache[string, int] // set by once; by text
}

const (
	cachedBytes = 256 << 10 // of text in the cache: the parts of some personas
	minCached   = 512       // a shorter text, such as a message, is counted as quickly as it is found
	maxCached   = 64 << 10  // a longer text is not worth its place
)

// Count returns how many tokens text has: 10 µs for a kilobyte, and next to nothing for one that was counted before.
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
	// The clone keeps a short text from holding on to the long one it was cut from.
	c.counts.Set(strings.Clone(text), n)
	return n
}

// Forget drops the texts that are kept with their counts.
func (c *Counter) Forget() {
	c.once.Do(c.load)
	c.counts.Clear()
}

func (c *Counter) load() {
	c.foreign = c.Model != "" && !speaksO200k(c.Model)
	c.counts = lru.New(cachedBytes, func(text string, _ int) int64 { return int64(len(text)) })
}

// margin adds 10 %, rounded up, for a vocabulary that is not the model's own.
func (c *Counter) margin(n int) int {
	if c.foreign {
		n += (n + 9) / 10
	}
	return n
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
