package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"familiar/internal/app"

	"familiar/internal/search/backend"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the transcripts of the documents")

const (
	readmePath   = "../../README.md"
	discordPath  = "../../doc/discord.md"
	whereItLooks = "../../doc/web.md"
)

// TestReadme talks to the program as the README does and holds the transcripts of the documents against what it says.
func TestReadme(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/readme/web.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, archive)
	const question = "what is a tide table?"
	code, out, complaint := c.command(strings.NewReader("hi\n"+question+"\n/context\n"), "chat")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, complaint)
	}
	_, rest, _ := strings.Cut(out, "sage> ")
	hello, rest, _ := strings.Cut(rest, "\nsage> ")
	answer, record, found := strings.Cut(rest, "\nturn ")
	if !found {
		t.Fatalf("no record in:\n%s", out)
	}
	if n := strings.Count(record, "\n"); n > 24 {
		t.Errorf("the story of a turn has %d lines", n)
	}
	holdTranscript(t, readmePath, "chat", "you> hi\nsage> "+strings.TrimSpace(hello)+"\nyou> "+question+"\nsage> "+strings.TrimSpace(answer))
	holdTranscript(t, discordPath, "context", "you> /context\nturn "+strings.TrimSpace(record))
}

// holdTranscript compares what the program said with the transcript of a document.
func holdTranscript(t *testing.T, path, name, said string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := transcript(t, string(page), name, said)
	if steady(want) == steady(string(page)) {
		return
	}
	if !*update {
		t.Fatalf("%s shows another transcript than the program gives; go test ./cmd/familiar -run Readme -update writes it:\n%s", path, said)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestKeysAreToldOf where operators look for them.
func TestKeysAreToldOf(t *testing.T) {
	for _, file := range []string{whereItLooks, "../../.env.example"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range backend.Keys() {
			if !strings.Contains(string(text), k.Name) {
				t.Errorf("%s does not tell of %s, %s", file, k.Name, k.About)
			}
		}
	}
}

// TestEnvExample checks that the example has every setting, and no other name. It is valid as it is, and with everything that is commented
// out.
func TestEnvExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:# )?([A-Z][A-Z0-9_]+)=`).FindAllStringSubmatch(string(text), -1) {
		shown[m[1]] = true
	}
	for _, s := range app.Settings() {
		if !shown[s.Name] {
			t.Errorf(".env.example does not have %s, %s", s.Name, s.About)
		}
		delete(shown, s.Name)
	}
	for name := range shown {
		t.Errorf(".env.example has %s, which is not a setting", name)
	}
	for _, example := range []string{string(text), regexp.MustCompile(`(?m)^# ([A-Z][A-Z0-9_]+=)`).ReplaceAllString(string(text), "$1")} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := app.ReadConfig(func(string) (string, bool) { return "", false }, dir); err != nil {
			t.Error(err)
		}
	}
}

// transcript puts text between the marks of a name.
func transcript(t *testing.T, readme, name, text string) string {
	t.Helper()
	const end = "<!-- end -->"
	before, rest, found := strings.Cut(readme, "<!-- transcript "+name+" -->\n")
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("the document has no place for the transcript %q", name)
	}
	return before + "<!-- transcript " + name + " -->\n```\n" + text + "\n```\n" + end + after
}

// unsteady is what differs from one run to the next: ids, times, durations and their bars.
var unsteady = regexp.MustCompile(`01[0-9A-Z]{24}|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d UTC)?| *<?\d+(\.\d)? m?s\b|[·█]{2,}|\d+ tokens: core|content \d+`)

func steady(s string) string { return unsteady.ReplaceAllString(s, "…") }
