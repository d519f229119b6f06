package bot

import (
	"encoding/binary"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
	"familiar/internal/memory/order"
)

// mostCommits are those of a plain turn: the arrival, the record before anything is visible, the post, and the end.
const mostCommits = 4

// TestPlainTurnCommitsRarely counts the commits of a turn in SQLite's log. Each is a write to the disk, and two of them wait for it.
func TestPlainTurnCommitsRarely(t *testing.T) {
	t.Parallel()
	living(t, "say Hoo.\n", func(b *Bot, events chan<- []turn.Event, _ *recorder, _ func()) {
		b.Learns = true
		var file string
		if err := b.Store.Read().QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
			t.Fatal(err)
		}
		events <- []turn.Event{asks("1", "general", "ana")} // the first turn notes names and prepares statements
		time.Sleep(time.Minute)
		before := commitsIn(t, file+"-wal")
		events <- []turn.Event{asks("2", "general", "ana")}
		time.Sleep(time.Minute)
		if n := commitsIn(t, file+"-wal") - before; n < 2 || n > mostCommits {
			t.Errorf("%d commits, want %d", n, mostCommits)
		}
	})
}

// commitsIn counts the frames that end a transaction. The format is described at https://www.sqlite.org/fileformat2.html#walformat.
func commitsIn(t *testing.T, path string) (n int) {
	t.Helper()
	const header, frameHeader, salts = 32, 24, 8 // bytes
	log, err := os.ReadFile(path)
	if err != nil || len(log) < header {
		t.Fatalf("read the log: %d bytes, %v", len(log), err)
	}
	frame, salt := frameHeader+int(binary.BigEndian.Uint32(log[8:])), string(log[16:16+salts])
	for rest := log[header:]; len(rest) >= frame && string(rest[8:8+salts]) == salt; rest = rest[frame:] {
		if binary.BigEndian.Uint32(rest[4:]) > 0 {
			n++
		}
	}
	return n
}

// TestParseEarly checks that what was parsed while a message was stored is used for that message alone.
func TestParseEarly(t *testing.T) {
	var b Bot
	names := []string{"Sage"}
	parse := b.parseEarly("Sage, remember that I like tea.", names)
	b.tasks.Wait()
	for _, message := range []string{"Sage, remember that I like tea.", "Sage, remember that I like rain.", "how are you?"} {
		got, doubt := parse(message, names)
		want, wantDoubt := order.Parse(message, names)
		if d := cmp.Diff(want, got); d != "" || doubt != wantDoubt {
			t.Errorf("%s: %v, %s", message, doubt, d)
		}
	}
}
