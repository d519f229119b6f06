package card

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/character/lorebook"
)

const least = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Least","extensions":{}}}`

// cards are those that the command is tested with.
func cards(t testing.TB) [][]byte {
	t.Helper()
	names, err := filepath.Glob("../../../cmd/familiar/testdata/*/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no cards", err)
	}
	var all [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// settles reports what holds for everything that Read takes: a folder can be made of it, or is refused, and comes back as a card.
func settles(t *testing.T, data []byte) {
	c, book, err := Read(data)
	if (c == nil) == (book == nil) && err == nil || err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Fatalf("%v %v %v", c, book, err)
	}
	if book != nil {
		if _, _, _, err := Standalone(book, "x"); err != nil && !strings.Contains(err.Error(), "entries") {
			t.Fatal(err)
		}
	}
	if c == nil {
		return
	}
	folder, err := c.Folder(Options{From: "x", Rooms: []Room{{Mode: "text", Total: 9000, Character: 100}}})
	if err != nil {
		return
	}
	files := fstest.MapFS{}
	for name, body := range folder.Files {
		files[name] = &fstest.MapFile{Data: body}
	}
	for name, body := range folder.Files {
		if strings.HasPrefix(name, "lorebooks/") {
			if _, wrong := lorebook.Parse("x", body); len(wrong) > 0 {
				t.Fatalf("%+v\n%s", wrong, body)
			}
		}
	}
	out, _, err := Export(files, Now{Name: c.Name(), Texts: map[string]string{}}, 3, JSON)
	if err != nil || !json.Valid(out) {
		t.Fatal(err)
	}
}

func TestReadAnything(t *testing.T) {
	for _, data := range cards(t) {
		settles(t, data)
		settles(t, data[:len(data)/2])
		settles(t, bytes.ReplaceAll(data, []byte(`""`), []byte(`{}`)))
		settles(t, bytes.ReplaceAll(data, []byte(`":`), []byte(`":[`)))
	}
}

func FuzzJSON(f *testing.F) {
	for _, data := range cards(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { settles(t, data) })
}

func FuzzPNG(f *testing.F) {
	image := join([]chunk{{"IHDR", make([]byte, 13)}, {"IEND", nil}})
	for _, data := range cards(f) {
		whole, err := embed(image, chunkText{"chara", data}, chunkText{assetPrefix + "a/b.png", image})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
	}
	f.Add(join([]chunk{{"zTXt", []byte("chara\x00\x00x")}, {"iTXt", []byte("chara\x00\x01\x00\x00\x00x")}, {"IEND", nil}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		settles(t, append([]byte(pngMagic), bytes.TrimPrefix(data, []byte(pngMagic))...))
	})
}

func FuzzCHARX(f *testing.F) {
	for _, data := range cards(f) {
		whole, err := writeCHARX(data, map[string][]byte{"assets/x.png": []byte("x")})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, data []byte) { settles(t, data) })
}

// Whatever an archive says of its files, none is read beyond what a card may have.
func TestLyingArchive(t *testing.T) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "card.json", Method: zip.Store, CompressedSize64: 5, UncompressedSize64: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(least[:5]))
	z.Close()
	if _, _, err := Read(out.Bytes()); err == nil {
		t.Error("it was read")
	}
	var twice bytes.Buffer
	z = zip.NewWriter(&twice)
	for range 2 {
		w, _ := z.Create("card.json")
		w.Write([]byte(least))
	}
	z.Close()
	if _, _, err := Read(twice.Bytes()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
}

