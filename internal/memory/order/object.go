package order

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

const maxPurpose = 4 // words after an order that points: "for recipes"

func (v *vocabulary) kept(said string) Order {
	words := tokens(said)
	if n := utf8.RuneCountInString(said); n < 3 || n > MaxText {
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
	if !f.mark && !v.unspaced && len(words) > 1 && v.me.has(words[0].key) { // "write down for me how to bake a cake"
		own = v.aboutSpeaker(s[words[1].from:], words[1:])
	}
	if n := utf8.RuneCountInString(s); n < 3 || n > MaxText || !v.unspaced && len(words) < 2 && !own {
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

// pointed returns the order to forget what a text before it names: "what I said about my diet, forget it".
func (v *vocabulary) pointed(before string) Order {
	thing, _ := v.withoutMemory(before)
	thing, topic := v.topic(thing)
	if !topic && !v.aboutSpeaker(thing, tokens(thing)) {
		thing = ""
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
		if !slices.ContainsFunc(v.scaffold(true), func(s wordSet) bool { return s.has(w.key) }) && !v.grammar.small[w.key] {
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

// scaffold returns the words of "everything that you know about me". With the memory, words for the speaker's own are among them: "my memories".
func (v *vocabulary) scaffold(memory bool) []wordSet {
	all := []wordSet{v.this, v.that, v.all, v.me, v.memory, v.known, v.about}
	if memory {
		all = append(all, v.own)
	}
	return all
}

// object returns the part of a text that a verb is about. It ends before the next clause that does not belong to it. It also returns
// whether more follows.
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
