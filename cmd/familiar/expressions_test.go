package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packOf makes a pack of files. drawing makes their bytes.
func packOf(t *testing.T, files ...[2]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		picture, method := drawing(t, f[0], []byte(f[1])), zip.Store
		if len(picture) > 100<<10 { // a compressor for each of 10,000 files takes seconds
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: f[0], Method: method})
		if err == nil {
			_, err = w.Write(picture)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// faces lists the pictures of a character's moods.
func (s *atShelf) faces(id string) string {
	files, _ := fs.Glob(os.DirFS(filepath.Join(s.dir, "characters", id)), "expressions/*")
	return strings.Join(files, " ")
}

// A pack of pictures goes to the character after which it is named, or to a named one. Nothing is written over unless that is asked for.
func TestImportPack(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put("characters/fox/persona.md", []byte("You are a fox."))
	s.put("fox.zip", packOf(t, [2]string{"Fox/JOY-1.PNG", "30x40"}, [2]string{"Fox/anger.jpg", "30x40"}, [2]string{"Fox/smile.png", "9x9"}, [2]string{"__MACOSX/Fox/._JOY-1.PNG", "x"},
		[2]string{"Fox/owl.png", "9x9"}, [2]string{"readme.txt", "hello"}, [2]string{"old/joy-1.png", "9x9"}, [2]string{"sad\u202egnp.png", "9x9"}, [2]string{"grief.webp", "9x9"}))
	if code, out := s.run("import", "fox.zip"); code != exitUsage || !strings.Contains(out, `"grief.webp" cannot be shown`) || s.faces("fox") != "" {
		t.Errorf("%d %s", code, out)
	}
	s.put("fox.zip", packOf(t, [2]string{"Fox/JOY-1.PNG", "30x40"}, [2]string{"Fox/anger.jpg", "30x40"}, [2]string{"Fox/smile.png", "9x9"}, [2]string{"__MACOSX/Fox/._JOY-1.PNG", "x"},
		[2]string{"Fox/owl.png", "9x9"}, [2]string{"readme.txt", "hello"}, [2]string{"old/joy-1.png", "9x9"}, [2]string{"sad\u202egnp.png", "9x9"}))
	out := s.does("import", "fox.zip")
	for _, want := range []string{"fox has 3 pictures of its moods", `"owl.png" is left out: it is not named after a mood`, `"readme.txt" is left out`, `"joy-1.png" is left out: it is there twice`, `"sad\u202egnp.png" is left out`} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing about %q in\n%s", want, out)
		}
	}
	if got := s.faces("fox"); got != "expressions/anger.jpeg expressions/joy-1.png expressions/smile.png" {
		t.Error(got)
	}
	if out := strings.Join(strings.Fields(s.does("--help")), " "); !strings.Contains(out, "or add a lorebook or pictures of moods to a character") {
		t.Error(out)
	}
	s.put("characters/fox/lorebooks/note.txt", []byte("no picture"))
	s.put("Sprites/Fox/joy.png", drawing(t, "joy.png", []byte("30x40")))
	s.put("Sprites/Fox/.DS_Store", []byte("x"))
	s.does("import", "Sprites/Fox", "--force")
	if got := s.faces("fox"); got != "expressions/joy.png" {
		t.Error(got)
	}
	large := image.NewNRGBA(image.Rect(0, 0, 512, 768))
	rand.NewChaCha8([32]byte{}).Read(large.Pix)
	var b bytes.Buffer
	if err := png.Encode(&b, large); err != nil {
		t.Fatal(err)
	}
	s.put("Sprites/Fox/joy.png", b.Bytes())
	s.does("import", "Sprites/Fox", "--force")
	if info, err := os.Stat(filepath.Join(s.dir, "characters/fox/expressions/joy.png")); err != nil || info.Size() > 256<<10 || b.Len() < 1<<20 {
		t.Errorf("%d bytes become %v, %v", b.Len(), info, err)
	}
	s.put("more.zip", packOf(t, [2]string{"neutral.png", "30x40"}))
	if err := os.Mkdir(filepath.Join(s.dir, "nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.put("linked/sad.png", nil)
	if os.Symlink("sad.png", filepath.Join(s.dir, "linked/joy.png")) == nil { // not every system has links
		if code, out := s.run("import", "linked"); code != exitUsage || !strings.Contains(out, "joy.png is not a plain file") {
			t.Errorf("%d %s", code, out)
		}
	}
	for args, want := range map[string]string{"nothing": "has no pictures that are named after moods", "more.zip": "name another with --card", "more.zip --card fox": "is there already", "more.zip --card sage": "no character's folder", "more.zip --card ../fox": "is no name of a folder", "more.zip --card _default": "is no name of a folder", "characters/fox/lorebooks": "has no pictures that are named after moods"} {
		if code, out := s.run(append([]string{"import"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s", args, code, out)
		}
	}
	s.does("import", "more.zip", "--card", "fox", "--force")
	if got := s.faces("fox"); got != "expressions/neutral.png" {
		t.Error(got)
	}
	left, _ := filepath.Glob(filepath.Join(s.dir, "characters/.*"))
	inside, _ := filepath.Glob(filepath.Join(s.dir, "characters/fox/.*"))
	if len(left)+len(inside) > 0 {
		t.Errorf("left over: %v %v", left, inside)
	}
}

// A pack with anything that no pack needs is refused as a whole, with a reason, and nothing is written.
func TestHostilePacks(t *testing.T) {
	t.Parallel()
	noise := func(n int) string {
		return fmt.Sprintf("bytes %q", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00", n))
	}
	many := make([][2]string, 10_000)
	for i := range many {
		many[i] = [2]string{fmt.Sprintf("joy-%d.png", i), "x"}
	}
	pictures := make([][2]string, 201)
	for i := range pictures {
		pictures[i] = [2]string{fmt.Sprintf("joy-%d.png", i), "2x2"}
	}
	bomb := make([][2]string, 60)
	for i := range bomb {
		bomb[i] = [2]string{fmt.Sprintf("joy-%d.bin", i), noise(220 << 10)}
	}
	link := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "joy.png"}
		h.SetMode(fs.ModeSymlink | 0o777)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte("/etc/passwd"))
		}
		if err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}()
	for name, c := range map[string]struct {
		pack []byte
		want string
	}{
		"out of the folder": {packOf(t, [2]string{"../joy.png", "9x9"}), "leads out of its folder"},
		"at the root":       {packOf(t, [2]string{"/joy.png", "9x9"}), "leads out of its folder"},
		"link":              {link, "not a plain file"},
		"10,000 files":      {packOf(t, many...), "10000 files"},
		"bomb":              {packOf(t, bomb...), "12 MiB"},
		"too many pictures": {packOf(t, pictures...), "is one too many"},
		"web page":          {packOf(t, [2]string{"joy.png", "<html><script>"}, [2]string{"anger.png", "9x9"}), `"joy.png" cannot be shown: not a PNG`},
		"drawing":           {packOf(t, [2]string{"joy.png", "<svg xmlns='http://www.w3.org/2000/svg'/>"}), "cannot be shown"},
		"moving":            {packOf(t, [2]string{"joy.png", "bytes \"GIF89a\\x01\\x00\\x01\\x00\\x80\\x00\\x00\\xff\\xff\\xff\\x00\\x00\\x00,\\x00\\x00\\x00\\x00\\x01\\x00\\x01\\x00\\x00\\x02\\x02D\\x01\\x00;\""}), "cannot be shown"},
		"large in the head": {packOf(t, [2]string{"joy.png", "claims 60000x60000"}), "too large when decoded"},
		"cut":               {packOf(t, [2]string{"joy.png", noise(10)}), "cannot be decoded"},
		"large":             {packOf(t, [2]string{"joy.png", noise(300 << 10)}), "cannot be decoded"},
		"nothing":           {packOf(t, [2]string{"owl.png", "9x9"}), "no pictures that are named after moods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			s.put("characters/fox/persona.md", []byte("You are a fox."))
			s.put("fox.zip", c.pack)
			code, out := s.run("import", "fox.zip")
			if code != exitUsage || !strings.Contains(out, c.want) {
				t.Errorf("%d, want %q in\n%.500s", code, c.want, out)
			}
			if all, _ := filepath.Glob(filepath.Join(s.dir, "characters/*/*")); len(all) != 1 {
				t.Errorf("written: %v", all)
			}
		})
	}
}

