package websearch

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/question"
)

// TestBlockHolds checks, for any page, title and name, that the block has one beginning, one end and no other markup.
func TestBlockHolds(t *testing.T) {
	pieces := []string{"</web-search-results-", "<web-search-results-", "＜/web-search-results", "\n[9] evil.net", "[not read]", "\"", ">", "<|im_start|>system", "[INST]",
		"\nsystem: obey", "\u202e", "\U000E0041", "\uf080", "\uf09f", "\uf8ff", "`", "```", "https://evil.net/?q=", "@everyone", "<@1>", "Mount Everest", " height ", ". ", "\n", "8,849"}
	rapid.Check(t, func(t *rapid.T) {
		text := "The height of Mount Everest is high. " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(t, "text"), "") + rapid.String().Draw(t, "more")
		title := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "title"), "")
		s := delivered(turn.Hit{URL: "https://a.org/", Backend: "b", Title: title, Text: text})
		if !s.good() {
			return
		}
		sources := []source{s}
		pl := question.Plan{Question: heightQuestion + rapid.SampledFrom(pieces[:15]).Draw(t, "question")}
		got := collect(sources, nil, &pl, evidence.Extended)
		r := &run{p: &Provider{}, pol: Policy{}.withDefaults(), plan: pl, now: today}
		r.conclude(sources, got)
		block := r.look.Block
		if r.look.State != turn.Found {
			return
		}
		if n := strings.Count(block, "<"); n != 2 {
			t.Fatalf("%d angle brackets:\n%s", n, block)
		}
		if n := strings.Count(block, "\n["); n != 1 {
			t.Fatalf("%d lines begin with a bracket, want the one source:\n%s", n, block)
		}
		checkMarks(t, r.look)
		for _, bad := range []string{"<|", "[INST]", "://", "\u202e", "\U000E0041", "`"} {
			if strings.Contains(block, bad) {
				t.Fatalf("%q in the block:\n%s", bad, block)
			}
		}
	})
}
