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
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/test/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connectTo returns a client with its own transport, which is closed at the end of the test.
func connectTo(t testing.TB, url string) *llm.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: url, Key: "sk-test-0123456789", Model: "main"}
}

// connect returns a client for a server, in memory or not.
func connect(t testing.TB, srv *llmtest.Server) *llm.Client {
	c := connectTo(t, srv.URL)
	c.HTTP.Transport.(*http.Transport).DialContext = srv.Dial
	return c
}

func hello() llm.Request {
	return llm.Request{Messages: []turn.Rendered{{Role: "system", Text: "Be kind."}, {Role: "user", Text: "Hello?"}}}
}

// script starts an in-memory server that follows a script.
func script(t testing.TB, text string) *llmtest.Server {
	t.Helper()
	s, err := llmtest.ParseScript([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.InMemory(t)
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
		"before the headers": "wait 1m\nsay late",
		"between words":      "comment 1\nwait 1m\nsay late",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, script(t, text))
				c.IdleTimeout = 10 * time.Second
				start := time.Now()
				if _, err := c.Complete(t.Context(), hello()); kindOf(err) != llm.Timeout {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); took != c.IdleTimeout {
					t.Errorf("took %v", took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // broken by comments
		c := connect(t, script(t, strings.Repeat("comment 1\nwait 9s\n", 8)+"say at last"))
		c.IdleTimeout = 10 * time.Second
		if a, err := c.Complete(t.Context(), hello()); err != nil || a.Text != "at last" {
			t.Errorf("%q, %v", a.Text, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // leaves time for a fallback
		c := connect(t, script(t, "when model \"main\"\nwait 20s\nwhen model \"spare\"\nsay here"))
		c.Fallbacks = []string{"spare"}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if a, err := c.Complete(ctx, hello()); err != nil || a.Text != "here" || a.Failed[0].Kind != llm.Timeout {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, script(t, "gap 1s\nsay "+strings.Repeat("word ", 1000)))
		ctx, cancel := context.WithCancel(t.Context())
		words := 0
		a, err := c.Stream(ctx, hello(), func(string) {
			if words++; words == 3 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || a.Text != "word word word" {
			t.Errorf("cancelled: %q, %v", a.Text, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err = c.Stream(ctx, hello(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline: %v", err)
		}
		if _, err = c.Models(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("models: %v", err)
		}
	})
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := script(t, "wait 1s\nsay hi")
		c := connect(t, srv)
		c.Slots = &llm.Slots{Limit: 2}
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
	})
}

func TestWaitingForASlotCanBeCalledOff(t *testing.T) {
	c := connect(t, script(t, "say first\nhold"))
	c.Slots = &llm.Slots{Limit: 1}
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
	srv.Offer("llama3:8b", "qwen")
	c := connectTo(t, srv.URL+"/")
	if got, err := c.Models(t.Context()); err != nil || !reflect.DeepEqual(got, []string{"llama3:8b", "qwen"}) {
		t.Errorf("%v, %v", got, err)
	}
	for body, want := range map[string]llm.Kind{
		`{"object":"list","data":null}`: "", `[{"id":"a"}]`: "", `{"hello":1}`: llm.NotOpenAI, `<html>`: llm.NotOpenAI, `{"data":7}`: llm.NotOpenAI,
	} {
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		if got, err := connectTo(t, far.URL).Models(t.Context()); kindOf(err) != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
		far.CloseClientConnections()
		far.Close()
	}
	dead := connectTo(t, "http://127.0.0.1:1/v1")
	if _, err := dead.Models(t.Context()); kindOf(err) != llm.Unreachable {
		t.Error(err)
	}
	dead.Fallbacks = []string{"spare"}
	if a, err := dead.Complete(t.Context(), hello()); kindOf(err) != llm.Unreachable || len(a.Failed) > 0 || a.Usage.Calls > 2 {
		t.Errorf("%+v %v", a, err)
	}
}

// endless is a body that repeats a text and counts the bytes read.
type endless struct {
	prefix, more string
	read         int
}

func (e *endless) Read(p []byte) (int, error) {
	text := e.prefix
	if text == "" {
		text = e.more
	}
	n := copy(p, text)
	e.prefix = e.prefix[min(n, len(e.prefix)):]
	e.read += n
	return n, nil
}

func (e *endless) Close() error { return nil }

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: e, Request: r}, nil
}

// Endless lines and bodies are cut off.
func TestCaps(t *testing.T) {
	for name, tt := range map[string]struct {
		body endless
		most int // limit of the bytes read
	}{
		"line":     {endless{prefix: "data: ", more: strings.Repeat("a", 4096)}, 1<<20 + 1<<16},
		"comments": {endless{more: ": " + strings.Repeat("x", 1000) + "\n"}, 32<<20 + 1<<16},
	} {
		c := connectTo(t, "http://model.invalid/v1")
		c.HTTP.Transport = &tt.body
		if _, err := c.Complete(t.Context(), hello()); kindOf(err) != llm.NotOpenAI || tt.body.read > tt.most {
			t.Errorf("%s: %v after %d bytes", name, err, tt.body.read)
		}
	}
}

// Streams are read to the end, so that one connection serves one request after another.
func TestConnectionIsReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := llmtest.InMemory(t)
		c := connect(t, srv)
		dials := 0
		c.HTTP.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return srv.Dial(ctx, network, address)
		}
		for range 20 {
			if _, err := c.Complete(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
		}
		if dials != 1 {
			t.Errorf("%d connections for 20 requests", dials)
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	srv := llmtest.New(b)
	srv.Forget = true
	srv.Reply = func(llmtest.Request) llmtest.Reply { return llmtest.Reply{llmtest.Say("Hello there, friend.")} }
	c := connect(b, srv)
	c.Slots = &llm.Slots{Limit: 64}
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

func TestFallbacks(t *testing.T) {
	tests := []struct {
		name, script string
		text, model  string
		kind         llm.Kind
		failed       []llm.Failure
	}{
		{"first", "say one", "one", "main", "", nil},
		{"second", "when model \"main\"\nerror 404\nwhen model \"spare\"\nsay two", "two", "spare", "", []llm.Failure{{Model: "main", Kind: llm.NoModel, Status: 404}}},
		{"third", "when model \"last\"\nsay three\nwhen prompt \"\"\nheader Retry-After: 60\nerror 429", "three", "last", "",
			[]llm.Failure{{Model: "main", Kind: llm.RateLimited, Status: 429}, {Model: "spare", Kind: llm.RateLimited, Status: 429}}},
		{"empty", "when model \"main\"\nfinish stop\nwhen model \"spare\"\nsay two", "two", "spare", "", []llm.Failure{{Model: "main", Kind: llm.Empty}}},
		{"all fail", "error 404", "", "last", llm.NoModel, []llm.Failure{{Model: "main", Kind: llm.NoModel, Status: 404}, {Model: "spare", Kind: llm.NoModel, Status: 404}}},
		{"not after words", "when model \"main\"\nsay half a\nend\nwhen model \"spare\"\nsay two", "half a", "main", llm.Truncated, nil},
		{"not with a bad key", "error 401", "", "main", llm.Unauthorized, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, script(t, tt.script))
			c.Fallbacks = []string{"spare", "last"}
			a, err := c.Stream(t.Context(), hello(), func(string) {})
			if kindOf(err) != tt.kind || a.Text != tt.text || a.Model != tt.model || !reflect.DeepEqual(a.Failed, tt.failed) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

func TestCompleteStartsOver(t *testing.T) {
	srv := script(t, "say half a\nend\nnext\nsay whole")
	a, err := connect(t, srv).Complete(t.Context(), hello())
	if err != nil || a.Text != "whole" {
		t.Errorf("%q, %v", a.Text, err)
	}
}

// A model whose template opens its thoughts is detected once. From then on its thoughts are not passed on.
func TestLateThoughtsAreRemembered(t *testing.T) {
	c := connect(t, script(t, "chunk \"hm, \"\nchunk \"hm</think>\\nHi\"\nnext\nchunk \"secret \"\nchunk \"plan</think>Hi again\"\nnext\nsay no thoughts"))
	for _, want := range []string{"hm, Hi", "Hi again", "no thoughts"} {
		var said strings.Builder
		a, err := c.Stream(t.Context(), hello(), func(s string) { said.WriteString(s) })
		if err != nil || said.String() != want || !strings.HasSuffix(want, a.Text) {
			t.Errorf("said %q, text %q, %v; want %q", said.String(), a.Text, err, want)
		}
	}
}

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string
		want    llm.Window
	}{
		"vLLM":       {map[string]string{"/v1/models": `{"data":[{"id":"other","max_model_len":9},{"id":"main","max_model_len":32768}]}`}, llm.Window{Tokens: 32768, Source: "/models"}},
		"OpenRouter": {map[string]string{"/v1/models": `{"data":[{"id":"main","context_length":200000}]}`}, llm.Window{Tokens: 200000, Source: "/models"}},
		"llama.cpp":  {map[string]string{"/props": `{"default_generation_settings":{"n_ctx":8192}}`}, llm.Window{Tokens: 8192, Source: "/props"}},
		"Ollama, loaded": {map[string]string{
			"/api/show": `{"parameters":"stop x\nnum_ctx 2048","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`,
			"/api/ps":   `{"models":[{"name":"main:latest","context_length":4096}]}`,
		}, llm.Window{Tokens: 4096, Most: 40960, Source: "/api/ps"}},
		"Ollama, not loaded": {map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":40960}}`, "/api/ps": `{"models":[]}`}, llm.Window{Most: 40960, Source: "/api/show"}},
		"LM Studio": {map[string]string{"/api/v0/models": `{"data":[{"id":"main","max_context_length":131072,"loaded_context_length":4096}]}`},
			llm.Window{Tokens: 4096, Most: 131072, Source: "/api/v0/models"}},
		"OpenAI":       {nil, llm.Window{}},
		"broken words": {map[string]string{"/v1/models": `[]`, "/props": `<html>`, "/api/show": `7`}, llm.Window{}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llmtest.New(t)
			srv.AnswerAlso(c.answers)
			if got := connect(t, srv).Window(t.Context()); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSize checks when a server is asked for the size of the model's context, and that its errors are believed.
func TestSize(t *testing.T) {
	srv := script(t, `error 400 {"error":{"message":"This model's maximum context length is 4097 tokens. However, you requested 9000 tokens.","code":"context_length_exceeded"}}`+"\nnext\n"+
		`error 400 {"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":4640,"n_ctx":2048}}`+"\nnext\n"+
		`error 400 {"error":{"message":"context length exceeded: 17"}}`)
	srv.AnswerAlso(map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":40960}}`, "/api/ps": `{"models":[]}`})
	c := connect(t, srv)
	if n := c.Size(t.Context()); n != 4096 {
		t.Errorf("not loaded: %d", n)
	}
	srv.AnswerAlso(map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":40960}}`, "/api/ps": `{"models":[{"name":"main:latest","context_length":8192}]}`})
	if n := c.Size(t.Context()); n != 8192 {
		t.Errorf("loaded: %d", n)
	}
	srv.AnswerAlso(nil)
	if n := c.Size(t.Context()); n != 8192 {
		t.Errorf("asked again at once: %d", n)
	}
	for _, want := range []int{4097, 2048, 2048} {
		if _, err := c.Complete(t.Context(), hello()); kindOf(err) != llm.ContextTooLong || c.Size(t.Context()) != want {
			t.Errorf("%v: %d, want %d", err, c.Size(t.Context()), want)
		}
	}
}
