package framing

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a page is made of, its sentences can be looked at.
func TestAnyPage(t *testing.T) {
	pieces := []string{"\n", "\n\n", "› ", "# ", "## ", "- ", "| ", "|", ":", "Myth", "False", "True or false?", "This is a hoax.", "'''", "Verdict: False", " ", "?", "The following is false:", "é", "\xff", "No"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "") + rapid.String().Draw(t, "more")
		p := Read(Source{Title: rapid.SampledFrom(pieces).Draw(t, "title"), Text: text})
		for i := range p.lines {
			for _, sentence := range append(p.lines[i].split(), "", "not there") {
				if f := p.At(i, sentence); len([]rune(f.Words)) > maxWords || len(f.Path) > maxPath {
					t.Fatalf("%+v", f)
				}
			}
		}
		p.At(-1, "")
		p.At(len(p.lines), "")
	})
}

// TestLinear: whatever a page is made of, to look at all of its sentences takes memory, and so work, in proportion to its
// length.
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
			work := func(size int) float64 {
				text := strings.Repeat(unit, size/len(unit))
				if !strings.Contains(unit, "\n") { // lines as cleaning leaves them
					line := strings.Repeat(unit, 2000/len(unit)) + "\n"
					text = strings.Repeat(line, size/len(line))
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				p := Read(Source{Title: "Geese", Text: text})
				for i := range p.lines {
					for _, sentence := range p.lines[i].split() {
						p.At(i, sentence)
					}
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			work(1_000)
			if small, large := work(10_000), work(100_000); large > 14*small {
				t.Errorf("ten times the text takes %.1f times the work", large/small)
			}
		})
	}
}
