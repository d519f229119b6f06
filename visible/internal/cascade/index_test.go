package cascade

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestUnmatchedRules checks that only rules that select nothing are skipped.
func TestUnmatchedRules(t *testing.T) {
	elements := []string{"<p>", "<div>", "<p class=a>", "<div class='a b'>", "<div id=c>", "<div class=B>", "</div>", "</div></div>"}
	selectors := []string{".a", ".b", ".d", "#c", "#d", "p", "div .d", ".d div", ":not(.d)", "p:is(.d, .a)", "div:has(.d)", "div:not(:has(.d))", ".a + .d", ".a ~ p", "&.a", ":not(&)", ".d &", "@media all", "@scope (.d)", "@scope (.a)", "&"}
	rapid.Check(t, func(t *rapid.T) {
		var block func(depth int) string
		block = func(depth int) string {
			text := rapid.SampledFrom([]string{"", "display:none;", "opacity:0;", "visibility:hidden;", "@layer x;"}).Draw(t, "declaration")
			if depth < 3 && rapid.Bool().Draw(t, "nested") {
				list := rapid.SliceOfN(rapid.SampledFrom(selectors), 1, 3).Draw(t, "list")
				if strings.HasPrefix(list[0], "@") {
					list = list[:1]
				}
				text += strings.Join(list, ", ") + "{" + block(depth+1) + "}"
			}
			return text
		}
		source := rapid.SampledFrom([]string{"", "<!doctype html>"}).Draw(t, "mode")
		source += "<style>" + block(0) + "@layer x{" + block(1) + "}@layer y{p{display:flex}}" + block(0) + "</style>"
		source += strings.Join(rapid.SliceOfN(rapid.SampledFrom(elements), 1, 12).Draw(t, "elements"), "")
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		some := New(doc, "", Screen{Width: 1280, Height: 720})
		all := newSheets(some.screen, isQuirky(doc))
		all.collect(doc)
		all.base.number(0)
		compareStyles(t, some, all, doc, some.Root(), all.Root())
	})
}

func compareStyles(t *rapid.T, some, all *Sheets, n *html.Node, in, inAll *Style) {
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode {
			continue
		}
		got, want := &Style{}, &Style{}
		some.Compute(got, c, in)
		all.Compute(want, c, inAll)
		if got.Display != want.Display || got.Hidden != want.Hidden || got.Word(Opacity) != want.Word(Opacity) || got.authored != want.authored {
			t.Fatalf("<%s %v>: display %q, not %q; hidden %v, not %v; authored %v, not %v", c.Data, c.Attr, got.Display, want.Display, got.Hidden, want.Hidden, got.authored, want.authored)
		}
		compareStyles(t, some, all, c, got, want)
	}
}
