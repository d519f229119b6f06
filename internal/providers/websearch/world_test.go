package websearch

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/search"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/webtest"
	"familiar/internal/web/fetch"
	"familiar/internal/web/read"
)

// finder is a search backend with given hits that records the queries.
type finder struct {
	hits  []turn.Hit
	err   error
	hang  bool
	fresh bool // finds nothing for queries with an age limit

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
	return newWorldOf(t, archive, f)
}

// newWorldOf is a provider over the web of an archive.
func newWorldOf(t testing.TB, archive []byte, f *finder) *world {
	t.Helper()
	w := webtest.InMemory(t, archive)
	pages, err := fetch.New(fetch.Config{UserAgent: "familiar/test", Resolver: w, Dial: w.Dial, RootCAs: w.RootCAs(), CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pages.Close)
	p := &Provider{Reader: &read.Reader{Fetcher: pages}, Search: &search.Engine{Backends: []search.Backend{f}}, Now: func() time.Time { return today }}
	t.Cleanup(p.Reader.Wait)
	return &world{Provider: p, web: w, finder: f}
}

// side gives the provider a side model that answers with the replies of a script.
func (w *world) side(t testing.TB, script string) *llmtest.Server {
	t.Helper()
	srv := llmtest.InMemory(t)
	s, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv.Play(s)
	w.Side = client(t, srv)
	return srv
}

// client is a client of a server in memory.
func client(t testing.TB, srv *llmtest.Server) *llm.Client {
	transport := &http.Transport{DialContext: srv.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: srv.URL, Model: "side"}
}

// virtually runs a test in virtual time, so that a busy machine does not miss deadlines.
func virtually(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

func ask(text string) turn.Request {
	return turn.Request{ID: "T1", Character: "sage", Names: []string{"Sage"}, Mode: turn.Text, Message: turn.Message{ID: "M1", Text: text, Author: turn.Author{ID: "U1", Name: "Ann"}},
		Web: turn.Web{Switch: turn.WebAuto}}
}

const heightQuestion = "What is the height of Mount Everest?"

func (w *world) lookup(t testing.TB, req turn.Request) turn.Lookup {
	t.Helper()
	return w.Lookup(t.Context(), req)
}

var (
	markedLine  = regexp.MustCompile(`(?m)^\p{Co}([^\p{Co}\n]*)\p{Co}?`)
	markedWords = regexp.MustCompile(`\p{Co}([^\p{Co}\n]*)\p{Co}`)
)

// unmarked returns the block without marks before lines, and with quotation marks for those around words.
func unmarked(block string) string {
	return markedWords.ReplaceAllString(markedLine.ReplaceAllString(block, "$1"), `"$1"`)
}

// ownLine matches what is outside of the marks on a line between the tags.
var ownLine = regexp.MustCompile(`^(\[\d+\] [^ ]+ · .*|\[not read\] .*|\(and the facts marked \[\d+\]\)|( \(.*\))?( (\[\d+\])+)?)$`)

// checkMarks checks that every fact begins its own line with the mark. Only our own words are outside of marks.
func checkMarks(t interface{ Fatalf(string, ...any) }, l turn.Lookup) {
	_, inside, _ := strings.Cut(l.Block, `policy="`+policyVersion+"\">\n")
	inside, _, closed := strings.Cut(inside, "</web-search-results-")
	facts := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(inside, "\n"), "\n") {
		mark := strings.IndexFunc(line, func(r rune) bool { return unicode.Is(unicode.Co, r) })
		if mark == 0 {
			facts++
		}
		if ours := strangers.ReplaceAllString(line, ""); !ownLine.MatchString(ours) || ours == "" && mark != 0 {
			t.Fatalf("%q stands outside of the marks in\n%s", ours, l.Block)
		}
	}
	if !closed || facts != len(l.Summary) {
		t.Fatalf("%d marked lines for %d facts in\n%s", facts, len(l.Summary), l.Block)
	}
}

var strangers = regexp.MustCompile(`\p{Co}[^\p{Co}\n]*(\p{Co}|$)`)

// bridge is a page's text.
const bridge = "The Sample Bridge crosses the Lorem between two hills, and it is painted green. " +
	"It was designed by Ada Quill, who also built the town hall. Construction lasted four years and the bridge opened in 1932. " +
	"The bridge is 812 metres long. It was closed to lorries because its northern pier had sunk."

func containsFold(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}
