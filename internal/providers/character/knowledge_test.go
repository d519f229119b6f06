package character

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"familiar/characters"
	"familiar/internal/context/turn"
	"familiar/internal/providers/recall"
)

// TestKnowledge checks that short notes are in every prompt and long ones are looked up. Invalid or large files are refused.
func TestKnowledge(t *testing.T) {
	files := map[string]string{"owl/persona.md": "An owl.", "owl/notes.md": "{{char}} is old.\n", "owl/lore/b.md": "# B\r\nThe {{char}} sleeps.", "owl/lore/a.txt": "no", "owl/lore/a.md": ""}
	c, err := Load(with(t, files), "owl")
	if err != nil || c.Notes != "{{char}} is old." || passages(c) != 1 || len(c.Knowledge) != 3 || !c.Knowledge[0].Always {
		t.Fatalf("%+v, %v", c, err)
	}
	cs, err := (&Provider{Character: c}).Contribute(t.Context(), turn.Request{})
	if got := cs[2]; err != nil || got.Source != "character:notes.md" || got.Text != "What Owl knows:\nOwl is old." {
		t.Errorf("%+v, %v", got, err)
	}
	files["owl/notes.md"] = strings.Repeat("Owls are birds of the night.\n\n", 200)
	long, err := Load(with(t, files), "owl")
	if err != nil || long.Notes != "" || passages(long) < 10 || long.Sum == c.Sum {
		t.Errorf("%+v, %v", long, err)
	}
	for name, want := range map[string]string{
		"bad\nand\xff":                     "owl/lore/x.md:2:4: not UTF-8 text; save the file as UTF-8",
		strings.Repeat("long ", maxFile/4): "owl/lore/x.md: cannot be read: larger than 256 KiB",
	} {
		files["owl/lore/x.md"] = name
		if got := problems(t, with(t, files), "owl"); len(got) != 1 || got[0].String() != want {
			t.Errorf("%v", got)
		}
	}
	many := with(t, map[string]string{"owl/persona.md": "An owl."})
	for i := range maxLoreFiles + 5 {
		many[fmt.Sprintf("owl/lore/%03d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	if got := problems(t, many, "owl"); len(got) != 1 || got[0].File != "owl/lore/100.md" {
		t.Errorf("%v", got)
	}
	many = with(t, map[string]string{"owl/persona.md": "An owl."})
	for i := range 20 {
		many[fmt.Sprintf("owl/lore/%03d.md", i)] = &fstest.MapFile{Data: make([]byte, maxFile)}
	}
	if got := problems(t, many, "owl"); len(got) != 1 || got[0].File != "owl/lore/016.md" {
		t.Errorf("%v", got)
	}
}

// passages returns the number of passages that can be looked up.
func passages(c *Character) (n int) {
	for name, text := range c.LookedUp() {
		n += len(recall.CutPassages(name, text))
	}
	return n
}

// TestKnowledgeLinks checks that links cannot leave the character's folder and that only regular files are opened. The folder itself may
// be a link.
func TestKnowledgeLinks(t *testing.T) {
	outer := t.TempDir()
	dir, owl := filepath.Join(outer, "characters"), filepath.Join(outer, "elsewhere")
	write := func(name, data string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		os.Remove(name)
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	write(filepath.Join(owl, "persona.md"), "An owl.")
	write(filepath.Join(owl, "more", "night.md"), "The night is long.")
	write(filepath.Join(owl, "lore", "day.md"), "The day is short.")
	write(filepath.Join(outer, "secret.md"), "SECRET=1")
	write(filepath.Join(dir, "readme"), "")
	link(owl, filepath.Join(dir, "owl"))
	link("../more/night.md", filepath.Join(owl, "lore", "night.md"))
	fsys := Overlay(dir, characters.FS)
	if c, err := Load(fsys, "owl"); err != nil || passages(c) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	outside := filepath.Join(owl, "lore", "out.md")
	for _, to := range []string{"../../secret.md", filepath.Join(outer, "secret.md"), "nowhere.md", "../more"} {
		link(to, outside)
		if got := problems(t, fsys, "owl"); len(got) != 1 || !strings.HasSuffix(got[0].File, "out.md") {
			t.Errorf("%s: %v", to, got)
		} else if strings.Contains(to, "secret") != (got[0].Text == outsideFolder) {
			t.Errorf("%s: %v", to, got)
		}
	}
	os.Remove(outside)
	os.RemoveAll(filepath.Join(owl, "lore"))
	link(outer, filepath.Join(owl, "lore"))
	if got := problems(t, fsys, "owl"); len(got) != 1 || got[0].Text != outsideFolder {
		t.Errorf("%v", got)
	}
}
