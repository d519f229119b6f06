package trace

import (
	"errors"
	"strings"
	"testing"

	"familiar/internal/store"
)

// TestButtons checks that buttons keep their meaning over a restart, and lose it with the record of their turn.
func TestButtons(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	traces, ctx := &Store{DB: db}, t.Context()
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
		keys[b] = traces.ButtonKey(b)
		if strings.Contains(keys[b], ":") || len(keys[b]) < 20 {
			t.Errorf("the key of %v is %q", b, keys[b])
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	traces.DB = db
	for b, key := range keys {
		if got, err := traces.Button(ctx, key); err != nil || got != b || traces.ButtonKey(b) != key {
			t.Errorf("%q is %+v, %v; want %+v", key, got, err, b)
		}
	}
	if b, err := traces.Button(ctx, "OFBEFORE"); err != nil || b != (Button{"turn", "why"}) {
		t.Errorf("a kept button is %+v, %v", b, err)
	}
	mac := keys[stop][strings.LastIndexByte(keys[stop], '.'):]
	for _, forged := range []string{"forged", "", ".", "turn.stop.", "turn.delete" + mac, "other.stop" + mac, keys[stop] + "x"} {
		if _, err := traces.Button(ctx, forged); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("forged %q: %v", forged, err)
		}
	}
	exec(`DELETE FROM traces WHERE id = 'turn'`)
	for _, key := range []string{keys[stop], "OFBEFORE"} {
		if _, err := traces.Button(ctx, key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q, whose record is gone: %v", key, err)
		}
	}
	if _, err := traces.Button(ctx, keys[other]); err != nil {
		t.Errorf("another turn's button: %v", err)
	}
}
