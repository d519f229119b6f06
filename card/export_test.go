package card

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// unedited takes a card apart, and returns its folder and what the files of the folder say.
func unedited(t *testing.T, data []byte) (fstest.MapFS, Character) {
	t.Helper()
	c, _, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Folder(FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{}
	now := Character{Name: c.Name(), Nickname: oneName(c.Text("nickname")), Version: oneName(c.Text("character_version")), Texts: map[string]string{}}
	for name, body := range f.Files {
		folder[name] = &fstest.MapFile{Data: body}
		now.Texts[name] = string(body)
	}
	read := func(dir string) (texts []string) {
		for i := range maxGreetings {
			file := folder[path.Join(dir, string(rune('0'+i))+".md")]
			if file == nil {
				break
			}
			texts = append(texts, string(file.Data))
		}
		return texts
	}
	now.Greetings, now.GroupGreetings = read("greetings"), read("greetings/group")
	return folder, now
}

// A card that nobody edited comes back byte for byte in its own format.
func TestUnedited(t *testing.T) {
	cards := map[string][]byte{}
	for _, name := range []string{"01-v1", "02-v2-least", "03-v2-full", "04-v2-book", "05-v3-full", "06-v3-decorators", "07-regex-scripts", "08-assets", "09-macros", "12-newer"} {
		cards[name+".json"] = readFile(t, "cards/"+name+".json")
	}
	c, _, err := Read(cards["05-v3-full.json"])
	if err != nil {
		t.Fatal(err)
	}
	c.Files = map[string][]byte{"assets/a.txt": []byte("a")}
	c.Image = join([]chunk{{"IHDR", make([]byte, 13)}, {"IDAT", []byte("x")}, {"IEND", nil}})
	for _, format := range []Format{PNG, CHARX} {
		if cards["made."+string(format)], err = c.Encode(3, format); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range cards {
		format := Format(strings.TrimPrefix(path.Ext(name), "."))
		folder, now := unedited(t, data)
		if got, notes, err := Export(folder, now, 3, format); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %v %q\n%s", name, err, notes, cmp.Diff(string(data), string(got)))
		}
		now.Texts["persona.md"] = "Another."
		got, _, err := Export(folder, now, 3, format)
		if err != nil {
			t.Fatal(err)
		}
		if edited, _, err := Read(got); err != nil || edited.Text("description") != "Another." || edited.Name() != now.Name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A card of version 1 keeps its fields at the top, and those of later versions count.
func TestFlatCard(t *testing.T) {
	data := []byte(`{"name": "Fen", "description": "A marsh.", "personality": "", "scenario": "", "first_mes": "Hm.", "mes_example": "", "system_prompt": "Be brief.", "tags": ["wet"], "create_date": "today"}`)
	folder, now := unedited(t, data)
	if got := now.Texts["system.md"]; got != "Be brief.\n" {
		t.Errorf("system.md: %q", got)
	}
	now.Texts["system.md"] = "Be long."
	out, _, err := Export(folder, now, 2, JSON)
	var top, inner map[string]any
	if err == nil {
		err = json.Unmarshal(out, &top)
	}
	inner, _ = top["data"].(map[string]any)
	if err != nil || inner["system_prompt"] != "Be long." || inner["description"] != "A marsh." {
		t.Errorf("%v: %s", err, out)
	}
	for key, want := range map[string]any{"name": "Fen", "description": "A marsh.", "first_mes": "Hm.", "system_prompt": "Be long.", "create_date": "today"} {
		if top[key] != want {
			t.Errorf("%s: %v", key, top[key])
		}
	}
}

// An edited entry changes only where it was edited.
func TestEditedEntry(t *testing.T) {
	data := []byte(`{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Fen", "description": "A marsh.", "character_book": {"extensions": {}, "entries": [
		{"id": 3, "keys": ["reed"], "secondary_keys": ["wind"], "selective": false, "use_regex": true, "content": "Reeds.", "enabled": true, "insertion_order": 5,
		 "extensions": {"selectiveLogic": 0, "display_index": 3, "useProbability": false, "probability": 40, "own": {"a": 1}}},
		{"id": 4, "keys": ["m.d"], "use_regex": true, "content": "Mud.", "enabled": true, "insertion_order": 5, "extensions": {}}]}}}`)
	folder, now := unedited(t, data)
	file := folder[bookFile]
	file.Data = bytes.ReplaceAll(bytes.ReplaceAll(file.Data, []byte("Reeds."), []byte("Tall reeds.")), []byte("Mud."), []byte("Deep mud."))
	out, _, err := Export(folder, now, 2, JSON)
	if err != nil {
		t.Fatal(err)
	}
	normal := func(data []byte) (v any) {
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("Reeds."), []byte("Tall reeds.")), []byte("Mud."), []byte("Deep mud."))
	book := func(v any) any { return v.(map[string]any)["data"].(map[string]any)["character_book"] }
	if d := cmp.Diff(book(normal(want)), book(normal(out))); d != "" {
		t.Error(d)
	}
}

// The lorebook of a card that is also imported as a file counts once. Nobody is asked to import it.
func TestBookTwice(t *testing.T) {
	data := []byte(`{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Fen", "description": "A marsh.", "extensions": {"world": "Fenland"}, "character_book": {"entries": [
		{"id": 1, "keys": ["reed"], "content": "Reeds.", "enabled": true, "insertion_order": 5}]}}}`)
	c, _, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Folder(FolderOptions{})
	if err != nil || slices.ContainsFunc(f.Report.Kept, func(s string) bool { return strings.Contains(s, "world") }) {
		t.Errorf("%v: %q", err, f.Report.Kept)
	}
	one := Book{File: "card", Entries: []Entry{{ID: "1", Keys: []string{"reed"}, Content: "Reeds."}}}
	two := Book{File: "fenland", Entries: []Entry{{ID: "0", Keys: []string{"reed"}, Content: "Reeds."}, {ID: "1", Keys: []string{"reed"}, Content: "More."}}}
	s, problems := NewScanner([]Book{one, two})
	found := s.Scan(t.Context(), Chat{Messages: []string{"a reed"}, Budget: 100})
	if len(found.Fired) != 2 || len(problems) != 1 || !strings.Contains(problems[0].Text, "lorebook card, too") {
		t.Errorf("%+v %v", found.Fired, problems)
	}
}
