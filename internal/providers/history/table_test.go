package history

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/storetest"

	"familiar/internal/test/postgres"
	"github.com/google/go-cmp/cmp"
)

func spokenAt(id, channel string, minute int) store.Message {
	return store.Message{ID: id, ChannelID: channel, GuildID: "g", AuthorID: "u1", AuthorName: "Ada", Text: "text of " + id, At: early.Add(time.Duration(minute) * time.Minute)}
}

func table(db *store.DB) SummaryTable { return SummaryTable{DB: db} }

func countSummaries(t *testing.T, db *store.DB) int {
	t.Helper()
	n, err := db.CountRows(t.Context(), "summaries", "TRUE", nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var early = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

// spoken saves five messages of a channel and a summary of the first four. Its sources are the first and the third.
func spoken(t *testing.T, db *store.DB) (read []store.Message, s Summary) {
	t.Helper()
	for i, id := range []string{"1", "2", "3", "4", "5"} {
		m := spokenAt(id, "c", i)
		m.GuildID, m.Text = "g", "text of "+id
		read = append(read, m)
	}
	if err := db.Messages.Save(t.Context(), read...); err != nil {
		t.Fatal(err)
	}
	s = Summary{
		ChannelID: "c", GuildID: "g", FirstAt: read[0].At, LastAt: read[3].At, LastID: "4", Messages: 4, Made: early.Add(time.Hour), By: "side",
		Sentences: []Sentence{{"One.", []string{"1"}}, {"Three.", []string{"3"}}},
	}
	if err := table(db).Save(t.Context(), s, time.Time{}, read[:4]); err != nil {
		t.Fatal(err)
	}
	return read, s
}

func TestSummary(t *testing.T) {
	db, ctx := storetest.Open(t), t.Context()
	read, s := spoken(t, db)
	got, err := table(db).Get(ctx, "c")
	if d := cmp.Diff(s, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, all, err := table(db).Around(ctx, "", "g", 5); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if _, all, err := table(db).Around(ctx, "", "", 5); err != nil || len(all) != 0 {
		t.Errorf("without a server: %v, %v", all, err)
	}
	next := s
	next.Made = s.Made.Add(time.Hour)
	if err := table(db).Save(ctx, next, early, read[:4]); !errors.Is(err, store.ErrChanged) {
		t.Errorf("in place of another: %v", err)
	}
	if err := table(db).Save(ctx, next, s.Made, read); err != nil {
		t.Error(err)
	}
}

// TestSummaryGoesWithItsMessages checks that every change of a covered message deletes the summary.
func TestSummaryGoesWithItsMessages(t *testing.T) {
	ctx := t.Context()
	for name, change := range map[string]func(*store.DB) error{
		"deleted": func(db *store.DB) error { return db.Messages.Delete(ctx, "2") },
		"edited":  func(db *store.DB) error { _, err := db.Messages.Edit(ctx, "3", "something else"); return err },
		"saved again": func(db *store.DB) error {
			m := spokenAt("4", "c", 3)
			m.Text = "something else"
			return db.Messages.Save(ctx, m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t)
			read, s := spoken(t, db)
			if err := change(db); err != nil {
				t.Fatal(err)
			}
			if s, err := table(db).Get(ctx, "c"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%+v, %v", s, err)
			}
			if err := table(db).Save(ctx, s, time.Time{}, read[:4]); !errors.Is(err, store.ErrChanged) {
				t.Errorf("made of what was read before: %v", err)
			}
		})
	}
	db := storetest.Open(t)
	read, _ := spoken(t, db)
	if err := db.Messages.Delete(ctx, "5"); err != nil {
		t.Fatal(err)
	}
	if err := db.Messages.Save(ctx, read[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := table(db).Get(ctx, "c"); err != nil {
		t.Errorf("after the deletion of a message that it does not cover: %v", err)
	}
}

func TestPruneSummaries(t *testing.T) {
	db, ctx := storetest.Open(t), t.Context()
	read, _ := spoken(t, db)
	late := read[1].At.Add(time.Second)
	if n, err := table(db).Prune(ctx, late); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := db.Messages.Prune(ctx, late); err != nil {
		t.Fatal(err)
	}
	s, err := table(db).Get(ctx, "c")
	if d := cmp.Diff([]Sentence{{"Three.", []string{"3"}}}, s.Sentences); d != "" || err != nil {
		t.Error(err, d)
	}
	if n, err := table(db).Prune(ctx, read[3].At); n != 1 || err != nil || countSummaries(t, db) != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestPruneSummariesInSteps has the change of the ninth summary fail. Eight are changed then: a step that has not been measured yet is of no more.
func TestPruneSummariesInSteps(t *testing.T) {
	postgres.Off(t) // the trigger that stops it is SQLite's
	db, ctx := storetest.Open(t), t.Context()
	_, summary := spoken(t, db)
	for i := range 20 {
		summary.ChannelID = fmt.Sprint("c", i)
		if err := table(db).Save(ctx, summary, time.Time{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(ctx, "stop at the ninth", `CREATE TRIGGER ninth BEFORE DELETE ON summaries WHEN (SELECT count(*) FROM summaries) <= 13
		BEGIN SELECT RAISE(ABORT, 'the ninth'); END`); err != nil {
		t.Fatal(err)
	}
	if _, err := table(db).Prune(ctx, summary.LastAt.Add(time.Hour)); err == nil || countSummaries(t, db) != 13 {
		t.Errorf("%v, %d summaries are left", err, countSummaries(t, db))
	}
}
