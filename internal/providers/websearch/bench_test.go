package websearch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/evidence"
	"familiar/internal/lookup/question"
	"familiar/internal/search"
	"familiar/internal/web/fetch"
	"familiar/internal/web/read"
	"familiar/internal/web/webtest"
)

// BenchmarkChoose chooses the evidence of five pages of 50 KB, 10 facts, and checks every one.
func BenchmarkChoose(b *testing.B) {
	var sources []source
	for i := range 5 {
		sources = append(sources, textSource("Sample Bridge", webtest.Article(uint64(i))))
	}
	for _, q := range []string{"when was the Sample Bridge over the Lorem opened?", "summarize what is known of the Sample Bridge"} {
		b.Run(q[:4], func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				if s := collect(sources, nil, &question.Plan{Question: q, Language: "en"}, evidence.Extended); len(s.claims) < 5 {
					b.Fatal(len(s.claims))
				}
			}
		})
	}
}

// BenchmarkLong chooses the evidence of one long page: the time is to grow as its length does.
func BenchmarkLong(b *testing.B) {
	for _, parts := range []int{1, 4, 16} {
		var all strings.Builder
		for i := range parts {
			all.WriteString(webtest.Article(uint64(i)) + "\n\n")
		}
		b.Run(fmt.Sprintf("%dKB", all.Len()>>10), func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				text, _ := read.Text(all.String())
				sources := []source{textSource("Sample Bridge", text)}
				if s := collect(sources, nil, &question.Plan{Question: "when was the Sample Bridge over the Lorem opened?", Language: "en"}, evidence.Extended); len(s.claims) < 5 {
					b.Fatal(len(s.claims))
				}
			}
		})
	}
}

// BenchmarkLookup is a whole lookup whose search and whose five pages of 50 KB take no time: its own. Nothing is
// remembered from one to the next but for "again", which is answered from memory.
func BenchmarkLookup(b *testing.B) {
	var texts []string
	for i := range 5 {
		texts = append(texts, webtest.Article(uint64(i)))
	}
	found := func(text func(string) string) *finder {
		f := &finder{}
		for i, t := range texts {
			f.hits = append(f.hits, turn.Hit{Title: "Sample Bridge", URL: fmt.Sprintf("https://site%d.org/", i), Text: text(t)})
		}
		return f
	}
	lookup := func(b *testing.B, p *Provider) {
		if l := p.Lookup(b.Context(), ask("when was the Sample Bridge over the Lorem opened?")); l.State != turn.Found {
			b.Fatal(l.State, l.Reason)
		}
	}
	engine := &search.Engine{Backends: []search.Backend{found(strings.Clone)}}
	b.Run("text", func(b *testing.B) {
		defer processor(b)()
		for b.Loop() {
			lookup(b, &Provider{Search: engine})
		}
	})
	b.Run("again", func(b *testing.B) {
		p := &Provider{Search: engine}
		defer processor(b)()
		for b.Loop() {
			lookup(b, p)
		}
	})
	b.Run("html", func(b *testing.B) {
		w := webtest.New(b, nil)
		for i, t := range texts {
			w.Handle(fmt.Sprintf("site%d.org/", i), http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
				out.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(out, "<!doctype html><title>Sample Bridge</title><nav><a href=/>Home</a></nav><main><h1>Sample Bridge</h1><p>%s</p></main>",
					strings.ReplaceAll(t, "\n", "</p>\n<p>"))
			}))
		}
		pages, err := fetch.New(fetch.Config{UserAgent: "familiar/test", Resolver: w, Dial: w.Dial, RootCAs: w.RootCAs()})
		if err != nil {
			b.Fatal(err)
		}
		defer pages.Close()
		engine := &search.Engine{Backends: []search.Backend{found(func(string) string { return "" })}}
		defer processor(b)()
		for b.Loop() {
			lookup(b, &Provider{Search: engine, Reader: &read.Reader{Fetcher: pages}})
		}
	})
}
