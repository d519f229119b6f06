package websearch

import (
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/factcheck"
)

// TestMerged checks that claims which say the same become one, and similar ones do not.
func TestMerged(t *testing.T) {
	const said = "The Sample Bridge over the Lorem was opened by the mayor in May 1932."
	for name, tt := range map[string]struct {
		other string
		cited string
	}{
		"the same words":         {said, "[1][2]"},
		"other words for it":     {"In May 1932 the Sample Bridge over the Lorem was opened by its mayor.", "[1][2]"},
		"another year":           {"The Sample Bridge over the Lorem was opened by the mayor in May 1933.", "[1]"},
		"another name":           {"The Sample Bridge over the Ipsum was opened by the mayor in May 1932.", "[1]"},
		"it is turned around":    {"The mayor over the Lorem was opened by the Sample Bridge in May 1932.", "[1]"},
		"it is denied":           {"The Sample Bridge over the Lorem was not opened by the mayor in May 1932.", "[1]"},
		"much more is said":      {"The Sample Bridge over the Lorem, whose towers are lit at night since the war and whose pier had sunk, was opened by the mayor in May 1932 after years of delay.", "[1]"},
		"something else is said": {"A toll was charged on the bridge for many years after the war had ended.", "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			sources := []source{textSource("", said+" It is green."), textSource("", tt.other+" It is blue.")}
			claims := mergeFindings([]finding{
				{Claim: turn.Claim{Text: said, Quote: said}},
				{Claim: turn.Claim{Text: tt.other, Quote: tt.other}, source: 1},
			})
			got, numbered := numberSources(claims, sources)
			if cited := got[0].Cited(); cited != tt.cited || len(numbered) != 2 {
				t.Errorf("cited %s of %d sources, want %s of 2", cited, len(numbered), tt.cited)
			}
			if want := 3 - len(got[0].Sources()); len(got) != want {
				t.Errorf("%d claims, want %d", len(got), want)
			}
		})
	}
}

func TestGoldenMerged(t *testing.T) {
	b := goldenLayout()
	b.claims = b.claims[:2]
	b.claims[0].Also = []turn.Backing{{Source: 2, Quote: "It returns every 76 years."}}
	b.conflicts = factcheck.FindConflicts(b.claims, textsByNumber(b.sources))
	golden(t, "found_merged", b.writeFound())
}
