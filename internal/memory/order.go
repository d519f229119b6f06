package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
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
	Wrong string // with Correct: what is not right, if the person says so
	Field string // with Keep: the field of the speaker's card that the text fills …
	Value string // … and with what: "Captain" of "call me Captain"

	Memory  int64 // the statement that a side model says it is about; 0: it did not say
	sure    bool  // with All: the person has confirmed it
	unclear bool  // it is about the memory, and nobody can say what
}

// Doubt says how much a message without an order seems to hold one.
type Doubt int

// The degrees of doubt.
const (
	NoDoubt Doubt = iota
	Perhaps       // it has the words of an order
	Likely        // a sentence begins as an order does, or speaks of it to somebody
)

const (
	maxTextLength   = 500  // characters of a text to remember
	maxSentence     = 600  // characters of a sentence; a longer one is pasted
	maxMessageBytes = 4000 // longer messages are not read
	maxTopicWords   = 12   // of what is to be forgotten
)

// ParseOrders returns the orders in a message, at most one for each sentence, and whether a sentence without one may hold one. names are
// the bot's names. The words of orders are in the tables of package text.
//
// It prefers to miss an order over finding a false one, because people often speak of memory without an order ("do you remember that
// film?"). An order is a verb and what it is about: a statement, or something of the speaker's or of the memory. It begins a sentence after
// the bot's name and polite words, or ends one. It is not a question, unless it is a request ("can you remember that …?"). It is in the
// author's own voice, see [ownVoice]. Its text is taken as written.
func ParseOrders(message string, names []string) (all []Order, doubt Doubt) {
	if message = respelled(message); len(message) > maxMessageBytes {
		return nil, NoDoubt
	}
	called := calledBy(names)
	own := ownVoice(message, called)
	if MayHoldOrder(message) {
		all, doubt = own.parse(called)
	}
	if len(all) == 0 {
		o, unsure := readOrder(own.sentences, called)
		if doubt < Likely { // the tables doubt much that is none
			doubt = unsure
		}
		if o != (Order{}) {
			all = []Order{own.quoted(o)}
		}
	}
	return all, doubt
}

// parse returns the orders that the tables find, and the doubt that they leave.
func (own *voice) parse(called [][]string) (all []Order, doubt Doubt) {
	before := ""
	sentences := divided(own.sentences, called)
	for i := 0; i < len(sentences); i++ {
		p := passage{s: strings.TrimRightFunc(strings.TrimSpace(sentences[i]), decoration), before: before, called: called}
		if i+1 < len(sentences) {
			p.next = sentences[i+1]
		}
		o := p.read()
		doubt = max(doubt, p.doubt)
		before = ""
		if o == (Order{}) {
			if !isQuestion(p.s) {
				before = p.s
			}
			continue
		}
		if o = own.quoted(o); !slices.Contains(all, o) {
			all = append(all, o)
		}
		if p.both {
			i++
		}
	}
	return all, doubt
}

// quoted puts the quotations of a message back into an order.
func (own *voice) quoted(o Order) Order {
	o.Text, o.Wrong, o.Value = own.written(o.Text), own.written(o.Wrong), strings.Trim(own.written(o.Value), quoteMarks)
	return o
}

// decoration reports whether a character at the end of a sentence says nothing: an emoji, a tear.
func decoration(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsSymbol(r) || unicode.In(r, unicode.Variation_Selector) || 'ㄱ' <= r && r <= 'ㅣ'
}

// divided cuts sentences before an order that an "and" or a "so" joins to what stands before it. Behind an "and" it is one only if that is an
// order, too: "I try and remember that …" is none.
func divided(sentences []string, called [][]string) (all []string) {
	for _, s := range sentences {
		all = append(all, s)
		for _, v := range vocabularies() {
			if at := v.joint(s, called); at > 0 {
				all = append(all[:len(all)-1], divided([]string{strings.TrimRight(s[:at], between), s[at:]}, called)...)
				break
			}
		}
	}
	return all
}

// joint returns where a sentence is to be divided, or 0.
func (v *vocabulary) joint(s string, called [][]string) int {
	if longest(v.idioms, s) > 0 || isQuestion(s) {
		return 0
	}
	words := tokens(s)
	for i, w := range words {
		if and := v.and.has(w.key); i > 0 && i+1 < len(words) && (and || v.so.has(w.key)) && (!and || v.opens(s[:w.from], called)) && v.opens(s[words[i+1].from:], called) {
			return w.from
		}
	}
	return 0
}

// opens reports whether a text begins with a verb of an order, behind polite words.
func (v *vocabulary) opens(s string, called [][]string) bool {
	for s != "" {
		words := tokens(s)
		if len(v.beginning(s, words)) > 0 {
			return true
		}
		n, _ := v.lead(s, words, called)
		if n == 0 {
			break
		}
		s = strings.TrimLeft(s[n:], between)
	}
	return false
}

const quoteMarks = "\"“”„«»‹›「」『』‘’'`"

// passage is a sentence while it is read.
type passage struct {
	s, before, next string // the sentence, the statement before it, and what follows
	called          [][]string
	doubt           Doubt
	both            bool // the next sentence is part of the order
}

func isQuestion(s string) bool {
	return strings.ContainsAny(s, "?？") || strings.HasSuffix(strings.TrimRight(s, "。."), "か")
}

