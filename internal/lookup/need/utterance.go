package need

import (
	"slices"

	"familiar/internal/text"
)

// Lead returns how many words of polite beginning stand before the question itself, and whether they ask to
// be told something.
func Lead(words []text.Word) (from int, asked bool) {
	for from < len(words) {
		n, cue := Leads.Prefix(words[from:])
		if n == 0 {
			break
		}
		from += n
		asked = asked || cue == "ask"
	}
	return from, asked
}

// Opening returns the form of a question: "wh", "aux", "get", or "".
func Opening(s string, words, body []text.Word) string {
	lang := text.Language(s, words)
	for _, l := range [...]string{lang, "en"} {
		t, ok := Openings[l]
		if !ok {
			continue
		}
		if n, cue := t.Prefix(body); n > 0 {
			return cue
		}
		if n, cue := t.Prefix(words); n > 0 && cue == "get" {
			return cue
		}
	}
	if f := Openings[""].FindAll(s, body); len(f) > 0 {
		return f[0].Cue
	}
	return inner(body)
}

// inner finds the question behind a condition or a place: "if i go to Kenya would i need a visa", "in Texas
// how is the governor chosen", and the question at a sentence's end: "… is located in which state".
func inner(body []text.Word) string {
	for i := range body {
		if i > 0 && conditions[body[0].Key] {
			if n, _ := inverted.Prefix(body[i:]); n > 0 {
				return "aux"
			}
			if n, _ := interrogatives.Prefix(body[i:]); n > 0 {
				return "wh"
			}
		}
		if i > 0 && i >= len(body)-4 && (body[i].Key == "which" || body[i].Key == "whose" || body[i].Key == "what") && prepositions[body[i-1].Key] {
			return "wh"
		}
	}
	return ""
}

// DropNames removes the bot's own name from the beginning and the end.
func DropNames(words []text.Word, s string, names []string) ([]text.Word, bool) {
	dropped := false
	for _, name := range names {
		key := text.Words(name)
		if len(key) == 0 {
			continue
		}
		keys := make([]string, len(key))
		for i, w := range key {
			keys[i] = w.Key
		}
		for at := 0; at <= min(2, len(words)-1); at++ { // "sage, …", "hey sage …"
			if polite, _ := Lead(words[:at]); polite == at && text.HasPrefix(words[at:], keys) {
				words, dropped = slices.Concat(words[:at], words[at+len(keys):]), true
				break
			}
		}
		if n := len(words) - len(keys); n > 0 && text.HasPrefix(words[n:], keys) {
			words, dropped = words[:n], true
		}
	}
	return words, dropped
}
