package character

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"familiar/characters"
	"familiar/internal/context/turn"
)

var update = flag.Bool("update", false, "rewrite what the archives want")

// with returns the shipped defaults with some files.
func with(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	err := fs.WalkDir(characters.FS, defaultsID, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := characters.FS.ReadFile(name)
		fsys[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return fsys
}

// problems returns the problems that Load reports.
func problems(t *testing.T, fsys fs.FS, id string) []Problem {
	t.Helper()
	c, err := Load(fsys, id)
	if err == nil {
		t.Fatalf("%s was loaded", c.Name)
	}
	var invalid *Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
		t.Fatalf("error %#v is not an *Invalid with problems", err)
	}
	return invalid.Problems
}

func TestInvalid(t *testing.T) {
	archives, err := filepath.Glob("testdata/invalid/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range a.Files {
				files[f.Name] = string(f.Data)
			}
			want := files["want"]
			delete(files, "want")
			got := (&Invalid{problems(t, with(t, files), "owl")}).Error() + "\n"
			if *update {
				a.Files[len(a.Files)-1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got); go test -update rewrites it:\n%s", d)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	long := strings.Repeat("long ", maxFile/4)
	tests := []struct {
		name, file, data string
		want             Problem
	}{
		{"persona is not UTF-8", "owl/persona.md", "An owl.\nAn \xff owl.", Problem{File: "owl/persona.md", Line: 2, Column: 4, Text: "not UTF-8 text", Cure: "save the file as UTF-8"}},
		{"configuration is not UTF-8", "owl/character.toml", "name = \"\xff\"", Problem{File: "owl/character.toml", Line: 1, Column: 9, Text: "not UTF-8 text", Cure: "save the file as UTF-8"}},
		{"too large", "owl/persona.md", long, Problem{File: "owl/persona.md", Text: "cannot be read: larger than 256 KiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := with(t, map[string]string{"owl/persona.md": "An owl."})
			fsys[tt.file] = &fstest.MapFile{Data: []byte(tt.data)}
			if d := cmp.Diff([]Problem{tt.want}, problems(t, fsys, "owl")); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("a folder in place of the file", func(t *testing.T) {
		fsys := with(t, map[string]string{"owl/persona.md/x": ""})
		if p := problems(t, fsys, "owl")[0]; p.File != "owl/persona.md" || !strings.HasPrefix(p.Text, "cannot be read: ") {
			t.Error(p)
		}
	})
}

func TestDefaults(t *testing.T) {
	c, err := Load(with(t, map[string]string{"owl/persona.md": "An owl.\r\n"}), "owl")
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "Owl" || c.Persona != "An owl." || c.Mode != turn.Text || c.Window != 40 || c.Location != time.UTC {
		t.Errorf("got %+v", c)
	}
	budget := func(core, character, content, summary, recent, note, inject, attached, lorebook int) map[turn.Layer]int {
		return map[turn.Layer]int{
			turn.Core: core, turn.Character: character, turn.Content: content, turn.HistorySummary: summary,
			turn.RecentHistory: recent, turn.AuthorNote: note, turn.DepthInject: inject, turn.Attachments: attached, turn.Lorebook: lorebook,
		}
	}
	modes := map[turn.Mode]Limits{
		turn.FullRP:       {Total: 13000, Deadline: 30 * time.Second, Web: true, Layers: budget(400, 2000, 2000, 1000, 2000, 400, 400, 3000, 2000)},
		turn.Text:         {Total: 10000, Deadline: 24 * time.Second, Web: true, Layers: budget(400, 1200, 2000, 600, 1400, 300, 400, 3000, 1000)},
		turn.ImitateVoice: {Total: 3300, Deadline: 9 * time.Second, Layers: budget(300, 700, 0, 200, 900, 150, 100, 1000, 300)},
	}
	if d := cmp.Diff(modes, c.Modes); d != "" {
		t.Error(d)
	}
	web := Web{
		Enabled: true, Allow: []string{}, Deny: []string{}, DeniedTopics: []string{}, BlockRole: "user",
		BlockBytes: 8192, Queries: 2, Pages: 5, PerDomain: 2, PerMinute: 30, PerSession: 30, PerDay: 150, Trusted: map[string][]string{}, TrustedOnly: []string{}, Backends: []string{}, Deadline: 12 * time.Second,
	}
	if d := cmp.Diff(web, c.Web); d != "" {
		t.Error(d)
	}
}

func TestMerge(t *testing.T) {
	c, err := Load(with(t, map[string]string{
		"owl/persona.md":       "An owl.",
		"owl/modes/text.md":    "  \n",
		"owl/modes/full_rp.md": "Act.",
		"owl/character.toml": "\ufeff" + `
name = "Hoot"
aliases = ["owl"]
display_tz = "Europe/Berlin"
web.deny = ["example.net"]

[triggers]
patterns = ['(?i)^hey bird\b']

[model]
model = "large"
temperature = 1

[modes.text]
deadline = "1m30s"
layers = { content = 100, core = 300 }

[modes]
imitate_voice.web = true
`,
	}), "owl")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Names(); !cmp.Equal(got, []string{"Hoot", "owl"}) {
		t.Errorf("names %q", got)
	}
	if p := c.Patterns(); len(p) != 1 || !p[0].MatchString("Hey bird, are you there?") {
		t.Errorf("patterns %v", p)
	}
	if c.Location.String() != "Europe/Berlin" || c.Model != (Model{Name: "large", Temperature: 1}) || c.SideModel != (Model{}) {
		t.Errorf("got %+v", c)
	}
	if !cmp.Equal(c.Web.Deny, []string{"example.net"}) || !c.Web.Enabled || c.Web.Pages != 5 {
		t.Errorf("web %+v", c.Web)
	}
	text := c.Modes[turn.Text]
	if text.Deadline != 90*time.Second || text.Total != 10000 || text.Layers[turn.Content] != 100 || text.Layers[turn.Core] != 300 || text.Layers[turn.Character] != 1200 {
		t.Errorf("text mode %+v", text)
	}
	if voice := c.Modes[turn.ImitateVoice]; !voice.Web || voice.Total != 3300 {
		t.Errorf("voice mode %+v", voice)
	}
	if c.Instructions[turn.FullRP] != "Act." || !strings.HasPrefix(c.Instructions[turn.Text], "You are chatting.") {
		t.Errorf("instructions %q", c.Instructions)
	}
}

// TestDocs checks that a character's documentation sites replace the default ones.
func TestDocs(t *testing.T) {
	fsys := with(t, map[string]string{"owl/persona.md": "An owl."})
	defaults := fsys[defaultsID+"/"+configFile]
	defaults.Data = append(defaults.Data, "\n[[docs]]\nname = \"old\"\nurl = \"https://old.example.org/\"\nsearch = \"s?q={query}\"\n"...)
	load := func() (got []string) {
		t.Helper()
		c, err := Load(fsys, "owl")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Docs {
			got = append(got, d.Name+" "+d.Site.String()+" "+d.Search)
		}
		return got
	}
	if d := cmp.Diff([]string{"old https://old.example.org/ https://old.example.org/s?q={query}"}, load()); d != "" {
		t.Error(d)
	}
	fsys["owl/character.toml"] = &fstest.MapFile{Data: []byte(`
[[docs]]
name = "Colony"
url = "https://Docs.example.org/colony"
[[docs]]
name = "C++ 20"
url = "https://cpp.example.org"
search = "https://cpp.example.org/find/{query}"
`)}
	if d := cmp.Diff([]string{"Colony https://docs.example.org/colony/ ", "C++ 20 https://cpp.example.org/ https://cpp.example.org/find/{query}"}, load()); d != "" {
		t.Error(d)
	}
}

func TestNamesOff(t *testing.T) {
	c, err := Load(with(t, map[string]string{"owl/persona.md": "An owl.", "owl/character.toml": "triggers.names = false"}), "owl")
	if err != nil {
		t.Fatal(err)
	}
	if c.Names() != nil {
		t.Errorf("still answers to %q", c.Names())
	}
}

func TestDefaultsMustBeWhole(t *testing.T) {
	fsys := with(t, map[string]string{"owl/persona.md": "An owl."})
	name := defaultsID + "/" + configFile
	fsys[name].Data = []byte(strings.Replace(string(fsys[name].Data), "queries = 2", "", 1))
	want := []Problem{{File: name, Text: "must hold every key; missing: web.queries", Cure: "begin with the file as shipped"}}
	if d := cmp.Diff(want, problems(t, fsys, "owl")); d != "" {
		t.Error(d)
	}
	fsys[name].Data = []byte("[web]\nqueries = 2\n")
	if got := problems(t, fsys, "owl"); len(got) != 1 || !strings.HasPrefix(got[0].Text, "must hold every key; missing: ") || !strings.HasSuffix(got[0].Text, " more") {
		t.Errorf("%v", got)
	}
	delete(fsys, name)
	want = []Problem{{File: name, Text: "is missing", Cure: "every character needs one"}}
	if d := cmp.Diff(want, problems(t, fsys, "owl")); d != "" {
		t.Error(d)
	}
}

func TestIDs(t *testing.T) {
	fsys := with(t, map[string]string{"owl/persona.md": "An owl.", "crow/persona.md": "A crow.", ".git/x": "", "note.txt": ""})
	ids, err := List(fsys)
	if err != nil || !cmp.Equal(ids, []string{"crow", "owl"}) {
		t.Errorf("List: %q, %v", ids, err)
	}
	for _, id := range []string{"", ".", "..", "../owl", "/owl", "owl/", `..\owl`, "_default", ".git", "note.txt", "eagle"} {
		if p := problems(t, fsys, id); !strings.Contains(p[0].Text, "no character") {
			t.Errorf("%q: %v", id, p)
		}
	}
	if p := problems(t, fsys, "owle"); p[0].Cure != `did you mean "owl"?` {
		t.Error(p)
	}
}

func FuzzFile(f *testing.F) {
	data, err := characters.FS.ReadFile(defaultsID + "/" + configFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("a.b.c = 1\n[a]\nb = { c = [1, {d = 2}] }\n[[x.y]]")
	f.Add("[[docs]]\nname = 1\n[[docs]]\nurl.x = 2\n[docs.name]\n")
	f.Add("name.x = 1\nweb = [ {} ]\n\"\\u0000\" = 1\n'' = ''")
	f.Add("name = '''\nx''' # c\ndeadline = 1979-05-27T07:32:00Z")
	f.Fuzz(func(t *testing.T, toml string) {
		r := newReading()
		r.file("x", []byte(toml))
		r.check()
		for _, p := range r.problems {
			if p.Text == "" || p.File != "x" || p.Line < 1 || p.Column < 1 {
				t.Errorf("a problem without place or text: %+v", p)
			}
		}
	})
}

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

// shelfWith returns the ids of the characters that ship and of some others, in order.
func shelfWith(others ...string) []string {
	entries, err := fs.ReadDir(characters.FS, ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "_default" {
			others = append(others, e.Name())
		}
	}
	slices.Sort(others)
	return others
}

func TestOverlay(t *testing.T) {
	dir := onDisk(t, map[string]string{
		"owl/persona.md":         "An owl of the operator's.",
		"sage/persona.md":        "Another sage.",
		"_default/modes/text.md": "Write little.",
	})
	fsys := Overlay(dir, characters.FS)

	ids, err := List(fsys)
	if err != nil || !cmp.Equal(ids, shelfWith("owl")) {
		t.Errorf("List: %q, %v", ids, err)
	}
	sage, err := Load(fsys, "sage")
	if err != nil {
		t.Fatal(err)
	}
	// The operator's folder replaces the embedded one completely; _default is replaced file by file.
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
	if ids, err := List(fsys); err != nil || !cmp.Equal(ids, shelfWith()) {
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
	if p := problems(t, fsys, "penguin"); p[0].File != filepath.Join(dir, "penguin") || p[0].Cure != "there are: "+strings.Join(shelfWith("crow", "owl"), ", ") {
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

// TestOverlayThatCannotBeRead checks that an unreadable folder is not reported as a missing character.
func TestOverlayThatCannotBeRead(t *testing.T) {
	dir := onDisk(t, map[string]string{"characters": "This is a file."})
	shelf := filepath.Join(dir, "characters")
	_, err := Load(Overlay(shelf, characters.FS), "sage")
	want := filepath.Join(shelf, "sage") + ": cannot be read: not a directory"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
