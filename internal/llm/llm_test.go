package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect makes a client of the server with a transport of its own, closed with the test.
func connect(t testing.TB, url string) *llm.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: url, Key: "sk-test-0123456789", Model: "main"}
}

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: "system", Content: "Be kind."}, {Role: "user", Content: "Hello?"}}}
}

// script starts a server that follows a script.
func script(t testing.TB, text string) *llmtest.Server {
	t.Helper()
	s, err := llmtest.ParseScript([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.New(t)
	srv.Play(s)
	return srv
}

func kindOf(err error) llm.Kind {
	var e *llm.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return "not an llm.Error"
}

func causeOf(err error) string {
	var e *llm.Error
	errors.As(err, &e)
	if e == nil {
		return ""
	}
	return e.Cause
}

func finish(want string) func(*testing.T, llm.Answer, error) {
	return func(t *testing.T, a llm.Answer, _ error) {
		if a.Finish != want {
			t.Errorf("finish %q, want %q", a.Finish, want)
		}
	}
}

func thoughts(want int) func(*testing.T, llm.Answer, error) {
	return func(t *testing.T, a llm.Answer, _ error) {
		if a.Thoughts != want {
			t.Errorf("%d bytes of thoughts, want %d", a.Thoughts, want)
		}
	}
}

func cause(want string) func(*testing.T, llm.Answer, error) {
	return func(t *testing.T, _ llm.Answer, err error) {
		if !strings.Contains(causeOf(err), want) {
			t.Errorf("cause %q, want %q in it", causeOf(err), want)
		}
	}
}

func status(want int) func(*testing.T, llm.Answer, error) {
	return func(t *testing.T, _ llm.Answer, err error) {
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != want {
			t.Errorf("error %v, want status %d", err, want)
		}
	}
}

func partial(t *testing.T, _ llm.Answer, err error) {
	var e *llm.Error
	if !errors.As(err, &e) || !e.Partial {
		t.Errorf("error %#v is not marked as partial", err)
	}
}

func TestSilence(t *testing.T) {
	for name, text := range map[string]string{
		"before the headers": "wait 5s\nsay late",
		"between words":      "comment 1\nwait 5s\nsay late",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, script(t, text).URL)
			c.IdleTimeout = 50 * time.Millisecond
			start := time.Now()
			if _, err := c.Complete(t.Context(), hello()); kindOf(err) != llm.Timeout {
				t.Errorf("error %v", err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	t.Run("broken by comments", func(t *testing.T) {
		t.Parallel()
		c := connect(t, script(t, strings.Repeat("comment 1\nwait 100ms\n", 8)+"say at last").URL)
		c.IdleTimeout = 400 * time.Millisecond
		if a, err := c.Complete(t.Context(), hello()); err != nil || a.Text != "at last" {
			t.Errorf("%q, %v", a.Text, err)
		}
	})
	t.Run("leaves time for a fallback", func(t *testing.T) {
		t.Parallel()
		c := connect(t, script(t, "when model \"main\"\nwait 20s\nwhen model \"spare\"\nsay here").URL)
		c.Fallbacks = []string{"spare"}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if a, err := c.Complete(ctx, hello()); err != nil || a.Text != "here" || a.Failed[0].Kind != llm.Timeout {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestContext(t *testing.T) {
	c := connect(t, script(t, "gap 10ms\nsay "+strings.Repeat("word ", 1000)).URL)
	ctx, cancel := context.WithCancel(t.Context())
	words := 0
	a, err := c.Stream(ctx, hello(), func(string) {
		if words++; words == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(a.Text, "word word word") {
		t.Errorf("cancelled: %q, %v", a.Text, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = c.Stream(ctx, hello(), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	if _, err = c.Models(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("models: %v", err)
	}
}

func TestSlots(t *testing.T) {
	srv := script(t, "wait 30ms\nsay hi")
	c := connect(t, srv.URL)
	c.Slots = 2
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.Complete(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := srv.Busiest(); n != 2 {
		t.Errorf("%d requests at once, want 2", n)
	}
}

func TestWaitingForASlotCanBeCalledOff(t *testing.T) {
	c := connect(t, script(t, "say first\nwait 10s").URL)
	c.Slots = 1
	first, stop := context.WithCancel(t.Context())
	running, done := make(chan bool), make(chan error)
	go func() {
		_, err := c.Stream(first, hello(), func(string) { close(running) })
		done <- err
	}()
	<-running
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if a, err := c.Complete(ctx, hello()); !errors.Is(err, context.DeadlineExceeded) || a.Usage.Calls != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModels(t *testing.T) {
	srv := llmtest.New(t)
	srv.Models = []string{"llama3:8b", "qwen"}
	c := connect(t, srv.URL+"/")
	if got, err := c.Models(t.Context()); err != nil || !reflect.DeepEqual(got, srv.Models) {
		t.Errorf("%v, %v", got, err)
	}
	for body, want := range map[string]llm.Kind{
		`{"object":"list","data":null}`: "", `[{"id":"a"}]`: "", `{"hello":1}`: llm.NotOpenAI, `<html>`: llm.NotOpenAI, `{"data":7}`: llm.NotOpenAI,
	} {
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		if got, err := connect(t, far.URL).Models(t.Context()); kindOf(err) != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
		far.CloseClientConnections()
		far.Close()
	}
	dead := connect(t, "http://127.0.0.1:1/v1")
	if _, err := dead.Models(t.Context()); kindOf(err) != llm.Unreachable {
		t.Error(err)
	}
	start := time.Now()
	dead.Fallbacks = []string{"spare"}
	if a, err := dead.Complete(t.Context(), hello()); kindOf(err) != llm.Unreachable || len(a.Failed) > 0 || time.Since(start) > 5*time.Second {
		t.Errorf("%+v %v", a, err)
	}
}

// What never ends is ended: a line, a body.
func TestCaps(t *testing.T) {
	endless := func(prefix, more string) *httptest.Server {
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, prefix)
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, more); err != nil {
					return
				}
			}
		}))
		t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
		return far
	}
	for name, far := range map[string]*httptest.Server{
		"line":     endless("data: ", strings.Repeat("a", 4096)),
		"comments": endless("", strings.Repeat(": x\n", 1024)),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if _, err := connect(t, far.URL).Complete(ctx, hello()); kindOf(err) != llm.NotOpenAI {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// One connection serves one request after another: a stream is read to its very end.
func TestConnectionIsReused(t *testing.T) {
	srv := llmtest.New(t)
	c := connect(t, srv.URL)
	dials := 0
	dialer := c.HTTP.Transport.(*http.Transport)
	dialer.DialContext = countDials(&dials)
	for range 20 {
		if _, err := c.Complete(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
	}
	if dials != 1 {
		t.Errorf("%d connections for 20 requests", dials)
	}
}

func countDials(n *int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		*n++
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

func BenchmarkComplete(b *testing.B) {
	srv := llmtest.New(b)
	srv.Forget = true
	srv.Reply = func(llmtest.Request) llmtest.Reply { return llmtest.Reply{llmtest.Say("Hello there, friend.")} }
	c := connect(b, srv.URL)
	c.Slots = 64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Complete(context.Background(), hello()); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}
