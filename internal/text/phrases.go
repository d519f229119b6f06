package text

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text/lang"
)

// Phrases are tables of phrases, prepared for finding them in words: by the first word, then in full, so that a search
// costs one look-up a word.
type Phrases struct {
	ByFirst map[string][]Phrase
	Inside  []Phrase // of scripts without spaces: looked for as plain substrings
}

// Phrase is a phrase of a table, and the name of the table.
type Phrase struct {
	Words []string // by key
	Cue   string
}

// Compile prepares tables of phrases, by cue.
func Compile(rows map[string]lang.Phrases) Phrases {
	t := Phrases{ByFirst: map[string][]Phrase{}}
	for _, cue := range slices.Sorted(maps.Keys(rows)) {
		for phrase := range strings.SplitSeq(string(rows[cue]), ",") {
			phrase = strings.TrimSpace(phrase)
			if Unspaced(phrase) {
				t.Inside = append(t.Inside, Phrase{[]string{phrase}, cue})
				continue
			}
			if keys := PhraseKeys(phrase); len(keys) > 0 {
				t.ByFirst[keys[0]] = append(t.ByFirst[keys[0]], Phrase{keys, cue})
			}
		}
	}
	return t
}

// CompileOne prepares a table whose phrases all mean the same.
func CompileOne(table lang.Phrases) Phrases { return Compile(map[string]lang.Phrases{"": table}) }

// Match is a phrase that was found.
type Match struct {
	Cue      string
	From, To int // the words that it covers: none in a script without spaces
}

// FindAll returns every phrase of t in the text, in order.
func (t Phrases) FindAll(text string, words []Word) []Match {
	var out []Match
	for i := range words {
		for _, p := range t.ByFirst[words[i].Key] {
			if HasPrefix(words[i:], p.Words) {
				out = append(out, Match{p.Cue, i, i + len(p.Words)})
			}
		}
	}
	if len(t.Inside) > 0 && !ASCII(text) {
		for _, p := range t.Inside {
			if strings.Contains(text, p.Words[0]) {
				out = append(out, Match{p.Cue, 0, 0})
			}
		}
	}
	return out
}

// Prefix returns the length of the longest phrase of t that begins words, and its cue.
func (t Phrases) Prefix(words []Word) (n int, cue string) {
	if len(words) == 0 {
		return 0, ""
	}
	for _, p := range t.ByFirst[words[0].Key] {
		if len(p.Words) > n && HasPrefix(words, p.Words) {
			n, cue = len(p.Words), p.Cue
		}
	}
	return n, cue
}

// HasPrefix reports whether words begin with these, by key.
func HasPrefix(words []Word, keys []string) bool {
	return len(words) >= len(keys) && slices.EqualFunc(words[:len(keys)], keys, func(w Word, key string) bool { return w.Key == key })
}

// PhraseKeys returns the keys of a phrase's words.
func PhraseKeys(phrase string) []string {
	var keys []string
	for _, w := range Words(phrase) {
		keys = append(keys, w.Key)
	}
	return keys
}

// MayHold reports whether a phrase may stand in words. It takes nothing apart: where it is false, which is so of most names, [PhraseKeys]
// need not be asked for.
func MayHold(words []Word, phrase string) bool {
	n := 0
	for n < len(phrase) && phrase[n] < utf8.RuneSelf && InWord(rune(phrase[n])) {
		n++
	}
	// The key of a longer word in ASCII begins as the word does; an apostrophe would join it to the next.
	if n <= longestChatForm+len("ss") || n < len(phrase) && phrase[n] != ' ' {
		return true
	}
	begins := strings.ToLower(phrase[:2])
	return slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Key, begins) })
}

// ContainsAny reports whether any of words is in set.
func ContainsAny(words []Word, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return set[w.Key] })
}
