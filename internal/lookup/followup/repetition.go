package followup

import (
	"familiar/internal/lookup/need"
	"familiar/internal/text"
)

// AsksToRefresh reports whether a message asks for something newer than what was found before.
func AsksToRefresh(u need.Utterance, order need.Order) bool {
	return u.Has(refresh) || order == need.Search && text.ContainsAny(u.Words, again)
}

// IsRefresh reports whether a message asks for something newer and says nothing else: what to look up then stands in the
// message before.
func IsRefresh(u need.Utterance) bool {
	found := false
	for rest := u.Body; len(rest) > 0; {
		n, _ := refresh.Prefix(rest)
		if n == 0 && refreshAlone[rest[0].Key] {
			n = 1
		}
		found = found || n > 0
		if n == 0 && !besideRefresh[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// TrimRefresh drops the words that ask for something newer from the end of a longer question.
func TrimRefresh(s string) string {
	words := text.Words(s)
	for _, f := range refresh.FindAll(s, words) {
		if f.From > 0 && f.To == len(words) {
			return s[:words[f.From-1].End]
		}
	}
	return s
}

// IsBareOrder reports whether a message orders a search and does not say for what: "look it up", "can you check online?".
// What to look up then stands in the message before.
func IsBareOrder(u need.Utterance) bool {
	found := false
	for rest := u.Words; len(rest) > 0; {
		n, cue := need.Orders.Prefix(rest)
		if need.Order(cue) == need.Search {
			found = true
		} else {
			n, _ = need.Leads.Prefix(rest)
		}
		if n == 0 && !besideRefresh[rest[0].Key] && !OrderTail[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// isRepetition reports whether a message asks for the question before it once more.
func isRepetition(u need.Utterance) bool { return IsRefresh(u) || IsBareOrder(u) }
