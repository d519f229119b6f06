package memory

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
)

func service(t *testing.T, server *llmtest.Server, model string) *Embedder {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: server.Dial}}
	t.Cleanup(client.CloseIdleConnections)
	s, err := NewEmbedder(EmbedderConfig{BaseURL: server.URL + "/", Key: server.Key, Model: model, Client: func(string) *http.Client { return client },
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestQuestion(t *testing.T) {
	postgres.Off(t)
	synctest.Test(t, func(t *testing.T) {
		server := llmtest.InMemory(t)
		server.Key = "sk-0123456789abcdef"
		s := service(t, server, "m")
		all, err := s.Batch(t.Context(), []string{"the kitten sleeps", "the kitten sleeps hunter2", "buses were late", ""})
		if err != nil {
			t.Fatal(err)
		}
		if near, far := all[0].Cosine(all[1]), all[0].Cosine(all[2]); near < 0.7 || far > 0.3 {
			t.Errorf("near %v, far %v", near, far)
		}
		if sent := server.Embeddings()[0]; sent.Model != "m" || sent.Input[1] != "the kitten sleeps ***" {
			t.Errorf("sent %+v", sent)
		}
		if _, err := s.Batch(t.Context(), make([]string, maxTexts+1)); err == nil {
			t.Error("sends more texts than are allowed")
		}
		if v, err := s.Question(t.Context(), strings.Repeat("kitten ", 10_000)); err != nil || all[0].Cosine(v) < 0.3 {
			t.Error(err)
		}
		if sent := server.Embeddings()[1]; len(sent.Input[0]) > MaxCharacters {
			t.Errorf("sent %d bytes", len(sent.Input[0]))
		}
		server.Embed = func(llmtest.Embedding) llmtest.Reply { return llmtest.Reply{llmtest.Wait(time.Second)} }
		began := time.Now()
		if _, err := s.Question(t.Context(), "late"); CodeOf(err) != turn.CodeTimeout || time.Since(began) != questionLimit {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		s.key = "sk-another"
		if _, err := s.Question(t.Context(), "x"); CodeOf(err) != turn.CodeUnauthorized || strings.Contains(err.Error(), "sk-") {
			t.Error(err)
		}
	})
}

func TestWhatServicesAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       turn.Code
	}{
		{"another kind of JSON", `{"result":"hello"}`, 200, turn.CodeMalformed},
		{"too few", `{"data":[{"index":0,"embedding":[1]}]}`, 200, turn.CodeMalformed},
		{"one twice", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, 200, turn.CodeMalformed},
		{"none of them", `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, 200, turn.CodeMalformed},
		{"words", `{"data":[{"index":0,"embedding":["one"]},{"index":1,"embedding":[1]}]}`, 200, turn.CodeMalformed},
		{"a page", `<html>Sign in</html>`, 200, turn.CodeMalformed},
		{"a redirect, which is not followed", ``, 302, turn.CodeRejected},
		{"too many", `{}`, 429, turn.CodeRateLimited},
		{"down", `{}`, 500, turn.CodeUpstream},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			s, err := NewEmbedder(EmbedderConfig{BaseURL: server.URL, Model: "m", Client: func(string) *http.Client { return server.Client() }})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = s.Batch(t.Context(), []string{"a", "b"}); CodeOf(err) != tt.want {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := NewEmbedder(EmbedderConfig{BaseURL: "nowhere", Client: func(o string) *http.Client { return api.Client(api.Service{Origin: o}) }}); err == nil {
		t.Error("an address that is none is taken")
	}
}

// messages stores n messages with different words.
func messages(t *testing.T, n int) *store.DB { return messagesIn(t, postgres.Place(t, t.TempDir()), n) }

func messagesIn(t *testing.T, dir string, n int) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []store.Message
	for i := range n {
		all = append(all, store.Message{ID: fmt.Sprintf("%06d", i), GuildID: "g", ChannelID: "c", AuthorID: "a", Text: fmt.Sprint("message ", i), At: time.Unix(int64(i), 0)})
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	return db
}

func embedded(t *testing.T, db *store.DB, model string) int {
	t.Helper()
	n, err := NewVectors(db).Count(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// The indexer embeds the newest messages first and resumes where it stopped. It waits while the service is down, skips
// texts that the service rejects, and starts over for another model.
func TestIndexer(t *testing.T) {
	postgres.Off(t)
	synctest.Test(t, func(t *testing.T) {
		db := messages(t, 300)
		defer db.Close()
		server := llmtest.InMemory(t)
		x := &Indexer{Vectors: NewVectors(db), Service: service(t, server, "m1"), Log: quiet()}
		requests := 0
		server.Embed = func(e llmtest.Embedding) llmtest.Reply { // calls are sequential
			requests++
			for _, text := range e.Input {
				if text == "message 150" {
					return llmtest.Reply{llmtest.Error(400, "")}
				}
			}
			switch requests {
			case 1:
				return llmtest.RateLimit("7")
			case 2:
				return llmtest.Reply{llmtest.Error(503, "")}
			case 4:
				return llmtest.Reply{llmtest.Hold()}
			}
			return nil
		}
		done, stop := stoppable(t, x)
		synctest.Wait()
		time.Sleep(20 * time.Second) // 7 s, then 4 s, after the failures
		synctest.Wait()
		if n := embedded(t, db, "m1"); n != maxTexts {
			t.Errorf("%d messages have a vector", n)
		}
		if first := server.Embeddings()[0].Input; len(first) != maxTexts || first[0] != "message 299" {
			t.Errorf("begins with %d, %q", len(first), first[0])
		}
		stop() // during a batch, which alone is lost
		if <-done; embedded(t, db, "m1") != maxTexts {
			t.Error("half a batch is kept")
		}
		x = &Indexer{Vectors: NewVectors(db), Service: x.Service, Log: quiet(), Every: 5 * time.Minute}
		done, stop = stoppable(t, x)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if n := embedded(t, db, "m1"); n != 300 {
			t.Errorf("%d messages have a vector", n)
		}
		times := map[string]int{}
		for _, e := range server.Embeddings()[4:] {
			for _, text := range e.Input {
				times[text]++
			}
		}
		if times["message 299"] != 0 || times["message 0"] != 1 {
			t.Errorf("asked again for what it had: %v", times)
		}
		before := len(server.Embeddings())
		time.Sleep(65 * time.Minute) // includes a full pass
		if n := len(server.Embeddings()); n != before {
			t.Errorf("%d requests for nothing", n-before)
		}
		stop()
		<-done
		done, stop = stoppable(t, &Indexer{Vectors: NewVectors(db), Service: service(t, server, "m2"), Log: quiet()})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if old, now := embedded(t, db, "m1"), embedded(t, db, "m2"); old != 0 || now != 300 {
			t.Errorf("%d vectors of the old model, %d of the new one", old, now)
		}
		stop()
		<-done
	})
}

// If the service rejects everything, no text is marked as rejected.
func TestIndexerMisconfigured(t *testing.T) {
	postgres.Off(t)
	synctest.Test(t, func(t *testing.T) {
		db := messages(t, 10)
		defer db.Close()
		server := llmtest.InMemory(t)
		server.Embed = func(llmtest.Embedding) llmtest.Reply { return llmtest.Reply{llmtest.Error(404, "")} }
		done, stop := stoppable(t, &Indexer{Vectors: NewVectors(db), Service: service(t, server, "m"), Log: quiet()})
		time.Sleep(24 * time.Hour)
		stop()
		<-done
		if n := embedded(t, db, "m"); n != 0 {
			t.Errorf("%d are marked", n)
		}
		if n := len(server.Embeddings()); n > 400 {
			t.Errorf("%d requests on a day", n)
		}
	})
}

// stoppable runs an indexer. done is closed when it has ended.
func stoppable(t *testing.T, x *Indexer) (done chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done = make(chan struct{})
	go func() {
		defer close(done)
		x.Run(ctx)
	}()
	return done, cancel
}
