package text

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Phrases holds tables of phrases, indexed by their first word, so that a search costs one look-up per word.
type Phrases struct {
	ByFirst map[string][]Phrase
	Inside  []Phrase // of scripts without spaces; found as substrings
}

// Phrase is a phrase and the name of its table.
type Phrase struct {
	Words []string // by key
	Cue   string
}

// Compile indexes tables of phrases by cue.
func Compile(rows map[string]PhraseList) Phrases {
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

// CompileOne indexes one table whose phrases share a meaning.
func CompileOne(table PhraseList) Phrases { return Compile(map[string]PhraseList{"": table}) }

// Match is an occurrence of a phrase.
type Match struct {
	Cue      string
	From, To int // its words; empty in a script without spaces
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

// Prefix returns the length and cue of the longest phrase of t at the start of words.
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

// HasPrefix reports whether words begin with keys.
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

// MayHold is a cheap check: if it returns false, words do not contain the phrase, and [PhraseKeys] need not be called.
func MayHold(words []Word, phrase string) bool {
	n := 0
	for n < len(phrase) && phrase[n] < utf8.RuneSelf && InWord(rune(phrase[n])) {
		n++
	}
	// The key of an ASCII word has the same beginning, unless chat writes several words as one. An apostrophe would join it to the next word.
	if n == 0 || n < len(phrase) && phrase[n] != ' ' || writtenTogether(Fold(phrase[:n])) != nil {
		return true
	}
	begins := strings.ToLower(phrase[:min(n, 2)])
	return slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Key, begins) })
}

// ContainsAny reports whether any of words is in set.
func ContainsAny(words []Word, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return set[w.Key] })
}