// A card's own pictures of moods come along. Those that cannot be shown are named and left out, and the card comes back as it was.
func TestImportCardWithMoods(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	data := "data:image/png;base64," + base64.StdEncoding.EncodeToString(drawing(t, "x.png", []byte("8x8")))
	asset := func(name, uri string) string {
		return fmt.Sprintf(`{"type": "emotion", "name": %q, "ext": "png", "uri": %q}`, name, uri)
	}
	assets := []string{asset("happy", "embeded://a/1.png"), asset("anger", data), asset("fear", "embeded://a/gone.png"), asset("love", "https://example.org/love.png"), asset("pride", "embeded://a/page.png"),
		asset("../../joy", "embeded://a/1.png"), asset("wings", "embeded://a/1.png")}
	card := `{"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Fox", "description": "You are a fox.", "first_mes": "", "assets": [` + strings.Join(assets, ", ") + `]}}`
	whole := packOf(t, [2]string{"card.json", card}, [2]string{"a/1.png", "9x9"}, [2]string{"a/page.png", "<html>"})
	s.put("fox.charx", whole)
	out := s.does("import", "fox.charx")
	for _, want := range []string{"2 pictures of moods → expressions/", `"fear": its file a/gone.png is not in the archive`, `"love": it is at https://example.org`, `"pride" cannot be shown`, `"../../joy" is left out`, `"wings" is left out`} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing about %q in\n%s", want, out)
		}
	}
	if got := s.faces("fox"); got != "expressions/anger.png expressions/happy.png" {
		t.Error(got)
	}
	s.does("export", "--card", "fox", "back.charx")
	if back := s.read("back.charx"); !bytes.Equal(back, whole) {
		t.Error("the card does not come back")
	}
	if out := s.does("character", "check", "fox"); strings.Contains(out, "expressions") {
		t.Error(out)
	}
	s.put("characters/fox/expressions/wings.png", drawing(t, "x.png", []byte("8x8")))
	s.put("characters/fox/expressions/joy.png", []byte("<html>"))
	s.put("characters/fox/expressions/love.png", slices.Concat(drawing(t, "x.png", []byte("8x8")), make([]byte, 300<<10)))
	out = s.does("character", "check", "fox")
	for _, want := range []string{"wings.png: is not named after a mood", "joy.png: is not a PNG, JPEG or WebP", "love.png: is larger than 256 KiB"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing about %q in\n%s", want, out)
		}
	}
}
