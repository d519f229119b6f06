package memory

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// statement is a row of testdata/statements.tsv, which says what its fields are.
type statement struct {
	half, kind, language, door, truth, text, picked string
}

func statements(t *testing.T) (all []statement) {
	for _, f := range rows(t, "statements.tsv") {
		s := statement{f[0], f[1], f[2], f[3], f[4], strings.ReplaceAll(f[5], `\n`, "\n"), ""}
		if len(f) > 6 {
			s.picked = f[6]
		}
		all = append(all, s)
	}
	return all
}

// rows returns the fields of the lines of a file that are no comments.
func rows(t *testing.T, name string) (all [][]string) {
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

var members = []string{"Ben", "Ada", "Will", "May", "Hope", "Cat"}

func TestTmp(t *testing.T) {
	for _, s := range statements(t) {
		if s.door != "learn" || s.half != "t" {
			continue
		}
		all := sentencesOf(s.text, "", "", members)
		var kept, no []string
		for _, one := range all {
			if one.refused == "" && (s.picked == "" || strings.Contains(one.text, s.picked)) {
				kept = append(kept, one.text)
			} else {
				no = append(no, one.text+" ["+one.refused+"]")
			}
		}
		switch {
		case s.truth == "keep" && len(kept) == 0, s.truth == "no" && len(kept) > 0:
			t.Errorf("%s %s %s: want %s, kept %q, not %q", s.half, s.language, s.kind, s.truth, kept, no)
		case s.truth == "told" && len(kept) > 0 && !slices.Contains(kept, strings.TrimSpace(s.text)):
			t.Errorf("%s %s %s: kept %q of %q", s.half, s.language, s.kind, kept, s.text)
		}
	}
}
