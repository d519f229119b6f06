package need

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The kinds of words are the same in all languages, from "who" and "you" to "weather" and "device". So what the model learns of a kind in
// one language helps in all others, and a word that stands in a table is known though no message of the training has it.

// wordKind is a kind in a language.
type wordKind struct{ language, kind string }

// kindTable has the kinds of words and phrases. In the tables of package lang "regen*" is what begins so, and "*sin" what ends so. Words of
// scripts without spaces may stand anywhere.
type kindTable struct {
	whole, beginning, ending, inside map[string][]wordKind
	longest                          int // of inside, in characters
}

const longestPhrase = 4 // words

// kindsOf is the table of all languages.
var kindsOf = sync.OnceValue(func() kindTable {
	t := kindTable{map[string][]wordKind{}, map[string][]wordKind{}, map[string][]wordKind{}, map[string][]wordKind{}, 0}
	for _, code := range lang.Codes() {
		speech := lang.Of(code).Speech
		for _, kind := range slices.Sorted(maps.Keys(speech)) {
			for phrase := range strings.SplitSeq(string(speech[kind]), ",") {
				t.add(phrase, wordKind{code, kind})
			}
		}
	}
	return t
})

func (t *kindTable) add(phrase string, kind wordKind) {
	part, any := strings.CutSuffix(strings.TrimSpace(phrase), "*")
	tail, ends := strings.CutPrefix(part, "*")
	words := spelled(tail)
	key, in := strings.Join(words, " "), t.whole
	switch {
	case key == "":
		return
	case text.Unspaced(key):
		in = t.inside
		t.longest = max(t.longest, utf8.RuneCountInString(key))
	case any:
		in = t.beginning
	case ends:
		in = t.ending
	}
	if !slices.Contains(in[key], kind) {
		in[key] = append(in[key], kind)
	}
}

// spelled returns the words of a text as they are compared.
func spelled(s string) []string { return unmarked(tokens(s)) }

// foundKind is a kind, and the words that it was found in; in scripts without spaces, the characters.
type foundKind struct {
	kind   string
	at, to int
}

// find returns the kinds in words, by language.
func (t kindTable) find(words []string) map[string][]foundKind {
	found := map[string][]foundKind{}
	add := func(kinds []wordKind, at, n int) {
		for _, k := range kinds {
			found[k.language] = append(found[k.language], foundKind{k.kind, at, at + n})
		}
	}
	for i, w := range words {
		for n := 1; n <= longestPhrase && i+n <= len(words); n++ {
			add(t.whole[strings.Join(words[i:i+n], " ")], i, n)
		}
		for at := range w {
			if at > 1 {
				add(t.beginning[w[:at]], i, 1)
			}
			if at > 0 {
				add(t.ending[w[at:]], i, 1)
			}
		}
		add(t.beginning[w], i, 1)
	}
	if all := strings.Join(words, " "); text.Unspaced(all) {
		runes := []rune(all)
		for i := range runes {
			for n := 1; n <= t.longest && i+n <= len(runes); n++ {
				add(t.inside[string(runes[i:i+n])], i, n)
			}
		}
	}
	return found
}

// Known are the kinds of the words of a text.
type Known struct {
	Language string                  // in which most are known, or ""
	Kinds    map[int]map[string]bool // by word, or by character of a text without spaces
}

// KindsIn returns the kinds of words that text.Words found in s, or of the characters of s if spaced is false. The words of context help to
// tell the language.
func KindsIn(s string, words []text.Word, spaced bool, context string) Known {
	spelling := []string{strings.ToLower(s)}
	if spaced {
		spelling = nil
		for _, w := range words {
			spelling = append(spelling, strings.Join(spelled(s[w.Start:w.End]), " "))
		}
	}
	language, _ := mostFound(kindsOf().find(append(spelled(context), spelling...)))
	k := Known{Language: language, Kinds: map[int]map[string]bool{}}
	for _, f := range kindsOf().find(spelling)[language] {
		if !spaced && f.to-f.at < 2 {
			continue // a character of a name
		}
		for i := f.at; i < f.to; i++ {
			if k.Kinds[i] == nil {
				k.Kinds[i] = map[string]bool{}
			}
			k.Kinds[i][f.kind] = true
		}
	}
	return k
}
