package llm

import (
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

func TestCount(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"words", "Hello there, friend.", 5},
		{"other scripts", "日本語", 2},
		{"invalid UTF-8", "a\xffb", 3},
	}
	var c Counter
	for _, tt := range tests {
		for _, when := range []string{"first", "cached"} {
			if got := c.Count(tt.text); got != tt.want {
				t.Errorf("%s, %s: %d, want %d", tt.name, when, got, tt.want)
			}
		}
	}
}

func TestCountMargin(t *testing.T) {
	text := strings.Repeat("The owl keeps the book of the weald. ", 30)
	plain := (&Counter{}).Count(text)
	for model, want := range map[string]int{
		"gpt-5-mini": plain, "openai/gpt-4o": plain, "o3": plain, "gpt-oss:20b": plain,
		"llama3:8b": plain + (plain+9)/10, "mistral-large": plain + (plain+9)/10,
	} {
		if got := (&Counter{Model: model}).Count(text); got != want {
			t.Errorf("%s: %d, want %d of %d", model, got, want, plain)
		}
	}
}

// Long texts are counted in pieces: as many tokens, give or take one at a seam, whatever they hold. And in good time: the
// work on a piece grows with its square, and one of more than maxPiece bytes would find no room in merged and panic.
func TestCountLongTexts(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var c Counter
	for _, unit := range []string{"The owl keeps a book. ", "日本語の本。", "a", " ", "\n", "0123456789abcdef", "🦉"} {
		text := strings.Repeat(unit, 20_000/len(unit))
		got := c.Count(text)
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if seams := len(text)/maxPiece + 1; got < want || got > want+seams {
			t.Errorf("%q repeated: %d tokens, the whole has %d", unit, got, want)
		}
	}
}

func TestCountTogether(t *testing.T) {
	var c Counter
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := c.Count("Hello there, friend."); got != 5 {
					t.Errorf("%d tokens", got)
				}
			}
		})
	}
	wg.Wait()
}

var persona = strings.Repeat("Sage is an owl of few words, who keeps the book of the weald and reads from it when asked. ", 50)

func BenchmarkCount(b *testing.B) {
	b.SetBytes(int64(len(persona)))
	for b.Loop() {
		countTokens(persona)
	}
}

func BenchmarkCountCached(b *testing.B) {
	var c Counter
	c.Count(persona)
	b.SetBytes(int64(len(persona)))
	b.ReportAllocs()
	for b.Loop() {
		c.Count(persona)
	}
}