// read returns the order in a sentence of any language.
func (p *passage) read() Order {
	first, _ := utf8.DecodeRuneInString(p.s)
	if isQuote(first) || strings.ContainsRune("\"“„«「『>'‘-–—*•#", first) {
		return Order{}
	}
	words, small := tokens(p.s), strings.ToLower(p.s)
	for _, v := range vocabularies() {
		if !v.hasOrder(words, small) {
			continue
		}
		if o := v.read(p); o != (Order{}) {
			return o
		}
		if !isQuestion(p.s) && v.speaks(p.s, words) {
			doubt := Perhaps
			if said := newSaying(p.s); text.ContainsAny(said.words, secondPerson()[v.code]) && !v.tells(said) {
				doubt = Likely
			}
			p.doubt = max(p.doubt, doubt)
		}
	}
	return Order{}
}

// speaks reports whether a sentence about the speaker or the memory has a verb of an order anywhere.
func (v *vocabulary) speaks(s string, words []token) bool {
	return (v.aboutSpeaker(s, words) || v.has(s, v.memory)) && slices.ContainsFunc(v.verbs, func(p phrase) bool { return p.in(s, words) })
}

// read returns the order in a sentence of one language.
func (v *vocabulary) read(p *passage) Order {
	question, opened, asked := isQuestion(p.s) && !v.tagged(p.s), false, false
	rest := p.s
	for rest != "" {
		words := tokens(rest)
		if longestIn(v.idioms, rest, words) > 0 {
			return Order{}
		}
		if o := v.calling(rest); o != (Order{}) && (asked || !question) {
			return o
		}
		if o := v.denial(p, rest); o != (Order{}) {
			return o
		}
		for _, f := range v.beginning(rest, words) {
			if question && !asked && !f.request {
				continue
			}
			if o := v.accept(p, f); o != (Order{}) {
				return o
			}
		}
		if opened && !question {
			if o := v.corrected(p, rest, true); o != (Order{}) {
				return o
			}
		}
		n, asks := v.lead(rest, words, p.called)
		if n == 0 {
			n = longestIn(v.no, rest, words)
			if after := strings.TrimLeft(rest[n:], " "); n == 0 || !punctuated(after) && longest(v.no, after) == 0 {
				break
			}
			opened = true
		}
		rest, asked = strings.TrimLeft(rest[n:], between), asked || asks
	}
	if o := v.turned(rest); o != (Order{}) {
		return o
	}
	if o := v.corrected(p, rest, opened); o != (Order{}) && !question {
		return o
	}
	for _, f := range append(v.ending(rest, asked), v.later(p)...) {
		if question && !asked && !f.request {
			continue
		}
		if o := v.accept(p, f); o != (Order{}) {
			return o
		}
	}
	return v.entitled(p, question)
}

// later returns the verbs of orders within a sentence: behind words that ask for it, or behind a mark. What stands before must not tell of
// somebody else, and before a mark it must be no condition.
func (v *vocabulary) later(p *passage) (all []found) {
	words := tokens(p.s)
	for i, w := range words[min(1, len(words)):] {
		head, rest := p.s[:w.from], p.s[w.from:]
		mark := strings.ContainsAny(p.s[words[i].to:w.from], ",;–—-，、.!")
		n, asks := v.lead(rest, tokens(rest), p.called)
		if asks = asks && !v.negations[words[i].key]; !asks && !mark {
			continue
		}
		said := newSaying(head)
		if _, colon := beforeColon(head); colon || v.tells(said) || !asks && i < 2 || !asks && v.dialect().qualifiers.in(said) {
			break
		}
		for ; n > 0; n, _ = v.lead(rest, tokens(rest), p.called) {
			rest = strings.TrimLeft(rest[n:], between)
		}
		if longest(v.idioms, rest) > 0 {
			break
		}
		for _, f := range v.beginning(rest, tokens(rest)) {
			if f.request = f.request || asks; f.rest == "" && asks && !v.verbLast {
				f.rest = v.bare(head)
			}
			all = append(all, f)
		}
	}
	return all
}

// tells reports whether a text tells what somebody else says or does, or quotes.
func (v *vocabulary) tells(s saying) bool {
	return strings.ContainsFunc(s.text, isQuote) || lexicon().people.in(s) || lexicon().frames.in(s) || slices.ContainsFunc(tokens(s.text), func(w token) bool {
		return v.told.has(w.key) || v.others.has(w.key)
	})
}

func (v *vocabulary) dialect() *dialect { return lexicon().of[v.code] }

// entitled returns the order of what a heading calls something for the memory: "one for your memory: I drink tea".
func (v *vocabulary) entitled(p *passage, question bool) Order {
	head, colon := beforeColon(p.s)
	words := tokens(head)
	if !colon || question || len(words) > maxHeading || !v.has(head, v.memory) && !v.opens(head, p.called) && !slices.ContainsFunc(words, func(w token) bool { return v.me.has(w.key) }) {
		return Order{}
	}
	verb, strange := false, 0
	for _, w := range words {
		is := slices.ContainsFunc(v.verbs, func(p phrase) bool { return p.cue == string(Keep) && slices.Contains(p.keys, w.key) })
		if verb = verb || is || v.memory.has(w.key); !is && !v.memory.has(w.key) && !v.known.has(w.key) && !v.about.has(w.key) && !v.this.has(w.key) && !v.dialect().small[w.key] && longest(v.leads, p.s[w.from:]) == 0 {
			strange++
		}
	}
	said := v.bare(p.s[len(head):])
	if !verb || strange > maxStrange || strange == maxStrange && !v.has(head, v.memory) || !v.states(said, found{colon: true}, false) {
		return Order{}
	}
	return v.kept(said)
}

