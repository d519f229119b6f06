package view

import (
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// FeedbackFrom writes the feedback given in the event's server or, in a direct message, by the event's person, and how much
// there is of the rest: this reader may not see who gave that, and on which page, but all of it lowers a domain.
func FeedbackFrom(e turn.Event, all []store.Feedback) string {
	var here []store.Feedback
	elsewhere := map[[2]string]int{} // by domain and verdict
	for _, f := range all {
		if f.GuildID == e.GuildID && e.GuildID != "" || e.GuildID == "" && f.By == e.Command.By.ID {
			here = append(here, f)
		} else {
			elsewhere[[2]string{f.Domain, f.Verdict}]++
		}
	}
	if len(elsewhere) == 0 {
		return Feedback(here)
	}
	var w writer
	if len(here) > 0 {
		w.WriteString(Feedback(here))
	}
	for _, key := range slices.SortedFunc(maps.Keys(elsewhere), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
		w.line("%-30s %-9s %d× elsewhere", key[0], key[1], elsewhere[key])
	}
	return w.String()
}

// Feedback writes a line for each verdict on a source.
func Feedback(all []store.Feedback) string {
	if len(all) == 0 {
		return "Nothing was said of any source.\n"
	}
	var w writer
	for _, f := range all {
		w.line("%-30s %-9s %s by %s%s", f.Domain, f.Verdict, day(f.At), f.By, inParens(f.URL))
	}
	return w.String()
}
