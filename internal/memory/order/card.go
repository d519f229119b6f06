package order

import (
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

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

// FieldNamed returns the field of a card that a text names, and nothing else: "my nickname".
func FieldNamed(said string) string {
	for _, v := range vocabularies() {
		for field, names := range v.fields {
			if v.has(said, names) && v.only(said, names, v.own, v.known, v.about, v.this) {
				return field
			}
		}
	}
	return ""
}
