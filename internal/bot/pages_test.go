package bot

import (
	"strings"
	"testing"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"

	"pgregory.net/rapid"
)

// TestPaginate cuts pages of any text: no part is too long, every page has one, nothing but line ends is lost.
func TestPaginate(t *testing.T) {
	words := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(2, 60).Draw(t, "room")
		var pages []view.Page
		for range rapid.IntRange(1, 3).Draw(t, "pages") {
			pages = append(pages, view.Page{Name: "p", Text: rapid.StringMatching(`([a-z🦉]{0,30}\n?){0,10}`).Draw(t, "text")})
		}
		var want, got string
		for _, p := range pages {
			want += p.Text
		}
		parts := 0
		for _, p := range paginate(pages, room) {
			got += p.text
			if p.n == 1 {
				parts++
			}
			if outgoing.Units(p.text) > room || p.n > p.of {
				t.Fatalf("%q, %d of %d", p.text, p.n, p.of)
			}
		}
		if words(got) != words(want) || parts != len(pages) {
			t.Fatalf("%d pages of %d, %q of %q", parts, len(pages), got, want)
		}
	})
}

// TestPageButtons must not give two buttons one id, which Discord refuses.
func TestPageButtons(t *testing.T) {
	all := paginate([]view.Page{{Name: "A", Text: "short"}, {Name: "B", Text: strings.Repeat("long line\n", 50)}, {Name: "C", Text: "short"}}, 100)
	for n := range all {
		seen := make(map[string]bool)
		for _, b := range pageButtons("en", "context:T", all, n) {
			if seen[b.ID] {
				t.Errorf("part %d: two buttons %s", n, b.ID)
			}
			seen[b.ID] = true
		}
		if len(seen) != 5 {
			t.Errorf("part %d: %v", n, seen)
		}
	}
	if b := pageButtons("en", "context:T", all, 2); b[1].Label != "B 2/5" || b[3].Disabled || b[4].Disabled {
		t.Errorf("%+v", b)
	}
	if b := pageButtons("en", "context:T", all[:1], 0); len(b) != 1 || !b[0].Disabled {
		t.Errorf("%+v", b)
	}
}
