package followup

import (
	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// anew are the words that ask for something newer than what was said: "look again", "any update?".
var anew = text.Compile(map[string]lang.Phrases{"anew": lang.All().FollowUp.Refresh})

// again are the words that, with an order to search, ask to do it once more.
var again = text.Set(lang.All().FollowUp.Again)

// AsksToRefresh reports whether a message asks for something newer than what was found before.
func AsksToRefresh(u need.Utterance, order need.Order) bool {
	return u.Has(anew) || order == need.Search && text.ContainsAny(u.Words, again)
}

// IsRefresh reports whether a message asks for something newer and says nothing else: what to look up then stands in the
// message before.
func IsRefresh(u need.Utterance) bool {
	found := false
	for rest := u.Body; len(rest) > 0; {
		n, _ := anew.Prefix(rest)
		if n == 0 && anewAlone[rest[0].Key] {
			n = 1
		}
		found = found || n > 0
		if n == 0 && !besideAnew[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// anewAlone are words that ask for it where they are all that is said.
var anewAlone = text.Set(lang.All().FollowUp.RefreshAlone)

// TrimRefresh drops the words that ask for something newer from the end of a longer question.
func TrimRefresh(s string) string {
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