const (
	maxHeading = 7 // words of a heading
	maxStrange = 2 // words of a heading that the tables do not have
)

// corrected returns the order of a sentence that does not begin with one: its last clause points back, or it says what is right and what is not.
func (v *vocabulary) corrected(p *passage, s string, opened bool) Order {
	if o := v.behind(p, s); o != (Order{}) {
		return o
	}
	return v.contrast(s, opened)
}

// turned returns the correction that ends with the order to correct something.
func (v *vocabulary) turned(s string) Order {
	for _, f := range v.ending(s, true) {
		if f.cue == "change" {
			return v.contrast(f.rest, true)
		}
	}
	return Order{}
}

// tagged reports whether only a polite word at its end makes a sentence a question: "remember that, ok?".
func (v *vocabulary) tagged(s string) bool {
	i := strings.LastIndexAny(s, ",，")
	return i > 0 && longest(v.leads, strings.TrimLeft(s[i:], between)) > 0 && !isQuestion(s[:i])
}

// between are the marks and spaces between the parts of a sentence.
const between = " ,:;!.、，：；！。~–—-\n"

func punctuated(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsPunct(r)
}

// lead returns the length in bytes of a polite phrase or a name at the beginning of a sentence. words are the sentence's words. asks reports whether the phrase turns a
// question into a request.
func (v *vocabulary) lead(s string, words []token, names [][]string) (n int, asks bool) {
	for _, keys := range names {
		n = max(n, prefix(words, keys))
	}
	n = max(n, longestIn(v.leads, s, words))
	if m := longestIn(v.asks, s, words); m > 0 && m >= n {
		n, asks = m, true
	}
	return n, asks
}

// longest returns the length in bytes of the longest of some phrases at the beginning of a text, or 0.
func longest(all []phrase, s string) (n int) { return longestIn(all, s, tokens(s)) }

// longestIn is longest for a text whose words are known.
func longestIn(all []phrase, s string, words []token) (n int) {
	for _, p := range all {
		n = max(n, p.begins(s, words))
	}
	return n
}

// found is a verb of an order in a sentence.
type found struct {
	phrase
	rest        string // the sentence without the verb
	mark, colon bool   // a mark separates the verb from the rest, and it is a colon
	last        bool   // the verb is the last word
}

// beginning returns the verbs at the beginning of a sentence, the longest first. words are the sentence's words.
func (v *vocabulary) beginning(s string, words []token) (all []found) {
	for _, p := range v.verbs {
		n := p.begins(s, words)
		if n == 0 {
			n = v.parted(p, words)
		}
		if n == 0 {
			continue
		}
		rest := strings.TrimLeft(s[n:], " ")
		for m := longest(v.leads, rest); m > 0 && (m > tokens(rest)[0].to || !v.reasons.has(tokens(rest)[0].key)); m = longest(v.leads, rest) {
			rest = strings.TrimLeft(rest[m:], " ")
		}
		f := found{phrase: p, mark: punctuated(rest), colon: strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "：")}
		f.rest = strings.TrimLeft(rest, between)
		if v.verbLast && f.rest != "" && !f.mark {
			continue
		}
		if head, colon := beforeColon(f.rest); colon && v.only(v.bare(head), v.this, v.memory, v.about, v.known, v.me) {
			f.rest, f.colon = strings.TrimLeft(f.rest[len(head):], between), true
		}
		all = append(all, f)
	}
	return append(all, v.directed(s, words)...)
}

// directed returns an order by any verb that says whether something is to go into the memory or out of it: "pop that in your memory".
func (v *vocabulary) directed(s string, words []token) []found {
	if len(words) < 2 || v.verbLast || v.own.has(words[0].key) || v.others.has(words[0].key) || v.negations[words[0].key] || v.dialect().asks[words[0].key] {
		return nil
	}
	for i := range words[1:min(len(words), maxTopicWords)] {
		at := words[i+1].from
		if n := longest(v.into, s[at:]); n > 0 && !v.says(words[:i+1]) {
			rest := strings.TrimLeft(s[words[0].to:at], " ") + s[at+n:]
			return []found{{phrase: phrase{cue: string(Keep), keys: []string{words[0].key}}, rest: rest}}
		}
		if longest(v.outOf, s[at:]) > 0 && !v.says(words[:i+1]) {
			return []found{{phrase: phrase{cue: "delete", keys: []string{words[0].key}}, rest: strings.TrimLeft(s[words[0].to:], " ")}}
		}
	}
	return nil
}

// parted returns the length in bytes of a verb of several words with polite words between them: "denk bitte daran".
func (v *vocabulary) parted(p phrase, words []token) int {
	i := 0
	for _, w := range words[:min(len(words), len(p.keys)+2)*min(len(p.keys), 1)] {
		switch {
		case w.key == p.keys[i]:
			if i++; i == len(p.keys) {
				return w.to
			}
		case i == 0 || !slices.ContainsFunc(v.leads, func(lead phrase) bool { return len(lead.keys) == 1 && lead.keys[0] == w.key }):
			return 0
		}
	}
	return 0
}

