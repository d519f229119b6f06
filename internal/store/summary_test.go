package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/test/postgres"
)

func spokenAt(id, channel string, minute int) Message {
	return Message{ID: id, ChannelID: channel, GuildID: "g", AuthorID: "u1", AuthorName: "Ada", Text: "text of " + id, At: early.Add(time.Duration(minute) * time.Minute)}
}

func countSummaries(t *testing.T, db *DB) int {
	t.Helper()
	n, err := db.CountRows(t.Context(), "summaries", "TRUE", nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var early = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

// summarised saves five messages of a channel and a summary of the first four. Its sources are the first and the third.
func summarised(t *testing.T, db *DB) (read []Message, s Summary) {
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
		Sentences: []SummarySentence{{"One.", []string{"1"}}, {"Three.", []string{"3"}}},
	}
	if err := db.Summaries.Save(t.Context(), s, time.Time{}, read[:4]); err != nil {
		t.Fatal(err)
	}
	return read, s
}

func TestSummary(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	read, s := summarised(t, db)
	got, err := db.Summaries.Get(ctx, "c")
	if d := cmp.Diff(s, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, all, err := db.Summaries.Around(ctx, "", "g", 5); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if _, all, err := db.Summaries.Around(ctx, "", "", 5); err != nil || len(all) != 0 {
		t.Errorf("without a server: %v, %v", all, err)
	}
	next := s
	next.Made = s.Made.Add(time.Hour)
	if err := db.Summaries.Save(ctx, next, early, read[:4]); !errors.Is(err, ErrChanged) {
		t.Errorf("in place of another: %v", err)
	}
	if err := db.Summaries.Save(ctx, next, s.Made, read); err != nil {
		t.Error(err)
	}
}

// TestSummaryGoesWithItsMessages checks that every change of a covered message deletes the summary.
func TestSummaryGoesWithItsMessages(t *testing.T) {
	ctx := t.Context()
	for name, change := range map[string]func(*DB) error{
		"deleted": func(db *DB) error { return db.Messages.Delete(ctx, "2") },
		"edited":  func(db *DB) error { _, err := db.Messages.Edit(ctx, "3", "something else"); return err },
		"saved again": func(db *DB) error {
			m := spokenAt("4", "c", 3)
			m.Text = "something else"
			return db.Messages.Save(ctx, m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, t.TempDir())
			read, s := summarised(t, db)
			if err := change(db); err != nil {
				t.Fatal(err)
			}
			if s, err := db.Summaries.Get(ctx, "c"); !errors.Is(err, ErrNotFound) {
				t.Errorf("%+v, %v", s, err)
			}
			if err := db.Summaries.Save(ctx, s, time.Time{}, read[:4]); !errors.Is(err, ErrChanged) {
				t.Errorf("made of what was read before: %v", err)
			}
		})
	}
	db := open(t, t.TempDir())
	read, _ := summarised(t, db)
	if err := db.Messages.Delete(ctx, "5"); err != nil {
		t.Fatal(err)
	}
	if err := db.Messages.Save(ctx, read[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Summaries.Get(ctx, "c"); err != nil {
		t.Errorf("after the deletion of a message that it does not cover: %v", err)
	}
}

func TestPruneSummaries(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	read, _ := summarised(t, db)
	late := read[1].At.Add(time.Second)
	if n, err := db.Summaries.Prune(ctx, late); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := db.Messages.Prune(ctx, late); err != nil {
		t.Fatal(err)
	}
	s, err := db.Summaries.Get(ctx, "c")
	if d := cmp.Diff([]SummarySentence{{"Three.", []string{"3"}}}, s.Sentences); d != "" || err != nil {
		t.Error(err, d)
	}
	if n, err := db.Summaries.Prune(ctx, read[3].At); n != 1 || err != nil || countSummaries(t, db) != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestPruneSummariesInSteps has the change of the ninth summary fail. Eight are changed then: a step that has not been measured yet is of no more.
func TestPruneSummariesInSteps(t *testing.T) {
	postgres.Off(t) // the trigger that stops it is SQLite's
	db, ctx := open(t, t.TempDir()), t.Context()
	_, summary := summarised(t, db)
	for i := range 20 {
		summary.ChannelID = fmt.Sprint("c", i)
		if err := db.Summaries.Save(ctx, summary, time.Time{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(ctx, "stop at the ninth", `CREATE TRIGGER ninth BEFORE DELETE ON summaries WHEN (SELECT count(*) FROM summaries) <= 13
		BEGIN SELECT RAISE(ABORT, 'the ninth'); END`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Summaries.Prune(ctx, summary.LastAt.Add(time.Hour)); err == nil || countSummaries(t, db) != 13 {
		t.Errorf("%v, %d summaries are left", err, countSummaries(t, db))
	}
}
