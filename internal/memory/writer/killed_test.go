package writer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/store"
	"familiar/internal/store/storetest"
)

// childDir names the directory of the store where this test binary is the process to be killed.
const childDir = "WRITER_TEST_CHILD"

// all has the side model propose everything that it is shown.
func all(r llmtest.Request) llmtest.Reply {
	var a answer
	for _, m := range shownLine.FindAllStringSubmatch(r.Last(), -1) {
		n, _ := strconv.Atoi(m[1])
		p := proposal{Text: m[2] + " said that " + m[3] + ".", From: n, Topic: "hall"}
		if len(a.Session) < mostHappened {
			p.Topic = ""
			a.Session = append(a.Session, p)
		} else {
			a.Topics = append(a.Topics, p)
		}
	}
	text, _ := json.Marshal(a)
	return llmtest.Reply{llmtest.Say(string(text))}
}

// TestChild writes messages, and has them read, until it is killed.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("is the process that TestKilled kills")
	}
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.New(t)
	srv.Reply, srv.Forget = all, true
	side := &llm.Client{HTTP: http.DefaultClient, BaseURL: srv.URL, Model: "side"}
	w := &Writer{Store: db, Side: func() *llm.Client { return side }, Redact: strings.Clone, Log: slog.New(slog.DiscardHandler), PerHour: 1 << 20, Idle: 1}
	write := make(chan int)
	go func() { // while the last ones are read
		for n := range write {
			for i := range 6 {
				m := store.Message{
					ID: fmt.Sprintf("m%06d", 6*n+i), ChannelID: "c", GuildID: "g", AuthorID: "ada", AuthorName: "Ada",
					Text: fmt.Sprintf("the hall costs %d euros", 1000+6*n+i), At: time.Now(),
				}
				if err := db.SaveMessages(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
			if err := db.NoteTurn(t.Context(), "c", "g", time.Now()); err != nil {
				t.Error(err)
			}
		}
	}()
	for n := range 1000 {
		write <- n
		if err := w.round(t.Context()); err != nil {
			t.Fatal(err)
		}
		fmt.Println("round", n)
	}
}

// TestKilled: whenever the process is killed, what is in memory is exactly what was said up to the watermark.
func TestKilled(t *testing.T) {
	for round := range 3 {
		dir := t.TempDir()
		storetest.Seed(t, dir)
		kill(t, dir, 3+3*round, time.Duration(round)*3*time.Millisecond)
		db, err := store.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// kill lets a child come to a round and, a moment later, kills it.
func kill(t *testing.T, dir string, rounds int, later time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if lines.Text() == fmt.Sprint("round ", rounds) {
			time.Sleep(later)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // "signal: killed"
	if len(said) < rounds {
		t.Fatalf("the child says %q", said)
	}
}

// agree compares what was said with what is remembered.
func agree(t *testing.T, db *store.DB) {
	t.Helper()
	ms, err := db.Recent(t.Context(), "c", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	read, err := db.After(t.Context(), store.Watermark{ChannelID: "c"}, 1<<20)
	if err != nil || len(read) != len(ms) {
		t.Fatal(len(read), err)
	}
	var at int64
	var last string
	if err := db.Read().QueryRow(`SELECT at, message_id FROM watermarks WHERE channel_id = 'c'`).Scan(&at, &last); err != nil {
		t.Fatal(err)
	}
	learned, err := db.ExportMemories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		n := 0
		for _, l := range learned {
			if slices.Equal(l.Sources, []string{m.ID}) {
				n++
			}
		}
		before := m.At.UnixMicro() < at || m.At.UnixMicro() == at && m.ID <= last
		if before != (n == 1) || n > 1 {
			t.Errorf("message %s is remembered %d times, and the watermark is at %s", m.ID, n, last)
		}
	}
	t.Logf("%d messages, %d remembered, up to %s", len(ms), len(learned), last)
}
