package followup

import (
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// AsksToRefresh reports whether a message asks for something newer than what was found before.
func AsksToRefresh(u utterance.Utterance, order utterance.Order) bool {
	return u.Has(refresh) || order == utterance.Search && text.ContainsAny(u.Words, again)
}

// IsRefresh reports whether a message asks for something newer and says nothing else: what to look up then stands in the
// message before.
func IsRefresh(u utterance.Utterance) bool {
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
func IsBareOrder(u utterance.Utterance) bool {
	found := false
	for rest := u.Words; len(rest) > 0; {
		n, cue := utterance.Orders.Prefix(rest)
		if utterance.Order(cue) == utterance.Search {
			found = true
		} else {
			n, _ = utterance.Leads.Prefix(rest)
		}
		if n == 0 && !besideRefresh[rest[0].Key] && !utterance.OrderTail[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// isRepetition reports whether a message asks for the question before it once more.
func isRepetition(u utterance.Utterance) bool { return IsRefresh(u) || IsBareOrder(u) }
