package store

import (
	"fmt"
	"testing"
	"time"
)

func rowsOf(t *testing.T, db *DB, table string) (n int) {
	t.Helper()
	if err := db.Read().QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPrune: each kind of thing is kept for its time.
func TestPrune(t *testing.T) {
	db := open(t, t.TempDir())
	const n = 3*pruneBatch + 7
	all := make([]Arrival, n)
	for i := range n {
		m := message(fmt.Sprint(i), "c", i)
		m.AuthorID, m.GuildID = fmt.Sprint("u", i%20), "g"
		all[i].Message = m
	}
	if _, err := db.Arrive(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	late := noon.Add((2*pruneBatch + 3) * time.Minute)
	removed, err := db.PruneMessages(t.Context(), late)
	if left := rowsOf(t, db, "messages"); err != nil || removed != 2*pruneBatch+3 || left != n-removed {
		t.Errorf("removed %d messages, %d left, %v", removed, left, err)
	}
	if removed, err := db.PrunePeople(t.Context(), noon.Add((n-4)*time.Minute)); err != nil || removed != 6 || rowsOf(t, db, "people") != 14 {
		t.Errorf("removed %d names, %v", removed, err)
	}
	for i, turn := range []string{"gone", "gone", "kept"} {
		if err := db.SavePost(t.Context(), turn, i, Post{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.exec(t.Context(), "add", `INSERT INTO traces (id, channel_id, guild_id, began, took, phase, lookup, author, question, model, err, record)
		VALUES ('kept', '', '', ?, 0, 'begun', '', '', '', '', '', '')`, late.UnixMicro()); err != nil {
		t.Fatal(err)
	}
	if removed, err := db.PrunePosts(t.Context(), late); err != nil || removed != 2 {
		t.Errorf("removed %d posts, %v", removed, err)
	}
	if err := db.SetFeedback(t.Context(), Feedback{Domain: "a.org", At: noon}); err != nil {
		t.Fatal(err)
	}
	if removed, err := db.PruneFeedback(t.Context(), late); err != nil || removed != 1 {
		t.Errorf("removed %d of feedback, %v", removed, err)
	}
}

// TestLeaveGuild: what is kept of a server goes after the grace, unless the bot is back.
func TestLeaveGuild(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	for i, guild := range []string{"g", "h", ""} {
		for k := range pruneBatch + 3 {
			m := message(fmt.Sprint(i, "-", k), "c"+guild, k)
			m.GuildID = guild
			if _, err := arrive(ctx, db, m, ""); err != nil {
				t.Fatal(err)
			}
		}
		set(t, db, Channel{ID: "c" + guild, GuildID: guild})
		if err := db.SetFeedback(ctx, Feedback{Domain: "a.org", GuildID: guild}); err != nil {
			t.Fatal(err)
		}
	}
	left := func(before time.Time) string {
		t.Helper()
		all, err := db.LeftGuilds(ctx, before)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all)
	}
	for _, guild := range []string{"g", "h"} {
		if err := db.LeaveGuild(ctx, guild, noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.LeaveGuild(ctx, "g", noon.Add(time.Hour)); err != nil { // it is known already
		t.Fatal(err)
	}
	if got := left(noon); got != "[]" {
		t.Errorf("left too early: %s", got)
	}
	if _, err := arrive(ctx, db, Message{ID: "new", ChannelID: "ch", GuildID: "h", Text: "we are back", At: noon}, ""); err != nil {
		t.Fatal(err)
	}
	if got := left(noon.Add(time.Minute)); got != "[g]" {
		t.Errorf("left: %s", got)
	}
	if err := db.DeleteGuild(ctx, "g"); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"messages": 2*(pruneBatch+3) + 1, "people": 1, "channels": 2, "feedback": 2, "left_guilds": 0} {
		if n := rowsOf(t, db, table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
}
