package order

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

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

// divided cuts sentences before an order that an "and" or a "so" joins to what is before it. After an "and" it is one only if that is an
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

// opens reports whether a text begins with a verb of an order, after polite words.
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
			if said := text.NewSaying(p.s); text.ContainsAny(said.Words, text.SecondPerson(v.code)) && !v.tells(said) {
				doubt = Likely
			}
			p.doubt = max(p.doubt, doubt)
		}
	}
	return Order{}
}

// addresses reports whether a sentence speaks to somebody else than the bot. It tells what "you" are or do, mentions an account, or ends
// with a name.
func (p *passage) addresses(said string) bool {
	words := tokens(said)
	named := func(words []token) bool {
		return slices.ContainsFunc(p.called, func(keys []string) bool { return prefix(words, keys) > 0 })
	}
	if strings.HasPrefix(p.s, "@") && !named(tokens(p.s)) {
		return true
	}
	for _, v := range vocabularies() {
		if len(words) > 1 && !v.unspaced && text.MessageLanguage(p.s) == v.code && text.SecondPerson(v.code)[words[0].key] {
			return true
		}
	}
	i := strings.LastIndexAny(p.s, ",，")
	if i < 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(lastWord(p.s[:i]))
	last := tokens(p.s[i:])
	name, _ := utf8.DecodeRuneInString(strings.TrimLeft(p.s[i:], between))
	return len(last) == 1 && unicode.IsUpper(name) && !unicode.IsUpper(first) && !named(last)
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
		if o, doubt := v.calling(rest); asked || !question {
			if o != (Order{}) {
				return o
			}
			p.doubt = max(p.doubt, doubt)
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

// later returns the verbs of orders within a sentence: after words that ask for it, or after a mark. What is before must not tell of
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
		said := text.NewSaying(head)
		if _, colon := BeforeColon(head); colon || v.tells(said) || !asks && i < 2 || !asks && said.Has(v.grammar.qualifiers) {
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
func (v *vocabulary) tells(s text.Saying) bool {
	return strings.ContainsFunc(s.Text, isQuote) || s.Has(reports().people) || s.Has(reports().frames) || slices.ContainsFunc(tokens(s.Text), func(w token) bool {
		return v.told.has(w.key) || v.others.has(w.key)
	})
}

// entitled returns the order of what a heading calls something for the memory: "one for your memory: I drink tea".
func (v *vocabulary) entitled(p *passage, question bool) Order {
	head, colon := BeforeColon(p.s)
	words := tokens(head)
	if !colon || question || len(words) > maxHeading || !v.has(head, v.memory) && !v.opens(head, p.called) && !slices.ContainsFunc(words, func(w token) bool { return v.me.has(w.key) }) {
		return Order{}
	}
	verb, strange := false, 0
	for _, w := range words {
		is := slices.ContainsFunc(v.verbs, func(p phrase) bool { return p.cue == string(Keep) && slices.Contains(p.keys, w.key) })
		if verb = verb || is || v.memory.has(w.key); !is && !v.memory.has(w.key) && !v.known.has(w.key) && !v.about.has(w.key) && !v.this.has(w.key) && !v.grammar.small[w.key] && longest(v.leads, p.s[w.from:]) == 0 {
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

// tagged reports whether only a polite word at its end makes a sentence a question: "remember that, ok?".
func (v *vocabulary) tagged(s string) bool {
	i := strings.LastIndexAny(s, ",，")
	return i > 0 && longest(v.leads, strings.TrimLeft(s[i:], between)) > 0 && !isQuestion(s[:i])
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

// between are the marks and spaces between the parts of a sentence.
const between = " ,:;!.、，：；！。~–—-\n"

// Trim returns a text without such marks and spaces around it.
func Trim(s string) string { return strings.Trim(s, between) }

func punctuated(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsPunct(r)
}

// lead returns the length in bytes of a polite phrase or a name at the beginning of a sentence. words are the sentence's words.
// asks reports whether the phrase turns a question into a request.
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
