package order

import (
	"slices"
	"strings"
)

// found is a verb of an order in a sentence.
type found struct {
	phrase
	rest        string // the sentence without the verb
	mark, colon bool   // a mark separates the verb from the rest, and it is a colon
	last        bool   // the verb is the last word
}

// pointing reports whether a verb has its object in it: "keep that in mind".
func (f found) pointing(v *vocabulary) bool {
	return len(f.keys) > 1 && slices.ContainsFunc(f.keys, v.this.has)
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
		if head, colon := BeforeColon(f.rest); colon && v.only(v.bare(head), v.this, v.memory, v.about, v.known, v.me) {
			f.rest, f.colon = strings.TrimLeft(f.rest[len(head):], between), true
		}
		all = append(all, f)
	}
	return append(all, v.directed(s, words)...)
}

// directed returns an order by any verb that says whether something is to go into the memory. It may also go out of it. An example is "pop
// that in your memory".
func (v *vocabulary) directed(s string, words []token) []found {
	if len(words) < 2 || v.verbLast || v.own.has(words[0].key) || v.others.has(words[0].key) || v.negations[words[0].key] || v.grammar.asks[words[0].key] {
		return nil
	}
	for i := range words[1:min(len(words), maxTopicWords)] {
		at, behind := words[i+1].from, words[i+1:]
		if longestIn(v.into, s[at:], behind) > 0 && !v.says(words[:i+1]) {
			rest := strings.TrimLeft(s[words[0].to:at], " ") + s[at+longest(v.into, s[at:]):]
			return []found{{phrase: phrase{cue: string(Keep), keys: []string{words[0].key}}, rest: rest}}
		}
		if longestIn(v.outOf, s[at:], behind) > 0 && !v.says(words[:i+1]) {
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

// affirmed turns an order not to forget something that was said into one to remember it. The negation comes last: "vergiss das nicht".
func (v *vocabulary) affirmed(f found) found {
	words := tokens(v.bare(f.rest))
	if n := len(words); f.cue == string(Forget) && n > 1 && v.negations[words[n-1].key] {
		if this := v.bare(f.rest)[:words[n-2].to]; v.only(this, v.this) {
			f.cue, f.rest = string(Keep), this
		}
	}
	return f
}
