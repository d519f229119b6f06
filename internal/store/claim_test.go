package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
)

// arrive saves one message with a claim that a restart would resume.
func arrive(ctx context.Context, db *DB, m Message, claim string) (bool, error) {
	first, err := db.Messages.SaveIncoming(ctx, Incoming{Message: m, Claim: claim, Event: "what was asked"})
	return err == nil && first[0], err
}

// TestUnansweredClaims follows questions until their answers, over a restart.
func TestUnansweredClaims(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	for _, id := range []string{"waits", "begins", "is answered", "is skipped"} {
		if first, err := arrive(ctx, db, message(id, "c", 0), id); !first || err != nil {
			t.Fatal(first, err)
		}
	}
	if first, err := db.Messages.SaveIncoming(ctx, Incoming{Message: message("once", "c", 0), Claim: "once"}); err != nil || !first[0] {
		t.Fatal(first, err)
	}
	in := func(f func(tx *sql.Tx) error) {
		t.Helper()
		if err := db.Write(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	in(func(tx *sql.Tx) error { return db.Claims.Begin(tx, "T1", "begins", "joined it") })
	in(func(tx *sql.Tx) error { return db.Claims.Begin(tx, "T2", "is answered") })
	for n, p := range []Post{{"P1", "Half"}, {"P2", "more"}, {"P1", "Half an answer"}} {
		if err := db.Claims.SavePost(ctx, "", "T1", n%2, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Claims.SavePost(ctx, "", "T2", 0, Post{"P3", "Whole."}); err != nil {
		t.Fatal(err)
	}
	in(func(tx *sql.Tx) error { return db.Claims.End(tx, "T2") })
	if err := db.Claims.Close(ctx, "", "is skipped"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	db = open(t, dir)
	all, err := db.Claims.Open(ctx)
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if o := all[0]; o.Claim != "waits" || o.Event != "what was asked" || o.TurnID != "" || o.Posts != nil || o.At.IsZero() {
		t.Errorf("waiting: %+v", o)
	}
	if o := all[1]; o.Claim != "begins" || o.TurnID != "T1" || !slices.Equal(o.Posts, []Post{{"P1", "Half an answer"}, {"P2", "more"}}) {
		t.Errorf("begun: %+v", o)
	}
	if o := all[2]; o.Claim != "joined it" || o.TurnID != "T1" || o.Event != "" {
		t.Errorf("joined: %+v", o)
	}
	if first, err := arrive(ctx, db, message("joined it", "c", 0), "joined it"); first || err != nil {
		t.Errorf("what joined a turn asked for another: %v, %v", first, err)
	}
}

func TestChannelsOfAServer(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	for _, c := range []Channel{{ID: "a", GuildID: "g", WebOff: true}, {ID: "b", GuildID: "h"}, {ID: "before servers were kept"}} {
		set(t, db, c)
	}
	all, err := db.Settings.Channels(ctx, "g")
	if err != nil || len(all) != 2 || !slices.Contains(all, Channel{ID: "a", GuildID: "g", WebOff: true}) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestReplace replaces a message that asked for a turn by another, and leaves one alone that did not.
func TestReplace(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	if first, err := arrive(ctx, db, message("asked", "c", 0), "asked"); !first || err != nil {
		t.Fatal(first, err)
	}
	if err := db.Messages.Save(ctx, message("talk", "c", 0)); err != nil {
		t.Fatal(err)
	}
	for original, want := range map[string]bool{"asked": true, "talk": false} {
		claimed, err := db.Messages.Replace(ctx, original, Incoming{Message: message("for "+original, "c", 0), Claim: "for " + original})
		if err != nil || claimed != want {
			t.Errorf("%s: claimed %v, %v", original, claimed, err)
		}
		_, gone := db.Messages.Get(ctx, original)
		_, missing := db.Messages.Get(ctx, "for "+original)
		if (gone != nil) != want || (missing == nil) != want {
			t.Errorf("%s: original %v, other %v", original, gone, missing)
		}
		if again, err := db.Claims.Claim(ctx, original); again || err != nil {
			t.Errorf("%s can be claimed again: %v", original, err)
		}
	}
}

// TestTurnOf finds the turn of a post while it grows, and of a message that is kept.
func TestTurnOf(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	reply := message("reply", "c", 0)
	reply.Own, reply.TurnID = true, "T1"
	if err := db.Messages.Save(ctx, reply, message("talk", "c", 0)); err != nil {
		t.Fatal(err)
	}
	if err := db.Claims.SavePost(ctx, "", "T2", 0, Post{"grows", "Half"}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"reply": "T1", "grows": "T2", "talk": ""} {
		if got, err := db.Messages.TurnOf(ctx, id); err != nil || got != want {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	if _, err := db.Messages.TurnOf(ctx, "unknown"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown message: %v", err)
	}
}
