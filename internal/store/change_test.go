package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestChanges makes each kind of change twice. It is recorded once, with its author and place, as long as records and the server's data are
// kept.
func TestChanges(t *testing.T) {
	ctx, db := t.Context(), open(t, t.TempDir())
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ada := By{"1", "Ada", noon}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		_, err := db.Settings.ChangeChannel(ctx, Channel{ID: "c", GuildID: "g"}, ada, func(c *Channel) { c.Mode, c.WebOff, c.Bare = "plain", true, true })
		must(err)
		must(db.Settings.ChangeConduct(ctx, "c", "g", ada, func(c *Conduct) { *c = Conduct{true, true, true, true, true, "on"} }))
		_, err = db.Characters.Change(ctx, CharacterChoice{ChannelID: "c", GuildID: "g", By: ada.ID, ByName: ada.Name, At: noon}, []string{"sage"}, func([]string) []string { return []string{"sage", "fox"} })
		must(err)
		must(db.Settings.SetBackdrop(ctx, Backdrop{ChannelID: "c", GuildID: "g", Text: "The sea.", ByID: ada.ID, ByName: ada.Name, At: noon}))
		must(db.Settings.SwitchOff(ctx, Switch{Kind: Answers, GuildID: "g", By: ada.ID, ByName: ada.Name, At: noon}))
		must(db.Settings.SwitchOff(ctx, Switch{Kind: Answers, Place: Everywhere, By: ada.ID, ByName: ada.Name, At: noon}))
		must(db.Settings.SwitchOff(ctx, Switch{Kind: Lookups, GuildID: "h", By: "2", ByName: "Ben", At: noon.Add(time.Hour)}))
	}
	must(db.Settings.SetBackdrop(ctx, Backdrop{ChannelID: "c", GuildID: "g", Text: "The sky.", ByID: ada.ID, ByName: ada.Name, At: noon})) // of the same length
	must(db.Changes.Record(ctx, Change{By: By{At: noon}, Kind: ChangeFiles, To: "sage has changed"}))
	list := func(all []Change, err error) string {
		t.Helper()
		must(err)
		var lines []string
		for _, c := range all {
			lines = append(lines, fmt.Sprintf("%s%s %s/%s %s %s>%s", c.By.ID, c.By.Name, c.GuildID, c.ChannelID, c.Kind, c.From, c.To))
		}
		return strings.Join(lines, "\n")
	}
	here := strings.Join([]string{
		"1Ada g/c backdrop 8>8", "1Ada g/ pause off>on", "1Ada g/c backdrop 0>8", "1Ada g/c characters sage>sage fox", "1Ada g/c subscribed off>on", "1Ada g/c pictures >on", "1Ada g/c greets off>on",
		"1Ada g/c posts off>on", "1Ada g/c threads off>on", "1Ada g/c chatty off>on", "1Ada g/c buttons on>off", "1Ada g/c lookups on>off", "1Ada g/c mode >plain",
	}, "\n")
	if got := list(db.Changes.InGuild(ctx, "g", 100)); got != here {
		t.Errorf("of the server\n%s", got)
	}
	if got := list(db.Changes.InGuild(ctx, "", 100)); got != "" {
		t.Errorf("of no server\n%s", got)
	}
	if got, want := list(db.Changes.All(ctx, 3)), "/ files >sage has changed\n1Ada g/c backdrop 8>8\n2Ben h/ lookups on>off"; strings.TrimSpace(got) != want {
		t.Errorf("the last\n%s", got)
	}
	_, err := db.ChangeRows(ctx, "changes", "id", `guild_id = @server`, "", Args{"server": "g"})
	must(err)
	if got := list(db.Changes.All(ctx, 100)); strings.Contains(got, "g/") {
		t.Errorf("of a server that was left\n%s", got)
	}
}
