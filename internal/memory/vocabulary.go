package memory

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// vocabulary holds the words and phrases of one language.
type vocabulary struct {
	code                                                 string
	leads, asks, verbs, idioms, no, it, particles        []phrase
	works, material, letters                             []phrase
	wrong                                                []slot
	slots                                                []slot
	contrasts                                            []contrast
	that, this, all, me, memory, known, about, elsewhere wordSet
	starts, own, others, told, is, yes, notNames, months wordSet
	and, so, reasons, thing, something                   wordSet
	into, outOf, errands                                 []phrase
	fields                                               map[string]wordSet
	negations, days                                      map[string]bool
	endings                                              []string
	verbLast, unspaced                                   bool
	signs                                                signSet

	// Every order contains one of the words in first or one of the texts in within. Both are in lower case.
	first  map[string]bool
	within []string
}

// vocabularies returns a vocabulary for each language with verbs of orders.
var vocabularies = sync.OnceValue(func() (all []*vocabulary) {
	for _, code := range text.Languages() {
		if t := text.TablesOf(code); t.Memory.Keep != "" {
			all = append(all, newVocabulary(code, t))
		}
	}
	return all
})

func newVocabulary(code string, t *text.Tables) *vocabulary {
	m := t.Memory
	v := &vocabulary{
		code: code, leads: phrases(m.Leads), asks: phrases(m.Asks), idioms: phrases(m.Idioms), no: phrases(m.No), it: phrases(m.It),
		particles: phrases(m.Particles), works: phrases(m.Works), material: phrases(m.Material), letters: phrases(m.Letters),
		that: set(m.That), this: set(m.This), all: set(m.All), me: set(m.Me), memory: set(m.Memory), known: set(m.Known), about: set(m.About),
		elsewhere: set(m.Elsewhere), starts: set(m.Starts), own: set(m.Own), others: set(m.Others), told: set(m.Told), is: set(m.Is), notNames: set(m.NotNames), yes: set(m.Yes), months: set(text.WordList(t.Time.Months)),
		and: set(m.And), so: set(m.So), reasons: set(m.Reasons), thing: set(m.Things), something: set(m.Something), into: phrases(m.Into), outOf: phrases(m.OutOf), errands: phrases(m.Errands), days: text.Set(text.WordList(strings.Join(keysOf(string(t.Time.Weekdays+" "+t.Time.Months)+" "+string(m.Days)), " "))),
		fields: map[string]wordSet{}, negations: set(t.Grammar.Negations).keys, first: map[string]bool{}, verbLast: m.VerbLast,
	}
	for _, verbs := range []struct {
		cue   string
		table text.PhraseList
	}{{string(Keep), m.Keep}, {string(Forget), m.Forget}, {"delete", m.Delete}, {"change", m.Change}} {
		for _, p := range phrases(verbs.table) {
			p.cue = verbs.cue
			v.verbs = append(v.verbs, p)
		}
	}
	sort.SliceStable(v.verbs, func(i, j int) bool {
		a, b := v.verbs[i], v.verbs[j]
		return cmp.Compare(len(b.text), len(a.text)) < 0
	})
	v.unspaced = text.Unspaced(v.verbs[0].text)
	for _, end := range m.Endings.Fields() {
		v.endings = append(v.endings, text.Fold(end))
	}
	for field, names := range m.Fields {
		v.fields[field] = set(names)
	}
	for _, field := range turn.CardFields() {
		for _, p := range phrases(m.Card[field]) {
			v.slots = append(v.slots, newSlot(field, p.text, v.unspaced))
		}
	}
	sort.SliceStable(v.slots, func(i, j int) bool {
		a, b := v.slots[i], v.slots[j]
		return cmp.Compare(len(b.text), len(a.text)) < 0
	})
	for _, p := range phrases(m.Wrong) {
		v.wrong = append(v.wrong, newSlot("", p.text, v.unspaced))
	}
	for _, p := range phrases(m.Not) {
		v.contrasts = append(v.contrasts, contrast{slot: newSlot("", p.text, v.unspaced), marked: sync.OnceValue(func() *regexp.Regexp { return template(p.text, v.unspaced, true) }), joined: strings.Count(p.text, " ") > 2, turned: strings.Index(p.text, "Y") < strings.Index(p.text, "X")})
	}
	v.signs = newSigns(m.Signs)
	v.mark()
	return v
}

// mark notes the words by which a sentence shows that it may hold an order.
func (v *vocabulary) mark() {
	for _, p := range v.verbs {
		v.marked(p.text)
	}
	for _, w := range v.memory.list {
		v.marked(w)
	}
	for _, s := range slices.Concat(v.slots, v.wrong) {
		v.marked(s.text)
	}
	for _, c := range v.contrasts {
		v.marked(c.text)
	}
}

// marked notes one of the words of a phrase, the longest.
func (v *vocabulary) marked(s string) {
	longest := ""
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == 'X' || r == 'Y' || r == ' ' && !v.unspaced }) {
		if part = strings.TrimSpace(part); len(part) > len(longest) {
			longest = part
		}
	}
	if v.unspaced {
		v.within = append(v.within, strings.ToLower(longest))
		return
	}
	for _, w := range tokens(longest) {
		v.first[w.key] = true
	}
}

