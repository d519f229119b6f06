package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// Deed is the kind of an order.
type Deed string

// The kinds of orders.
const (
	Keep    Deed = "keep"
	Forget  Deed = "forget"
	Correct Deed = "correct" // the bot's last answer or memory about the speaker is wrong
)

// Order is an order to remember, forget or correct something. The zero value is no order.
type Order struct {
	Deed  Deed
	Text  string // what to remember, what to forget, or what is right, in the person's words; empty: what the message refers to
	Own   bool   // the text is about the speaker, in the first person
	Other bool   // the text is about an unnamed person: "she is …"
	All   bool   // with Forget: everything about the speaker
}

const (
	maxTextLength   = 500  // characters of a text to remember
	maxMessageBytes = 4000 // longer messages are not read
)

// ParseOrders returns the orders in a message, at most one for each sentence. names are the bot's names. The phrases of orders are in
// package text.
//
// It prefers to miss an order over finding a false one, because people often speak of memory without an order ("do you remember that
// film?"). An order begins a sentence, after the bot's name and polite words. It is not a question, unless it is a request
// ("can you remember that …?"). Its text is taken as written.
func ParseOrders(message string, names []string) (all []Order) {
	if len(message) > maxMessageBytes || strings.Contains(message, "`") {
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

// readSentence returns the order in a sentence of any language. both reports whether the next sentence is part of the order.
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

// hasOrder is a cheap check: could this sentence contain an order? words are its words, small is the sentence in lower case.
func (v *vocabulary) hasOrder(words []token, small string) bool {
	return slices.ContainsFunc(words, func(w token) bool { return v.first[w.key] }) ||
		slices.ContainsFunc(v.within, func(phrase string) bool { return strings.Contains(small, phrase) })
}

// found is a phrase of an order in a sentence.
type found struct {
	cue  string
	size int    // bytes of the phrase; the longest phrase is tried first
	rest string // the sentence without the phrase
	mark bool   // a punctuation mark separates the phrase from the rest
}

// read returns the order in a sentence of one language. next is the following sentence.
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

// lead returns the length in bytes of a polite phrase or a name at the beginning of a sentence. asks reports whether the phrase turns a
// question into a request.
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

// find returns the phrases of orders at the beginning of a sentence and, if behind is set, at its end. The longest comes first.
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

// bare returns a text without the punctuation around it and the polite words after it.
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

// accept returns the order of a phrase, or no order if the rest of the sentence does not fit the phrase.
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
		if right == "" || !f.mark || question || utf8.RuneCountInString(right) > maxTextLength {
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

// states reports whether a text is a clause that states something. If own is set, it must be about the speaker.
func (v *vocabulary) states(s string, words []token, own, keep bool) bool {
	if n := utf8.RuneCountInString(s); n < 3 || n > maxTextLength || !v.unspaced && len(words) < 2 && !v.aboutSpeaker(s, words) {
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

// says reports whether one of the words is a verb of a statement.
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

// vocabulary holds the words and phrases of one language.
type vocabulary struct {
	code                        string
	leads, asks, orders, behind []phrase
	it                          []phrase
	starts, own, others         map[string]bool
	told, is                    map[string]bool
	endings                     []string
	unspaced                    bool

	// Every order begins with one of the words in first or contains one of the phrases in within. Both are in lower case.
	first  map[string]bool
	within []string
}

// vocabularies has a vocabulary for each language with phrases of orders.
var vocabularies = func() (all []*vocabulary) {
	for _, code := range text.Languages() {
		m := text.TablesOf(code).Memory
		if len(m.Orders) == 0 {
			continue
		}
		v := &vocabulary{
			code:  code,
			leads: phrases(map[string]text.PhraseList{"": m.Leads}), asks: phrases(map[string]text.PhraseList{"": m.Asks}), orders: phrases(m.Orders), behind: phrases(m.Behind),
			it:     phrases(map[string]text.PhraseList{"": m.It}),
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

func set(words text.WordList) map[string]bool {
	all := map[string]bool{}
	for _, w := range words.Fields() {
		all[key(w)] = true
	}
	return all
}

// phrase is a phrase of a table. A phrase in a script without spaces has no keys.
type phrase struct {
	cue, text string
	keys      []string
}

func phrases(tables map[string]text.PhraseList) (all []phrase) {
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

// token is a word of a text. Unlike a word of package text it keeps its last letter and its apostrophe.
type token struct {
	key      string
	from, to int // bytes
}

// reading caches the tokens of texts, because every language reads the same texts of a message.
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

// About reports whether a text is about its speaker, in the first person, or about an unnamed other person. If the language is unclear, the
// first person of any language counts.
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

// ApplyCorrection returns the statement that replaces an old one. A correction with its own subject is the new statement: "I'm vegan". A
// correction that begins with "it is" takes the subject of the old one: "my birthday is 3 May" and "it's 4 May" give "my birthday is 4 May".
func ApplyCorrection(old, right string) string {
	for _, v := range vocabularies {
		words := tokens(right)
		if v.unspaced || len(words) < 2 {
			continue
		}
		rest, leans := v.leaning(right, words)
		if !leans {
			continue
		}
		before := tokens(old)
		if i := slices.IndexFunc(before, func(w token) bool { return v.is[w.key] }); i > 0 {
			return old[:before[i].to] + rest
		}
	}
	if own, _ := About(right); own {
		return right
	}
	return right + " (≠ " + strings.TrimRight(old, ".") + ")"
}

// leaning reports whether a text begins with "it is", and returns the rest after it, with its leading space.
func (v *vocabulary) leaning(s string, words []token) (rest string, leans bool) {
	for _, p := range v.it {
		if n := prefix(words, p.keys); n > 0 && n < len(s) {
			return s[n:], true
		}
	}
	return "", false
}
