package order

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

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
	grammar                                              grammar

	// Every order contains one of the words in first or one of the texts in within. Both are in lower case.
	first  map[string]bool
	within []string
}

// grammar is what is known of a language beside its orders.
type grammar struct {
	small, determiners, asks map[string]bool // asks are question words
	qualifiers               text.PhraseSet
}

func newGrammar(t *text.Tables) grammar {
	return grammar{
		small:       text.Set(t.Grammar.StopWords + " " + t.Grammar.FunctionWords + " " + t.Memory.Own + " " + t.Memory.Is),
		determiners: text.Set(t.Statement.Determiners + " " + t.Grammar.Articles), asks: text.Set(t.Question.Things), qualifiers: text.NewPhraseSet(t.Statement.Qualifiers),
	}
}

// report holds what shows in any language that a message speaks of other people, or states nothing itself.
type report struct{ people, frames text.PhraseSet }

var reports = sync.OnceValue(func() report {
	t := text.AllTables().Statement
	return report{text.NewPhraseSet(t.People), text.NewPhraseSet(t.Frames)}
})

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
		fields: map[string]wordSet{}, negations: set(t.Grammar.Negations).keys, first: map[string]bool{}, verbLast: m.VerbLast, grammar: newGrammar(t),
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
		return len(words) > 0 && v.others.has(words[0].key) && (!v.grammar.determiners[words[0].key] || slices.Contains(v.others.list, strings.ToLower(s[words[0].from:words[0].to])))
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
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }) // whatever their order was
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
