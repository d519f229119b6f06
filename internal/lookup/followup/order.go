package followup

import (
	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// OnlyOrder reports whether words order a search and say not for what: "look it up", "can you check online?". What is
// to be found then stands in the message before.
func OnlyOrder(words []text.Word) bool {
	ordered := false
	for from := 0; from < len(words); {
		n, _ := need.Leads.Prefix(words[from:])
		if m, cue := need.Orders.Prefix(words[from:]); m > 0 && cue == "search" {
			n, ordered = m, true
		}
		if n == 0 && !besideAnew[words[from].Key] && !TailWords[words[from].Key] {
			return false
		}
		from += max(1, n)
	}
	return ordered
}

// TailWords may end such an order.
var TailWords = text.Set(lang.All().Order.Tail)
