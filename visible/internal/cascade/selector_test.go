package cascade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"familiar/visible/internal/css"
)

func readSelectors(text string) ([]selector, bool) {
	t := css.Tokenize(text)
	r := selectorReader{t: t}
	return r.list(t.All(), false, false)
}

// TestSelectors compares the elements that selectors select with those that they select in cascadia.
func TestSelectors(t *testing.T) {
	starts := []string{"<p>", "<div>", "<p class=a>", "<div class='a b'>", "<div id=c>", "<div class=b data-x='q r'>", "<i></i>", "</div>", "</div></div>"}
	compounds := []string{
		"p", "div", "DIV", "*", ".a", ".b", "#c", "div.a", ".a.b", "div#c", "*.b", "[data-x]", "[data-x~=q]", "[class=a]", "[class^='a']", ":first-child", ":last-child", ":nth-child(2n+1)",
		":nth-last-child(2)", ":nth-of-type(2)", ":only-child", ":not(.a)", "p:not(.a)", ":has(p)", "div:has(.a)", ":empty", ":root",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(compounds).Draw(t, "compound")
		for range rapid.IntRange(0, 4).Draw(t, "combinators") {
			text += rapid.SampledFrom([]string{" ", ">", " > ", "+", " ~ "}).Draw(t, "combinator") + rapid.SampledFrom(compounds).Draw(t, "compound")
		}
		want, err := cascadia.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list, ok := readSelectors(text)
		if !ok {
			t.Fatalf("%q is refused", text)
		}
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(starts), 0, 12).Draw(t, "elements"), "")
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		var m matcher
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && m.selects(&list[0], n) != want.Match(n) {
				t.Fatalf("%q selects <%s %v> of %q: %v", text, n.Data, n.Attr, source, !want.Match(n))
			}
		}
		if list[0].specificity != specificity(want.Specificity()) {
			t.Fatalf("specificity of %q is %v", text, list[0].specificity)
		}
	})
}

func TestInvalidSelectors(t *testing.T) {
	for _, text := range []string{"", ",", ".a,", "a >", "a > > b", ".4", "#1", "::", ":bogus", "::bogus", "a:not(", ":not(:bogus)", ":nth-child(2n+)", "[a=]", "[a=b c]", "a::before b", ":is", "a|b", "&&&>"} {
		if list, ok := readSelectors(text); ok {
			t.Errorf("%q is read as %v", text, list)
		}
	}
}

// TestSelectorSteps counts the work of selectors. They would never end with backtracking, or with a look at all siblings of each sibling.
func TestSelectorSteps(t *testing.T) {
	rows := strings.Repeat("<tr><td>a<td>b", 5_000)
	tests := []struct{ selector, page string }{
		{"i " + strings.Repeat("b ", 20) + "p", strings.Repeat("<b>", 400) + "<p>text"},
		{"tr:nth-child(2n) td", "<table>" + rows},
		{"tr:nth-last-of-type(3)", "<table>" + rows},
		{"tr:nth-child(even of .x)", "<table>" + rows},
		{".none ~ tr", "<table>" + rows},
		{"tr:first-child ~ tr td + td", "<table>" + rows},
		{"tr:has(td)", "<table>" + rows},
		{"body:has(.none) tr", "<table>" + rows},
		{":not(:has(.none))", "<table>" + rows},
	}
	for _, test := range tests {
		doc, err := html.Parse(strings.NewReader(test.page))
		if err != nil {
			t.Fatal(err)
		}
		list, ok := readSelectors(test.selector)
		if !ok {
			t.Fatalf("%q is refused", test.selector)
		}
		var m matcher
		elements := 0
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode {
				elements++
				m.selects(&list[0], n)
			}
		}
		if m.steps > 12*elements+10_000 {
			t.Errorf("%q takes %d steps at %d elements", test.selector, m.steps, elements)
		}
	}
}

// TestRulesAreIndexed counts the work of many rules on many elements.
func TestRulesAreIndexed(t *testing.T) {
	var page strings.Builder
	page.WriteString("<!doctype html><style>")
	for i := range 5_000 {
		fmt.Fprintf(&page, ".a%d,#b%d{color:red}", i, i)
	}
	page.WriteString("</style>")
	for i := range 5_000 {
		fmt.Fprintf(&page, "<p class=a%d>text", i)
	}
	doc, err := html.Parse(strings.NewReader(page.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := New(doc, "", Screen{Width: 1280, Height: 720, Scripts: true})
	root := s.Root()
	var st Style
	for n := range doc.Descendants() {
		if n.Data == "p" {
			s.Compute(&st, n, root)
			if st.Color != (RGBA{1, 0, 0, 1}) {
				t.Fatalf("%v has the colour %v", n.Attr, st.Color)
			}
		}
	}
	if s.Exhausted() || s.work.steps > 100_000 {
		t.Errorf("%d steps", s.work.steps)
	}
}