// An entry of SillyTavern's keeps all that it says, in a card and in world info.
func TestEntries(t *testing.T) {
	ptr := func(n int) *int { return &n }
	truth := func(b bool) *bool { return &b }
	c, _, err := Read(readFile(t, "cards/04-v2-book.json"))
	if err != nil {
		t.Fatal(err)
	}
	top, _ := c.Data.object("character_book")
	b, _, err := book(top, false)
	want := lorebook.Entry{
		ID: "0", Comment: "The mill", Keys: []string{"mill"}, Secondary: []string{"flour", "wheel"}, Logic: lorebook.AndAll, Order: 10, Priority: ptr(5), Position: lorebook.AtDepth, Depth: ptr(1),
		Role: lorebook.User, ScanDepth: ptr(7), CaseSensitive: truth(true), WholeWords: truth(false), Match: []string{"scenario"}, NonRecursable: true, PreventRecursion: true, Probability: ptr(60),
		Groups: []string{"fire", "places"}, GroupWeight: ptr(40), GroupFirst: true, GroupScoring: truth(true), Sticky: 2, Cooldown: 3, Delay: 4, Content: "The mill burned in spring.",
	}
	if d := cmp.Diff(want, b.Entries[0]); err != nil || d != "" {
		t.Error(err, d)
	}
	if !b.WholeWords || b.Recursive || *b.ScanDepth != 3 || b.TokenBudget != 500 || !b.Entries[1].Off || b.Entries[2].ID == "7" || b.Entries[3].Position != lorebook.InOutlet || b.Entries[3].Outlet != "o" {
		t.Errorf("%+v", b)
	}

	_, world, err := Read(readFile(t, "lorebooks/world.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, _, err = world.Book()
	entries := []lorebook.Entry{
		{ID: "2", Keys: []string{"gull"}, Constant: true, Off: true, Order: 50, Position: lorebook.AfterExamples, Content: "Gulls."},
		{
			ID: "10", Comment: "light", Keys: []string{"lighthouse"}, Secondary: []string{"storm"}, Logic: lorebook.NotAny, Order: 100, Position: lorebook.AtDepth, Depth: ptr(4), Role: lorebook.Assistant,
			DelayUntilRecursion: 2, Except: []string{"Bo"}, Content: "The lighthouse is dark.",
		},
	}
	if d := cmp.Diff(entries, b.Entries); err != nil || d != "" || !b.WholeWords || !b.Recursive {
		t.Error(err, d)
	}

	c, _, _ = Read(readFile(t, "cards/06-v3-decorators.json"))
	top, _ = c.Data.object("character_book")
	b, _, _ = book(top, false)
	if !b.Entries[1].Regex || b.WholeWords || b.Entries[3].ID != "text-id" || b.Entries[3].Position != lorebook.BeforeChar || *b.Entries[2].CaseSensitive != true {
		t.Errorf("%+v", b)
	}
}

// The main icon of a card is its picture, be it in the archive or in the card, and none is fetched.
func TestIcon(t *testing.T) {
	for uri, want := range map[string]string{
		"embeded://a.png": "A", "data:image/png;base64,Qg==": "B", "ccdefault:": "P", "https://example.org/x.png": "P", "embeded://b.png": "P", "data:image/png,x": "P", "file:///etc/passwd": "P", "": "P",
	} {
		c := &Card{Data: object{"name": raw("x"), "assets": raw([]map[string]string{{"type": "icon", "name": "main", "uri": uri}})}, Files: map[string][]byte{"a.png": []byte("A")}, Image: []byte("P")}
		f, err := c.Folder(Options{})
		if err != nil || string(f.Icon) != want {
			t.Errorf("%s: %v %q", uri, err, f.Icon)
		}
		if odd := want == "P" && uri != "ccdefault:" && uri != ""; odd != strings.Contains(strings.Join(f.Report.Kept, "\n"), "the icon of the card") {
			t.Errorf("%s: %q", uri, f.Report.Kept)
		}
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../../cmd/familiar/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The compressed kinds of text chunks are read as the plain one is.
func TestChunkKinds(t *testing.T) {
	packed := deflate(t, []byte(least))
	for name, c := range map[string]chunk{
		"tEXt": {"tEXt", []byte("Chara\x00" + least)}, "zTXt": {"zTXt", append([]byte("chara\x00\x00"), packed...)},
		"iTXt": {"iTXt", []byte("chara\x00\x00\x00en\x00x\x00" + least)}, "iTXt packed": {"iTXt", append([]byte("chara\x00\x01\x00\x00\x00"), packed...)},
	} {
		got, _, err := Read(join([]chunk{{"IHDR", make([]byte, 13)}, c, {"IEND", nil}}))
		if err != nil || got.Name() != "Least" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func deflate(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
