package card

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const least = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Least","extensions":{}}}`

// cards returns the cards and lorebooks in testdata.
func cards(t testing.TB) [][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*/*.json")
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

// settles checks what holds for everything that Read accepts. It becomes a folder, or is refused, and becomes a card again.
func settles(t *testing.T, data []byte) {
	c, book, err := Read(data)
	if (c == nil) == (book == nil) && err == nil || err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Fatalf("%v %v %v", c, book, err)
	}
	if book != nil {
		folder, err := book.Folder("x")
		if err != nil {
			t.Fatal(err)
		}
		if _, wrong := ParseBook("x", folder.Files["lorebooks/x.toml"]); len(wrong) > 0 {
			t.Fatal(wrong)
		}
	}
	if c == nil {
		return
	}
	folder, err := c.Folder(FolderOptions{Source: "x", Budgets: []Budget{{Mode: "text", Total: 9000, Character: 100}}})
	if err != nil {
		return
	}
	files := fstest.MapFS{}
	for name, body := range folder.Files {
		files[name] = &fstest.MapFile{Data: body}
	}
	for name, body := range folder.Files {
		if strings.HasPrefix(name, "lorebooks/") {
			if _, wrong := ParseBook("x", body); len(wrong) > 0 {
				t.Fatalf("%+v\n%s", wrong, body)
			}
		}
	}
	out, _, err := Export(files, Character{Name: c.Name(), Texts: map[string]string{}}, 3, JSON)
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

// Read does not trust the sizes that an archive claims.
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

// Chunks that unpack to far more than their size are refused before they take memory. This holds where each is small enough, too.
func TestUnpackedSize(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(bytes.Repeat([]byte("A"), MaxBytes/2))
	z.Close()
	all := []chunk{{"tEXt", append([]byte("ccv3\x00"), `{"spec":"chara_card_v3","data":{"name":"x"}}`...)}}
	for i := range 3 {
		all = append(all, chunk{"zTXt", append(fmt.Appendf(nil, "%sf%d.png\x00\x00", assetPrefix, i), packed.Bytes()...)})
	}
	_, _, err := Read(join(append(all, chunk{"IEND", nil})))
	if err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Error(err)
	}
	entries := strings.Repeat(`{"keys":[]},`, maxObjects/2) + `{}`
	if _, _, err := Read([]byte(`{"name":"x","tags":[` + strings.Repeat("1,", maxValues) + `1]}`)); err == nil || !strings.Contains(err.Error(), "values; at most") {
		t.Errorf("too many values: %v", err)
	}
	if _, _, err := Read([]byte(`{"entries":[` + entries + `]}`)); err == nil || !strings.Contains(err.Error(), "split the lorebook") {
		t.Error(err)
	}
}

// An entry of SillyTavern keeps everything that it says, in a card and in world info.
func TestEntries(t *testing.T) {
	c, _, err := Read(readFile(t, "cards/04-v2-book.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := c.Book()
	want := Entry{
		ID: "0", Comment: "The mill", Keys: []string{"mill"}, Secondary: []string{"flour", "wheel"}, Logic: AndAll, Order: 10, Priority: new(5), Position: AtDepth, Depth: new(1),
		Role: User, ScanDepth: new(7), CaseSensitive: new(true), WholeWords: new(false), Match: []string{"scenario"}, NonRecursable: true, PreventRecursion: true, Probability: new(60),
		Groups: []string{"fire", "places"}, GroupWeight: new(40), GroupFirst: true, GroupScoring: new(true), Triggers: []string{"normal"}, Sticky: 2, Cooldown: 3, Delay: 4, Content: "The mill burned in spring.",
	}
	if d := cmp.Diff(want, b.Entries[0]); err != nil || d != "" {
		t.Error(err, d)
	}
	if !b.WholeWords || b.Recursive || *b.ScanDepth != 3 || b.TokenBudget != 500 || !b.Entries[1].Off || b.Entries[2].ID == "7" || b.Entries[3].Position != InOutlet || b.Entries[3].Outlet != "o" {
		t.Errorf("%+v", b)
	}

	_, world, err := Read(readFile(t, "lorebooks/world.json"))
	if err != nil {
		t.Fatal(err)
	}
	b = world.Book
	entries := []Entry{
		{ID: "2", Keys: []string{"gull"}, Constant: true, Off: true, Order: 50, Position: AfterExamples, Content: "Gulls."},
		{
			ID: "10", Comment: "light", Keys: []string{"lighthouse"}, Secondary: []string{"storm"}, Logic: NotAny, Order: 100, Position: AtDepth, Depth: new(4), Role: Assistant,
			DelayUntilRecursion: 2, Except: []string{"Bo"}, Content: "The lighthouse is dark.",
		},
	}
	if d := cmp.Diff(entries, b.Entries); err != nil || d != "" || !b.WholeWords || !b.Recursive {
		t.Error(err, d)
	}

	c, _, _ = Read(readFile(t, "cards/06-v3-decorators.json"))
	b, _, _ = c.Book()
	if !b.Entries[1].Regex || b.WholeWords || b.Entries[3].ID != "text-id" || b.Entries[3].Position != BeforeChar || *b.Entries[2].CaseSensitive != true {
		t.Errorf("%+v", b)
	}
}

// A card that is written in any format and version says the same when it is read again.
func TestEncode(t *testing.T) {
	image := join([]chunk{{"IHDR", make([]byte, 13)}, {"IEND", nil}})
	for _, data := range cards(t) {
		was, _, err := Read(data)
		if err != nil || was == nil {
			continue // a lorebook
		}
		was.Image = image
		for _, format := range []Format{JSON, PNG, CHARX} {
			for _, version := range []int{2, 3} {
				out, err := was.Encode(version, format)
				if err != nil {
					t.Fatal(err)
				}
				is, _, err := Read(out)
				if err != nil {
					t.Fatalf("%s as %s: %v", was.Name(), format, err)
				}
				if is.Version != version {
					t.Errorf("%s as %s has version %d, not %d", was.Name(), format, is.Version, version)
				}
				for _, f := range fields {
					if f.file != "" && is.Text(f.name) != was.Text(f.name) {
						t.Errorf("%s as %s: %s is %q", was.Name(), format, f.name, is.Text(f.name))
					}
				}
				before, _, _ := was.Book()
				after, _, _ := is.Book()
				if d := cmp.Diff(before, after); d != "" || !slices.Equal(was.Greetings(), is.Greetings()) {
					t.Errorf("%s as %s: %s", was.Name(), format, d)
				}
			}
		}
	}
}

// The table of fields reads what it writes.
func TestEntryRows(t *testing.T) {
	entries := []Entry{
		{ID: "1", Position: BeforeChar},
		{
			ID: "all", Comment: "c", Off: true, Keys: []string{"k, l"}, Secondary: []string{"s"}, Logic: NotAll, Constant: true, Order: -5, Priority: new(3),
			Position: AtDepth, Depth: new(0), Role: Assistant, ScanDepth: new(4), CaseSensitive: new(false), WholeWords: new(true),
			Match: []string{"description", "personality", "scenario", "depth"}, NonRecursable: true, PreventRecursion: true, DelayUntilRecursion: 2,
			Probability: new(0), Groups: []string{"g", "h"}, GroupWeight: new(7), GroupFirst: true, GroupScoring: new(true), IgnoreBudget: true,
			Sticky: 1, Cooldown: 2, Delay: 3, Content: "x",
		},
		{ID: "o", Position: InOutlet, Outlet: "tavern"},
	}
	for _, want := range entries {
		if got := entryOf(entryIn(want, nil, nil), inCard, &unsupported{}); cmp.Diff(want, got, cmpopts.EquateEmpty()) != "" {
			t.Error(cmp.Diff(want, got, cmpopts.EquateEmpty()))
		}
	}
}

// An entry at a position that this package does not know is off.
func TestUnknownPosition(t *testing.T) {
	var missing unsupported
	e := entryOf(object{"extensions": raw(object{"position": raw(8)}), "position": raw("before_char")}, inCard, &missing)
	if !e.Off || e.Position != BeforeChar || len(missing.lines()) != 1 {
		t.Errorf("%+v %q", e, missing.lines())
	}
}

// The main icon of a card is its picture, from the archive or from the card, and nothing is fetched.
func TestIcon(t *testing.T) {
	for uri, want := range map[string]string{
		"embeded://a.png": "A", "data:image/png;base64,Qg==": "B", "ccdefault:": "P", "https://example.org/x.png": "P", "embeded://b.png": "P", "data:image/png,x": "P", "file:///etc/passwd": "P", "": "P",
	} {
		c := &Card{data: object{"name": raw("x"), "assets": raw([]map[string]string{{"type": "icon", "name": "main", "uri": uri}})}, Files: map[string][]byte{"a.png": []byte("A")}, Image: []byte("P")}
		f, err := c.Folder(FolderOptions{})
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
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Read reads compressed text chunks like plain ones.
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