// ending returns the verbs at the end of a sentence, the longest first.
func (v *vocabulary) ending(s string, asked bool) (all []found) {
	if !v.verbLast && !asked && !v.unspaced {
		return nil
	}
	end, requested := v.polite(s)
	if !v.verbLast && !asked {
		end = strings.TrimSuffix(v.bare(s), "吧")
	}
	for _, p := range v.verbs {
		if n := p.ends(end); n > 0 && n < len(end) {
			rest := strings.TrimRight(end[:len(end)-n], between)
			if !v.verbLast && !asked {
				if rest = strings.TrimSuffix(rest, "你"); len(rest) == len(end)-n || !strings.HasSuffix(v.bare(s), "吧") {
					continue // "I forgot it"
				}
			}
			for m := suffix(v.particles, rest); m > 0 && m < len(rest); m = 0 {
				rest = strings.TrimRight(rest[:len(rest)-m], between)
			}
			if said := end[:len(end)-n]; suffix(v.errands, strings.TrimRight(said, between)) > 0 && !v.aboutSpeaker(said, tokens(said)) {
				continue // "don't forget to buy milk"
			}
			p.request = p.request || requested
			all = append(all, found{phrase: p, rest: strings.TrimLeft(rest, between), mark: true, last: true})
		}
	}
	return all
}

// polite returns a sentence without the polite words at its end, and whether they make it a request.
func (v *vocabulary) polite(s string) (end string, requested bool) {
	for end = v.bare(s); ; {
		n := suffix(v.leads, end)
		if m := suffix(v.asks, end); m > 0 && m >= n {
			n, requested = m, true
		}
		if n == 0 || n == len(end) {
			return end, requested
		}
		end = strings.TrimRight(end[:len(end)-n], between+"?？")
	}
}

// suffix returns the length in bytes of the longest of some phrases at the end of a text, or 0.
func suffix(all []phrase, s string) (n int) {
	for _, p := range all {
		n = max(n, p.ends(s))
	}
	return n
}

// bare returns a text without the punctuation around it and the polite words after it.
func (v *vocabulary) bare(s string) string {
	s = strings.Trim(s, between+"?？…")
	words := tokens(s)
	for _, p := range v.leads {
		if n := len(words) - len(p.keys); n > 0 && len(p.keys) > 0 && prefix(words[n:], p.keys) > 0 {
			return v.bare(s[:words[n].from])
		}
	}
	return s
}

// accept returns the order of a verb, or none if the rest of the sentence does not fit it.
func (v *vocabulary) accept(p *passage, f found) (o Order) {
	f = v.affirmed(f)
	switch f.cue {
	case string(Keep):
		o = v.keeps(p, f)
	case "change":
		o = v.changes(p, f)
	default:
		o = v.forgets(p, f)
	}
	if o == (Order{}) && !f.colon {
		p.doubt = Likely
	}
	return o
}

// affirmed turns an order not to forget something that was said into one to remember it, where the negation comes last: "vergiss das nicht".
func (v *vocabulary) affirmed(f found) found {
	words := tokens(v.bare(f.rest))
	if n := len(words); f.cue == string(Forget) && n > 1 && v.negations[words[n-1].key] {
		if this := v.bare(f.rest)[:words[n-2].to]; v.only(this, v.this) {
			f.cue, f.rest = string(Keep), this
		}
	}
	return f
}

// keeps returns the order to remember what follows, or what was said before.
func (v *vocabulary) keeps(p *passage, f found) Order {
	said := v.bare(f.rest)
	if v.only(said, v.this, v.memory, v.about, v.that) {
		switch {
		case p.before != "":
			return v.kept(v.statement(p.before))
		case said == "":
			return Order{}
		}
		return Order{Deed: Keep}
	}
	if p.next != "" && !isQuestion(p.next) && v.has(said, v.something) && v.only(said, v.something, v.this, v.about, v.me, v.known) {
		p.both = true
		return v.kept(v.statement(p.next))
	}
	said, clause := v.clause(said)
	if words := tokens(said); len(words) > 2 && v.this.has(words[0].key) && v.starts.has(words[1].key) { // "remember this the code is …"
		said, clause = said[words[1].from:], true
	}
	switch {
	case v.states(said, f, clause):
		return v.kept(said)
	case p.before != "" && f.pointing(v) && len(tokens(said)) <= maxPurpose:
		return v.kept(v.statement(p.before))
	}
	return Order{}
}

// pointing reports whether a verb has its object in it: "keep that in mind".
func (f found) pointing(v *vocabulary) bool {
	return len(f.keys) > 1 && slices.ContainsFunc(f.keys, v.this.has)
}

const maxPurpose = 4 // words behind an order that points: "for recipes"

func (v *vocabulary) kept(said string) Order {
	words := tokens(said)
	if n := utf8.RuneCountInString(said); n < 3 || n > maxTextLength {
		return Order{}
	}
	o := Order{Deed: Keep, Text: said, Other: v.aboutOthers(said, words)}
	o.Own = !o.Other && v.aboutSpeaker(said, words)
	return o
}

// statement returns a sentence without what only leads to it.
func (v *vocabulary) statement(s string) string {
	for {
		n := longest(v.leads, s)
		if n == 0 || n == len(s) || v.unspaced {
			return v.bare(s)
		}
		s = strings.TrimLeft(s[n:], between)
	}
}

