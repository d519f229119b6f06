package text

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Saying is a text in which phrases are looked for.
type Saying struct {
	Text  string
	Words []Word
	Code  string // its language, or ""
	Flat  string // see [Flat]
	Lower string // in lower case, with a space after
}

// NewSaying prepares a text.
func NewSaying(s string) Saying {
	words := Words(s)
	return Saying{Text: s, Words: words, Code: MessageLanguage(s), Flat: Flat(s), Lower: strings.ToLower(s) + " "}
}

// Flat returns the words of a text in lower case and without accents, with a space before and after each. Dotless letters get their dot.
func Flat(s string) string {
	words := strings.FieldsFunc(Unaccented(strings.ToLower(s)), func(r rune) bool { return !InWord(r) })
	return Dotted(" " + strings.Join(words, " ") + " ")
}

// Dotted gives the Turkish letter its dot. Written in capitals, it cannot be told from the one that has it.
func Dotted(s string) string { return undotted.Replace(s) }

var undotted = strings.NewReplacer("ı", "i")

// PhraseSet are phrases that are looked for in sayings. Those of scripts without spaces are parts of a text, others are whole words. The last
// word of a phrase with a star may go on.
type PhraseSet []string

// NewPhraseSet makes a set of some tables.
func NewPhraseSet(lists ...PhraseList) (all PhraseSet) {
	for _, list := range lists {
		for phrase := range strings.SplitSeq(string(list), ",") {
			phrase = strings.ToLower(strings.TrimSpace(phrase))
			switch open := strings.HasSuffix(phrase, "*"); {
			case phrase == "":
			case Unspaced(phrase) || strings.Contains(phrase, "/"):
				all = append(all, phrase)
			case open:
				all = append(all, strings.TrimSuffix(Flat(phrase), " "))
			default:
				all = append(all, Flat(phrase))
			}
		}
	}
	return all
}

// Find returns where the first of some phrases begins, and its end, or -1. The positions are in the form of the text in which it is looked
// for.
func (s Saying) Find(p PhraseSet) (in string, from, to int) {
	from = -1
	for _, phrase := range p {
		within := s.Flat
		if phrase[0] != ' ' {
			within = s.Lower
		}
		if i := strings.Index(within, phrase); i >= 0 && (from < 0 || i < from) {
			in, from, to = within, i, i+len(phrase)
		}
	}
	return in, from, to
}

// Has reports whether the text has one of some phrases.
func (s Saying) Has(p PhraseSet) bool {
	_, from, _ := s.Find(p)
	return from >= 0
}

// EndsWith reports whether the text ends with one of some phrases. A short word may follow it.
func (s Saying) EndsWith(p PhraseSet) bool {
	return slices.ContainsFunc(p, func(phrase string) bool {
		within := s.Flat
		if phrase[0] != ' ' {
			within = strings.TrimRight(s.Lower, " .!。！~)")
		}
		i := strings.LastIndex(within, phrase)
		return i >= 0 && !strings.Contains(strings.Trim(within[i+len(phrase):], " "), " ") && utf8.RuneCountInString(within[i+len(phrase):]) < 8
	})
}

// SpeaksTo reports whether the text speaks to somebody: who reads it later is not that person.
func (s Saying) SpeaksTo() bool { return ContainsAny(s.Words, SecondPerson(s.Code)) }

// SecondPerson returns the words of a language for the person spoken to, or those of all languages for "".
func SecondPerson(code string) map[string]bool { return secondPersons()[code] }

var secondPersons = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{"": Set(AllTables().Grammar.SecondPerson)}
	for _, code := range Languages() {
		all[code] = Set(TablesOf(code).Grammar.SecondPerson)
	}
	return all
})

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

// MayHold is a cheap check. If it returns false, words do not contain the phrase, and [PhraseKeys] need not be called.
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
