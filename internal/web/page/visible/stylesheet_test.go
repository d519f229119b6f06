package visible

import (
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestSelectors compares what selectors select with what they select in cascadia, whose combinators backtrack.
func TestSelectors(t *testing.T) {
	starts := []string{"<p>", "<div>", "<p class=a>", "<div class='a b'>", "<div id=c>", "<div class=b>", "</div>", "</div></div>"}
	compounds := []string{"p", "div", "DIV", "*", ".a", ".b", "#c", "div.a", ".a.b", "div#c", "*.b"}
	rapid.Check(t, func(t *rapid.T) {
		selector := rapid.SampledFrom(compounds).Draw(t, "compound")
		for range rapid.IntRange(0, 4).Draw(t, "combinators") {
			selector += rapid.SampledFrom([]string{" ", ">", " > "}).Draw(t, "combinator") + rapid.SampledFrom(compounds).Draw(t, "compound")
		}
		want, err := cascadia.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		s := newStylesheet()
		s.add(selector + "{display:none}")
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(starts), 0, 12).Draw(t, "elements"), "")
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			found := s.match(n)
			if got := len(found) > 0; got != want.Match(n) {
				t.Fatalf("%q selects <%s %v> of %q: %v", selector, n.Data, n.Attr, source, got)
			}
			if len(found) > 0 && found[0].specificity != want.Specificity() {
				t.Fatalf("specificity of %q is %v", selector, found[0].specificity)
			}
		}
	})
}

// TestSelectorSteps counts the work of a selector for which backtracking would never end.
func TestSelectorSteps(t *testing.T) {
	s := newStylesheet()
	s.add("i " + strings.Repeat("b ", maxCompounds-2) + "p{display:none}")
	doc, err := html.Parse(strings.NewReader(strings.Repeat("<b>", 400) + "<p>text"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if s.match(n) != nil {
			t.Errorf("<%s> is selected", n.Data)
		}
	}
	if s.steps > 2_000 {
		t.Errorf("%d steps", s.steps)
	}
}
