package order

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// wordSet is a table of words.
type wordSet struct {
	keys map[string]bool
	list []string // as written
}

func set(words text.WordList) wordSet {
	s := wordSet{keys: map[string]bool{}, list: words.Fields()}
	for _, w := range s.list {
		s.keys[key(w)] = true
	}
	return s
}

func (s wordSet) has(key string) bool { return s.keys[key] }

// phrase is a phrase of a table. A phrase in a script without spaces has no keys.
type phrase struct {
	cue, text string
	keys      []string
	request   bool // it is a request though it is put as a question
}

// in reports whether a text has the phrase anywhere. words are its words.
func (p phrase) in(s string, words []token) bool {
	if p.keys == nil {
		return strings.Contains(s, p.text)
	}
	for i := range words {
		if prefix(words[i:], p.keys) > 0 {
			return true
		}
	}
	return false
}

// phrases returns the phrases of a table, the longest first.
func phrases(table text.PhraseList) (all []phrase) {
	for one := range strings.SplitSeq(string(table), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, newPhrase(one))
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(len(b.text), len(a.text)) < 0
	})
	return all
}

func newPhrase(one string) (p phrase) {
	p.text, p.request = strings.CutSuffix(one, "?")
	if !text.Unspaced(p.text) {
		p.keys = keysOf(p.text)
	}
	return p
}

// begins returns the length in bytes of the phrase at the beginning of a sentence, or 0. words are the sentence's words.
func (p phrase) begins(s string, words []token) int {
	if p.keys != nil {
		return prefix(words, p.keys)
	}
	if strings.HasPrefix(s, p.text) {
		return len(p.text)
	}
	return 0
}

