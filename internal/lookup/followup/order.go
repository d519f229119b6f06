package followup

import (
	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

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
		if n == 0 && !besideAnew[rest[0].Key] && !TailWords[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// isRepetition reports whether a message asks for the question before it once more.
func isRepetition(u need.Utterance) bool { return IsRefresh(u) || IsBareOrder(u) }

// TailWords may end such an order.
var TailWords = text.Set(lang.All().Order.Tail)
