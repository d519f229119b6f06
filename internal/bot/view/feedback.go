package view

import (
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// FeedbackFrom writes the feedback that counts where the event comes from: that of its server or, in a direct message, of its
// person.
func FeedbackFrom(e turn.Event, all []store.Feedback) string {
	return Feedback(slices.DeleteFunc(all, func(f store.Feedback) bool {
		return f.GuildID != e.GuildID || e.GuildID == "" && f.By != e.Command.By.ID
	}))
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

// Opinions writes a line for each opinion of a reply, after how many there are of each kind.
func Opinions(all []store.Opinion) string {
	if len(all) == 0 {
		return ""
	}
	n := map[string]int{}
	for _, o := range all {
		n[o.Verdict]++
	}
	var w writer
	w.line("\nReplies: %d good, %d bad.", n["good"], n["bad"])
	for _, o := range all {
		w.line("%-30s %-9s %s by %s", o.TurnID, o.Verdict, day(o.At), o.By)
	}
	return w.String()
}
