package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/llmtest"
)

var update = flag.Bool("update", false, "write the predictions and the table of figures again")

// TestPredict predicts for the small sets in testdata/predict. Each archive has the files of one set and the expected output.
func TestPredict(t *testing.T) {
	tested := map[string]bool{}
	files, err := filepath.Glob("testdata/predict/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		tested[name] = true
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code, out, complaint := command(t, unpackSet(t, archive), name, ".")
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, complaint)
			}
			golden(t, file, archive, "predictions", reasons.ReplaceAllString(out, ""))
			golden(t, file, archive, "errors", complaint)
		})
	}
	for _, s := range sets() {
		if !tested[s.name] {
			t.Errorf("the set %s has no rows in testdata/predict", s.name)
		}
	}
}

// reasons match the explanations of need and intent. Scorers do not read them.
var reasons = regexp.MustCompile(`"cues":\[[^\]]*\],|,"score":[0-9.]+`)

// command runs the program in a folder.
func command(t *testing.T, dir string, args ...string) (code int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), program{args: args, dir: dir, own: own, out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

// unpackSet writes a set's files to a folder. It packs the named files, as the pages of large sets are.
func unpackSet(t *testing.T, archive *txtar.Archive) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range archive.Files {
		path, data := filepath.Join(dir, f.Name), f.Data
		if strings.Contains(f.Name, "/packed") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(data)
			z.Close()
			path, data = path+".gz", b.Bytes()
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// golden compares a text with a file of an archive, or writes it there (-update). A missing file is empty.
func golden(t *testing.T, path string, archive *txtar.Archive, name, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		archive.Files = append(archive.Files, txtar.File{Name: name})
		i = len(archive.Files) - 1
	}
	want := &archive.Files[i].Data
	if diff := cmp.Diff(string(*want), got); diff != "" && !*update {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	} else if diff != "" {
		*want = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPredictCannotBegin(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"nothing", "."}, `there is no set "nothing"`},
		{[]string{"need", "."}, "cases.jsonl cannot be read in"},
		{[]string{"need"}, "cases.jsonl cannot be read in the project's own"},
		{[]string{"--nonsense"}, "unknown flag"},
	} {
		if code, out, complaint := command(t, t.TempDir(), test.args...); code != exitUsage || out != "" || !strings.Contains(complaint, test.want) {
			t.Errorf("%v: exit code %d, output %q, errors %q", test.args, code, out, complaint)
		}
	}
}

// TestPredictSurvivesRows checks that a panic affects one row only, and that an interrupt ends the run.
func TestPredictSurvivesRows(t *testing.T) {
	var out, complaint bytes.Buffer
	errStop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	e := evaluation{program: &program{out: &out, err: &complaint}, predict: func(context.Context, fs.FS, []byte) (prediction, error) {
		switch n++; n {
		case 1:
			panic("odd")
		case 3:
			cancel(errStop)
		}
		return prediction{"n": n}, nil
	}}
	rows := strings.Repeat(`{"id":"a"}`+"\n", 5)
	if err := e.run(ctx, strings.NewReader(rows)); !errors.Is(err, errStop) {
		t.Errorf("interrupted: %v", err)
	}
	want := `{"error":"panic: odd","id":"a"}` + "\n" + `{"id":"a","n":2}` + "\n" + `{"id":"a","n":3}` + "\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", &out, want)
	}
}

// TestVerifier also asks a model about citations. Its answer counts as in a reply.
func TestVerifier(t *testing.T) {
	srv := llmtest.New(t)
	srv.Reply = func(r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "by the mayor") {
			return llmtest.Reply{llmtest.Say(`{"supported":false,"quote":""}`)}
		}
		return llmtest.Reply{llmtest.Say("I cannot say.")}
	}
	dir := t.TempDir()
	rows := `{"id":"a","claim":"The Tessen bridge was opened by the mayor.","sentences":["The Tessen bridge was opened."],"label":"not_supported","gold":[]}
{"id":"b","claim":"The Tessen bridge was opened.","sentences":["The Tessen bridge was opened."],"label":"supported","gold":[0]}
`
	if err := os.WriteFile(filepath.Join(dir, "cases.jsonl"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaint := command(t, dir, "cite", ".", "--verifier", srv.URL, "--verifier-model", "checker")
	want := `{"id":"a","quote":"","rank":[0],"refused":"verifier","supported":false,"verifier":"no"}
{"id":"b","quote":"","rank":[0],"refused":"","supported":true,"verifier":"garbled"}
`
	if got := reasons.ReplaceAllString(out, ""); code != exitOK || got != want {
		t.Errorf("code %d\n%s%s", code, got, complaint)
	}
	if code, _, _ := command(t, dir, "verify", ".", "--verifier", srv.URL); code != exitUsage {
		t.Errorf("for another set: code %d", code)
	}
}

func predictionsIn(t *testing.T, out string) (all []prediction) {
	t.Helper()
	for line := range strings.Lines(out) {
		var row prediction
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}
