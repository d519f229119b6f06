package followup

import (
	"slices"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// anew are the words that ask for something newer than what was said: "look again", "any update?".
var anew = text.Compile(map[string]lang.Phrases{"anew": lang.All().FollowUp.Refresh})

// again are the words that, with an order to search, ask to do it once more.
var again = text.Set(lang.All().FollowUp.Again)

// AsksAnew reports whether a message asks for something newer than what was found before.
func AsksAnew(s string, words []text.Word, order string) bool {
	return len(anew.FindAll(s, words)) > 0 || order == "search" && slices.ContainsFunc(words, func(w text.Word) bool { return again[w.Key] })
}

// OnlyAnew reports whether a message says nothing else, so that what it asks stands in the one before it.
func OnlyAnew(words []text.Word) bool {
	from, _ := need.Lead(words)
	asked := false
	for from < len(words) {
		n, _ := anew.Prefix(words[from:])
		if anewAlone[words[from].Key] {
			n = max(1, n)
		}
		asked = asked || n > 0
		if n == 0 && !besideAnew[words[from].Key] {
			return false
		}
		from += max(1, n)
	}
	return asked
}

// anewAlone are words that ask for it where they are all that is said.
var anewAlone = text.Set(lang.All().FollowUp.RefreshAlone)

// WithoutAnew drops the words that ask for something new from the end of a longer question.
func WithoutAnew(s string) string {
	words := text.Words(s)
	for _, f := range anew.FindAll(s, words) {
		if f.From > 0 && f.To == len(words) {
			return s[:words[f.From-1].End]
		}
	}
	return s
}

// besideAnew may stand beside the words that ask for something new.
var besideAnew = text.Set(lang.All().FollowUp.BesideRefresh)
