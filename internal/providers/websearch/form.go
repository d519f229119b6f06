package websearch

import "slices"

// lead returns how many words of polite beginning stand before the question itself, and whether they ask to
// be told something.
func lead(words []word) (from int, asked bool) {
	for from < len(words) {
		n, cue := leads.at(words[from:])
		if n == 0 {
			break
		}
		from += n
		asked = asked || cue == "ask"
	}
	return from, asked
}

// opening returns the form of a question: "wh", "aux", "get", or "".
func opening(s string, words, body []word) string {
	lang := language(s, words)
	for _, l := range [...]string{lang, "en"} {
		t, ok := openings[l]
		if !ok {
			continue
		}
		if n, cue := t.at(body); n > 0 {
			return cue
		}
		if n, cue := t.at(words); n > 0 && cue == "get" {
			return cue
		}
	}
	if f := openings[""].in(s, body); len(f) > 0 {
		return f[0].cue
	}
	return inner(body)
}

// inner finds the question behind a condition or a place: "if i go to Kenya would i need a visa", "in Texas
// how is the governor chosen", and the question at a sentence's end: "… is located in which state".
func inner(body []word) string {
	for i := range body {
		if i > 0 && conditions[body[0].key] {
			if n, _ := inverted.at(body[i:]); n > 0 {
				return "aux"
			}
			if n, _ := interrogatives.at(body[i:]); n > 0 {
				return "wh"
			}
		}
		if i > 0 && i >= len(body)-4 && (body[i].key == "which" || body[i].key == "whose" || body[i].key == "what") && prepositions[body[i-1].key] {
			return "wh"
		}
	}
	return ""
}

// dropNames removes the bot's own name from the beginning and the end.
func dropNames(words []word, s string, names []string) ([]word, bool) {
	dropped := false
	for _, name := range names {
		key := split(name)
		if len(key) == 0 {
			continue
		}
		keys := make([]string, len(key))
		for i, w := range key {
			keys[i] = w.key
		}
		for at := 0; at <= min(2, len(words)-1); at++ { // "sage, …", "hey sage …"
			if polite, _ := lead(words[:at]); polite == at && begins(words[at:], keys) {
				words, dropped = slices.Concat(words[:at], words[at+len(keys):]), true
				break
			}
		}
		if n := len(words) - len(keys); n > 0 && begins(words[n:], keys) {
			words, dropped = words[:n], true
		}
	}
	return words, dropped
}
