package command

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"

	"familiar/internal/reply"
	"familiar/internal/view"
	"pgregory.net/rapid"
)

// TestPaginate cuts pages of any text. No part is too long, every page has one, and only line ends are lost.
func TestPaginate(t *testing.T) {
	all := func(sections []turn.Section) (text string) {
		for _, s := range sections {
			text += s.Text
		}
		return text
	}
	words := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(2, 60).Draw(t, "room")
		var pages []view.Page
		for range rapid.IntRange(1, 3).Draw(t, "pages") {
			page := view.Page{Name: "p"}
			for range rapid.IntRange(0, 3).Draw(t, "sections") {
				page.Sections = append(page.Sections, turn.Section{Text: rapid.StringMatching(`([a-z🦉]{0,30}\n?){0,10}`).Draw(t, "text")})
			}
			pages = append(pages, page)
		}
		var want, got string
		for _, p := range pages {
			want += all(p.Sections)
		}
		parts := 0
		for _, p := range paginate(pages, room) {
			got += all(p.sections)
			if p.n == 1 {
				parts++
			}
			if reply.Units(all(p.sections)) > room || p.n > p.of || len(p.sections) > mostSections {
				t.Fatalf("%q, %d of %d", p.sections, p.n, p.of)
			}
		}
		if words(got) != words(want) || parts != len(pages) {
			t.Fatalf("%d pages of %d, %q of %q", parts, len(pages), got, want)
		}
	})
}

// TestPageButtons must not give two buttons one id, which Discord refuses.
func TestPageButtons(t *testing.T) {
	page := func(name, text string) view.Page {
		return view.Page{Name: name, Sections: []turn.Section{{Text: text}}}
	}
	all := paginate([]view.Page{page("A", "short"), page("B", strings.Repeat("long line\n", 50)), page("C", "short")}, 100)
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