// clause returns a text without the word before its clause, such as "that", and whether there is one.
func (v *vocabulary) clause(s string) (rest string, is bool) {
	words := tokens(s)
	for i, w := range words[:min(len(words), 3)] {
		if v.that.has(w.key) && i+1 < len(words) {
			if v.about.has(w.key) && v.that.has(words[i+1].key) {
				continue
			}
			return strings.TrimLeft(s[w.to:], between), true
		}
		if !v.about.has(w.key) && !v.this.has(w.key) && (!v.known.has(w.key) || v.own.has(w.key) || v.told.has(w.key)) {
			break
		}
	}
	return s, false
}

// states reports whether a text is a clause that states something.
func (v *vocabulary) states(s string, f found, clause bool) bool {
	words := tokens(s)
	own := v.aboutSpeaker(s, words)
	if n := utf8.RuneCountInString(s); n < 3 || n > maxTextLength || !v.unspaced && len(words) < 2 && !own {
		return false
	}
	for _, w := range words[:min(len(words), 3)] {
		if v.told.has(w.key) {
			return false
		}
	}
	switch {
	case f.colon, f.mark && f.pointing(v):
		return true
	case len(v.starts.list) > 0 && clause:
		first, _ := utf8.DecodeRuneInString(s)
		return v.starts.has(words[0].key) || unicode.IsUpper(first) && len(words) > 1 && v.is.has(words[1].key) || v.says(main(s))
	case len(v.starts.list) > 0 && v.own.has(words[0].key) && longest(v.it, strings.TrimLeft(s[len(firstClause(s)):], between)) > 0:
		return true
	case len(v.starts.list) > 0:
		return v.starts.has(words[0].key) && (v.says(main(s)[1:]) || v.own.has(words[0].key) && words[0].key != "my")
	case f.last:
		return own || v.unspaced || len(words) > 2
	case v.unspaced:
		return own || f.mark || v.has(s, v.is)
	}
	return clause || v.says(words) || own && (f.mark || len(words) > 2)
}

// firstClause returns a text up to its first mark.
func firstClause(s string) string {
	if i := strings.IndexAny(s, ",;:–—"); i > 0 {
		return s[:i]
	}
	return s
}

// main returns the words of a clause before the next one.
func main(s string) []token {
	words := tokens(s)
	for i, w := range words {
		if i > 0 && (strings.ContainsAny(s[words[i-1].to:w.from], ",;:–—") || relative[w.key]) {
			return words[:i]
		}
	}
	return words
}

var relative = map[string]bool{"who": true, "which": true, "that": true, "when": true, "where": true, "whom": true, "whose": true}

// says reports whether one of the words is a verb of a statement.
func (v *vocabulary) says(words []token) bool {
	return slices.ContainsFunc(words, func(w token) bool { return v.is.has(w.key) || len(v.starts.list) > 0 && strings.HasSuffix(w.key, "'s") })
}

// forgets returns the order to forget or delete what a verb is about. It must be the speaker's or the memory's, or everything of that.
func (v *vocabulary) forgets(p *passage, f found) Order {
	thing, more := v.object(f.rest)
	thing = v.bare(thing)
	words := tokens(thing)
	if len(words) == 0 || v.negations[words[len(words)-1].key] || len(words) > maxTopicWords {
		return Order{}
	}
	if len(words) > 1 && v.me.has(words[0].key) && v.reasons.has(words[1].key) { // "will you forget me when I leave"
		return Order{}
	}
	deletes := f.cue == "delete"
	mine := v.has(thing, v.me) || v.has(thing, v.memory)
	switch {
	case v.only(thing, v.this):
		if more || deletes && p.before == "" {
			return Order{}
		}
		return v.pointed(v.statement(p.before))
	case v.only(thing, v.scaffold(v.has(thing, v.memory))...), v.whole(thing):
		if mine || v.has(thing, v.all) && !deletes && !more {
			return Order{Deed: Forget, All: true}
		}
		if more || deletes {
			return Order{}
		}
		return Order{Deed: Forget}
	}
	thing, stored := v.withoutMemory(thing)
	thing, topic := v.topic(thing)
	if rest, clause := v.clause(thing); clause && !topic {
		if !v.states(rest, f, true) {
			return Order{}
		}
		return Order{Deed: Forget, Text: rest}
	}
	own, said := v.aboutSpeaker(thing, tokens(thing)), v.aboutSpeaker(f.rest, tokens(f.rest)) || v.has(f.rest, v.told)
	thing, named := v.named(thing)
	if thing == "" || !own && !stored && !(topic && (said || !more && !v.has(f.rest, v.all)) && !deletes) && !(named && !more) || deletes && !stored && v.has(thing, v.elsewhere) {
		return Order{}
	}
	return Order{Deed: Forget, Text: thing}
}

// whole reports whether a text says "everything about me" with at most one word that the tables do not have.
func (v *vocabulary) whole(thing string) bool {
	if v.unspaced || !v.has(thing, v.all) || !v.has(thing, v.me) || v.has(thing, v.elsewhere) {
		return false
	}
	strange := 0
	for _, w := range tokens(thing) {
		if !slices.ContainsFunc(v.scaffold(true), func(s wordSet) bool { return s.has(w.key) }) && !v.dialect().small[w.key] {
			strange++
		}
	}
	return strange <= 1
}

// named returns a text up to a word that calls a topic a thing, where it does: "the marathon thing".
func (v *vocabulary) named(thing string) (topic string, is bool) {
	for i, w := range tokens(thing) {
		if v.thing.has(w.key) && i > 1 {
			return thing[:w.to], true
		}
	}
	return thing, false
}