// ends returns the length in bytes of the phrase at the end of a sentence, or 0. The phrase must be a word of its own. In Korean it may be
// the suffix of a word.
func (p phrase) ends(s string) int {
	n := len(p.text)
	if n > len(s) || !strings.EqualFold(s[len(s)-n:], p.text) {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(p.text)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
	if p.keys != nil && !unicode.Is(unicode.Hangul, first) && text.InWord(before) {
		return 0
	}
	return n
}

// slot is a phrase of a table in which X stands for any words.
type slot struct {
	cue, text string
	plain     phrase   // the text, if there is no X in it
	parts     []string // the words around X and Y, in lower case
	pattern   func() *regexp.Regexp
}

func newSlot(cue, words string, unspaced bool) slot {
	s := slot{cue: cue, text: words, pattern: sync.OnceValue(func() *regexp.Regexp { return template(words, unspaced, false) })}
	if !strings.Contains(words, "X") {
		s.plain = newPhrase(words)
	}
	for part := range strings.FieldsFuncSeq(words, func(r rune) bool { return strings.ContainsRune("XY ，", r) }) {
		s.parts = append(s.parts, strings.ToLower(part))
	}
	return s
}

// template makes a regular expression of a phrase. Marks and spaces may be between its parts. marked says that a mark is in the
// first place after X or Y where one may.
func template(phrase string, unspaced, marked bool) *regexp.Regexp {
	gap := `([\s,;:.!–—-]+)`
	if unspaced {
		gap = `([\s,，、。：:]*)`
	}
	var b strings.Builder
	literal, slots := "", 0
	flush := func() {
		if literal != "" {
			b.WriteString(regexp.QuoteMeta(literal))
		}
		literal = ""
	}
	for _, r := range phrase {
		switch r {
		case 'X':
			flush()
			b.WriteString(`(?P<X>.+?)`)
			slots++
		case 'Y':
			flush()
			b.WriteString(`(?P<Y>.+?)`)
			slots++
		case ' ', '，':
			flush()
			if marked && slots == 1 {
				b.WriteString(`(\s*[,;:.，、。：–—]+\s*)`)
				marked = false
			} else {
				b.WriteString(gap)
			}
		default:
			literal += string(r)
		}
	}
	flush()
	return regexp.MustCompile(`(?is)^` + b.String() + `$`)
}

// mayMatch reports whether a text in lower case has all the words of the phrase. The pattern is compiled for the first text that has.
func (s slot) mayMatch(small string) bool {
	return !slices.ContainsFunc(s.parts, func(part string) bool { return !strings.Contains(small, part) })
}

// match returns what the pattern finds in a text. small is the text in lower case.
func (s slot) match(said, small string) []string {
	if !s.mayMatch(small) {
		return nil
	}
	return s.pattern().FindStringSubmatch(said)
}

// value returns what a text has at the place of X, or "".
func (s slot) value(said, small string) string { return s.part(s.match(said, small), "X") }

func (s slot) part(found []string, name string) string {
	if found == nil {
		return ""
	}
	if i := s.pattern().SubexpIndex(name); i > 0 {
		return found[i]
	}
	return ""
}

// straight returns a text with plain apostrophes. A phrase is written with them.
func straight(s string) string { return strings.ReplaceAll(s, "’", "'") }

// begins returns the length in bytes of the phrase at the beginning of a text, or 0. words are the text's words.
func (s slot) begins(said string, words []token) int {
	if !strings.Contains(s.text, "X") {
		return s.plain.begins(said, words)
	}
	clause := said
	if i := strings.IndexAny(said, ",;:.!?，。："); i >= 0 {
		clause = said[:i]
	}
	if plain := straight(clause); s.value(plain, strings.ToLower(plain)) == "" {
		return 0
	}
	return len(clause)
}

// contrast is a phrase that says what is right, X, and what is not, Y. turned says that Y comes first.
type contrast struct {
	slot
	marked func() *regexp.Regexp // with a mark between the two
	turned bool
	joined bool // by more than a "not": "and not"
}

// split returns what is right and what is not. separate reports whether a mark or the order of the words tells the two apart for sure.
func (c contrast) split(s string) (right, wrong string, separate bool) {
	s = straight(s)
	if !c.mayMatch(strings.ToLower(s)) {
		return "", "", false
	}
	found := c.marked().FindStringSubmatch(s)
	if found == nil {
		found = c.pattern().FindStringSubmatch(s)
	}
	if found == nil {
		return "", "", false
	}
	separate = c.turned
	for i, name := range c.pattern().SubexpNames() {
		separate = separate || i > 0 && name == "" && strings.ContainsFunc(found[i], unicode.IsPunct)
	}
	return strings.Trim(c.part(found, "X"), between), strings.Trim(c.part(found, "Y"), between), separate
}

// token is a word of a text. Unlike a word of package text it keeps its last letter and its apostrophe.
type token struct {
	key      string
	from, to int // bytes
}

// CountWords returns how many words a text has.
func CountWords(s string) int { return len(tokens(s)) }

func tokens(s string) []token {
	all, start := make([]token, 0, len(s)/5+1), -1
	for i, r := range s {
		inside := text.InWord(r) || start >= 0 && (r == '\'' || r == '’')
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			all = append(all, token{key(s[start:i]), start, i})
			start = -1
		}
	}
	if start >= 0 {
		all = append(all, token{key(s[start:]), start, len(s)})
	}
	return all
}

// key returns the form of a word that is compared.
func key(word string) string { return strings.ReplaceAll(text.Fold(word), "’", "'") }

func keysOf(phrase string) (keys []string) {
	for _, w := range tokens(phrase) {
		keys = append(keys, w.key)
	}
	return keys
}

// prefix returns the position in bytes after the last of the keys. It returns 0 if the words do not begin with them.
func prefix(words []token, keys []string) int {
	if len(keys) == 0 || len(words) < len(keys) || !slices.EqualFunc(words[:len(keys)], keys, func(w token, key string) bool { return w.key == key }) {
		return 0
	}
	return words[len(keys)-1].to
}
