package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// atShelf is the program beside an operator's directory.
type atShelf struct {
	*testing.T
	dir string
}

func newShelf(t *testing.T) *atShelf { return &atShelf{T: t, dir: t.TempDir()} }

// run runs a command and returns its exit code and all that it printed.
func (s *atShelf) run(args ...string) (int, string) {
	s.Helper()
	var out bytes.Buffer
	code := run(program{
		args: args, dir: s.dir, in: strings.NewReader(""), out: &out, err: &out, signals: make(chan os.Signal),
		env: func(string) (string, bool) { return "", false }, exit: func(int) { s.Error("the program left at once") },
	})
	return code, out.String()
}

// does runs a command that must succeed.
func (s *atShelf) does(args ...string) string {
	s.Helper()
	code, out := s.run(args...)
	if code != exitOK {
		s.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

func (s *atShelf) put(name string, data []byte) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		s.Fatal(err)
	}
	return path
}

func (s *atShelf) read(name string) []byte {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	return data
}

// values are all values of JSON by their places, as they are written.
func values(t *testing.T, data []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(at string, raw json.RawMessage)
	walk = func(at string, raw json.RawMessage) {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case bytes.HasPrefix(raw, []byte("{")) && json.Unmarshal(raw, &object) == nil:
			all[at] = "{}"
			for k, v := range object {
				walk(at+"/"+k, v)
			}
		case bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil:
			all[at] = fmt.Sprintf("[%d]", len(list))
			for i, v := range list {
				walk(fmt.Sprintf("%s/%d", at, i), v)
			}
		default:
			all[at] = string(raw)
		}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	walk("", whole)
	return all
}

// lacking returns the values of one JSON that another lacks, or has otherwise. Which specification it follows does not count.
func lacking(t *testing.T, was, is []byte) (all []string) {
	t.Helper()
	before, after := values(t, was), values(t, is)
	for at, v := range before {
		if at != "/spec" && at != "/spec_version" && after[at] != v {
			all = append(all, fmt.Sprintf("%s was %s, is %s", at, v, after[at]))
		}
	}
	return all
}

