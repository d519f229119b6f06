package memory

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/store"
	"familiar/internal/test/llmtest"
)

// TestMain lets the test binary be the process that is killed while it embeds.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EMBEDDING_TEST_CHILD"); dir != "" {
		child(dir, os.Getenv("EMBEDDING_TEST_SERVER"))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func child(dir, server string) {
	db, err := store.Open(context.Background(), dir)
	if err != nil {
		return
	}
	s, err := NewEmbedder(EmbedderConfig{BaseURL: server, Model: "m", Client: func(string) *http.Client { return http.DefaultClient }})
	if err != nil {
		return
	}
	(&Indexer{Vectors: NewVectors(db), Service: s, Log: quiet()}).Run(context.Background())
}

// A process is killed during a batch. Earlier vectors are kept, and the next process continues from there.
func TestKilledWhileEmbedding(t *testing.T) {
	dir := t.TempDir()
	db := messagesIn(t, dir, 200)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	server := llmtest.New(t)
	came := make(chan struct{}, 1)
	var requests atomic.Int32
	server.Embed = func(llmtest.Embedding) llmtest.Reply {
		if requests.Add(1) == 3 {
			came <- struct{}{}
			return llmtest.Reply{llmtest.Hold()}
		}
		return nil
	}
	server.Play(nil) // its lock makes this visible to the other process's requests
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EMBEDDING_TEST_CHILD="+dir, "EMBEDDING_TEST_SERVER="+server.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-came:
	case <-time.After(time.Minute):
		t.Error("the process embeds nothing")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if n := embedded(t, db, "m"); n != 2*maxTexts {
		t.Fatalf("%d messages have a vector", n)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	s, err := NewEmbedder(EmbedderConfig{BaseURL: server.URL, Model: "m", Client: func(string) *http.Client { return client }})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Indexer{Vectors: NewVectors(db), Service: s, Log: quiet()}).pass(t.Context(), mostBacklog); err != nil {
		t.Fatal(err)
	}
	all := server.Embeddings()
	if n := embedded(t, db, "m"); n != 200 || all[3].Input[0] != "message 71" {
		t.Errorf("%d messages have a vector, it went on with %q", n, all[3].Input[0])
	}
}
