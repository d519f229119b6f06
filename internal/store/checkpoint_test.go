package store

import (
	"fmt"
	"os"
	"testing"
	"time"

	"familiar/internal/test/wait"
)

// TestCheckpoint checks that the log is copied into the file long before the writer would do it.
func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	size := func() int64 {
		info, err := os.Stat(db.path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for i := range checkpointEvery {
		if err := db.Messages.Save(t.Context(), Message{ID: fmt.Sprint(i), ChannelID: "c", Text: fmt.Sprintf("%4000d", i), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if !wait.Until(func() bool { return size() > before }) {
		t.Fatalf("after %d transactions the file still has %d bytes", checkpointEvery, before)
	}
}
