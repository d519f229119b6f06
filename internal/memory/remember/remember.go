// Package remember reads what a person's message orders to be remembered, forgotten or corrected: "remember that I'm vegetarian", "merk dir,
// dass …", "that's wrong, it's …". No model has a part in it, and nothing but the message itself.
//
// It would rather miss an order than see one where there is none: most that people say of memory orders nothing ("do you remember that
// film?"). An order stands at the beginning of a sentence, behind the bot's name and courtesies, and is no question unless it is put as a
// request ("can you remember that …?"). What it says is taken as it was written. The phrases are in package lang.
package remember

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Deed is what is ordered.
type Deed string

// The deeds.
const (
	Keep    Deed = "keep"
	Forget  Deed = "forget"
	Correct Deed = "correct" // what was said of the speaker last, or remembered, is wrong
)

// Order is what a message orders. The zero value is nothing.
type Order struct {
	Deed  Deed
	Text  string // what to remember, what to forget, or what is right, in the person's words; empty: what the message points at
	Own   bool   // it is about the speaker: in the first person
	Other bool   // it is about somebody else, who is not named: "she is …"
	All   bool   // of Forget: everything about the speaker
}

const (
	longest     = 500  // characters of what is remembered
	longestRead = 4000 // bytes of a message
)

// Read returns the orders of a message, whose words are its author's own, at most one of a sentence. names are those of the bot.
func Read(message string, names []string) (all []Order) {
	if len(message) > longestRead || strings.Contains(message, "`") {
		return nil
	}
	var called [][]string
	for _, name := range names {
		called = append(called, keysOf(name))
	}
	seen := reading{}
	sentences := text.MessageSentences(message)
	for i := 0; i < len(sentences); i++ {
		next := ""
		if i+1 < len(sentences) {
			next = sentences[i+1]
		}
		o, both := readSentence(seen, sentences[i], next, called)
		if o == (Order{}) {
			continue
		}
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
		if both {
			i++
		}
	}
	return all
}

// readSentence returns the order of a sentence in any language. both reports whether the next one is part of it.
func readSentence(seen reading, s, next string, names [][]string) (o Order, both bool) {
	words, small := seen.tokens(s), strings.ToLower(s)
	for _, v := range vocabularies {
		if !v.hasOrder(words, small) {
			continue
		}
		if o = v.read(seen, s, next, names); o != (Order{}) {
			return o, next != "" && v.read(seen, s, "", names) != o
		}
	}
	return o, false
}

// hasOrder reports whether anything of a sentence, whose words and small letters are given, may be the phrase of an order, wherever that
// stands. Nearly all that is said has none.
func (v *vocabulary) hasOrder(words []token, small string) bool {
	return slices.ContainsFunc(words, func(w token) bool { return v.first[w.key] }) ||
		slices.ContainsFunc(v.within, func(phrase string) bool { return strings.Contains(small, phrase) })
}

// found is a phrase of an order in a sentence, and what stands beside it.
type found struct {
	cue  string
	size int // bytes of the phrase, as the longer one is meant
	rest string
	mark bool // a punctuation mark stands between the phrase and the rest
}

// read returns the order of a sentence in one language. next is the sentence behind it.
func (v *vocabulary) read(seen reading, s, next string, names [][]string) Order {
	trimmed := strings.TrimSpace(s)
	if first, _ := utf8.DecodeRuneInString(trimmed); strings.ContainsRune("\"“„«「『>'‘", first) {
		return Order{}
	}
	question := strings.ContainsAny(trimmed, "?？") || strings.HasSuffix(strings.TrimRight(trimmed, "。."), "か")
	for rest, requested := trimmed, false; ; {
		n, asks := v.lead(seen, rest, names)
		for _, f := range v.find(seen, rest, n == 0) {
			if question && !requested {
				break
			}
			if o := v.accept(seen, f, next, question); o != (Order{}) {
				return o
			}
		}
		if n == 0 {
			return Order{}
		}
		rest, requested = strings.TrimLeft(rest[n:], " ,:;!.、，：！~–—-"), requested || asks
	}
}

// lead returns how many bytes before an order a sentence begins with: a courtesy or a name. asks reports whether they make a request of a
// question.
func (v *vocabulary) lead(seen reading, s string, names [][]string) (n int, asks bool) {
	words := seen.tokens(s)
	for _, keys := range names {
		n = max(n, prefix(words, keys))
	}
	for _, p := range v.leads {
		n = max(n, p.begins(s, words))
	}
	for _, p := range v.asks {
		if m := p.begins(s, words); m > n {
			n, asks = m, true
		}
	}
	return n, asks
}

