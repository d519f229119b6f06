package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"
)

// fewSets are sets of a few rows. Shell scripts, chosen by the scorer's name, replace Python.
const fewSets = `
-- score/README --
Scorers would be here.
-- robots/cases.jsonl --
{"id":"a","robots":"","agent":"familiar","url":"https://example.org/"}
{"id":"b","robots":"","agent":"familiar","url":"https://example.org/"}
{"id":"c","robots":"","agent":"familiar","url":"https://example.org/"}

{"id":"d","robots":"","agent":"familiar","url":"not an address"}
-- ssrf/cases.jsonl --
{"id":"a","kind":"ip","value":"127.0.0.1"}
-- url-canon/cases.jsonl --
{"id":"a","input":"https://example.org/?utm_source=x","output":"https://example.org/"}
{"id":"b","input":"https://example.org/a","output":"https://example.org/b"}
-- bin/python3 --
#!/bin/sh
case "$2" in
*/ssrf.py) echo "{'fp': 0, 'fn': 1}" >&2; echo 99.5;;
*) grep -c . "$4" >&2; grep -c . "$3/cases.jsonl";;
esac
`

// fewOwn replaces the project's own rows, which take many seconds. All of its predictions are right.
const fewOwn = `
-- own/spoken/cases.jsonl --
{"id":"a","text":"weather in Oslo tomorrow","intent":"weather"}
{"id":"b","text":"haha, you are so funny","intent":"none"}
{"id":"c","text":"weather in Rome tomorrow","search":true}
{"id":"d","text":"haha, you are so kind","search":false}
-- own/followup/cases.jsonl --
{"id":"a","before":["what's the population of Denmark?"],"text":"what about Sweden?","want":["population","Sweden"],"not":["Denmark"]}
{"id":"b","before":["what's the population of Denmark?"],"text":"who won the Hollowmere Cup in 2021?","alone":true,"not":["Denmark"]}
{"id":"c","before":[{"who":"user","text":"what's the population of Denmark?"},{"who":"bot","text":"Six million."}],"text":"and of Sweden?","must":["sweden"],"mustnot":["denmark"]}
-- own/language/cases.jsonl --
{"id":"h01","lang":"en","text":"look at https://example.com"}
-- own/recall/cases.jsonl --
{"id":"said","text":"what has ben been saying here about the rota?","asks":"said","held":true}
{"id":"none","text":"who wrote Hamlet?","asks":"none","held":true}
{"id":"me","text":"what do you know about me?","asks":"me"}
-- own/orders/cases.jsonl --
{"id":"keep","text":"remember that I'm vegan","orders":[{"deed":"keep","text":"vegan"}],"held":true}
{"id":"none","text":"> remember that I'm vegan","orders":[{"deed":"none"}],"held":true}
-- own/private/cases.jsonl --
{"id":"a","text":"is the domain of lena.krafft@holmsee-mail.example known for spam?","want":["spam"],"gone":["lena","krafft"]}
-- own/learn/cases.jsonl --
{"id":"a","text":"I have two cats","private":false}
{"id":"b","text":"I have diabetes","private":true}
-- own/conflict/cases.jsonl --
{"id":"a","of":"number","question":"how high is Mount Karrow?","pages":["Mount Karrow is 3,412 metres high.","Mount Karrow is 3,287 metres high and lies in the north of the island."]}
{"id":"b","question":"is it true that Port Ellerby has no school?","pages":["Port Ellerby has no school since 2011."]}
-- own/citation/cases.jsonl --
{"id":"a","reply":"The Tessen bridge is 412 metres long.","pages":["The Tessen bridge is 412 metres long."]}
{"id":"b","reply":"The Tessen bridge is 512 metres long.","refuse":true,"pages":["The Tessen bridge is 412 metres long."]}
-- own/claims/cases.jsonl --
{"id":"a","claim":"The Moss Street cinema has six screens.","verdict":"refuted","pages":[{"host":"moss.example","title":"Moss Street cinema","text":"The four screens of the Moss Street cinema can be hired."}]}
{"id":"b","lang":"en","unseen":true,"claim":"The Moss Street cinema has six screens.","verdict":"refuted","pages":[{"host":"moss.example","title":"Moss Street cinema","text":"The Moss Street cinema has four screens."},{"host":"fern.example","title":"Cinemas","text":"The Moss Street cinema has four screens, and all of them can be hired."},{"host":"reed.example","title":"Films","text":"There is a bar, and the Moss Street cinema has four screens."}]}
-- own/living/cases.jsonl --
{"id":"a","living":true,"question":"is it true that Iris Holt resigned as mayor of Valcourt?","pages":["Iris Holt is a politician. Iris Holt resigned as mayor of Valcourt.","Valcourt is a town on the Delorge."]}
{"id":"b","question":"is it true that Velland banned fireworks?","pages":["Velland banned fireworks in 2020."]}
`

