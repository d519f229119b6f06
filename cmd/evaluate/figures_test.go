package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const evaluationPath = "../../doc/evaluation.md"

// TestFiguresAreDocumented holds the table of doc/evaluation.md against figures.toml.
func TestFiguresAreDocumented(t *testing.T) {
	table, err := scorings()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| SET | FOLDER | SCORER OPTIONS | measure | reached | on the half | wanted |\n|---|---|---|---|---:|---:|---:|\n")
	for _, s := range table {
		head := fmt.Sprintf("| `%s` | `%s` | `%s` |", s.Set, s.Folder, s.Score)
		for _, f := range s.Figures {
			fmt.Fprintf(&b, "%s %s | %s | %s | %s |\n", strings.ReplaceAll(head, "``", ""), f.Measure, plain(f.Recorded), plain(f.Quick), f.wanted())
			head = "| | | |"
		}
	}
	doc, err := os.ReadFile(evaluationPath)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- figures -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(doc), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatal("doc/evaluation.md has no place for the figures")
	case old == b.String():
	case !*update:
		t.Error("doc/evaluation.md shows other figures than figures.toml; go test ./cmd/evaluate -run Figures -update writes them")
	default:
		if err := os.WriteFile(evaluationPath, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiguresAreWhole: a figure that was never recorded would be one that nothing falls below.
func TestFiguresAreWhole(t *testing.T) {
	var table struct{ Scoring []map[string]any }
	if err := toml.Unmarshal([]byte(recordedFigures), &table); err != nil {
		t.Fatal(err)
	}
	for _, s := range table.Scoring {
		set, known := findSet(fmt.Sprint(s["set"]))
		if !known || s["unseen"] == true && set.unseen == nil {
			t.Errorf("there is no set %q, or none of unseen rows", s["set"])
		}
		for _, f := range s["figures"].([]any) {
			f := f.(map[string]any)
			if f["measure"] == nil || f["recorded"] == nil || f["quick"] == nil {
				t.Errorf("%s: %v lacks its name or its figures", s["folder"], f)
			}
			if find, ok := f["find"].(string); ok {
				if _, err := regexp.Compile(find); err != nil {
					t.Errorf("%s: %v", s["folder"], err)
				}
			}
		}
	}
}

func TestFigureIsRead(t *testing.T) {
	const notes = "one 3/4\ntwo 1/4\nleaks 2 lost 7\n"
	tests := []struct {
		find, output string
		want         float64
	}{
		{"", " 97.25\n", 97.25},
		{`leaks (\d+)`, "1", 2},
		{`(\d)/(\d)`, "1", 50},
		{`leaks|two`, "1", 200. / 3},
		{`none`, "1", 0},
	}
	for _, test := range tests {
		if got, err := (figure{Find: test.find}).read(test.output, notes); err != nil || got != test.want {
			t.Errorf("%q in %q and the notes is %v, %v, want %v", test.find, test.output, got, err, test.want)
		}
	}
	for _, find := range []string{"", `none (\d)`, `(one)`, `(one) (\d)`, `(\d)/(x)?`, `(`} {
		if got, err := (figure{Find: find}).read("no number", notes); err == nil {
			t.Errorf("%q gives %v", find, got)
		}
	}
}

func TestFigureGetsWorse(t *testing.T) {
	tests := []struct {
		figure            figure
		reached, recorded float64
		want              bool
	}{
		{figure{}, 79.2, 80.1, false},
		{figure{}, 79, 80.1, true},
		{figure{}, 90, 80.1, false},
		{figure{Lower: true}, 4, 3.1, false},
		{figure{Lower: true}, 4.2, 3.1, true},
		{figure{Lower: true}, 0, 3.1, false},
		{figure{Count: true}, 1, 1, false},
		{figure{Count: true}, 1, 0, true},
	}
	for _, test := range tests {
		if got := test.figure.worse(test.reached, test.recorded); got != test.want {
			t.Errorf("%+v: %v after %v is worse: %v", test.figure, test.reached, test.recorded, got)
		}
	}
}