// scaffold returns the words of "everything that you know about me". What is the speaker's is one of them beside the memory: "my memories".
func (v *vocabulary) scaffold(memory bool) []wordSet {
	all := []wordSet{v.this, v.that, v.all, v.me, v.memory, v.known, v.about}
	if memory {
		all = append(all, v.own)
	}
	return all
}

// object returns the part of a text that a verb is about, up to the next clause that does not belong to it, and whether more follows.
func (v *vocabulary) object(s string) (thing string, more bool) {
	for i, r := range s {
		if !strings.ContainsRune(",;!.?(–—，；！。？、", r) {
			continue
		}
		rest := strings.TrimLeft(s[i+utf8.RuneLen(r):], between)
		words := tokens(rest)
		if strings.ContainsRune(",，、", r) && len(words) > 0 && (v.that.has(words[0].key) || v.known.has(words[0].key)) {
			continue
		}
		return s[:i], v.bare(rest) != "" && longest(v.leads, rest) < len(rest)
	}
	return s, false
}

// withoutMemory returns a text without "from your memory" at its end.
func (v *vocabulary) withoutMemory(s string) (thing string, stored bool) {
	if v.unspaced {
		for _, word := range v.memory.list {
			if i := strings.LastIndex(s, word); i > 0 && v.only(s[i:], v.memory, v.known) {
				head := s[:i]
				for m := suffix(v.particles, head); m > 0 && m < len(head); m = 0 {
					head = head[:len(head)-m]
				}
				return strings.TrimRight(head, between), true
			}
		}
		return s, false
	}
	words := tokens(s)
	to := 0
	for to < len(words) && (v.memory.has(words[to].key) || to+1 < len(words) && v.memory.has(words[to+1].key) && v.known.has(words[to].key)) {
		to++
	}
	if to > 0 && to < len(words) && !v.about.has(words[to].key) {
		return s[words[to].from:], true
	}
	from := len(words)
	for from > 1 && (v.memory.has(words[from-1].key) || v.known.has(words[from-1].key) || v.about.has(words[from-1].key)) {
		from--
		stored = stored || v.memory.has(words[from].key)
	}
	if !stored {
		return s, false
	}
	return strings.TrimRight(s[:words[from].from], between), true
}

// topic returns what a text names as its topic: "my job" of "what I told you about my job".
func (v *vocabulary) topic(s string) (thing string, is bool) {
	if v.unspaced {
		for _, about := range v.about.list {
			head, tail, cut := strings.Cut(s, about)
			switch {
			case cut && v.only(head, v.known, v.this, v.all, v.me) && tail != "":
				return strings.TrimLeft(tail, between), true
			case cut && v.only(tail, v.known, v.this, v.all):
				return strings.TrimRight(head, between), true
			}
		}
		return s, false
	}
	words := tokens(s)
	part := func(w token) bool {
		return v.known.has(w.key) || v.about.has(w.key) || v.all.has(w.key) || v.this.has(w.key) || v.that.has(w.key)
	}
	if v.verbLast {
		for i, w := range words {
			if i > 0 && v.about.has(w.key) && !slices.ContainsFunc(words[i:], func(w token) bool { return !part(w) }) {
				return strings.TrimRight(s[:w.from], between), true
			}
		}
		return s, false
	}
	for i, w := range words {
		if !part(w) {
			break
		}
		if v.about.has(w.key) && i+1 < len(words) {
			thing, is = strings.TrimLeft(s[w.to:], between), true
		}
	}
	if !is {
		return s, false
	}
	words = tokens(thing)
	to := len(words)
	for to > 1 && part(words[to-1]) {
		to--
	}
	return thing[:words[to-1].to], true
}

// changes returns the correction that an order to correct introduces, or that stands before it.
func (v *vocabulary) changes(p *passage, f found) Order {
	switch {
	case f.colon:
		return v.correction(v.bare(f.rest))
	case p.before != "" && v.only(v.bare(f.rest), v.this, v.memory, v.about, v.known):
		return v.correction(v.statement(p.before))
	}
	return Order{}
}

// behind returns the order of a last clause that points at what is before it: "I'm vegan, remember that".
func (v *vocabulary) behind(p *passage, s string) Order {
	for i, r := range s {
		if !strings.ContainsRune(",;:.!–—-，；：。！、", r) || i == 0 {
			continue
		}
		head := v.statement(s[:i])
		if head == "" {
			continue
		}
		if o := v.called(strings.TrimLeft(s[i:], between), p.called); o != (Order{}) {
			return o
		}
		switch v.command(strings.TrimLeft(s[i:], between), p.called) {
		case string(Keep):
			return v.kept(head)
		case "change":
			return v.correction(head)
		case string(Forget), "delete":
			return v.pointed(head)
		}
	}
	return Order{}
}

// pointed returns the order to forget what a text before it names: "what I said about my diet, forget it".
func (v *vocabulary) pointed(before string) Order {
	thing, _ := v.withoutMemory(before)
	thing, topic := v.topic(thing)
	if !topic && !v.aboutSpeaker(thing, tokens(thing)) {
		thing = ""
	}
	return Order{Deed: Forget, Text: thing}
}

// called is calling behind polite words.
func (v *vocabulary) called(s string, names [][]string) Order {
	for s != "" {
		if o := v.calling(s); o != (Order{}) {
			return o
		}
		n, _ := v.lead(s, tokens(s), names)
		if n == 0 {
			break
		}
		s = strings.TrimLeft(s[n:], between)
	}
	return Order{}
}

