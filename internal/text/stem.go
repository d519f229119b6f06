package text

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Stem returns the stem of a word by its key. An empty language means English. For a language without a stemmer it
// returns the beginning of a long word.
func Stem(key, language string) string {
	if language == "" || language == "en" {
		return english.Stem(key, false)
	}
	if s := stemmers()[language]; s != nil {
		return s.stem(key)
	}
	if utf8.RuneCountInString(key) > 6 {
		return string([]rune(key)[:6])
	}
	return key
}

// Stems returns further forms by which a word can be found: its stems in a language, or in all languages if that is "".
// English stems are left out, because full-text indexes compute them.
func Stems(key, language string) (all []string) {
	for _, code := range stemmed() {
		if language == "" || language == code {
			if stem := stemmers()[code].stem(key); stem != key {
				all = AddOnce(all, stem)
			}
		}
	}
	return all
}

// StemsMark changes whenever the endings that [Stems] uses change.
func StemsMark() string {
	h := fnv.New64a()
	for _, code := range stemmed() {
		fmt.Fprintln(h, code, TablesOf(code).Stem)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// stemmed are the languages with endings.
var stemmed = sync.OnceValue(func() []string {
	return slices.DeleteFunc(Languages(), func(code string) bool { return stemmers()[code] == nil })
})

// stemmer removes endings from the words of a language. Savoy, "Light stemming approaches for the French, Portuguese,
// German and Hungarian languages" (2006), finds that this searches as well as complete rules. Other stemmers need accents,
// which the keys of words do not have.
type stemmer struct {
	rows     []endings
	finals   map[rune]rune
	shortest int
}

// endings are the endings of one row and the length in bytes of the longest.
type endings struct {
	all     map[string]bool
	longest int
}

// stemmers holds the stemmers of the languages with endings.
var stemmers = sync.OnceValue(func() map[string]*stemmer {
	all := map[string]*stemmer{}
	for _, code := range Languages() {
		table := TablesOf(code).Stem
		if len(table.Endings) == 0 {
			continue
		}
		s := &stemmer{finals: map[rune]rune{}, shortest: cmp.Or(table.Shortest, 3)}
		for _, row := range table.Endings {
			e := endings{all: map[string]bool{}}
			for _, w := range WordList(row).Fields() {
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
})

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
