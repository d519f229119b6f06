package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/memory"
	"familiar/internal/test/storetest"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

// pieces are parts of texts that could break a file format.
var pieces = []string{
	"+++\n", "\n", "+++", "---\n", "a", " ", "\t", "\"", "'''", `\`, "# x = 1\n", "[[a]]", "日本語", "é", "🙂", "\u202e", "\u0000", "\r\n", "<!-- -->", "id = 7\n", "../..", "“q”",
}

func randomText(random *rand.Rand, lines bool) string {
	var b strings.Builder
	b.WriteString("t")
	for range random.IntN(12) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	if s := b.String(); lines {
		return s
	}
	return strings.NewReplacer("\n", "", "\r", "").Replace(b.String())
}

// randomMemories returns memories of every kind and scope. Some replace others.
func randomMemories(random *rand.Rand) (all []memory.Statement) {
	scopes := []memory.Scope{
		{Kind: memory.ScopeDM, ID: "d"}, {Kind: memory.ScopeChannel, ID: "c", GuildID: "g"}, {Kind: memory.ScopeGuild, ID: "g", GuildID: "g"}, {Kind: memory.ScopePublic},
	}
	kinds := memory.Kinds()
	for i := range 1 + random.IntN(20) {
		m := memory.Statement{
			ID: int64(i + 1), Kind: kinds[random.IntN(len(kinds))], Scope: scopes[random.IntN(len(scopes))], Text: fmt.Sprint(i, randomText(random, true)),
			SaidAt: noon.Add(time.Duration(random.IntN(1e9)) * time.Microsecond), LearnedAt: noon.Add(time.Duration(i) * time.Hour), By: "ada", Author: "ada",
		}
		if m.Kind == memory.Person || m.Kind == memory.Topic {
			m.Subject = randomText(random, false)
		}
		for k := range random.IntN(4) {
			m.Sources = append(m.Sources, fmt.Sprint("m", k))
		}
		if random.IntN(3) == 0 {
			m.TraceID, m.Pinned = "turn", true
		}
		if last := len(all) - 1; last >= 0 && random.IntN(3) == 0 {
			m.Supersedes, all[last].Superseded, all[last].Pinned = all[last].ID, true, false
		}
		all = append(all, m)
	}
	return all
}

// TestArchiveRoundTrip checks that files, directories, import and export preserve memories with any text.
func TestArchiveRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		all := randomMemories(rand.New(rand.NewPCG(seed, 5)))
		for _, m := range all {
			file, err := marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := unmarshal("x.md", file); err != nil || !cmp.Equal(got, m) {
				t.Fatalf("seed %d: %v\n%s\nfile:\n%s", seed, err, cmp.Diff(m, got), file)
			}
		}
		if seed >= 3 {
			continue
		}
		dir := filepath.Join(t.TempDir(), "a", "memory")
		if err := writeArchive(dir, all); err != nil {
			t.Fatal(err)
		}
		read, err := readArchive(dir)
		if err != nil || !cmp.Equal(read, all) {
			t.Fatalf("seed %d: %v\n%s", seed, err, cmp.Diff(all, read))
		}
		db := memory.New(storetest.Open(t))
		if err := db.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second import replaces all
			if n, err := db.Import(t.Context(), read); err != nil || n.Added+n.Replaced != len(all) {
				t.Fatalf("seed %d: %+v of %d, %v", seed, n, len(all), err)
			}
			got, err := db.Export(t.Context())
			if err != nil || !cmp.Equal(got, all) {
				t.Fatalf("seed %d: %v\n%s", seed, err, cmp.Diff(all, got))
			}
		}
	}
}

const good = `+++
kind = "note"
scope = "channel"
channel = "c"
server = "g"
said = 2026-05-01T12:00:00Z
learned = 2026-05-01T12:00:00Z
+++
The raid starts at eight.
`

func TestUnmarshalErrors(t *testing.T) {
	change := func(old, to string) string { return strings.Replace(good, old, to, 1) }
	for want, file := range map[string]string{
		`x.md:1: the first line must be "+++"`:        "kind = 1",
		`x.md:1: there is no second line "+++"`:       "+++\nkind = \"note\"\n",
		"x.md:3: unknown setting scop":                change("scope", "scop"),
		"x.md:2: ":                                    change(`"note"`, "note"),
		"x.md:6: ":                                    change("said = 2026-05-01T12", "said = yesterday"),
		"x.md:1: kind of memory \"poem\"":             change("note", "poem"),
		"x.md:1: scope \"guild\"":                     strings.Replace(change(`"channel"`, `"guild"`), "server = \"g\"\n", "", 1),
		"x.md:1: memory without a text":               change("The raid starts at eight.\n", ""),
		"x.md:9: the file is not UTF-8":               change("raid", "r\xffid"),
		"x.md:1: the file has":                        good + strings.Repeat("x", maxArchiveFile),
		"x.md:1: memory of ":                          change("The raid", strings.Repeat("The raid", memory.MaxText/8+1)),
		"x.md:1: memory of a person without their id": change("note", "person"),
	} {
		_, err := unmarshal("x.md", []byte(file))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if m, err := unmarshal("x.md", []byte(good)); err != nil || m.Text != "The raid starts at eight." {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestReadArchive checks that nothing outside the directory is read and that the error has all problems.
func TestReadArchive(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	write("note/1.md", good)
	write("README.txt", "not read")
	all, err := readArchive(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d statements, %v", len(all), err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "note", "2.md")); err != nil {
		t.Skip("this system makes no symbolic links: ", err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "more")); err != nil {
		t.Fatal(err)
	}
	write("note/3.md", "x")
	write("note/4.md", strings.Replace(good, "kind", "id = 9\nkind", 1))
	write("note/5.md", strings.Replace(good, "kind", "id = 9\nkind", 1))
	_, err = readArchive(dir)
	for _, want := range []string{"note/2.md:1: not a regular file", "note/3.md:1: ", "note/5.md:1: note/4.md has the same id, 9"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "more") {
		t.Errorf("a link was followed: %v", err)
	}
	if _, err := readArchive(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing directory was read")
	}
}

// TestWriteArchive checks that a directory is written completely or not at all.
func TestWriteArchive(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "memory")
	bad := memory.Statement{ID: 2, Kind: "../up"}
	if err := writeArchive(dir, []memory.Statement{{ID: 1, Kind: memory.Note}, bad}); err == nil {
		t.Error("a kind with a path that leaves the directory was written")
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
	if err := writeArchive(dir, []memory.Statement{{ID: 1, Kind: memory.Note}}); err != nil {
		t.Fatal(err)
	}
	if err := writeArchive(dir, nil); err == nil {
		t.Error("a directory with files was overwritten")
	}
	if info, err := os.Stat(filepath.Join(dir, "note", "000001.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
