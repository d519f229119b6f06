package store

import (
	"errors"
	"strings"
	"testing"
)

// TestButtons checks that buttons keep their meaning over a restart, and lose it with the record of their turn.
func TestButtons(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(ctx, "test", query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"turn", "other"} {
		exec(`INSERT INTO traces (id, channel_id, guild_id, began, took, phase, lookup, author, question, model, err, record)
			VALUES (?, 'c', 'g', 0, 0, 'answered', '', '', '', '', '', '')`, id)
	}
	exec(`INSERT INTO buttons (key, turn_id, kind) VALUES ('OFBEFORE', 'turn', 'why')`)
	stop, second, other := Button{"turn", "stop"}, Button{"turn", "wrong:2"}, Button{"other", "stop"}
	keys := map[Button]string{}
	for _, b := range []Button{stop, second, other} {
		keys[b] = db.Buttons.Key(b)
		if strings.Contains(keys[b], ":") || len(keys[b]) < 20 {
			t.Errorf("the key of %v is %q", b, keys[b])
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	for b, key := range keys {
		if got, err := db.Buttons.Get(ctx, key); err != nil || got != b || db.Buttons.Key(b) != key {
			t.Errorf("%q is %+v, %v; want %+v", key, got, err, b)
		}
	}
	if b, err := db.Buttons.Get(ctx, "OFBEFORE"); err != nil || b != (Button{"turn", "why"}) {
		t.Errorf("a kept button is %+v, %v", b, err)
	}
	mac := keys[stop][strings.LastIndexByte(keys[stop], '.'):]
	for _, forged := range []string{"forged", "", ".", "turn.stop.", "turn.delete" + mac, "other.stop" + mac, keys[stop] + "x"} {
		if _, err := db.Buttons.Get(ctx, forged); !errors.Is(err, ErrNotFound) {
			t.Errorf("forged %q: %v", forged, err)
		}
	}
	exec(`DELETE FROM traces WHERE id = 'turn'`)
	for _, key := range []string{keys[stop], "OFBEFORE"} {
		if _, err := db.Buttons.Get(ctx, key); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q, whose record is gone: %v", key, err)
		}
	}
	if _, err := db.Buttons.Get(ctx, keys[other]); err != nil {
		t.Errorf("another turn's button: %v", err)
	}
}
