package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// fewSets are sets of a few rows and, in place of Python, a shell script that a scorer's name makes say something.
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

// reportOn runs the report on fewSets, or on what a test makes of them.
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
	return command(t, dir, append([]string{"report", "."}, args...)...)
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

// TestReportChecks names what got worse, and nothing else.
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

// TestReportQuick scores the same part of the rows every time, and predicts for those alone.
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

// TestReportCannotBegin, and says why.
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