// hasOrder is a cheap check: could this text contain an order? words are its words, small is the text in lower case.
func (v *vocabulary) hasOrder(words []token, small string) bool {
	return slices.ContainsFunc(words, func(w token) bool { return v.first[w.key] }) ||
		slices.ContainsFunc(v.within, func(part string) bool { return strings.Contains(small, part) })
}

// respelled returns a message in which two neighbouring letters of a long word of an order are put right: "remmeber".
func respelled(message string) string {
	for _, w := range slices.Backward(tokens(message)) {
		if right := misspelt()[w.key]; right != "" {
			message = message[:w.from] + right + message[w.to:]
		}
	}
	return message
}

const shortestMisspelt = 6 // bytes of a word

// misspelt returns the words of orders by how they are misspelt.
var misspelt = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, v := range vocabularies() {
		for _, p := range v.verbs {
			if len(p.keys) == 0 || len(p.keys[0]) < shortestMisspelt || !text.ASCII(p.keys[0]) {
				continue
			}
			for i, word := 1, p.keys[0]; i < len(word); i++ {
				all[word[:i-1]+string(word[i])+string(word[i-1])+word[i+1:]] = word
			}
		}
	}
	for _, v := range vocabularies() {
		for _, p := range v.verbs {
			for _, word := range p.keys {
				delete(all, word)
			}
		}
	}
	return all
})

// MayHoldOrder reports whether a message has a word of an order in the tables.
func MayHoldOrder(message string) bool {
	words, small := tokens(message), strings.ToLower(message)
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.hasOrder(words, small) })
}

func (v *vocabulary) aboutSpeaker(s string, words []token) bool {
	if v.unspaced {
		for _, own := range v.own.list {
			if strings.Contains(s, own) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(words, func(w token) bool {
		elided, _, cut := strings.Cut(w.key, "'")
		return v.own.has(w.key) || cut && v.own.has(elided+"'") || slices.ContainsFunc(v.endings, func(end string) bool { return len(w.key) > len(end)+2 && strings.HasSuffix(w.key, end) })
	})
}

func (v *vocabulary) aboutOthers(s string, words []token) bool {
	if !v.unspaced {
		// "Él" is "he", and "el" is an article.
		return len(words) > 0 && v.others.has(words[0].key) && (!v.dialect().determiners[words[0].key] || slices.Contains(v.others.list, strings.ToLower(s[words[0].from:words[0].to])))
	}
	return v.starting(s, v.others)
}

// starting reports whether a text in a script without spaces begins with one of some words.
func (v *vocabulary) starting(s string, words wordSet) bool {
	return slices.ContainsFunc(words.list, func(word string) bool { return strings.HasPrefix(s, word) })
}

// has reports whether a text contains one of some words.
func (v *vocabulary) has(s string, words wordSet) bool {
	if v.unspaced {
		return slices.ContainsFunc(words.list, func(word string) bool { return strings.Contains(s, word) })
	}
	return slices.ContainsFunc(tokens(s), func(w token) bool { return words.has(w.key) })
}

// only reports whether a text consists of some words.
func (v *vocabulary) only(s string, sets ...wordSet) bool {
	if !v.unspaced {
		return !strings.ContainsFunc(s, isQuote) && !slices.ContainsFunc(tokens(s), func(w token) bool {
			return !slices.ContainsFunc(sets, func(words wordSet) bool { return words.has(w.key) })
		})
	}
	var all []string
	for _, words := range sets {
		all = append(all, words.list...)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, p := range v.particles {
		all = append(all, p.text)
	}
	for _, word := range all {
		s = strings.ReplaceAll(s, word, " ")
	}
	return strings.TrimSpace(s) == ""
}

// writes reports whether a text may be in this language, by its script.
func (v *vocabulary) writes(s string) bool {
	in := func(scripts ...*unicode.RangeTable) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, scripts...) })
	}
	switch v.code {
	case "ko":
		return in(unicode.Hangul)
	case "ja":
		return in(unicode.Hiragana, unicode.Katakana)
	}
	return !in(unicode.Hangul, unicode.Hiragana, unicode.Katakana)
}

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

// ends returns the length in bytes of the phrase at the end of a sentence, or 0. The phrase must be a word of its own, except in Korean,
// where it may be the suffix of a word.
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

// template makes a regular expression of a phrase. Marks and spaces may stand between its parts. marked says that a mark stands in the
// first place where one may.
func template(phrase string, unspaced, marked bool) *regexp.Regexp {
	gap := `([\s,;:.!–—-]+)`
	if unspaced {
		gap = `([\s,，、。：:]*)`
	}
	var b strings.Builder
	literal := ""
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
		case 'Y':
			flush()
			b.WriteString(`(?P<Y>.+?)`)
		case ' ', '，':
			flush()
			if marked {
				b.WriteString(`(\s*[,;:.，、。：–—]+\s*)`)
			} else {
				b.WriteString(gap)
			}
			marked = false
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

// value returns what stands in a text at the place of X, or "".
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

// begins returns the length in bytes of the phrase at the beginning of a text, or 0.
func (s slot) begins(said string) int {
	if !strings.Contains(s.text, "X") {
		return s.plain.begins(said, tokens(said))
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

// prefix returns the position in bytes after the last of the keys, or 0 if the words do not begin with them.
func prefix(words []token, keys []string) int {
	if len(keys) == 0 || len(words) < len(keys) || !slices.EqualFunc(words[:len(keys)], keys, func(w token, key string) bool { return w.key == key }) {
		return 0
	}
	return words[len(keys)-1].to
}
