package main

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

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
