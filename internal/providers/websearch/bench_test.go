package websearch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/question"
	"familiar/internal/search"
	"familiar/internal/test/webtest"
	"familiar/internal/web/fetch"
	"familiar/internal/web/read"
)

// BenchmarkChoose chooses ten facts from five pages of 50 KB, and checks each one.
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

// BenchmarkLong chooses from one long page. The time must grow in proportion to its length.
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

// BenchmarkLookup does whole lookups with an instant search and five instant pages of 50 KB. Only "again" reuses an
// earlier one.
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