// find returns the phrases of orders at the beginning of a sentence and, with behind, at its end, the longest first.
func (v *vocabulary) find(seen reading, s string, behind bool) (all []found) {
	words := seen.tokens(s)
	for _, p := range v.orders {
		if n := p.begins(s, words); n > 0 {
			rest := strings.TrimLeft(s[n:], " ")
			next, _ := utf8.DecodeRuneInString(rest)
			last, _ := utf8.DecodeLastRuneInString(p.text)
			all = append(all, found{p.cue, n, v.bare(seen, rest), rest == "" || unicode.IsPunct(next) || unicode.IsPunct(last)})
		}
	}
	end := v.bare(seen, s)
	for _, p := range v.behind {
		if n := p.ends(end); n > 0 && behind {
			all = append(all, found{p.cue, n, v.bare(seen, end[:len(end)-n]), true})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.size, a.size) })
	return all
}

// bare returns a text without the marks around it and the courtesies behind it.
func (v *vocabulary) bare(seen reading, s string) string {
	s = strings.Trim(s, " ,:;.!?…\"“”„«»、。，：！？「」–—-\n")
	words := seen.tokens(s)
	for _, p := range v.leads {
		if n := len(words) - len(p.keys); n > 0 && len(p.keys) > 0 && prefix(words[n:], p.keys) > 0 {
			return v.bare(seen, s[:words[n].from])
		}
	}
	return s
}

// accept makes an order of a phrase, if what stands beside it fits.
func (v *vocabulary) accept(seen reading, f found, next string, question bool) Order {
	words := seen.tokens(f.rest)
	switch f.cue {
	case "keep_this", "forget_this", "forget_all":
		if f.rest != "" || question {
			return Order{}
		}
		if f.cue == "keep_this" {
			return Order{Deed: Keep}
		}
		return Order{Deed: Forget, All: f.cue == "forget_all"}
	case "correct":
		right := f.rest
		if right == "" && !strings.ContainsAny(next, "?？") {
			right = v.bare(seen, next)
		}
		if right == "" || !f.mark || question || utf8.RuneCountInString(right) > longest {
			return Order{}
		}
		return Order{Deed: Correct, Text: right}
	case "forget_about":
		if f.rest == "" {
			return Order{}
		}
		return Order{Deed: Forget, Text: f.rest}
	}
	deed, own, _ := strings.Cut(f.cue, "_")
	if !v.states(f.rest, words, own != "", deed == string(Keep)) {
		return Order{}
	}
	if deed == string(Forget) {
		return Order{Deed: Forget, Text: f.rest}
	}
	o := Order{Deed: Keep, Text: f.rest, Other: v.aboutOthers(f.rest, words)}
	o.Own = !o.Other && v.aboutSpeaker(f.rest, words)
	return o
}

// states reports whether a text is a clause that says something; with own, something about the speaker.
func (v *vocabulary) states(s string, words []token, own, keep bool) bool {
	if n := utf8.RuneCountInString(s); n < 3 || n > longest || !v.unspaced && len(words) < 2 && !v.aboutSpeaker(s, words) {
		return false
	}
	for i, w := range words {
		if i < 3 && v.told[w.key] {
			return false
		}
	}
	switch {
	case len(v.starts) == 0:
		return !own || v.aboutSpeaker(s, words)
	case own:
		return v.starts[words[0].key] && v.own[words[0].key] && (!keep || words[0].key != "my" || v.says(words[1:]))
	}
	first, _ := utf8.DecodeRuneInString(s)
	return v.starts[words[0].key] || unicode.IsUpper(first) && v.is[words[1].key]
}

// says reports whether one of some words is a verb that states something.
func (v *vocabulary) says(words []token) bool {
	return slices.ContainsFunc(words, func(w token) bool { return v.is[w.key] || strings.HasSuffix(w.key, "'s") })
}

