package websearch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/question"
	"familiar/internal/text"
	"familiar/internal/web/read"
)

// delivered returns a source whose text the search delivered.
func delivered(hit turn.Hit) source {
	t := target{url: hit.URL, site: siteOf(hit.URL), hit: &hit}
	return sourceOf(t, new(read.Reader).Read(context.Background(), (&run{}).request(t)), today)
}

func textSource(title, text string) source {
	return delivered(turn.Hit{Backend: "test", Title: title, Text: text})
}

// TestQuotesAreOnTheirPage checks, for any page and question, that quotes are on their page, and facts within their
// limits.
func TestQuotesAreOnTheirPage(t *testing.T) {
	pieces := []string{"The bridge ", "opened in 1932", ". ", ", which ", "; ", "\n", "Ada Quill", " {laughs} ", "um, ", "桥在河上。", "«Ну да»", "e\u0301", "\u00a0", "…", "\"", "(", "**bold**", " -- ", "U.S. ", "1,234.5", strings.Repeat("word ", 70)}
	questions := []string{"when did the bridge open?", "summarize the page", "who?", "桥在哪里?", "", "What starts on 2031/06/11?"}
	rapid.Check(t, func(t *rapid.T) {
		var sources []source
		for i := range rapid.IntRange(1, 3).Draw(t, "pages") {
			s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(t, fmt.Sprint("page ", i)), "")
			sources = append(sources, textSource("The bridge", s))
		}
		q := rapid.SampledFrom(questions).Draw(t, "question")
		limit := rapid.IntRange(1, evidence.Extended).Draw(t, "limit")
		sum := collect(sources, nil, &question.Plan{Question: q}, limit)
		if len(sum.claims) > limit {
			t.Fatalf("%d claims, want at most %d", len(sum.claims), limit)
		}
		for _, c := range sum.claims {
			if !strings.Contains(text.OneLine(sources[c.source].page.Text), c.Quote) {
				t.Fatalf("%q is not on its page", c.Quote)
			}
			if n := utf8.RuneCountInString(c.Text); n == 0 || n > evidence.MaxQuote {
				t.Fatalf("a fact of %d characters", n)
			}
			for _, b := range c.also {
				if !strings.Contains(text.OneLine(sources[b.source].page.Text), b.quote) {
					t.Fatalf("%q is not on the other page", b.quote)
				}
			}
		}
	})
}
