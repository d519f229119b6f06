package websearch

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/search"
	"familiar/internal/web/fetch"
	"familiar/internal/web/webtest"
)

// finder is a search backend with the hits it was given. It remembers what it was asked.
type finder struct {
	hits  []turn.Hit
	err   error
	hang  bool
	fresh bool // finds nothing that is asked to be new

	mu    sync.Mutex
	asked []search.Query // guarded by mu
}

func (f *finder) Name() string { return "finder" }

func (f *finder) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.fresh && q.Fresh != "" {
		return search.Reply{}, nil
	}
	if f.hang {
		<-ctx.Done()
		return search.Reply{}, &search.Error{Backend: "finder", Code: turn.CodeTimeout}
	}
	return search.Reply{Hits: f.hits}, f.err
}

func (f *finder) queries() []search.Query {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// hits makes search results of URLs.
func hits(urls ...string) []turn.Hit {
	var out []turn.Hit
	for i, u := range urls {
		out = append(out, turn.Hit{Backend: "finder", Rank: i + 1, Title: "Result", URL: u})
	}
	return out
}

// world is a provider over the small web of testdata/world.txtar.
type world struct {
	*Provider
	web    *webtest.Web
	finder *finder
}

var today = time.Date(2026, 11, 20, 22, 3, 0, 0, time.UTC)

func newWorld(t testing.TB, f *finder) *world {
	t.Helper()
	archive, err := os.ReadFile("testdata/world.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := webtest.New(t, archive)
	pages, err := fetch.New(fetch.Config{UserAgent: "familiar/test", Resolver: w, Dial: w.Dial, RootCAs: w.RootCAs(), CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pages.Close)
	p := &Provider{Fetch: pages, Search: &search.Engine{Backends: []search.Backend{f}}, Now: func() time.Time { return today }}
	t.Cleanup(p.Wait)
	return &world{Provider: p, web: w, finder: f}
}

// side gives the provider a side model that answers with the replies of a script.
func (w *world) side(t testing.TB, script string) *llmtest.Server {
	t.Helper()
	srv := llmtest.New(t)
	s, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv.Play(s)
	w.Side = &llm.Client{HTTP: http.DefaultClient, BaseURL: srv.URL, Model: "side"}
	return srv
}

func ask(text string) turn.Request {
	return turn.Request{ID: "T1", Character: "sage", Mode: turn.Text, Message: turn.Message{ID: "M1", Text: text, Author: turn.Author{ID: "U1", Name: "Ann"}},
		Web: turn.Web{Switch: turn.WebAuto}}
}

const heightQuestion = "What is the height of Mount Everest?"

func (w *world) lookup(t testing.TB, req turn.Request) turn.Lookup {
	t.Helper()
	return w.Lookup(t.Context(), req)
}

// unmarked is the block with its datamarks turned back into spaces, for assertions on words.
func unmarked(block string) string {
	return strings.Map(func(r rune) rune {
		if 0xE000 <= r && r <= 0xF8FF {
			return ' '
		}
		return r
	}, block)
}
