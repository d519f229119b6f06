package search

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// merged runs lists of addresses, one list a backend, through the engine.
func merged(t *testing.T, q Query, lists ...[]turn.Hit) []turn.Hit {
	t.Helper()
	e := &Engine{}
	for i, l := range lists {
		e.Backends = append(e.Backends, fake{name: string(rune('a' + i)), hits: l})
	}
	defer e.Wait()
	return e.Search(t.Context(), q).Hits
}

func addresses(hits []turn.Hit) string {
	var all []string
	for _, h := range hits {
		all = append(all, strings.TrimPrefix(h.URL, "https://"))
	}
	return strings.Join(all, " ")
}

func list(urls ...string) []turn.Hit {
	var hits []turn.Hit
	for _, u := range urls {
		hits = append(hits, turn.Hit{URL: u})
	}
	return hits
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name  string
		query Query
		lists [][]turn.Hit
		want  string
	}{
		{"one page, many spellings", Query{}, [][]turn.Hit{
			list("https://www.example.org/a/", "http://example.org/a?utm_source=x", "HTTPS://EXAMPLE.org:443/a#top", "https://example.org/b")},
			"www.example.org/a/ example.org/b"},
		{"what the query string tells apart", Query{}, [][]turn.Hit{
			list("https://www.youtube.com/watch?v=1", "https://www.youtube.com/watch?v=2", "https://youtube.com/watch?v=1&fbclid=z")},
			"www.youtube.com/watch?v=1 www.youtube.com/watch?v=2"},
		{"found by two is above found by one", Query{}, [][]turn.Hit{
			list("https://a.org", "https://b.org", "https://c.org"), list("https://d.org", "https://e.org", "https://c.org")},
			"c.org a.org d.org b.org e.org"},
		{"a list that repeats itself gains nothing", Query{}, [][]turn.Hit{
			list("https://a.org", "https://b.org", "https://b.org", "https://b.org")}, "a.org b.org"},
		{"the third of a domain waits", Query{}, [][]turn.Hit{
			list("https://x.example.co.uk/1", "https://y.example.co.uk/2", "https://z.example.co.uk/3", "https://other.co.uk")},
			"x.example.co.uk/1 y.example.co.uk/2 other.co.uk z.example.co.uk/3"},
		{"only sites asked for", Query{Include: []string{"example.org"}}, [][]turn.Hit{
			list("https://notexample.org", "https://docs.example.org", "https://example.org.evil.com", "https://example.org")},
			"docs.example.org example.org"},
		{"no sites not wanted", Query{Exclude: []string{"example.org"}}, [][]turn.Hit{
			list("https://notexample.org", "https://docs.example.org", "https://example.org.evil.com", "https://example.org")},
			"notexample.org example.org.evil.com"},
		{"words of the query count", Query{Text: "Ada Lovelace"}, [][]turn.Hit{
			{hit("https://a.org", "Something else"), hit("https://b.org", "Lovelace"), hit("https://c.org", "ADA LOVELACE")}},
			"c.org b.org a.org"},
		{"an answer comes first", Query{Text: "Ada Lovelace"}, [][]turn.Hit{
			{hit("https://a.org", "Ada Lovelace")}, {{URL: "https://b.org", Title: "?", Answer: true}}}, "b.org a.org"},
		{"as many as wanted", Query{Limit: 2}, [][]turn.Hit{list("https://a.org", "https://b.org", "https://c.org")}, "a.org b.org"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := addresses(merged(t, test.query, test.lists...)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHitsAreBounded(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, "https://example.org/"+strings.Repeat("x", i+1))
	}
	if got := merged(t, Query{Limit: 1000}, list(many...)); len(got) != maxLimit {
		t.Errorf("%d hits, want %d", len(got), maxLimit)
	}
}

func TestConfig(t *testing.T) {
	client := (&replies{}).client
	names := func(c Config) string { // of those that need no key
		var all []string
		for _, b := range Backends(c) {
			all = append(all, b.Name())
		}
		for _, d := range Off(c) {
			if line, _ := lineOf(d.Name); line.keys == nil {
				all = append(all, "-"+d.Name+": "+d.Why)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct {
		name   string
		config Config
		want   string
		check  string // part of the error of Check
	}{
		{"nothing set", Config{}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set", ""},
		{"all", Config{SearXNG: "https://search.example.org/searxng/search"}, "searxng, openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo", ""},
		{"switched off", Config{Off: []string{"duckduckgo", "openmeteo"}},
			"wttr, hackernews, stackexchange, github, wikipedia, -searxng: SEARXNG_URL is not set, -openmeteo: switched off, -duckduckgo: switched off", ""},
		{"one wanted that cannot be", Config{Only: []string{"searxng"}},
			"-searxng: SEARXNG_URL is not set, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off, -wikipedia: switched off, -duckduckgo: switched off",
			"searxng: wanted, but SEARXNG_URL"},
		{"one wanted that is off", Config{Only: []string{"wikipedia", "duckduckgo"}, Off: []string{"wikipedia"}},
			"duckduckgo, -wikipedia: switched off, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", "wikipedia: wanted, but switched off"},
		{"only some, in this order", Config{Only: []string{"duckduckgo", "wikipedia"}},
			"duckduckgo, wikipedia, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", ""},
		{"no address", Config{SearXNG: "localhost:8888"},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: its address is not an http or https URL", "searxng: its address"},
		{"no such depth", Config{Depth: "deep"}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set", `"deep"`},
		{"no such backend", Config{Off: []string{"googol"}, Base: map[string]string{"wikipaedia": "x"}},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set", `"wikipaedia"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Client = client
			if got := names(test.config); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			err := test.config.Check()
			if (err != nil) != (test.check != "") || err != nil && !strings.Contains(err.Error(), test.check) {
				t.Errorf("Check: %v, want %q", err, test.check)
			}
		})
	}
}

func TestEveryLanguageHasItsWiki(t *testing.T) {
	for tag, want := range map[string]string{"de-AT": "de", "nb": "no", "": "en", "tlh": "en", "evil.example": "en", "PT-br": "pt"} {
		if got := wikiOf(tag); got != want {
			t.Errorf("wikiOf(%q) = %q, want %q", tag, got, want)
		}
	}
}
