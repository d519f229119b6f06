package websearch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// TestVerdicts checks fact checks. Each archive has the question as its comment, the pages by host with the title first,
// and the result.
func TestVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/verdicts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no verdicts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sources []source
			for i, f := range a.Files[:len(a.Files)-1] {
				title, body, _ := strings.Cut(strings.TrimSpace(string(f.Data)), "\n")
				sources = append(sources, source{rank: i, page: turn.Page{URL: "https://" + f.Name, Site: f.Name, Title: title, Text: body}, folded: text.OneLine(body)})
			}
			var s summary
			s.factCheck(strings.TrimSpace(string(a.Comment)), sources)
			_, numbered := numberSources(s.claims, sources)
			s.numberVerdict(sources)
			var got strings.Builder
			fmt.Fprintf(&got, "%s %.2f\n", s.verdict.Label, s.verdict.Confidence)
			for _, side := range [][]turn.Claim{s.verdict.For, s.verdict.Against} {
				for _, c := range side {
					fmt.Fprintf(&got, "%s %s %s\n", numbered[c.Source-1].URL, strings.Join(c.Checks, ","), c.Quote)
				}
			}
			fmt.Fprintf(&got, "%s\n", verdictLine(s.verdict, ""))
			last := &a.Files[len(a.Files)-1]
			goldenFile(t, file, a, last, got.String())
		})
	}
}

func goldenFile(t *testing.T, path string, a *txtar.Archive, f *txtar.File, got string) {
	t.Helper()
	want := string(f.Data)
	if *update && got != want {
		f.Data, want = []byte(got), got
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", f.Name, got, want)
	}
}