// reportOn runs the report on fewSets and fewOwn, or on a test's change of the first.
func reportOn(t *testing.T, sets string, args ...string) (code int, out, complaint string) {
	t.Helper()
	dir := unpackSet(t, txtar.Parse([]byte(sets)))
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if script := filepath.Join(bin, "python3"); strings.Contains(sets, "bin/python3") {
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	} else {
		t.Setenv("PATH", bin)
	}
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), program{
		args: append([]string{"report", "."}, args...), dir: dir, own: os.DirFS(unpackSet(t, txtar.Parse([]byte(fewOwn)))), out: &stdout, err: &stderr,
	})
	return code, stdout.String(), stderr.String()
}

func TestReport(t *testing.T) {
	code, out, complaint := reportOn(t, fewSets)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, complaint)
	}
	for _, want := range []string{
		"set folder measure reached recorded wanted difference",
		"guard ssrf balanced accuracy 99.5 100.0 100 -0.5",
		"guard ssrf missed blocks 1.0 0.0 0 +1.0 worse",
		"robots robots right 4.0 100.0 100 -96.0 worse",
		"canon url-canon equal pages collide 50.0",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if !strings.Contains(complaint, "psl is not there") || !strings.Contains(complaint, "evaluate: robots: 1 of 4 rows have no prediction") {
		t.Errorf("errors: %s", complaint)
	}
}

// TestReportChecks names exactly the figures that got worse.
func TestReportChecks(t *testing.T) {
	code, _, complaint := reportOn(t, fewSets, "--check")
	if code != exitFailed || !strings.Contains(complaint, "robots, right: 4.0, recorded is 100") || !strings.Contains(complaint, "ssrf, missed blocks: 1.0") || strings.Contains(complaint, "ssrf, balanced") {
		t.Errorf("exit code %d: %s", code, complaint)
	}
	before, rest, _ := strings.Cut(fewSets, "-- ssrf/")
	_, after, _ := strings.Cut(rest, "-- bin/")
	good := strings.ReplaceAll(before+"-- bin/"+after, `grep -c . "$3/cases.jsonl"`, "echo 99.2")
	if code, out, complaint := reportOn(t, good, "--check"); code != exitOK || !strings.Contains(out, "-0.8") {
		t.Errorf("exit code %d: %s%s", code, out, complaint)
	}
}

// TestReportQuick predicts and scores the same part of the rows each time.
func TestReportQuick(t *testing.T) {
	reached := func(args ...string) float64 {
		code, out, complaint := reportOn(t, fewSets, append(args, "--json")...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		i := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, `"folder":"robots"`) })
		if code != exitOK || i < 0 {
			t.Fatalf("exit code %d: %s%s", code, out, complaint)
		}
		var o outcome
		if err := json.Unmarshal([]byte(lines[i]), &o); err != nil {
			t.Fatal(err)
		}
		return o.Reached
	}
	if all, part := reached(), reached("--quick"); all != 4 || part != 1 {
		t.Errorf("%v rows; quick %v", all, part)
	}
}

// TestReportCannotBegin explains why a report cannot start.
func TestReportCannotBegin(t *testing.T) {
	withoutPython, _, _ := strings.Cut(fewSets, "-- bin/")
	onlyPython := "-- score/README --\n" + fewSets[strings.Index(fewSets, "-- bin/"):]
	failing := strings.ReplaceAll(fewSets, "99.5", "; echo broken >&2; exit 3")
	for _, test := range []struct {
		sets, want string
		code       int
	}{
		{withoutPython, "install Python 3", exitUsage},
		{"", "no folder score", exitUsage},
		{onlyPython, "holds none of the sets", exitUsage},
		{failing, "broken", exitFailed},
	} {
		if code, _, complaint := reportOn(t, test.sets); code != test.code || !strings.Contains(complaint, test.want) {
			t.Errorf("exit code %d, want %d and %q: %s", code, test.code, test.want, complaint)
		}
	}
}

const evaluationPath = "../../doc/evaluation.md"

// TestFiguresAreDocumented compares the table of doc/evaluation.md with figures.toml.
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

// TestFiguresAreWhole checks that each figure is recorded. One that is not could never get worse.
func TestFiguresAreWhole(t *testing.T) {
	var table struct{ Scoring []map[string]any }
	if err := toml.Unmarshal([]byte(recordedFigures), &table); err != nil {
		t.Fatal(err)
	}
	for _, s := range table.Scoring {
		set, known := findSet(fmt.Sprint(s["set"]))
		if !known || s["unseen"] != nil && set.unseen == nil {
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
