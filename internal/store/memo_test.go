package store

import (
	"context"
	"reflect"
	"testing"
	"time"

	"familiar/internal/test/bulk"
	"familiar/internal/test/postgres"

	"pgregory.net/rapid"
)

// TestSettingsAreRemembered changes settings in any order. The cached settings must equal those that another process reads from the file.
func TestSettingsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	beside, err := Look(t.Context(), postgres.Place(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SampledFrom([]string{"1", "2", "3"})
		for range rapid.IntRange(1, bulk.Of(6, 20)).Draw(t, "steps") {
			id, on := place.Draw(t, "channel"), rapid.Bool().Draw(t, "on")
			var err error
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				_, err = db.Settings.ChangeChannel(ctx, Channel{ID: id, GuildID: "g"}, By{ID: "a"}, func(c *Channel) { c.WebOff = on })
			case 1:
				err = db.Settings.ChangeConduct(ctx, id, "g", By{ID: "a"}, func(c *Conduct) { c.Chatty = on })
			case 2:
				err = db.Settings.SetBackdrop(ctx, Backdrop{ChannelID: id, GuildID: "g", Text: rapid.SampledFrom([]string{"", "a mill", "a pond"}).Draw(t, "scene"), At: time.Unix(1, 0)})
			case 3:
				err = db.Settings.SwitchOff(ctx, Switch{Place: id, GuildID: "g", Kind: Lookups, At: time.Unix(1, 0)})
			case 4:
				err = db.Settings.SwitchOn(ctx, Switch{Place: id, GuildID: "g", Kind: Lookups, At: time.Unix(1, 0)})
			case 5:
				for table, keys := range map[string]string{"channels": "id", "conduct": "channel_id", "backdrops": "channel_id", "switches": "place, kind"} {
					if err == nil {
						_, err = db.ChangeRows(ctx, table, keys, `guild_id = @server`, "", Args{"server": "g"})
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"1", "2", "3"} {
				if got, want := settingsOf(t, db, id), settingsOf(t, beside, id); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: %+v is remembered, %+v is written", id, got, want)
				}
			}
		}
	})
}

// settingsOf returns everything that people can set for a channel.
func settingsOf(t *rapid.T, db *DB, id string) (all [4]any) {
	ctx := context.Background()
	var errs [4]error
	all[0], errs[0] = db.Settings.Channel(ctx, id)
	all[1], errs[1] = db.Settings.Conduct(ctx, id)
	all[2], errs[2] = db.Settings.Backdrop(ctx, id, "3")
	all[3], errs[3] = db.Settings.SwitchedOff(ctx, id, "3", "g")
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
