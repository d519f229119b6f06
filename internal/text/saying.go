package text

import (
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
	Lower string // in lower case, with a space behind
}

// NewSaying prepares a text.
func NewSaying(s string) Saying {
	words := Words(s)
	return Saying{Text: s, Words: words, Code: MessageLanguage(s), Flat: Flat(s), Lower: strings.ToLower(s) + " "}
}

// Flat returns the words of a text in lower case and without accents, with a space before and behind each. Dotless letters get their dot.
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

// Find returns where the first of some phrases begins in the form of the text in which it is looked for, and its end, or -1.
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
