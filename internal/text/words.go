// Package text holds what the program knows of languages, and analyses texts of any language. It knows their words, sentences, dates and
// numbers, and how similar two texts are. It knows neither where a text comes from nor what it is for.
//
// What is known of a language is data, one file per language in the folder lang. [Tables] says what a file holds
// (tables.go). [AllTables] merges the files and [TablesOf] returns one of them (languages.go).
//
// [Words] (words.go) cuts a text into words and gives each a key: lower case, without accents or a plural s. Tables of
// words and phrases (saying.go) are looked up by these keys. [Terms] returns the stems (words.go) of the meaningful
// words. [Language] guesses a text's language (language.go).
//
// [Sentences] and [MessageSentences] cut pages and messages (sentence.go). [Dates] (date.go), [Numbers] and [Quantities] (numbers.go) find
// what can be compared exactly. calendar.go parses relative times such as "yesterday", "last Friday" and "3 days ago". [MomentAt] finds
// them, [AbsoluteDates] replaces them by dates, and [DayIn] returns the day that a question names. A [Saying] (saying.go) is a message in
// which whole phrases are looked for. [Sum] (sum.go) and [Conversion] (unit.go) work out what a message asks for and nothing else.
// [IndexedWords] (runs.go) are the words by which a full-text index finds a text. Long texts are compared by hashes of runs of words
// (similar.go). A [Model] (linear.go) decides by features of a text. [LatinLookalike] (language.go) and [LazyRegexp] (lazyregexp.go) are small tools.
package text

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Word is a word of a text: its key for look-ups, and its position.
type Word struct {
	Key        string // lower case, without accents, plural s or apostrophe
	Start, End int    // bytes of the text; words from one contraction share them
	Upper      bool   // begins with a capital
}

// SameWord reports whether two words of a text are the same, or halves of one contraction.
func SameWord(a, b Word) bool { return a.Start == b.Start }

// Possessive reports whether a word, as written, ends with the possessive "'s".
func Possessive(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}

// Keys returns the keys of words.
func Keys(words []Word) map[string]bool {
	keys := make(map[string]bool, len(words))
	for _, w := range words {
		keys[w.Key] = true
	}
	return keys
}

// longWord limits the bytes examined for one word.
const longWord = 32

// WordBehind returns the first word of s, which may follow one other character. After a number, that is its unit.
func WordBehind(s string) (w Word, ok bool) {
	words := Words(s[:min(len(s), longWord)])
	if len(words) == 0 || words[0].Start > 1 {
		return Word{}, false
	}
	return words[0], true
}

// contractions maps the second halves of English contractions to words. "s" is a word only after the words of beforeIs;
// otherwise it is a possessive and is dropped.
var contractions = sync.OnceValue(func() map[string]WordList { return AllTables().Grammar.Contractions })

var beforeIs = LazySet(func() WordList { return AllTables().Grammar.BeforeIs })

// chatForms are words that chat writes as one. longestChatForm is the length of the longest.
var (
	chatForms = sync.OnceValue(func() map[string][]string {
		all := map[string][]string{}
		for form, words := range AllTables().Grammar.ChatForms {
			all[form] = words.Fields()
		}
		return all
	})
	longestChatForm = sync.OnceValue(func() int {
		return len(slices.MaxFunc(slices.Collect(maps.Keys(chatForms())), func(a, b string) int { return len(a) - len(b) }))
	})
)

// Words splits s into words. Chinese, Japanese and Thai give long runs, in which tables are searched.
func Words(s string) []Word {
	out := make([]Word, 0, len(s)/5+1) // about as many as English has
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !InWord(r) {
			i += n
			continue
		}
		start := i
		for i += n; i < len(s); i += n {
			if r, n = utf8.DecodeRuneInString(s[i:]); !InWord(r) {
				break
			}
		}
		out = appendWord(out, s, start, i)
	}
	return out
}

// InWord reports whether a character is part of a word: a letter, a digit or a combining mark.
func InWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// appendWord appends s[start:end], joined with the word before it if only an apostrophe separates them.
func appendWord(out []Word, s string, start, end int) []Word {
	raw := s[start:end]
	first, _ := utf8.DecodeRuneInString(raw)
	key := Fold(singular(raw))
	if len(out) > 0 && start-out[len(out)-1].End <= len("’") && apostrophe(s[out[len(out)-1].End:start]) {
		last := &out[len(out)-1]
		switch {
		case key == "t" && strings.HasSuffix(last.Key, "n"): // don't, can't, won't
			last.Key = map[string]string{"wo": "will", "ca": "can", "sha": "shall"}[strings.TrimSuffix(last.Key, "n")]
			if last.Key == "" {
				last.Key = Fold(strings.TrimRight(s[last.Start:last.End], "nN"))
			}
			return append(out, Word{Key: "not", Start: start, End: end})
		case key == "s" && !beforeIs()[last.Key]:
			last.End = end
			return out
		case contractions()[key] != "":
			return append(out, Word{Key: string(contractions()[key]), Start: start, End: end})
		}
	}
	if parts := writtenTogether(key); parts != nil && (len(key) > 1 || !strings.HasPrefix(s[end:], ".")) {
		for _, part := range parts {
			out = append(out, Word{Key: part, Start: start, End: end})
		}
		return out
	}
	return append(out, Word{Key: key, Start: start, End: end, Upper: unicode.IsUpper(first)})
}

// singular removes the s from an acronym: "CFCs", "DVDs".
func singular(raw string) string {
	name, ok := strings.CutSuffix(raw, "s")
	if !ok || len(name) < 2 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsUpper(r) }) {
		return raw
	}
	return name
}