// Every card comes back as it was, field by field, from JSON, PNG and CHARX, in both versions.
func TestCardsComeBack(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../card/testdata/cards/*.json")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for n, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			image := drawn(30, 20)
			for i, form := range []struct {
				name string
				data []byte
				out  []string
			}{
				{"card.json", was, []string{"3.json", "2.json"}}, {"card.png", withChunks(image, textChunk("chara", []byte("{}")), textChunk("ccv3", was)), []string{"3.png", "2.png"}},
				{"card.charx", zipped(map[string][]byte{"card.json": was, "assets/icon/images/main.png": image, "assets/emotion/images/happy.png": image, "module.json": []byte("{}")}), []string{"3.charx"}},
			} {
				if i > 0 && i != 1+n%2 { // every card as JSON, and by turns as PNG and CHARX
					continue
				}
				id := fmt.Sprint("c", i)
				s.put(form.name, form.data)
				s.does("import", form.name, "--card", id)
				for _, out := range form.out {
					out = id + "-" + out
					args := []string{"export", "--card", id, out}
					if strings.Contains(out, "-2.") {
						args = append(args, "--v2")
					}
					s.does(args...)
					is := s.read(out)
					if !strings.HasSuffix(out, ".json") { // what was exported can be imported
						s.does("import", out, "--card", "again", "--force")
						s.does("export", "--card", "again", "again.json", "--force")
						is = s.read("again.json")
					}
					if wrong := lacking(t, was, is); len(wrong) > 0 {
						t.Errorf("%s as %s:\n%s", form.name, out, strings.Join(wrong, "\n"))
					}
				}
			}
			s.does("config", "check")
		})
	}
}

// What a card says has its place in the folder, and what has none is named.
func TestImportReport(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct {
		says  []string
		files map[string]string
	}{
		"03-v2-full": {
			[]string{"description → persona.md", "mes_example → examples.md", "first_mes and alternate_greetings → greetings/ (3)", "extensions.world", "extensions.chub", "custom_field", "creator_notes", "It has 3 greetings", "{{isodate}} changes with every turn"},
			map[string]string{"persona.md": "Marta mends clocks.", "system.md": "{{original}}", "post_history.md": "Stay quiet", "greetings/0.md": "The bell rings.", "greetings/2.md": "Come in, {{user}}.", "depth_prompt.md": "listens", "character.toml": "depth = 2\nrole = 'assistant'"},
		},
		"04-v2-book": {
			[]string{"character_book → lorebooks/card.toml (4 entries)", "scripts are never run", "vectorized", "creator's notes"},
			map[string]string{"lorebooks/card.toml": "logic = 'and_all'"},
		},
		"05-v3-full":           {[]string{"nickname", "group_only_greetings → greetings/group/ (2)", "assets: 2", "extensions.risuai", "creator_notes_multilingual"}, map[string]string{"character.toml": "nickname = 'Oda'", "greetings/group/1.md": "Crew?"}},
		"06-v3-decorators":     {[]string{"the decorator @@risu_only", "the decorator @@instruct_depth", "the decorator @@reverse_depth", "the decorator @@is_user_icon"}, map[string]string{"lorebooks/card.toml": "regex = true"}},
		"07-regex-scripts":     {[]string{"rewrites.toml (4)", "what people write is not rewritten", "Discord shows HTML"}, map[string]string{"rewrites.toml": `on = ['history', 'lore']`, "greetings/1.md": "Only an alternate."}},
		"08-assets":            {[]string{"is not in the archive", "assets: "}, nil},
		"09-macros":            {[]string{"variables last for one turn: {{getvar}}"}, nil},
		"11-wrong-types":       {[]string{"description: it is no text", "the card has no description"}, map[string]string{"persona.md": "You are {{char}}.", "lorebooks/card.toml": "keys = ['mill', 'wheel']"}},
		"12-newer":             {[]string{"newer than 3.0", "voice: no field of a specification", "future: it is beside the card"}, nil},
		"10-scripts-and-signs": {[]string{"雪女 Yuki", "characters/yuki"}, nil},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			data, err := os.ReadFile("../../card/testdata/cards/" + file + ".json")
			if err != nil {
				t.Fatal(err)
			}
			s.put("card.json", data)
			out := s.does("import", "card.json")
			for _, want := range c.says {
				if !strings.Contains(out, want) {
					t.Errorf("nothing about %q in\n%s", want, out)
				}
			}
			made, _ := filepath.Glob(filepath.Join(s.dir, "characters/*"))
			for name, want := range c.files {
				if got, err := os.ReadFile(filepath.Join(made[0], name)); err != nil || !strings.Contains(string(got), want) {
					t.Errorf("%s: %v\n%s", name, err, got)
				}
			}
		})
	}
}

// Nothing is written over, unless that is asked for, and what was changed by hand is exported.
func TestImportTwice(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	card, _ := os.ReadFile("../../card/testdata/cards/03-v2-full.json")
	s.put("card.json", card)
	s.does("import", "card.json")
	s.put("characters/marta/persona.md", []byte("Marta sells clocks."))
	s.put("characters/marta/greetings/3.md", []byte("New."))
	if code, out := s.run("import", "card.json"); code != exitUsage || !strings.Contains(out, "is there already") || !strings.Contains(out, "--force") {
		t.Errorf("%d %s", code, out)
	}
	is := values(t, []byte(s.does("export", "--card", "marta")))
	want := map[string]string{"/data/description": `"Marta sells clocks."`, "/data/alternate_greetings/2": `"New."`, "/data/scenario": `"A shop in {{isodate}}."`, "/description": `"Marta sells clocks."`, "/first_mes": `"The bell rings."`}
	for at, v := range want {
		if is[at] != v {
			t.Errorf("%s is %s", at, is[at])
		}
	}
	const entry = "[[entry]]\nid = \"x\"\nkeys = [\"clock\"]\ncontent = \"Tick.\"\nsticky = 3\nposition = \"at_depth\"\nrole = \"user\"\norder = 7\n"
	s.put("characters/marta/lorebooks/own.toml", []byte(entry))
	s.put("characters/marta/rewrites.toml", []byte("[[script]]\nfind = \"x\"\nreplace = \"\"\non = [\"reply\"]\n"))
	if out := s.does("export", "--card", "marta", "own.json"); !strings.Contains(out, "rewrites.toml is not as it came") {
		t.Error(out)
	}
	s.does("import", "own.json", "--card", "other")
	if got := string(s.read("characters/other/lorebooks/card.toml")); !strings.Contains(got, "sticky = 3") || !strings.Contains(got, "role = 'user'") || !strings.Contains(got, "order = 7") {
		t.Error(got)
	}
	s.does("import", "card.json", "--force")
	if got := string(s.read("characters/marta/persona.md")); !strings.HasPrefix(got, "Marta mends") {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "characters/marta/greetings/3.md")); err == nil {
		t.Error("a file of the old folder is left")
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "characters/.*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if out := s.does("export", "--card", "sage"); !strings.Contains(out, `"name": "Sage"`) { // one that never was a card
		t.Error(out)
	}
}

// An entry that was changed is changed in the card, and the others are as they came.
func TestChangedEntry(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	was, _ := os.ReadFile("../../card/testdata/cards/04-v2-book.json")
	s.put("card.json", was)
	s.does("import", "card.json")
	const file = "characters/ilse/lorebooks/card.toml"
	s.put(file, bytes.Replace(s.read(file), []byte("The bridge is new."), []byte("The bridge is old."), 1))
	changed := lacking(t, was, []byte(s.does("export", "--card", "ilse", "--v2")))
	if len(changed) != 1 || !strings.Contains(changed[0], "/entries/1/content was \"The bridge is new.\"") {
		for _, line := range changed {
			t.Error(line)
		}
	}
}

func TestImportLorebook(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, name := range []string{"world", "v3"} {
		data, err := os.ReadFile("../../card/testdata/lorebooks/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		s.put(name+".json", data)
		if code, out := s.run("import", name+".json"); code != exitUsage || !strings.Contains(out, "--card") {
			t.Errorf("%d %s", code, out)
		}
		if code, out := s.run("import", name+".json", "--card", "sage"); code != exitUsage || !strings.Contains(out, "there is no character's folder") {
			t.Errorf("%d %s", code, out)
		}
		s.put("characters/moss/persona.md", []byte("Moss."))
		s.does("import", name+".json", "--card", "moss")
		if code, _ := s.run("import", name+".json", "--card", "moss"); code != exitUsage {
			t.Error("written over")
		}
		s.does("import", name+".json", "--card", "_default")
		if d := cmp.Diff([]string(nil), lacking(t, data, s.read("characters/moss/card/lorebooks/"+name+".json"))); d != "" && name == "v3" {
			t.Error(d)
		}
	}
	for name, want := range map[string]string{"world": "logic = 'not_any'", "v3": "@@depth 2"} {
		if got := string(s.read("characters/moss/lorebooks/" + name + ".toml")); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	s.does("config", "check")
}

// hostile are files that are refused, each with what is said of it.
func hostile(t *testing.T) map[string][]byte {
	t.Helper()
	least, err := os.ReadFile("../../card/testdata/cards/02-v2-least.json")
	if err != nil {
		t.Fatal(err)
	}
	image := drawn(4, 4)
	lying := withChunks(image, textChunk("chara", least))
	binary.BigEndian.PutUint32(lying[8:], 0xfffffff0)
	book := strings.Replace(string(least), `"extensions": {}`, `"extensions": {}, "character_book": {"entries": [`+strings.Repeat(`{"keys":["a"],"content":"b"},`, 20_001)+`{}]}`, 1)
	deep := strings.Replace(string(least), `"extensions": {}`, `"extensions": {"x": `+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`, 1)
	return map[string][]byte{
		"nested more than":          []byte(deep),
		"at most 20000 are read":    []byte(book),
		"cut off within":            withChunks(image, textChunk("chara", least))[:40],
		"says that it has":          lying,
		"holds no card":             image,
		"not base64":                withChunks(image, chunkOf("tEXt", []byte("chara\x00!!!"))),
		"the file is empty":         nil,
		"neither a PNG":             []byte("hello"),
		"is broken at byte":         []byte(`{"spec": "chara_card_v2", "data": {`),
		"not UTF-8":                 []byte("{\"name\": \"\xff\"}"),
		"has no name":               []byte(`{"spec":"chara_card_v2","data":{"name":" "}}`),
		"is not known":              []byte(`{"spec":"chara_card_v9","data":{}}`),
		"has no data":               []byte(`{"spec":"chara_card_v2","data":[]}`),
		"neither a character card":  []byte(`{"a":1}`),
		"unpacks to more than is":   withChunks(image, chunkOf("zTXt", append([]byte("chara\x00\x00"), deflated(33<<20)...))),
		"leads out of its folder":   zipped(map[string][]byte{"card.json": least, "../evil.txt": []byte("x")}),
		`file "/etc/passwd"`:        zipped(map[string][]byte{"card.json": least, "/etc/passwd": []byte("x")}),
		`signs that names of files`: zipped(map[string][]byte{"card.json": least, `assets\..\..\evil`: []byte("x")}),
		"not a plain file":          linked(least),
		"no card.json":              zipped(map[string][]byte{"other.json": least}),
		"archive cannot be read":    []byte("PK\x03\x04 and then nothing"),
		"files unpack to more than": zipped(map[string][]byte{"card.json": least, "bomb.bin": make([]byte, 33<<20)}),
		"has 3000 KiB":              []byte(strings.Replace(string(least), `"description": ""`, `"description": "`+strings.Repeat("x", 3000<<10)+`"`, 1)),
		"no card: cards come as":    []byte("\xff\xd8\xff\xe0 a photograph"),
		"lorebook of NovelAI":       []byte(`{"lorebookVersion": 4, "entries2": []}`),
	}
}

// A hostile file is refused with its cause, and leaves nothing behind, wherever it leads.
func TestHostileCards(t *testing.T) {
	t.Parallel()
	for want, data := range hostile(t) {
		s := newShelf(t)
		s.put("in/card", data)
		code, out := s.run("import", "in/card", "--card", "x")
		if code != exitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %.300s", want, code, out)
		}
		left := 0
		filepath.WalkDir(s.dir, func(string, fs.DirEntry, error) error { left++; return nil })
		if left != 3 { // the directory, in, and the card
			t.Errorf("%s: something is left in %s", want, s.dir)
		}
	}
	s := newShelf(t)
	least, _ := os.ReadFile("../../card/testdata/cards/02-v2-least.json")
	s.put("card.json", least)
	for _, id := range []string{"../x", "/x", "a b", "_default", ".x", "X"} {
		if code, out := s.run("import", "card.json", "--card", id); code != exitUsage || !strings.Contains(out, "no name of a folder") {
			t.Errorf("%s: %d %s", id, code, out)
		}
	}
}

// A card with thousands of entries that make one another fire is a card.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	least, _ := os.ReadFile("../../card/testdata/cards/02-v2-least.json")
	var entries []string
	for i := range 3000 {
		entries = append(entries, fmt.Sprintf(`{"keys":["word%d"],"content":"word%d","enabled":true,"insertion_order":1,"extensions":{}}`, i, i+1))
	}
	s.put("card.json", []byte(strings.Replace(string(least), `"extensions": {}`, `"extensions": {}, "character_book": {"entries": [`+strings.Join(entries, ",")+`]}`, 1)))
	if out := s.does("import", "card.json"); !strings.Contains(out, "(3000 entries)") {
		t.Error(out)
	}
}

// The first of several chunks counts, and the file is kept as it came.
func TestDuplicateChunks(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	first, _ := os.ReadFile("../../card/testdata/cards/02-v2-least.json")
	second, _ := os.ReadFile("../../card/testdata/cards/01-v1.json")
	s.put("card.png", withChunks(drawn(60, 30), chunkOf("iTXt", append([]byte("chara\x00\x00\x00\x00\x00"), first...)), textChunk("chara", second), chunkOf("tEXt", []byte("Comment\x00keep me"))))
	out := s.does("import", "card.png")
	if !strings.Contains(out, "2 chunks called chara") || !strings.Contains(out, "the character least") || !strings.Contains(out, "avatar.png") {
		t.Error(out)
	}
	if !bytes.Equal(s.read("characters/least/card/card.png"), s.read("card.png")) {
		t.Error("the file is not as it came")
	}
	avatar := s.read("characters/least/avatar.png")
	if c, err := png.DecodeConfig(bytes.NewReader(avatar)); err != nil || c.Width != 60 || c.Height != 30 || bytes.Contains(avatar, []byte("keep me")) {
		t.Errorf("%+v %v", c, err)
	}
}

// drawn is a PNG of a size.
func drawn(width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width {
		img.Set(i, i%height, color.RGBA{uint8(i), 100, 200, 255})
	}
	var out bytes.Buffer
	png.Encode(&out, img)
	return out.Bytes()
}

func chunkOf(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func textChunk(keyword string, words []byte) []byte {
	return chunkOf("tEXt", base64.StdEncoding.AppendEncode([]byte(keyword+"\x00"), words))
}

// withChunks puts chunks after the first of a PNG.
func withChunks(image []byte, chunks ...[]byte) []byte {
	const behindHeader = 8 + 25
	return bytes.Join([][]byte{image[:behindHeader], bytes.Join(chunks, nil), image[behindHeader:]}, nil)
}

func zipped(files map[string][]byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for name, body := range files {
		w, _ := z.Create(name)
		w.Write(body)
	}
	z.Close()
	return out.Bytes()
}

// linked is an archive with a symbolic link.
func linked(card []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, _ := z.Create("card.json")
	w.Write(card)
	h := &zip.FileHeader{Name: "assets"}
	h.SetMode(fs.ModeSymlink | 0o777)
	w, _ = z.CreateHeader(h)
	w.Write([]byte("/etc"))
	z.Close()
	return out.Bytes()
}

// deflated is so many zero bytes, packed.
func deflated(n int) []byte {
	var out bytes.Buffer
	z, _ := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	z.Write(make([]byte, n))
	z.Close()
	return out.Bytes()
}
