// Package packed compares archives that the program embeds with the folders that they are made of.
package packed

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Hold fails the test if an archive does not have the files that match the patterns, as they are. With update it packs them instead.
func Hold(t *testing.T, archive string, update bool, patterns ...string) {
	t.Helper()
	var names []string
	for _, pattern := range patterns {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, some...)
	}
	if update {
		pack(t, archive, names)
	}
	built, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer built.Close()
	for _, f := range built.File {
		if !slices.Contains(names, f.Name) {
			t.Errorf("%s has %s, which is gone", archive, f.Name)
		}
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fs.ReadFile(built, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has changed: go test -run %s -update", name, t.Name())
		}
	}
}

func pack(t *testing.T, archive string, names []string) {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		to, err := w.Create(name)
		if err == nil {
			_, err = to.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