// writtenTogether returns the words of a form in [chatForms].
func writtenTogether(key string) []string {
	if len(key) > longestChatForm() {
		return nil
	}
	return chatForms()[key]
}

func apostrophe(s string) bool { return s == "'" || s == "’" || s == "ʼ" }

// Fold returns the key of a word: lower case, without accents and, from five letters on, without a plural s. Words of
// tables are folded too, so that one entry serves all forms.
func Fold(s string) string {
	s = strings.ToLower(s)
	if !ASCII(s) {
		s = Unaccented(s)
	}
	if len(s) > 4 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") && !strings.HasSuffix(s, "is") {
		s = s[:len(s)-1]
	}
	return s
}

// ASCII reports whether s has only ASCII characters.
func ASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Unaccented removes combining marks from Latin, Greek and Cyrillic. Other scripts need theirs.
func Unaccented(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if r < 0x300 || r > 0x36f {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// Unspaced reports whether s is in a script without spaces between words, or with particles attached to them.
func Unspaced(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul) {
			return true
		}
	}
	return false
}

// IDF is the inverse document frequency of BM25, the weight of a term that occurs in in of of texts. Rare terms weigh
// more (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
func IDF(in, of int) float64 {
	return math.Log(1 + (float64(of)-float64(in)+0.5)/(float64(in)+0.5))
}

// Terms returns the stems of the meaningful words of s, and pairs of characters in scripts without spaces. They are in
// text order and may repeat.
func Terms(s, language string) []string {
	var out []string
	for _, w := range Words(s) {
		if Unspaced(s[w.Start:w.End]) {
			out = append(out, Pairs(s[w.Start:w.End])...)
		} else if Meaningful(w.Key) {
			out = append(out, Stem(w.Key, language))
		}
	}
	return out
}

// ContentWords returns the meaningful words of s as written.
func ContentWords(s string) []Word {
	return slices.DeleteFunc(Words(s), func(w Word) bool { return !Meaningful(w.Key) })
}

// Meaningful reports whether the word with this key is not a stop word.
func Meaningful(key string) bool { return !StopWords()[key] && (len(key) > 1 || Numeric(key)) }

// Numeric reports whether a word is a number.
func Numeric(key string) bool { return key != "" && IsDigit(key[0]) }

// Pairs returns the pairs of neighbouring characters of s, used as words in scripts without spaces.
func Pairs(s string) []string {
	r := []rune(s)
	if len(r) < 3 {
		return []string{s}
	}
	out := make([]string, 0, len(r)-1)
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}

// Set returns the words of a table as a set of keys.
func Set(table WordList) map[string]bool {
	out := map[string]bool{}
	for _, w := range table.Fields() {
		out[Fold(w)] = true
	}
	return out
}

// LazySet returns what makes the [Set] of a table on first use.
//
//go:noinline
func LazySet(table func() WordList) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return Set(table()) })
}

// ByWord maps the words of tables, by key, to the names of the tables.
func ByWord(tables map[string]WordList) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for w := range Set(tables[name]) {
			out[w] = name
		}
	}
	return out
}

// Tables used by several packages, by key.
var (
	SpelledNumbers = LazySet(func() WordList { return AllTables().Number.Words })
	Negations      = LazySet(func() WordList { return AllTables().Grammar.Negations })
	StopWords      = LazySet(func() WordList { return AllTables().Grammar.StopWords })    // carry no meaning in a search
	Prepositions   = LazySet(func() WordList { return AllTables().Grammar.Prepositions }) // begin a slot of a question

	// Pronouns maps a pronoun to what it refers to. "he" is for a person, "it" for a thing, and "there" for a place. An s is added for an
	// owner.
	Pronouns = sync.OnceValue(func() map[string]string { return ByWord(AllTables().Grammar.Pronouns) })
)

// YearPattern matches years from 1000 to 2099.
var YearPattern = NewLazyRegexp(`\b(1[0-9]{3}|20[0-9]{2})\b`)

// Denies reports whether a text contains a negation.
func Denies(s string) bool { return ContainsAny(Words(s), Negations()) }

// A set is a sorted list of unique elements, made by [Unique]. Sets are compared by walking both at once, without
// allocation.

// Unique returns the set of a list's elements. It does not change the list.
func Unique[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// Common counts the elements in both sets.
func Common[T cmp.Ordered](a, b []T) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// Jaccard returns the size of the intersection of two sets divided by that of the union, from 0 to 1.
func Jaccard[T cmp.Ordered](a, b []T) float64 {
	both := Common(a, b)
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// Containment returns the share of the smaller set that is in the other, from 0 to 1.
func Containment[T cmp.Ordered](a, b []T) float64 {
	return float64(Common(a, b)) / float64(max(1, min(len(a), len(b))))
}

// Intersects reports whether two word sets share a word. It walks along the second.
func Intersects(a, b map[string]bool) bool {
	for k := range b {
		if a[k] {
			return true
		}
	}
	return false
}

// AddOnce appends s to the list unless it contains s.
func AddOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

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

// Stems returns further forms by which a word can be found. They are its stems in a language, or in all languages if that is "". English
// stems are left out, because full-text indexes compute them.
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

// stemmed are the languages with endings.
var stemmed = sync.OnceValue(func() []string {
	return slices.DeleteFunc(Languages(), func(code string) bool { return stemmers()[code] == nil })
})

// stemmer removes endings from the words of a language. This searches as well as complete rules (Savoy, "Light stemming approaches for the
// French, Portuguese, German and Hungarian languages", 2006). Other stemmers need accents, which the keys of words do not have.
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
