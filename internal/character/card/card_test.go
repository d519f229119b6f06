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
