package order

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// symbol stands for a part of a sentence, whatever its language.
type symbol struct {
	from, to int // bytes
	r        byte
}

// addOutline adds parts of the message's outline.
func (s *sight) addOutline() {
	var b strings.Builder
	b.WriteByte('=')
	for _, one := range s.sentences {
		s.outline(&b, one)
	}
	flat := b.String()
	for n := leastOutline; n <= mostOutline; n++ {
		for i := 1; i+n <= len(flat); i++ {
			if part := flat[i : i+n]; strings.Index(flat[1:], part) == i-1 { // once
				s.add(part, 1)
			}
		}
	}
}

// outline writes a sentence in symbols. They are signs, words for the speaker and for whom they speak to, other small words, and marks.
// Other words are one "x". A longer phrase goes before a shorter one.
func (s *sight) outline(b *strings.Builder, one glance) {
	all := s.inOrder(one)
	b.WriteByte('^')
	strange, at := false, 0
	plain := func(part string) {
		for _, r := range part {
			switch m := markOf(r); {
			case m != "":
				b.WriteString(m)
				strange = false
			case text.InWord(r) && !strange:
				b.WriteByte('x')
				strange = true
			}
		}
	}
	for _, sym := range all {
		if sym.from >= at {
			plain(one.text[at:sym.from])
			b.WriteByte(sym.r)
			strange, at = false, sym.to
		}
	}
	plain(one.text[at:])
	b.WriteByte('$')
}

// inOrder returns the symbols of a sentence in their order, the longest first.
func (s *sight) inOrder(one glance) []symbol {
	all := s.v.symbols(one)
	for i := range one.words {
		if n := s.names(one.words[i:]); n > 0 {
			all = append(all, symbol{one.words[i].from, one.words[i+n-1].to, '@'})
		}
	}
	slices.SortStableFunc(all, func(a, b symbol) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	return all
}

// kindSymbols are the symbols of signKinds.
const kindSymbols = "kfcmwho"

// symbols returns the symbols of a sentence, overlapping, without the bot's name.
func (v *vocabulary) symbols(one glance) (all []symbol) {
	for _, p := range one.places {
		all = append(all, symbol{p.from, p.to, kindSymbols[p.kind]})
	}
	for i, w := range one.words {
		if v.unspaced {
			break
		}
		word := func(is bool, r byte) {
			if is {
				all = append(all, symbol{w.from, w.to, r})
			}
		}
		word(text.SecondPerson(v.code)[w.key], 'Y')
		word(v.negations[w.key], 'N')
		word(v.grammar.asks[w.key], 'q')
		for _, set := range v.small() {
			word(set.words.has(w.key), set.r)
		}
		word(v.aboutSpeaker("", one.words[i:i+1]), 'I')
		if n := longestOf(v.asks, one.words[i:]); n > 0 {
			all = append(all, symbol{w.from, n, 'R'})
		}
		if n := longestOf(v.leads, one.words[i:]); n > 0 {
			all = append(all, symbol{w.from, n, 'L'})
		}
	}
	if v.unspaced {
		for _, set := range v.small() {
			for _, part := range set.words.list {
				if i := strings.Index(one.text, part); i >= 0 {
					all = append(all, symbol{i, i + len(part), set.r})
				}
			}
		}
	}
	return all
}

type smallWords struct {
	r     byte
	words wordSet
}

// small returns the sets of small words that have a symbol.
func (v *vocabulary) small() [9]smallWords {
	return [9]smallWords{{'T', v.this}, {'t', v.that}, {'A', v.all}, {'I', v.own}, {'I', v.me}, {'O', v.others}, {'S', v.told}, {'i', v.is}, {'a', v.about}}
}

// longestOf returns where the longest phrase at the beginning of some words ends, or 0.
func longestOf(all []phrase, words []token) (n int) {
	for _, p := range all {
		n = max(n, prefix(words, p.keys))
	}
	return n
}
