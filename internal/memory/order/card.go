package order

import (
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// calling returns the order to fill a field of the speaker's card: "call me Captain". It doubts where what follows the order is not a name.
func (v *vocabulary) calling(s string) (o Order, doubt Doubt) {
	said, _ := v.polite(s)
	plain := straight(said)
	small := strings.ToLower(plain)
	for _, slot := range v.slots {
		value := slot.value(plain, small)
		if value == "" {
			continue
		}
		i := strings.IndexAny(value, ",;，、")
		if i >= 0 {
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
		small := i >= 0 && len(words) == 1 && v.grammar.small[words[0].key] // "den, dem alle gehorchen"
		long := len(words) > mostNames || utf8.RuneCountInString(value) > longestField
		no := len(words) > 0 && v.notNames.has(words[0].key) || v.unspaced && v.starting(value, v.notNames)
		switch {
		case len(words) == 0 && !strings.ContainsFunc(value, isQuote):
		case !small && !long && !no:
			if _, rest, is := strings.Cut(said, value); is && punctuated(strings.TrimLeft(rest, " ")) {
				said = said[:len(said)-len(rest)] // the rest says why
			}
			return Order{Deed: Keep, Text: said, Own: true, Field: slot.cue, Value: value}, NoDoubt
		case !v.own.has(tokens(said)[0].key) && (!no || v.grammar.determiners[words[0].key]):
			doubt = Perhaps
			if small || long {
				doubt = Likely
			}
		}
	}
	return Order{}, doubt
}

const (
	longestField = 40 // characters of a value in an order
	mostNames    = 4  // words of one
)

// called is calling after polite words.
func (v *vocabulary) called(s string, names [][]string) Order {
	for s != "" {
		if o, _ := v.calling(s); o != (Order{}) {
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

// FieldNamed returns the field of a card that a text names, and nothing else: "my nickname".
func FieldNamed(said string) string {
	for _, v := range vocabularies() {
		for _, field := range turn.CardFields() {
			if names := v.fields[field]; v.has(said, names) && v.only(said, names, v.own, v.known, v.about, v.this) {
				return field
			}
		}
	}
	return ""
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

// Naming returns a function that reports whether a statement is about what a text names. Words for the speaker do not count.
func Naming(said string) func(statement string) bool {
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
	return func(statement string) bool {
		return len(wanted) > 0 && text.Common(text.Unique(text.Terms(statement, "")), wanted) == len(wanted)
	}
}

// Topic returns what a text names as its topic: "my job" of "what I told you about my job".
func Topic(said string) string {
	for _, v := range vocabularies() {
		if code := text.MessageLanguage(said); code != "" && code != v.code || v.unspaced && !v.writes(said) {
			continue
		}
		thing, _ := v.withoutMemory(said)
		if thing, is := v.topic(thing); is {
			return thing
		}
	}
	return said
}

// essence returns what is left of a text in a script without spaces. Words for the speaker and for what was said are taken out.
func (v *vocabulary) essence(said string) []string {
	var all []string
	for _, words := range []wordSet{v.own, v.me, v.known, v.this, v.about} {
		all = append(all, words.list...)
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, word := range all {
		said = strings.ReplaceAll(said, word, " ")
	}
	return strings.Fields(said)
}
