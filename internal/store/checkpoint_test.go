package store

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestCheckpoint sees the log carried into the file long before the writer would do it.
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
		if err := db.SaveMessages(t.Context(), Message{ID: fmt.Sprint(i), ChannelID: "c", Text: fmt.Sprintf("%4000d", i), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(time.Minute); size() == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %d transactions the file still has %d bytes", checkpointEvery, before)
		}
	}
}
