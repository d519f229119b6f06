package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestEval predicts for the small sets in testdata/eval, one archive a set: its files, then what the program prints.
func TestEval(t *testing.T) {
	tested := map[string]bool{}
	files, err := filepath.Glob("testdata/eval/*.txtar")
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
			c := newConversation(t, &txtar.Archive{})
			unpackSet(t, archive, c.dir)
			code, out, complaint := c.command(nil, "eval", name, ".")
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, complaint)
			}
			golden(t, file, archive, "predictions", reasons.ReplaceAllString(out, ""))
			golden(t, file, archive, "errors", complaint)
		})
	}
	for _, s := range sets() {
		if !tested[s.name] {
			t.Errorf("the set %s has no rows in testdata/eval", s.name)
		}
	}
}

// reasons are what need and intent say beside their predictions: nothing that a scorer looks at.
var reasons = regexp.MustCompile(`"cues":\[[^\]]*\],|,"score":[0-9.]+`)

// unpackSet writes a set's files. Those called packed are packed, as the pages of large sets are.
func unpackSet(t *testing.T, archive *txtar.Archive, dir string) {
	t.Helper()
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
}

// golden compares a text with a file of an archive, or puts it there. A file that is not there is empty.
func golden(t *testing.T, path string, archive *txtar.Archive, name, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	want := ""
	if i >= 0 {
		want = string(archive.Files[i].Data)
	}
	if *update && got != want {
		if i < 0 {
			archive.Files = append(archive.Files, txtar.File{Name: name})
			i = len(archive.Files) - 1
		}
		archive.Files[i].Data, want = []byte(got), got
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestEvalCannotBegin(t *testing.T) {
	c := newConversation(t, &txtar.Archive{})
	for _, args := range [][]string{{"eval", "nothing", "."}, {"eval", "need", "."}, {"eval", "need"}} {
		if code, out, complaint := c.command(nil, args...); code != exitUsage || out != "" || complaint == "" {
			t.Errorf("%v: exit code %d, output %q, errors %q", args, code, out, complaint)
		}
	}
}

// TestEvalSurvivesRows lets a row panic, which costs that row alone, and then interrupts.
func TestEvalSurvivesRows(t *testing.T) {
	var out, complaint bytes.Buffer
	ctx, cancel := context.WithCancelCause(context.Background())
	n := 0
	e := evaluation{program: &program{out: &out, err: &complaint}, predict: func(context.Context, fs.FS, []byte) (prediction, error) {
		switch n++; n {
		case 1:
			panic("odd")
		case 3:
			cancel(errSignal)
		}
		return prediction{"n": n}, nil
	}}
	rows := strings.Repeat(`{"id":"a"}`+"\n", 5)
	if err := e.run(ctx, strings.NewReader(rows)); !errors.Is(err, errSignal) {
		t.Errorf("interrupted: %v", err)
	}
	want := `{"error":"panic: odd","id":"a"}` + "\n" + `{"id":"a","n":2}` + "\n" + `{"id":"a","n":3}` + "\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", &out, want)
	}
}
