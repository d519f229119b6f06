package store

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/text"
)

// words writes a text as the words that it is found by, a space between any two, and behind them the stems that its words have in any
// language: what a message of a few words is written in is often not to be told. Of scripts that put no spaces between words it is
// the pairs of neighbouring characters, as in Lucene's CJKBigramFilter: measured against trigrams, they find words of two
// characters, which most Japanese and Chinese words are, and cost other languages nothing. Behind the pairs stands the last character, so that
// each begins a word by which it is found alone.
func words(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	write := func(w string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	all := runs(s)
	for _, run := range all {
		for _, w := range run.words() {
			write(w)
		}
		if run.unspaced && len(run.letters) > 1 {
			write(string(run.letters[len(run.letters)-1:]))
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

// match returns an FTS5 query for the messages that hold all words of s, in any form that they have in a language, or, with begin, words that
// begin so. It is empty where s holds no word. Every word is quoted and made of letters, digits and marks alone, so that no text is an
// operator.
func match(s, language string, begin bool) string {
	var all []string
	for _, run := range runs(s) {
		switch w := run.words(); {
		case run.unspaced && len(run.letters) == 1, begin && !run.unspaced && len(run.letters) >= shortestBeginning:
			all = append(all, `"`+w[0]+`"*`)
		case run.unspaced:
			all = append(all, `"`+strings.Join(w, " ")+`"`)
		default:
			all = append(all, anyOfThese(append(w, run.forms(language)...)))
		}
	}
	return strings.Join(all, " AND ")
}

// anyOfThese is a query for any of some words.
func anyOfThese(words []string) string {
	if len(words) == 1 {
		return `"` + words[0] + `"`
	}
	return `("` + strings.Join(words, `" OR "`) + `")`
}

// anyWord returns an FTS5 query for what holds any word of s in any form, empty where s holds none.
func anyWord(s string) string {
	var all []string
	for _, run := range runs(s) {
		begin := ""
		if run.unspaced && len(run.letters) == 1 {
			begin = "*"
		}
		for _, w := range append(run.words(), run.forms("")...) {
			all = append(all, `"`+w+`"`+begin)
		}
	}
	return strings.Join(all, " OR ")
}

// shortestBeginning is how many letters say which word is begun. FTS5 gathers all that begins so before it returns the first.
const shortestBeginning = 4

// run is a longest stretch of letters, digits and marks of one kind of script.
type run struct {
	letters  []rune
	unspaced bool
}

func runs(s string) (all []run) {
	var now run
	end := func() {
		if len(now.letters) > 0 {
			all = append(all, now)
		}
		now = run{}
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			end()
			continue
		}
		if u := unspaced(r) || now.unspaced && unicode.IsMark(r); u != now.unspaced {
			end()
			now.unspaced = u
		}
		now.letters = append(now.letters, unicode.ToLower(r))
	}
	end()
	return all
}

func (r run) words() []string {
	if !r.unspaced || len(r.letters) < 2 {
		return []string{string(r.letters)}
	}
	var pairs []string
	for i := range len(r.letters) - 1 {
		pairs = append(pairs, string(r.letters[i:i+2]))
	}
	return pairs
}

// stems are those of a word in a language, or in any.
func (r run) stems(language string) []string {
	if r.unspaced || len(r.letters) < shortestStemmed || slices.ContainsFunc(r.letters, unicode.IsNumber) {
		return nil
	}
	return text.Stems(text.Fold(string(r.letters)), language)
}

// stemMark begins a stem in the index, so that who looks for a word in English finds no stem of another language. It is a letter of
// nobody's that the index takes for one.
const stemMark = "\ue000"

// forms are what else a word may be found by: its stems, and the words that have one of them. What is looked for may be the stem itself.
func (r run) forms(language string) (all []string) {
	if r.unspaced {
		return nil
	}
	if language != "en" {
		all = append(all, stemMark+text.Fold(string(r.letters)))
	}
	for _, stem := range r.stems(language) {
		all = append(all, stem, stemMark+stem)
	}
	return all
}

// shortestStemmed is how many letters a word has at least that is looked at for its endings.
const shortestStemmed = 4

// unspaced reports whether a character is of a script that puts no spaces between words, or joins particles to their ends.
func unspaced(r rune) bool {
	return text.UnspacedRune(r) || unicode.Is(unicode.Hangul, r)
}

// tag names a place or a person in the index. What of an id is neither letter nor digit is left out: whoever searches looks at the
// messages themselves, too.
func tag(kind byte, id string) string {
	return string(kind) + strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, id)
}

// The kinds of tags.
const (
	inGuild   = 'g'
	inChannel = 'c'
	byAuthor  = 'a'
)

// anyOf returns an FTS5 query for messages that have one of some tags.
func anyOf(kind byte, ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, `"`+tag(kind, id)+`"`)
	}
	return "tags : (" + strings.Join(all, " OR ") + ")"
}
