package text

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"

	"familiar/internal/text/lang"
)

// Stem returns the stem of a word, by its key: in English where the language is "". Of a language without a stemmer it is the beginning of a
// long word.
func Stem(key, language string) string {
	if language == "" || language == "en" {
		return english.Stem(key, false)
	}
	if s := stemmers[language]; s != nil {
		return s.stem(key)
	}
	if utf8.RuneCountInString(key) > 6 {
		return string([]rune(key)[:6])
	}
	return key
}

// Stems returns what else a word, by its key, may be found by: its stems in a language, or in any where that is "". That of English, which
// full-text indexes know by themselves, is not among them.
func Stems(key, language string) (all []string) {
	for _, code := range stemmed {
		if language == "" || language == code {
			if stem := stemmers[code].stem(key); stem != key {
				all = AddOnce(all, stem)
			}
		}
	}
	return all
}

// StemsMark changes when the endings do, by which [Stems] goes.
func StemsMark() string {
	h := fnv.New64a()
	for _, code := range stemmed {
		fmt.Fprintln(h, code, lang.Of(code).Stem)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// stemmed are the languages that have endings.
var stemmed = slices.DeleteFunc(lang.Codes(), func(code string) bool { return stemmers[code] == nil })

// stemmer takes endings off the words of a language. Savoy, "Light stemming approaches for the French, Portuguese, German and Hungarian
// languages" (2006), finds that to do as well in a search as rules for all that a word can become. And these endings, as the keys of words,
// have no accents, by which other stemmers go.
type stemmer struct {
	rows     []endings
	finals   map[rune]rune
	shortest int
}

// endings are those of one row, and how many bytes the longest has.
type endings struct {
	all     map[string]bool
	longest int
}

// stemmers are those of the languages that have endings.
var stemmers = func() map[string]*stemmer {
	all := map[string]*stemmer{}
	for _, code := range lang.Codes() {
		table := lang.Of(code).Stem
		if len(table.Endings) == 0 {
			continue
		}
		s := &stemmer{finals: map[rune]rune{}, shortest: cmp.Or(table.Shortest, 3)}
		for _, row := range table.Endings {
			e := endings{all: map[string]bool{}}
			for _, w := range lang.Words(row).Fields() {
				w = Unaccented(w)
				e.all[w] = true
				e.longest = max(e.longest, len(w))
			}
			s.rows = append(s.rows, e)
		}
		for _, pair := range table.Finals.Fields() {
			from, n := utf8.DecodeRuneInString(pair)
			s.finals[from], _ = utf8.DecodeRuneInString(pair[n:])
		}
		all[code] = s
	}
	return all
}()

func (s *stemmer) stem(key string) string {
	for _, row := range s.rows {
		for n := min(row.longest, len(key)); n > 0; n-- {
			if row.all[key[len(key)-n:]] && utf8.RuneCountInString(key[:len(key)-n]) >= s.shortest {
				key = key[:len(key)-n]
				break
			}
		}
	}
	last, n := utf8.DecodeLastRuneInString(key)
	if before, _ := utf8.DecodeLastRuneInString(key[:len(key)-n]); before == last && unicode.IsLetter(last) {
		key = key[:len(key)-n] // Katten, kat
	}
	if final, is := s.finals[last]; is {
		key = key[:len(key)-n] + string(final)
	}
	return key
}
