package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/wait"
)

// TestCheckpoint checks that the log is copied into the file long before the writer would do it.
func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	size := func() int64 {
		info, err := os.Stat(db.engine.Place())
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	const checkpointEvery = 32 // as in package engine
	for i := range checkpointEvery {
		if err := db.Messages.Save(t.Context(), Message{ID: fmt.Sprint(i), ChannelID: "c", Text: fmt.Sprintf("%4000d", i), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if !wait.Until(func() bool { return size() > before }) {
		t.Fatalf("after %d transactions the file still has %d bytes", checkpointEvery, before)
	}
}

// TestLogIsCutBack checks that a large transaction leaves no large log behind.
func TestLogIsCutBack(t *testing.T) {
	db, ctx := openFile(t, t.TempDir()), t.Context()
	size := func() int64 {
		info, err := os.Stat(db.engine.Place() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const most = 8 << 20 // logLimit
	if err := db.Notes.Set(ctx, "large", strings.Repeat("x", 2*most)); err != nil {
		t.Fatal(err)
	}
	if size() < most {
		t.Fatalf("the log has only %d bytes", size())
	}
	for n := 0; size() > most; n++ {
		if n == 100 {
			t.Fatalf("the log still has %d bytes", size())
		}
		if err := db.engine.Carry(ctx, false); err != nil {
			t.Fatal(err)
		}
		if err := db.Notes.Set(ctx, "small", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadsMapNothing checks that reading changes nothing in the log's index, which is mapped memory. A frozen disk would hold a processor.
func TestReadsMapNothing(t *testing.T) {
	db, ctx := openFile(t, t.TempDir()), t.Context()
	for n := range 5 {
		if err := db.Notes.Set(ctx, "n", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		before := index(t, db)
		if got, err := db.Notes.Get(ctx, "n"); err != nil || got != fmt.Sprint(n) {
			t.Fatal(got, err)
		}
		if index(t, db) != before {
			t.Errorf("reading after write %d has changed the index", n)
		}
	}
}

// index returns the content of the index of a store's log.
func index(t *testing.T, db *DB) string {
	t.Helper()
	content, err := os.ReadFile(db.engine.Place() + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
