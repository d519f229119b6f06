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
