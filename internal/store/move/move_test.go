package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/postgres"
	"familiar/internal/test/wait"
)

// TestMove copies a store to PostgreSQL and back. It is interrupted on the way, and goes on.
func TestStore(t *testing.T) {
	postgres.Needed(t)
	ctx, dir, server := t.Context(), t.TempDir(), postgres.New(t)
	db, err := store.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	furnish(t, db)
	ignore := func(Table) {}
	var used *store.Error
	if err := Store(ctx, dir, server, ignore); !errors.As(err, &used) || used.Kind != store.InUse {
		t.Errorf("a store in use was moved: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Store(ctx, dir, t.TempDir(), ignore); err == nil {
		t.Error("a file was moved into a file")
	}
	for _, stop := range []Table{{"messages", 500, false}, {"messages", 1203, true}, {"switches", 1, true}} {
		interrupted, cancel := context.WithCancel(ctx)
		err := Store(interrupted, dir, server, func(m Table) {
			if m == stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %v: %v", stop, err)
		}
		if _, err := store.Open(ctx, server); err == nil || !strings.Contains(err.Error(), "half a copy") {
			t.Fatalf("half a copy was opened: %v", err)
		}
	}
	rows := map[string]int64{}
	if err := Store(ctx, dir, server, func(m Table) { rows[m.Name] = m.Rows }); err != nil {
		t.Fatal(err)
	}
	if rows["messages"] != 1203 || rows["claims"] != 1 || rows["switches"] != 1 {
		t.Errorf("moved %v", rows)
	}
	moved(t, server)
	if err := Store(ctx, dir, server, ignore); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a full database was moved to: %v", err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if err := Store(ctx, server, back, ignore); err != nil {
		t.Fatal(err)
	}
	moved(t, back)
	if err := Store(ctx, server, back, ignore); err == nil || !strings.Contains(err.Error(), "a store already") {
		t.Errorf("a store was moved over: %v", err)
	}
}

// furnish saves something of several kinds.
func furnish(t *testing.T, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	at := time.UnixMilli(1_790_000_000_000)
	var all []store.Incoming
	for i := range 1203 {
		m := store.Message{ID: fmt.Sprint(5000 - i), ChannelID: "c", GuildID: "g", AuthorID: "ana", AuthorName: "Ana", Text: fmt.Sprintf("the heron %d stood\x00 in the \xff reeds", i), At: at.Add(time.Duration(i) * time.Second)}
		all = append(all, store.Incoming{Message: m})
	}
	all[7].Claim, all[7].Event = all[7].Message.ID, "{}"
	_, err := db.Messages.SaveIncoming(ctx, all...)
	err = errors.Join(err, db.Settings.SwitchOff(ctx, store.Switch{Kind: store.Answers, Place: store.Everywhere, By: "ben", At: at}), db.Notes.Set(ctx, "a key", "its value"),
		db.Quotas.AddUsage(ctx, at, store.Party{Person: "ana", Channel: "c", Guild: "g"}, store.Used{Turns: 2, Tokens: 31, Cost: 0.25}))
	if _, failed := db.Exec(ctx, "make a memory", `INSERT INTO memories (id, kind, scope, scope_id, guild_id, subject, text, folded, trace_id, by_id, said_at, learned_at, supersedes, superseded, pinned)
		VALUES (41, 'note', 'public', '', '', '', 'Herons wade.', 'herons wade', '', 'ana', 1, 2, 0, FALSE, TRUE)`); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if _, err := db.Exec(ctx, "delete a memory", `DELETE FROM memories WHERE id = 41`); err != nil {
		t.Fatal(err)
	}
	if err := db.Privacy.OptOut(ctx, "cy", true, at); err != nil {
		t.Fatal(err)
	}
}

// moved checks that a place has what furnish saved.
func moved(t *testing.T, place string) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m, err := db.Messages.Get(ctx, "4995")
	if err != nil || !strings.HasPrefix(m.Text, "the heron 5 stood") || m.AuthorName != "Ana" {
		t.Errorf("%+v, %v", m, err)
	}
	if !wait.Within(20*time.Second, func() bool {
		var due int64
		err := db.Read().QueryRowContext(ctx, `SELECT due FROM message_words_progress`).Scan(&due)
		return err == nil && due == 0
	}) {
		t.Fatal("the words are not indexed")
	}
	open, err := db.Claims.Open(ctx)
	off, failed := db.Settings.SwitchedOff(ctx, "c", "", "g")
	standing, bad := db.Privacy.Standing(ctx, "cy")
	used, wrong := db.Quotas.Usage(ctx, time.UnixMilli(1_790_000_000_000), store.Party{Person: "ana"})
	if err := errors.Join(err, failed, bad, wrong); err != nil || len(open) != 1 || !off[store.Answers] || standing.OptedOut.IsZero() || used[store.OfPerson].Tokens != 31 || used[store.OfAll].Cost != 0.25 {
		t.Errorf("%v, %v, %v, %v, %v", open, off, standing, used, err)
	}
	var id int64
	err = db.Write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRow(`INSERT INTO memories (kind, scope, scope_id, guild_id, subject, text, folded, trace_id, by_id, said_at, learned_at, supersedes, superseded, pinned)
			VALUES ('note', 'public', '', '', '', 'x', 'x', '', 'ana', 1, 2, 0, FALSE, TRUE) RETURNING id`).Scan(&id)
	})
	if err != nil || id < 42 {
		t.Errorf("the number %d is given again, %v", id, err)
	}
	_, err = db.Exec(ctx, "delete a memory", `DELETE FROM memories WHERE id = ?`, id)
	if err != nil {
		t.Error(err)
	}
}