// command returns the cue of an order that only points, such as "remember that", or "".
func (v *vocabulary) command(s string, called [][]string) string {
	for rest := s; rest != ""; {
		words := tokens(rest)
		for _, f := range v.beginning(rest, words) {
			if f = v.affirmed(f); v.points(f) {
				return f.cue
			}
		}
		n, _ := v.lead(rest, words, called)
		if n == 0 {
			for _, f := range v.ending(rest, true) {
				if v.points(f) {
					return f.cue
				}
			}
			return ""
		}
		rest = strings.TrimLeft(rest[n:], between)
	}
	return ""
}

func (v *vocabulary) points(f found) bool {
	said := v.bare(f.rest)
	for _, w := range tokens(said) {
		if v.reasons.has(w.key) {
			said = strings.TrimRight(said[:w.from], between)
			break
		} else if !v.this.has(w.key) {
			break
		}
	}
	named := []wordSet{v.this, v.that, v.memory, v.about, v.known, v.own}
	for _, names := range v.fields {
		named = append(named, names)
	}
	return v.only(said, named...) && (said != "" || f.cue == string(Keep) || f.cue == "change" || f.pointing(v))
}

// denial returns the correction behind words that call something wrong.
func (v *vocabulary) denial(p *passage, s string) Order {
	n := 0
	for _, w := range v.wrong {
		n = max(n, w.begins(s))
	}
	if n == 0 || isQuestion(p.s) {
		return Order{}
	}
	right := v.bare(s[n:])
	if right == "" {
		if right = v.bare(p.next); isQuestion(p.next) {
			return Order{}
		}
		p.both = right != ""
	} else if !punctuated(strings.TrimLeft(s[n:], " ")) {
		return Order{}
	}
	return v.correction(right)
}

// correction returns the order to correct something by what is right.
func (v *vocabulary) correction(right string) Order {
	if o := v.contrast(right, true); o != (Order{}) {
		return o
	}
	if right == "" || utf8.RuneCountInString(right) > maxTextLength {
		return Order{}
	}
	return Order{Deed: Correct, Text: right}
}

// contrast returns the correction of a text that says what is right and what is not: "it's Porto, not Lisbon". opened says that the text
// follows a "no"; otherwise it must be about the speaker, or tell names, numbers or days.
func (v *vocabulary) contrast(s string, opened bool) Order {
	o, n := v.opposed(s, opened), longest(v.no, s)
	if o == (Order{}) && n > 0 && n < len(s) {
		o = v.opposed(strings.TrimLeft(s[n:], between), true)
	}
	return o
}

func (v *vocabulary) opposed(s string, opened bool) Order {
	if _, colon := beforeColon(s); colon {
		return Order{}
	}
	said := v.bare(s)
	if i := strings.LastIndexAny(said, ",，"); i > 0 && strings.ContainsAny(said[:i], ",，") {
		if o := v.opposed(said[:i], opened); o != (Order{}) { // what follows is no part of it
			return o
		}
	}
	for _, c := range v.contrasts {
		right, wrong, separate := c.split(said)
		words := tokens(right)
		if right == "" || wrong == "" || len(tokens(wrong)) > 5 || len(words) > 15 {
			continue
		}
		rest, leans := v.leaning(right)
		values := v.value(wrong) && v.value(lastWord(right))
		switch {
		case leans && strings.TrimSpace(rest) == "":
		case !separate && !(opened && (leans && rest != "" || c.joined || values)):
		case opened, leans && values, v.aboutSpeaker(s, tokens(s)) && (values || v.says(words)), c.turned && (values || v.unspaced) && len(words) <= 3 && utf8.RuneCountInString(right) <= longestField:
			return Order{Deed: Correct, Text: right, Wrong: strings.Trim(wrong, between)}
		}
	}
	return Order{}
}

// value reports whether a text is a name, a number, a day or a month.
func (v *vocabulary) value(s string) bool {
	words := tokens(s)
	return len(words) > 0 && len(words) <= 3 && !slices.ContainsFunc(words, func(w token) bool {
		first, _ := utf8.DecodeRuneInString(s[w.from:])
		return !(unicode.IsUpper(first) || unicode.IsDigit(first) || v.days[w.key])
	})
}

func lastWord(s string) string {
	words := tokens(s)
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	return s[last.from:last.to]
}

// calling returns the order to fill a field of the speaker's card: "call me Captain".
func (v *vocabulary) calling(s string) Order {
	said, _ := v.polite(s)
	plain := straight(said)
	small := strings.ToLower(plain)
	for _, slot := range v.slots {
		value := slot.value(plain, small)
		if value == "" {
			continue
		}
		if i := strings.IndexAny(value, ",;，、"); i >= 0 {
			value = value[:i]
		}
		if slot.cue == turn.CardPronouns && !strings.Contains(value, "/") && !v.has(slot.text, v.fields[slot.cue]) {
			continue
		}
		for _, c := range v.contrasts {
			if right, _, _ := c.split(value); right != "" {
				value = right
			}
		}
		value = v.bare(value)
		for n := longest(v.leads, value); n > 0 && n < len(value); n = longest(v.leads, value) {
			value = strings.TrimLeft(value[n:], between)
		}
		words := tokens(value)
		if len(words) == 0 && !strings.ContainsFunc(value, isQuote) || len(words) > 4 || utf8.RuneCountInString(value) > longestField || len(words) > 0 && v.notNames.has(words[0].key) || v.unspaced && v.starting(value, v.notNames) {
			continue
		}
		return Order{Deed: Keep, Text: said, Own: true, Field: slot.cue, Value: value}
	}
	return Order{}
}

