package store

import (
	"strings"
	"unicode"
)

// words writes a text as the words that it is found by, a space between any two. Of scripts that put no spaces between words it is
// the pairs of neighbouring characters, as in Lucene's CJKBigramFilter: measured against trigrams, they find words of two
// characters, which most Japanese and Chinese words are, and cost other languages nothing.
func words(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, run := range runs(s) {
		for _, w := range run.words() {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w)
		}
	}
	return b.String()
}

// match returns an FTS5 query for the messages that hold all words of s, or, with begin, words that begin so. It is empty where s holds no word. Every word is quoted and made of letters, digits and marks alone, so that no text
// is an operator.
func match(s string, begin bool) string {
	var all []string
	for _, run := range runs(s) {
		switch w := run.words(); {
		case run.unspaced && len(run.letters) == 1, run.joined(), begin && !run.unspaced && len(run.letters) >= shortestBeginning:
			all = append(all, `"`+w[0]+`"*`)
		default:
			all = append(all, `"`+strings.Join(w, " ")+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// anyWord returns an FTS5 query for what holds any word of s, empty where s holds none.
func anyWord(s string) string {
	var all []string
	for _, run := range runs(s) {
		begin := ""
		if run.unspaced && len(run.letters) == 1 {
			begin = "*"
		}
		for _, w := range run.words() {
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

// joined reports whether a run is of a script that joins particles to the end of a word: a word of Korean is found with any of them.
func (r run) joined() bool {
	return len(r.letters) > 1 && unicode.Is(unicode.Hangul, r.letters[len(r.letters)-1])
}

// unspaced reports whether a character is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
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
