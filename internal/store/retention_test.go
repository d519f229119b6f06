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

// TestPrune checks that each kind of data is kept for its time.
func TestPrune(t *testing.T) {
	db := open(t, t.TempDir())
	const n = 3*20 + 7
	all := make([]Incoming, n)
	for i := range n {
		m := message(fmt.Sprint(i), "c", i)
		m.AuthorID, m.GuildID = fmt.Sprint("u", i%20), "g"
		all[i].Message = m
	}
	if _, err := db.Messages.SaveIncoming(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	late := noon.Add((2*20 + 3) * time.Minute)
	removed, err := db.Messages.Prune(t.Context(), late)
	if left := rowsOf(t, db, "messages"); err != nil || removed != 2*20+3 || left != n-removed {
		t.Errorf("removed %d messages, %d left, %v", removed, left, err)
	}
	if removed, err := db.People.Prune(t.Context(), noon.Add((n-4)*time.Minute)); err != nil || removed != 6 || rowsOf(t, db, "people") != 14 {
		t.Errorf("removed %d names, %v", removed, err)
	}
}

// TestLeaveGuild checks that a server's data is deleted after the grace period, unless the bot has returned.
func TestLeaveGuild(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	for i, guild := range []string{"g", "h", ""} {
		var all []Incoming
		for k := range 20 + 3 {
			m := message(fmt.Sprint(i, "-", k), "c"+guild, k)
			m.GuildID = guild
			all = append(all, Incoming{Message: m})
		}
		if _, err := db.Messages.SaveIncoming(ctx, all...); err != nil {
			t.Fatal(err)
		}
		set(t, db, Channel{ID: "c" + guild, GuildID: guild})
		if err := db.Ratings.SaveFeedback(ctx, Feedback{Domain: "a.org", GuildID: guild}); err != nil {
			t.Fatal(err)
		}
	}
	left := func(before time.Time) string {
		t.Helper()
		all, err := db.Guilds.Left(ctx, before)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all)
	}
	for _, guild := range []string{"g", "h"} {
		if err := db.Guilds.Leave(ctx, guild, noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Guilds.Leave(ctx, "g", noon.Add(time.Hour)); err != nil { // already known
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
	if n, err := db.Messages.DeleteGuild(ctx, "g"); n != 20+3 || err != nil {
		t.Fatal(n, err)
	}
	for table, want := range map[string]int{"messages": 2*(20+3) + 1} {
		if n := rowsOf(t, db, table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
}
