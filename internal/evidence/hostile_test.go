package evidence

import (
	"strings"
	"testing"

	"familiar/internal/test/bulk"

	"pgregory.net/rapid"
)

// TestAnyPage checks that the sentences of any page can be framed.
func TestAnyPage(t *testing.T) {
	pieces := []string{"\n", "\n\n", "› ", "# ", "## ", "- ", "| ", "|", ":", "Myth", "False", "True or false?", "This is a hoax.", "'''", "Verdict: False", " ", "?", "The following is false:", "é", "\xff", "No"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "") + rapid.String().Draw(t, "more")
		p := ParseLayout(Source{Title: rapid.SampledFrom(pieces).Draw(t, "title"), Text: text})
		for i := range p.lines {
			for _, sentence := range append(p.lines[i].split(), "", "not there") {
				if f := p.Framing(i, sentence); len([]rune(f.Words)) > maxWords || len(f.Path) > maxPath {
					t.Fatalf("%+v", f)
				}
			}
		}
		p.Framing(-1, "")
		p.Framing(len(p.lines), "")
	})
}

// TestLinear looks at all sentences of pages that are made of one unit: the work grows with the length.
func TestLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"prose":    "The geese can read maps of the county. That is a hoax. ",
		"lines":    "The geese can read maps of the county.\n\nNone of this is true.\n\n",
		"headings": "# False claims about geese\n## Myths\n### True or false?\nThe geese can read maps.\n",
		"deep":     "###### True or false?\n",
		"items":    "- The geese can read maps of the county.\n",
		"rows":     "| The geese can read maps. | False | True | Verdict | a | b | c |\n",
		"row":      "| The geese can read maps. | False ",
		"quotes":   "› › › › The geese can read maps. › ",
		"labels":   "Myth\n\nVerdict: False\n\n",
		"words":    "true or false this is a hoax ",
	} {
		t.Run(name, func(t *testing.T) {
			bulk.Linear(t, name, bulk.Of(20_000, 100_000), func(size int) func() {
				text := strings.Repeat(unit, size/len(unit))
				if !strings.Contains(unit, "\n") { // as long as cleaning leaves them
					line := strings.Repeat(unit, 2000/len(unit)) + "\n"
					text = strings.Repeat(line, size/len(line))
				}
				return func() {
					p := ParseLayout(Source{Title: "Geese", Text: text})
					for i := range p.lines {
						for _, sentence := range p.lines[i].split() {
							p.Framing(i, sentence)
						}
					}
				}
			})
		})
	}
}
