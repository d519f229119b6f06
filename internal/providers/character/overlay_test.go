package character

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"familiar/characters"
)

// onDisk writes files below a new directory and returns it.
func onDisk(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOverlay(t *testing.T) {
	dir := onDisk(t, map[string]string{
		"owl/persona.md":         "An owl of the operator's.",
		"sage/persona.md":        "Another sage.",
		"_default/modes/text.md": "Write little.",
	})
	fsys := Overlay(dir, characters.FS)

	ids, err := List(fsys)
	if err != nil || !cmp.Equal(ids, []string{"owl", "sage"}) {
		t.Errorf("List: %q, %v", ids, err)
	}
	sage, err := Load(fsys, "sage")
	if err != nil {
		t.Fatal(err)
	}
	// The operator's folder stands for the embedded one as a whole; _default is mixed file by file.
	if sage.Persona != "Another sage." || len(sage.Aliases) != 0 {
		t.Errorf("persona %q, aliases %q", sage.Persona, sage.Aliases)
	}
	if got := sage.Instructions["text"]; got != "Write little." {
		t.Errorf("text mode: %q", got)
	}
	if got := sage.Instructions["full_rp"]; !strings.HasPrefix(got, "You are playing a scene") {
		t.Errorf("full_rp mode: %q", got)
	}
}

func TestOverlayWithoutDirectory(t *testing.T) {
	fsys := Overlay(filepath.Join(t.TempDir(), "none"), characters.FS)
	if ids, err := List(fsys); err != nil || !cmp.Equal(ids, []string{"sage"}) {
		t.Errorf("List: %q, %v", ids, err)
	}
	if c, err := Load(fsys, "sage"); err != nil || len(c.Aliases) == 0 {
		t.Error(c, err)
	}
}

func TestOverlayNamesTheRealFile(t *testing.T) {
	dir := onDisk(t, map[string]string{
		"owl/character.toml": "nmae = 1",
		"crow/persona.md":    "A crow.",
	})
	fsys := Overlay(dir, characters.FS)
	var files []string
	for _, p := range problems(t, fsys, "owl") {
		files = append(files, p.File)
	}
	want := []string{filepath.Join(dir, "owl", "character.toml"), filepath.Join(dir, "owl", "persona.md")}
	if d := cmp.Diff(want, files); d != "" {
		t.Error(d)
	}
	if p := problems(t, fsys, "penguin"); p[0].File != filepath.Join(dir, "penguin") || p[0].Cure != "there are: crow, owl, sage" {
		t.Error(p)
	}

	broken := fstest.MapFS{"_default/character.toml": {Data: []byte("x = 1")}}
	if p := problems(t, Overlay(dir, broken), "crow"); p[0].File != "built-in _default/character.toml" {
		t.Error(p)
	}
}

func TestOverlayHidesNothing(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := onDisk(t, map[string]string{"sage/persona.md": "Mine."})
	file := filepath.Join(dir, "sage", "persona.md")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	want := []Problem{{File: file, Text: "cannot be read: permission denied"}}
	if d := cmp.Diff(want, problems(t, Overlay(dir, characters.FS), "sage")); d != "" {
		t.Error(d)
	}
}

// TestOverlayThatCannotBeRead must not say of a built-in character that there is none.
func TestOverlayThatCannotBeRead(t *testing.T) {
	dir := onDisk(t, map[string]string{"characters": "This is a file."})
	shelf := filepath.Join(dir, "characters")
	_, err := Load(Overlay(shelf, characters.FS), "sage")
	want := filepath.Join(shelf, "sage") + ": cannot be read: not a directory"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
