package text

import (
	"slices"
	"strings"
	"unicode"
)

// IndexForm names the way in which [IndexedWords] are made from a text. An index of another form must be built again. The first word is the
// rules' own, and the second is made from the endings that [Stems] removes. It is written here because a start should not read all languages.
const IndexForm = "1 k25fx8x8tz8e"

// IndexedWords returns the words under which a text is found, separated by spaces. After them are the stems of its words in all languages.
// The language of a short message is often unknown. | For scripts without spaces between words it returns pairs of neighbouring characters,
// as Lucene's CJKBigramFilter does. Unlike trigrams, pairs find words of two characters, as most Japanese and Chinese words are. They cost
// nothing for other languages. The last character follows the pairs, so that each character begins a word.
func IndexedWords(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	write := func(w string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	all := Runs(s)
	for _, run := range all {
		for _, w := range run.Words() {
			write(w)
		}
		if run.Unspaced && len(run.Letters) > 1 {
			write(string(run.Letters[len(run.Letters)-1:]))
		}
	}
	seen := map[string]bool{}
	for _, run := range all {
		for _, stem := range run.stems("") {
			if !seen[stem] {
				seen[stem] = true
				write(stemMark + stem)
			}
		}
	}
	return b.String()
}

// Run is a longest sequence of letters, digits and marks of one kind of script.
type Run struct {
	Letters  []rune
	Unspaced bool // its script puts no spaces between words, or joins particles to their ends
}

// Runs cuts a text into runs, in lower case.
func Runs(s string) (all []Run) {
	var now Run
	end := func() {
		if len(now.Letters) > 0 {
			all = append(all, now)
		}
		now = Run{}
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			end()
			continue
		}
		if u := joinedRune(r) || now.Unspaced && unicode.IsMark(r); u != now.Unspaced {
			end()
			now.Unspaced = u
		}
		now.Letters = append(now.Letters, unicode.ToLower(r))
	}
	end()
	return all
}

// Words returns the run or, if it is unspaced, the pairs of its characters.
func (r Run) Words() []string {
	if !r.Unspaced || len(r.Letters) < 2 {
		return []string{string(r.Letters)}
	}
	var pairs []string
	for i := range len(r.Letters) - 1 {
		pairs = append(pairs, string(r.Letters[i:i+2]))
	}
	return pairs
}

// stems returns the stems of a word in a language, or in all languages if language is empty.
func (r Run) stems(language string) []string {
	if r.Unspaced || len(r.Letters) < shortestStemmed || slices.ContainsFunc(r.Letters, unicode.IsNumber) {
		return nil
	}
	return Stems(Fold(string(r.Letters)), language)
}

// stemMark begins a stem in the index. So a search for an English word finds no stem of another language. It is a private character that
// the tokenizer takes for a letter.
const stemMark = "\ue000"

// Forms returns what else a word is found by: its stems, and itself as the stem of other words.
func (r Run) Forms(language string) (all []string) {
	if r.Unspaced {
		return nil
	}
	if language != "en" {
		all = append(all, stemMark+Fold(string(r.Letters)))
	}
	for _, stem := range r.stems(language) {
		all = append(all, stem, stemMark+stem)
	}
	return all
}

// shortestStemmed is the number of letters from which on a word is stemmed.
const shortestStemmed = 4

// joinedRune reports whether a script puts no spaces between words, or joins particles to their ends.
func joinedRune(r rune) bool {
	return UnspacedRune(r) || unicode.Is(unicode.Hangul, r)
}