const longestField = 40 // characters of a value in an order

// ApplyCorrection returns the statement that replaces an old one. A correction with its own subject is the new statement: "I'm vegan". A
// correction that leans on the old one takes its subject: "my birthday is 3 May" and "it's 4 May" give "my birthday is 4 May". Where it says
// what is wrong, that is replaced.
func ApplyCorrection(old, right, wrong string) string {
	own, _ := About(right)
	if at, n := heldBy(old, wrong); n > 0 {
		if rest, leans := withoutSubject(right); leans {
			return old[:at] + rest + old[at+n:]
		}
		if !own && !shares(old[:at]+" "+old[at+n:], right) { // else it has a subject of its own
			return old[:at] + right + old[at+n:]
		}
		return right
	}
	for _, v := range vocabularies() {
		rest, leans := v.leaning(right)
		if words := tokens(right); v.unspaced || len(words) < 2 || !leans {
			continue
		}
		before := tokens(old)
		if i := slices.IndexFunc(before, func(w token) bool { return v.is.has(w.key) }); i > 0 {
			return old[:before[i].to] + rest
		}
	}
	if own {
		return right
	}
	return right + " (≠ " + strings.TrimRight(old, ".") + ")"
}

// shares reports whether two texts have a word in common.
func shares(a, b string) bool {
	words := tokens(b)
	return slices.ContainsFunc(tokens(a), func(w token) bool {
		return slices.ContainsFunc(words, func(one token) bool { return one.key == w.key })
	})
}

// heldBy returns where an old statement has what is wrong, or the end of that.
func heldBy(old, wrong string) (at, n int) {
	unspaced, least := text.Unspaced(old), 3
	if unspaced {
		least = 2
	}
	if small := strings.ToLower(old); len(small) == len(old) {
		old, wrong = small, strings.ToLower(wrong)
	}
	for i, r := range wrong {
		part := wrong[i:]
		if i > 0 && utf8.RuneCountInString(part) < least {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(wrong[:i])
		if !text.InWord(r) || i > 0 && text.InWord(before) && !unspaced {
			continue
		}
		if at := strings.Index(old, part); at >= 0 && (unspaced || separateIn(old, at, len(part))) {
			return at, len(part)
		}
	}
	return 0, 0
}

// withoutSubject returns what a correction that leans on the old statement puts in its place: "Porto" of "it's Porto". leans is false for any
// other correction.
func withoutSubject(right string) (rest string, leans bool) {
	for _, v := range vocabularies() {
		if rest, leans := v.leaning(right); leans && strings.TrimSpace(rest) != "" {
			return strings.Trim(rest, between), true
		}
	}
	return right, false
}

// naming returns a function that reports whether a statement is about what a text names. Words for the speaker do not count.
func naming(said string) func(statement string) bool {
	words, parts := tokens(said), []string(nil)
	for _, v := range vocabularies() {
		if !v.unspaced {
			words = slices.DeleteFunc(words, func(w token) bool { return v.own.has(w.key) })
		} else if text.Unspaced(said) && v.writes(said) {
			parts = append(parts, v.essence(said)...)
		}
	}
	if text.Unspaced(said) {
		return func(statement string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(statement, part) })
		}
	}
	named := ""
	for _, w := range words {
		named += " " + said[w.from:w.to]
	}
	wanted := text.Unique(text.Terms(named, ""))
	return func(statement string) bool { return holdsAll(text.Terms(statement, ""), wanted) }
}

// essence returns what is left of a text in a script without spaces when words for the speaker and for what was said are taken out.
func (v *vocabulary) essence(said string) []string {
	var all []string
	for _, words := range []wordSet{v.own, v.me, v.known, v.this, v.about} {
		all = append(all, words.list...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, word := range all {
		said = strings.ReplaceAll(said, word, " ")
	}
	return strings.Fields(said)
}

// fieldOf returns the field of a card that a text names, and nothing else: "my nickname".
func fieldOf(said string) string {
	for _, v := range vocabularies() {
		for field, names := range v.fields {
			if v.has(said, names) && v.only(said, names, v.own, v.known, v.about, v.this) {
				return field
			}
		}
	}
	return ""
}

// separateIn reports whether a part of a text is made of whole words.
func separateIn(s string, at, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+n:])
	return (at == 0 || !text.InWord(before)) && (at+n == len(s) || !text.InWord(after))
}

// leaning reports whether a text begins with "it is", or ends so where the verb comes last, and returns the rest, with its leading space.
func (v *vocabulary) leaning(s string) (rest string, leans bool) {
	if n := longest(v.it, s); n > 0 {
		return s[n:], true
	}
	if n := suffix(v.it, s); n > 0 && v.unspaced {
		return s[:len(s)-n], true
	}
	return s, false
}

// About reports whether a text is about its speaker, in the first person, or about an unnamed other person. If the language is unclear, the
// first person of any language counts.
func About(s string) (own, other bool) {
	words := tokens(s)
	code := text.MessageLanguage(s)
	for _, v := range vocabularies() {
		if code != "" && v.code != code {
			continue
		}
		own = own || v.aboutSpeaker(s, words) && (code != "" || len(v.endings) == 0)
		other = other || v.aboutOthers(s, words)
	}
	return own, other && !own
}
