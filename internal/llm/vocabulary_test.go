package llm

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer"
	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "write o200k.tokens and o200k.table anew")

// TestVocabulary compares the embedded tokens with those of the library, and their table with one made now, or writes both.
func TestVocabulary(t *testing.T) {
	library := codec.NewO200kBase()
	var all strings.Builder
	for id := uint(0); ; id++ {
		token, err := library.Decode([]uint{id})
		if err != nil {
			break
		}
		if len(token) > longestToken {
			t.Fatalf("token %d is %d bytes long", id, len(token))
		}
		all.WriteByte(byte(len(token)))
		all.WriteString(token)
	}
	if all.Len() > place {
		t.Fatalf("%d bytes: a place does not fit into its bits", all.Len())
	}
	for _, file := range []struct{ name, have, want string }{
		{"o200k.tokens", tokens, all.String()},
		{"o200k.table", table, makeTable(all.String())},
	} {
		if *update {
			if err := os.WriteFile(file.name, []byte(file.want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if file.have != file.want {
			t.Errorf("%s is not the library's vocabulary: go test -run TestVocabulary -update", file.name)
		}
	}
}

func makeTable(tokens string) string {
	var entries [1 << tableBits]uint32
	for at := 0; at < len(tokens); {
		next := at + 1 + int(tokens[at])
		h := hash(tokens[at+1 : next])
		i := h >> (32 - tableBits)
		for entries[i] != 0 {
			i = (i + 1) & (1<<tableBits - 1)
		}
		entries[i] = h&hashed<<placeBits | uint32(at+1)
		at = next
	}
	b := make([]byte, 0, 3*len(entries))
	for _, e := range entries {
		b = append(b, byte(e), byte(e>>8), byte(e>>16))
	}
	return string(b)
}

// cutting is the expression that wordEnd replaces, as tiktoken has it. In a group of its own, for the library brings an
// engine for exactly this expression that ends the white space of "\n \n" after the first line break and overlooks "\x7f".
const cutting = `(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`

// FuzzWords compares the words with those of the expression, and the tokens of each with the library's.
func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"Hello there, friend.", "I'll say it's HE'S they'RE don'ſ", "ABCdef ABC DEFg xX", "  two\n\n three \t\r\n  end  ", "\n \n0",
		"日本語の本。", "1234567 12.5 ½²", "a\xffb", "!!/\n/ -ABC e\u0301\u0301x !\u0301 A\u0301", "ǅungla ʰxʰ ʼa", "\u0301\u0301a", "\u00a0\u2003x\u0085",
		"https://example.org/a?b=c#d", "<|endoftext|>", "👩‍👩‍👧‍👦 🦉", "Ünïcödé ŒUVRE ΑΒΓ αβγ", "-\u0301ABC", "\u0301ABC", " \u0301", "A\u0301BC",
	} {
		f.Add(text)
	}
	words := regexp2.MustCompile(cutting, regexp2.None)
	library, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		m, err := words.FindStringMatch(text)
		for rest := text; rest != ""; m, err = words.FindNextMatch(m) {
			word := rest[:wordEnd(rest)]
			if err != nil || m.String() != word {
				t.Fatalf("%q: word %q, not %q (%v)", text, word, m, err)
			}
			rest = rest[len(word):]
			if want, _ := library.Count(word); !strings.ContainsFunc(word, unicode.IsControl) && len(word) <= maxPiece && countTokens(word) != want {
				t.Errorf("%q: %d tokens, not %d", word, countTokens(word), want)
			}
		}
	})
}
