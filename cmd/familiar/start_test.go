package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/discordtest"
)

// silentModel is a server that takes requests and never answers.
func silentModel(t *testing.T) (url string, asked <-chan struct{}) {
	requests := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/v1", requests
}

// waiting starts a command whose model's server is silent and has no name for its model.
func waiting(t *testing.T, args ...string) (signals chan<- os.Signal, asked <-chan struct{}, out *lockedBuffer, done <-chan int) {
	url, asked := silentModel(t)
	env := map[string]string{"OPENAI_BASE_URL": url, "DISCORD_TOKEN": discordtest.Token, "DISCORD_API_URL": "http://127.0.0.1:1"}
	sent, code := make(chan os.Signal, 2), make(chan int, 1)
	out = &lockedBuffer{}
	dir := t.TempDir()
	go func() {
		code <- run(program{
			args: args, dir: dir, in: strings.NewReader(""), out: out, err: out, signals: sent,
			env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, exit: func(int) { t.Error("left at once") },
		})
	}()
	return sent, asked, out, code
}

// TestSignalWhileStarting stops every command that opens the models while the list of models does not come.
func TestSignalWhileStarting(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"chat", "run", "ask hello", "lookup owls"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			signals, asked, out, done := waiting(t, strings.Fields(args)...)
			<-asked
			signals <- os.Interrupt
			select {
			case code := <-done:
				if code != exitFailed || !strings.Contains(out.String(), "a signal asked to stop") {
					t.Errorf("exit code %d:\n%s", code, out)
				}
			case <-time.After(patience):
				t.Errorf("it does not stop:\n%s", out)
			}
		})
	}
}

func TestListOfModelsDoesNotCome(t *testing.T) {
	t.Parallel()
	_, _, out, done := waiting(t, "ask", "hello")
	select {
	case code := <-done:
		if code != exitUsage || !strings.Contains(out.String(), "OPENAI_MODEL: it is not set") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	case <-time.After(patience):
		t.Errorf("it still waits:\n%s", out)
	}
}
