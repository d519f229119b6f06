package view

import (
	"cmp"
	"strings"

	"familiar/internal/store"
	"familiar/internal/web/clean"
)

// Changes lists changes of settings for the operator, who alone sees them all.
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
