package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"familiar/internal/web/page"

	"familiar/internal/view"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestCommands runs the commands in testdata/fetch and testdata/search. Each archive has what is typed, a command a line, then the world,
// then what is printed. A command that complains has failed.
func TestCommands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/[fs]e[ta][cr]ch/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no commands: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(t, withoutGolden(archive))
			var printed, complained strings.Builder
			for typed := range strings.Lines(string(archive.Comment)) {
				code, out, complaint := c.command(nil, strings.Fields(typed)...)
				if failed := complaint != ""; failed != (code != exitOK) {
					t.Errorf("exit code %d, errors %q", code, complaint)
				}
				printed.WriteString(out)
				for line := range strings.Lines(out) {
					if n := utf8.RuneCountInString(strings.TrimSpace(line)); strings.HasPrefix(typed, "backends") && n > pageWidth {
						t.Errorf("a line of %d columns: %s", n, line)
					}
				}
				complained.WriteString(complaint)
			}
			golden(t, file, archive, "stdout", steadyTable(printed.String()))
			golden(t, file, archive, "stderr", complained.String())
		})
	}
}

// steadyTable is text without its durations and moments, and without the padding that depends on them.
func steadyTable(text string) string {
	text = moments.ReplaceAllString(durations.ReplaceAllString(text, "… ms"), "…")
	if strings.Contains(text, "p50") {
		text = padding.ReplaceAllString(text, "$1  ")
	}
	return text
}

var (
	moments = regexp.MustCompile(`\d\d-\d\d \d\d:\d\dZ`)
	padding = regexp.MustCompile(`(\S) {2,}`)
)

func withoutGolden(archive *txtar.Archive) *txtar.Archive {
	world := &txtar.Archive{}
	for _, f := range archive.Files {
		if f.Name != "stdout" && f.Name != "stderr" {
			world.Files = append(world.Files, f)
		}
	}
	return world
}

var durations = regexp.MustCompile(`\d+\.\d ms`)

func TestFetchJSON(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/fetch/explained.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, withoutGolden(archive))
	code, out, complaint := c.command(nil, "fetch", "--json", "https://harbour.example.org/old")
	var got view.PageRecord
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || complaint != "" || err != nil {
		t.Fatalf("exit code %d, errors %q, %v:\n%s", code, complaint, err, out)
	}
	if got.Final != "https://harbour.example.org/point" || got.Title != "Sample Point" || got.Status != 200 || got.Bytes < 500 ||
		got.Hidden == 0 || got.Removed["T1"]+got.Removed["T2"]+got.Removed["T3"] == 0 || got.Timings["total"] <= 0 || len(got.Rules) < 9 ||
		!strings.Contains(got.Markdown, "| Built | Lamp |") {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]page.Link{{URL: "https://harbour.example.org/keepers", Text: "its keepers"}}, got.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestFetchNeedsTheWeb(t *testing.T) {
	t.Parallel()
	c := newConversation(t, &txtar.Archive{})
	c.env["FAMILIAR_WEB"] = "off"
	if code, out, complaint := c.command(nil, "fetch", "https://harbour.example.org/"); code != exitUsage || out != "" || !strings.Contains(complaint, "FAMILIAR_WEB") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, complaint)
	}
	if dials := c.web.Dials(); len(dials) > 0 {
		t.Errorf("dialled %v", dials)
	}
}

// TestFetchSettings reads a page twice over a directory that keeps it, and then closes its address.
func TestFetchSettings(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/fetch/explained.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, withoutGolden(archive))
	c.env["FAMILIAR_WEB_CACHE"] = t.TempDir() + "/pages"
	for _, cached := range []bool{false, true} {
		_, out, complaint := c.command(nil, "fetch", "--json", "https://harbour.example.org/old")
		var got view.PageRecord
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Cached != cached || len(got.Hops) != 2 || got.Hops[0].Status != 301 {
			t.Errorf("%v, errors %q, cached %v, hops %+v", err, complaint, got.Cached, got.Hops)
		}
	}
	addrs, err := c.web.LookupNetIP(t.Context(), "ip", "harbour.example.org")
	if err != nil {
		t.Fatal(err)
	}
	delete(c.env, "FAMILIAR_WEB_CACHE")
	var deny []string
	for _, a := range addrs {
		deny = append(deny, a.Unmap().String())
	}
	c.env["FAMILIAR_WEB_DENY"] = strings.Join(deny, ", ")
	if code, _, complaint := c.command(nil, "fetch", "https://harbour.example.org/old"); code != exitFailed || !strings.Contains(complaint, "denied_address") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
}

// TestFetchSettingsAreChecked gives each setting values that mean nothing.
func TestFetchSettingsAreChecked(t *testing.T) {
	t.Parallel()
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string][]string{
		"FAMILIAR_WEB_DENY":     {"10.0.0.0/33", "example.org", "10.0.0.1-10.0.0.9", "fe80::1%eth0"},
		"FAMILIAR_WEB_CACHE_MB": {"0", "-1", "64MB", "9999999999"},
		"DISCORD_OPERATOR":      {"me", "ana#1234"},
		"FAMILIAR_FIRST_WORD":   {"20", "-1s", "soon"},
		"FAMILIAR_WEB_CACHE":    {"/dev/null/pages", open},
	} {
		for _, v := range values {
			c := newConversation(t, &txtar.Archive{})
			c.env[name] = v
			if code, _, complaint := c.command(nil, "config", "check"); code != exitUsage || !strings.Contains(complaint, name) && !strings.Contains(complaint, v) {
				t.Errorf("%s=%s: exit code %d, errors %q", name, v, code, complaint)
			}
		}
	}
}
