package store

import (
	"context"
	"database/sql"
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
		if err := db.Claims.SavePost(ctx, "T1", n%2, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Claims.SavePost(ctx, "T2", 0, Post{"P3", "Whole."}); err != nil {
		t.Fatal(err)
	}
	in(func(tx *sql.Tx) error { return db.Claims.End(tx, "T2") })
	if err := db.Claims.Close(ctx, "is skipped"); err != nil {
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
