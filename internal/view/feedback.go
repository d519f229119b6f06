package view

import (
	"cmp"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/web/clean"
)

// FeedbackFrom writes the feedback that counts where the event comes from. It is that of the server or, in a direct message, that of the
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

// Opinions writes a line for each opinion of a reply, below the number of opinions of each kind.
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

// Changes lists changes of settings for the operator, the only person who may see all of them.
func Changes(all []store.Change) string {
	if len(all) == 0 {
		return "No change of a setting is on record."
	}
	var w writer
	for _, c := range all {
		who := "the files"
		if c.By.ID != "" {
			who = strings.TrimSpace(clean.Line(c.By.Name, 60) + " " + c.By.ID)
		}
		w.line("%s  %s · %s\n        %s: %s → %s", c.By.At.Format("2006-01-02 15:04"), who, changedAt(c), c.Kind, cmp.Or(c.From, "–"), cmp.Or(clean.Line(c.To, 300), "–"))
	}
	return strings.TrimSuffix(w.String(), "\n")
}

func changedAt(c store.Change) string {
	switch {
	case c.Kind == store.ChangeLearning:
		return "for themselves"
	case c.ChannelID != "":
		return "channel " + c.ChannelID
	case c.GuildID != "":
		return "server " + c.GuildID
	}
	return "everywhere"
}
