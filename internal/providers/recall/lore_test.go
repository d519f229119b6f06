package recall

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCut(t *testing.T) {
	file := "Before all.\n\n# The town\n\n## The harbour ##\nIt opens at six.\n\nShips wait.\n```\n# no heading\n\n#hash\n```\n## Empty\n# Far away\n#nothing\nHills.\n"
	want := []Passage{
		{File: "f", Line: 1, Text: "Before all."},
		{File: "f", Line: 6, Heading: "The town › The harbour", Text: "It opens at six.\n\nShips wait.\n```\n# no heading\n#hash\n```"},
		{File: "f", Line: 16, Heading: "Far away", Text: "#nothing\nHills."},
	}
	if d := cmp.Diff(want, CutPassages("f", file), cmpopts.IgnoreUnexported(Passage{})); d != "" {
		t.Error(d)
	}
	long := strings.Repeat("One sentence of some length stands here. ", 100) + "\n\n" + strings.Repeat("é", 5000) + "\n" + strings.Repeat("word ", 400)
	joined := ""
	for _, p := range CutPassages("f", long) {
		if n := utf8.RuneCountInString(p.Text); n > maxPassageLength || !utf8.ValidString(p.Text) {
			t.Errorf("%d characters: %.40q", n, p.Text)
		}
		joined += p.Text
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	if bare.Replace(joined) != bare.Replace(long) {
		t.Error("the passages lack some text")
	}
}

func TestFind(t *testing.T) {
	passages := CutPassages("lore/town.md", "# The harbour\nIt opens at six in the morning.\n# The mill\nThe miller keeps a dog.\n# Ratsstube\nDer Wirt verkauft Äpfel.\n# 港\n港町の灯台は赤い。")
	for i := range 2000 {
		passages = append(passages, Passage{File: "lore/more.md", Line: i + 1, Heading: fmt.Sprint("House ", i), Text: "Nobody lives in this house."})
	}
	l := newLibrary(passages)
	for question, want := range map[string]string{
		"when does the harbour open?":     "It opens at six in the morning.",
		"which pet is at the mill?":       "The miller keeps a dog.",
		"Was verkauft der Wirt?":          "Der Wirt verkauft Äpfel.",
		"灯台は何色？":                          "港町の灯台は赤い。",
		"what is the capital of Peru?":    "",
		"?":                               "",
		"let us walk down to the harbour": "It opens at six in the morning.",
	} {
		q := readQuery(question, "ada", nil, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
		got, all := "", l.find(q)
		if len(all) > 0 {
			got = all[0].Text
		}
		if got != want || len(all) > 3*maxSeeds {
			t.Errorf("%s: %d, the best %q", question, len(all), got)
		}
		if strings.HasPrefix(question, "let us") && !all[0].titled {
			t.Error("the named heading was not found")
		}
	}
	var none *Library
	if none.len() != 0 || none.find(readQuery("harbour?", "", nil, time.Now())) != nil {
		t.Error("a nil library is not empty")
	}
}

// FuzzCut checks that no passage is empty or too long.
func FuzzCut(f *testing.F) {
	f.Add("# a\n\ntext\n```\n# b\n```\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range CutPassages("f", s) {
			if p.Text == "" || utf8.RuneCountInString(p.Text) > maxPassageLength+len(p.Text)/2 || p.Line < 1 {
				t.Errorf("%+v", p)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var passages []Passage
	for i := range 6000 {
		passages = append(passages, Passage{File: "lore/more.md", Line: i + 1, Heading: fmt.Sprint("House ", i), Text: strings.Repeat("The miller keeps a dog and the harbour opens at six. ", 8)})
	}
	l := newLibrary(passages)
	for b.Loop() {
		l.find(readQuery("when does the harbour open for the miller's dog?", "ada", nil, time.Now()))
	}
}