func (v *vocabulary) aboutSpeaker(s string, words []token) bool {
	if v.unspaced {
		for own := range v.own {
			if strings.Contains(s, own) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(words, func(w token) bool {
		elided, _, cut := strings.Cut(w.key, "'")
		return v.own[w.key] || cut && v.own[elided+"'"] || slices.ContainsFunc(v.endings, func(end string) bool { return len(w.key) > len(end)+2 && strings.HasSuffix(w.key, end) })
	})
}

func (v *vocabulary) aboutOthers(s string, words []token) bool {
	if !v.unspaced {
		return len(words) > 0 && v.others[words[0].key]
	}
	for other := range v.others {
		if strings.HasPrefix(s, other) {
			return true
		}
	}
	return false
}

// vocabulary are the words of one language.
type vocabulary struct {
	code                        string
	leads, asks, orders, behind []phrase
	it                          []phrase
	starts, own, others         map[string]bool
	told, is                    map[string]bool
	endings                     []string
	unspaced                    bool

	// An order begins with one of these words, or has one of these phrases, in small letters.
	first  map[string]bool
	within []string
}

// vocabularies are those of all languages that have one.
var vocabularies = func() (all []*vocabulary) {
	for _, code := range lang.Codes() {
		m := lang.Of(code).Memory
		if len(m.Orders) == 0 {
			continue
		}
		v := &vocabulary{
			code:  code,
			leads: phrases(map[string]lang.Phrases{"": m.Leads}), asks: phrases(map[string]lang.Phrases{"": m.Asks}), orders: phrases(m.Orders), behind: phrases(m.Behind),
			it:     phrases(map[string]lang.Phrases{"": m.It}),
			starts: set(m.Starts), own: set(m.Own), others: set(m.Others), told: set(m.Told), is: set(m.Is),
		}
		for _, end := range m.Endings.Fields() {
			v.endings = append(v.endings, text.Fold(end))
		}
		v.first = map[string]bool{}
		for _, p := range v.orders {
			if p.keys != nil {
				v.first[p.keys[0]] = true
			} else {
				v.within = append(v.within, strings.ToLower(p.text))
			}
		}
		for _, p := range v.behind {
			v.within = append(v.within, strings.ToLower(p.text))
		}
		v.unspaced = slices.ContainsFunc(v.orders, func(p phrase) bool { return p.keys == nil })
		all = append(all, v)
	}
	return all
}()

func set(words lang.Words) map[string]bool {
	all := map[string]bool{}
	for _, w := range words.Fields() {
		all[key(w)] = true
	}
	return all
}

// phrase is a phrase of a table. One in a script without spaces has no keys.
type phrase struct {
	cue, text string
	keys      []string
}

func phrases(tables map[string]lang.Phrases) (all []phrase) {
	for cue, table := range tables {
		for one := range strings.SplitSeq(string(table), ",") {
			p := phrase{cue: cue, text: strings.TrimSpace(one)}
			if p.text == "" {
				continue
			}
			if !text.Unspaced(p.text) {
				p.keys = keysOf(p.text)
			}
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b phrase) int { return cmp.Or(strings.Compare(a.text, b.text), strings.Compare(a.cue, b.cue)) })
	return all
}

// begins returns how many bytes of a sentence, whose words are given, the phrase is that it begins with.
func (p phrase) begins(s string, words []token) int {
	if p.keys != nil {
		return prefix(words, p.keys)
	}
	if strings.HasPrefix(s, p.text) {
		return len(p.text)
	}
	return 0
}

// ends returns how many bytes of a sentence the phrase is that it ends with. What follows a stem in Korean is no word of its own.
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

// token is a word as it is written: unlike those of package text it keeps its last letter, and its apostrophe.
type token struct {
	key      string
	from, to int // bytes
}

// reading has the words of the texts that were looked at so far in a message: each language looks at the same.
type reading map[string][]token

func (r reading) tokens(s string) []token {
	words, ok := r[s]
	if !ok {
		words = tokens(s)
		r[s] = words
	}
	return words
}

func tokens(s string) (all []token) {
	start := -1
	for i, r := range s + " " {
		inside := text.InWord(r) || start >= 0 && (r == '\'' || r == '’')
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			all = append(all, token{key(s[start:i]), start, i})
			start = -1
		}
	}
	return all
}

// key is a word as it is compared.
func key(word string) string { return strings.ReplaceAll(text.Fold(word), "’", "'") }

func keysOf(phrase string) (keys []string) {
	for _, w := range tokens(phrase) {
		keys = append(keys, w.key)
	}
	return keys
}

// prefix returns how many bytes the words are, with all before them, if some words begin so.
func prefix(words []token, keys []string) int {
	if len(keys) == 0 || len(words) < len(keys) || !slices.EqualFunc(words[:len(keys)], keys, func(w token, key string) bool { return w.key == key }) {
		return 0
	}
	return words[len(keys)-1].to
}

// About reports whether a text that is no order is about its speaker, in the first person, or about somebody else who is not named. Where
// its language is not clear, the first person of any has the say.
func About(s string) (own, other bool) {
	words := tokens(s)
	code := text.Language(s, text.Words(s))
	for _, v := range vocabularies {
		if code != "" && v.code != code {
			continue
		}
		own = own || v.aboutSpeaker(s, words) && (code != "" || len(v.endings) == 0)
		other = other || v.aboutOthers(s, words)
	}
	return own, other && !own
}
