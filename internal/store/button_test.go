package store

import (
	"errors"
	"testing"
)

// TestButtons keeps what buttons mean over a restart, and no longer than the record of their turn.
func TestButtons(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	for _, id := range []string{"turn", "other"} {
		if _, err := db.exec(ctx, "record a turn", `INSERT INTO traces (id, channel_id, guild_id, began, took, phase, lookup, author, question, model, err, record)
			VALUES (?, 'c', 'g', 0, 0, 'answered', '', '', '', '', '', '')`, id); err != nil {
			t.Fatal(err)
		}
	}
	first, err := db.Buttons(ctx, "turn", "why", "stop")
	if err != nil || len(first) != 2 || first["why"] == first["stop"] || len(first["why"]) < 20 {
		t.Fatalf("keys %v, %v", first, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	again, err := db.Buttons(ctx, "turn", "why", "delete")
	if err != nil || again["why"] != first["why"] || again["delete"] == "" {
		t.Errorf("keys %v, before %v, %v", again, first, err)
	}
	if b, err := db.Button(ctx, first["stop"]); err != nil || b != (Button{TurnID: "turn", Kind: "stop"}) {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := db.Button(ctx, "forged"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a forged key: %v", err)
	}
	other, err := db.Buttons(ctx, "other", "why")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.exec(ctx, "delete a record", `DELETE FROM traces WHERE id = 'turn'`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Button(ctx, first["why"]); !errors.Is(err, ErrNotFound) {
		t.Errorf("a button whose record is gone: %v", err)
	}
	if _, err := db.Button(ctx, other["why"]); err != nil {
		t.Errorf("another turn's button: %v", err)
	}
}
