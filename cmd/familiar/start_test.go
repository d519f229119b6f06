package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/wait"
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

// TestFirstTurnCostsNoMore counts what the first turn of a process allocates and which connections it opens. Tables, expressions,
// statements and connections are made before anybody speaks. It needs a process of its own, in which no other test has made them.
func TestFirstTurnCostsNoMore(t *testing.T) {
	const alone = "FAMILIAR_TEST_ALONE"
	if os.Getenv(alone) == "" {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), alone+"=yes")
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s := newStage(t, 21, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{llmtest.Say("Never better.")} })
	defer s.start()()
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Mallocs
	}
	rest, quiet := allocated(), 0
	if !wait.Until(func() bool { // nothing is prepared any more
		before := rest
		if rest = allocated(); rest-before > 100 {
			quiet = 0
		}
		quiet++
		return quiet > 50
	}) {
		t.Fatal("it does not come to rest")
	}
	turn := func(n int) (objects uint64, connections int64) {
		before, connected := allocated(), s.model.Connections()
		s.ask(s.rooms[n], "ana", fmt.Sprintf("Sage, how are you? I am at page %d", n))
		return allocated() - before, s.model.Connections() - connected
	}
	first, connections := turn(0)
	t.Logf("the first turn makes %d objects and %d connections", first, connections)
	var later []uint64
	for i := range 20 {
		n, _ := turn(i + 1)
		later = append(later, n)
	}
	slices.Sort(later)
	usual := later[len(later)/2]
	t.Logf("a later one %d", usual)
	if connections > 0 || first > 3*usual {
		t.Errorf("the first turn makes %d objects and %d connections, a later one %d objects", first, connections, usual)
	}
}
