package bot

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLeavesHoldEverything cuts pages of any text: no leaf is too long, every page has one, nothing but line ends is lost.
func TestLeavesHoldEverything(t *testing.T) {
	words := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(2, 60).Draw(t, "room")
		var pages []Page
		for range rapid.IntRange(1, 3).Draw(t, "pages") {
			pages = append(pages, Page{"p", rapid.StringMatching(`([a-z🦉]{0,30}\n?){0,10}`).Draw(t, "text")})
		}
		var want, got string
		for _, p := range pages {
			want += p.Text
		}
		parts := 0
		for _, l := range leaves(pages, room) {
			got += l.Text
			if l.part == 1 {
				parts++
			}
			if units(l.Text) > room || l.part > l.of {
				t.Fatalf("%q, %d of %d", l.Text, l.part, l.of)
			}
		}
		if words(got) != words(want) || parts != len(pages) {
			t.Fatalf("%d pages of %d, %q of %q", parts, len(pages), got, want)
		}
	})
}

// TestLeafButtons must not give two buttons one id, which Discord refuses.
func TestLeafButtons(t *testing.T) {
	all := leaves([]Page{{"A", "short"}, {"B", strings.Repeat("long line\n", 50)}, {"C", "short"}}, 100)
	for n := range all {
		seen := make(map[string]bool)
		for _, b := range leafButtons("context:T", all, n) {
			if seen[b.ID] {
				t.Errorf("leaf %d: two buttons %s", n, b.ID)
			}
			seen[b.ID] = true
		}
		if len(seen) != 5 {
			t.Errorf("leaf %d: %v", n, seen)
		}
	}
	if b := leafButtons("context:T", all, 2); b[1].Label != "B 2/5" || b[3].Disabled || b[4].Disabled {
		t.Errorf("%+v", b)
	}
	if b := leafButtons("context:T", all[:1], 0); len(b) != 1 || !b[0].Disabled {
		t.Errorf("%+v", b)
	}
}
