package backend

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for the instance's corpus

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// TestRealInstance drives the backend against a running SearXNG or searx. FAMILIAR_TEST_SEARXNG is its address, and
// FAMILIAR_TEST_SEARXNG_DB the SQLite file of its one engine, with a table docs(title, url, content).
func TestRealInstance(t *testing.T) {
	base, file := os.Getenv("FAMILIAR_TEST_SEARXNG"), os.Getenv("FAMILIAR_TEST_SEARXNG_DB")
	if base == "" || file == "" {
		t.Skip("FAMILIAR_TEST_SEARXNG and FAMILIAR_TEST_SEARXNG_DB are not set")
	}
	fill(t, file)
	only := Config{SearXNG: base, Client: clients(t), UserAgent: "familiar/test", Only: []string{"searxng"}}
	e := &search.Engine{Backends: opened(t, only), Timeout: 20 * time.Second}
	defer e.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, test := range []struct {
		name  string
		query search.Query
		state turn.State
		want  string
	}{
		{"found", search.Query{Text: "Quibblesnatch Treaty"}, turn.Found, "quibble.example.org/treaty www.quibble.example.com/watch?v=1"},
		{"nothing", search.Query{Text: "no page says this at all"}, turn.Empty, ""},
		{"an order is a word", search.Query{Text: "!!g Quibblesnatch"}, turn.Empty, ""},
		{"so is one for a language", search.Query{Text: ":de Quibblesnatch Treaty"}, turn.Empty, ""},
		{"and one for an engine", search.Query{Text: "Quibblesnatch !lo"}, turn.Empty, ""},
		{"pictures, but it has none", search.Query{Text: "Quibblesnatch Treaty", Intent: "image", Safe: "strict", Limit: 1}, turn.Found, "quibble.example.org/treaty"},
		{"a range that the engine cannot search in", search.Query{Text: "Quibblesnatch Treaty", Fresh: "week", Limit: 1}, turn.Found, "quibble.example.org/treaty"},
		{"news and a language", search.Query{Text: "Quibblesnatch Treaty", Intent: "news", Language: "de-DE", Limit: 1}, turn.Found, "quibble.example.org/treaty"},
		{"without a site", search.Query{Text: "Quibblesnatch Treaty", Exclude: []string{"example.org"}}, turn.Found, "www.quibble.example.com/watch?v=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := e.Search(ctx, test.query)
			if got.State != test.state || urlsOf(got.Hits) != test.want {
				t.Errorf("%s %q, asked %+v; want %s %q", got.State, urlsOf(got.Hits), got.Asked, test.state, test.want)
			}
			for _, h := range got.Hits {
				if h.Title == "" || !strings.Contains(h.Snippet, "1923") {
					t.Errorf("%s lacks its text: %+v", h.URL, h)
				}
			}
		})
	}
}

// An instance whose engine fails reports a failure and not an empty result.
func TestRealInstanceBreaks(t *testing.T) {
	base, file := os.Getenv("FAMILIAR_TEST_SEARXNG"), os.Getenv("FAMILIAR_TEST_SEARXNG_DB")
	if base == "" || file == "" {
		t.Skip("FAMILIAR_TEST_SEARXNG and FAMILIAR_TEST_SEARXNG_DB are not set")
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`alter table docs rename to gone`); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := db.Exec(`alter table gone rename to docs`); err != nil {
			t.Error(err)
		}
	}()
	b := connect(t, "searxng", Config{SearXNG: base, Client: clients(t), UserAgent: "familiar/test"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := b.Search(ctx, search.Query{Text: "anything", Limit: 10})
	if code := codeOf(err); code != turn.CodeUpstream || !strings.Contains(err.Error(), "local") || len(reply.Hits) > 0 {
		t.Errorf("%v, %v; want %s and the engine's name", reply, err, turn.CodeUpstream)
	}
}

// fill adds two pages to the corpus and removes them at the end.
func fill(t *testing.T, file string) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	clear := func() {
		if _, err := db.Exec(`delete from docs where title like 'Quibblesnatch%'`); err != nil {
			t.Error(err)
		}
	}
	clear()
	t.Cleanup(func() {
		clear()
		db.Close()
	})
	_, err = db.Exec(`insert into docs(title, url, content) values
		('Quibblesnatch Treaty', 'https://quibble.example.org/treaty', 'Signed in 1923 & never read.'),
		('Quibblesnatch Treaty, the film', 'https://www.quibble.example.com/watch?v=1', 'About 1923.')`)
	if err != nil {
		t.Fatal(err)
	}
}

func urlsOf(hits []turn.Hit) string {
	var all []string
	for _, h := range hits {
		all = append(all, strings.TrimPrefix(h.URL, "https://"))
	}
	return strings.Join(all, " ")
}
