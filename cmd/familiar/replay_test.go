package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/characters"
)

// TestReplay takes a turn again that looked something up. From its record nothing differs and nobody is asked. What was changed in the character since
// shows, and --live asks all services again.
func TestReplay(t *testing.T) {
	t.Parallel()
	c := looking(t, nil)
	messages := c.discord.Messages("general")
	reply := messages[len(messages)-1].ID
	asked := func() int {
		c.search.mu.Lock()
		defer c.search.mu.Unlock()
		return len(c.search.queries) + len(c.model.Requests())
	}
	replay := func(args ...string) string {
		t.Helper()
		code, out, err := c.command(nil, append([]string{"replay", reply}, args...)...) // beside the running bot
		if code != exitOK {
			t.Fatalf("exit code %d: %s%s", code, out, err)
		}
		return out
	}
	before := asked()
	if out := replay(); !strings.Contains(out, "Nothing differs.") || !strings.Contains(out, "a side model took part") {
		t.Errorf("nothing was changed:\n%s", out)
	}

	sage := filepath.Join(c.dir, "characters", "sage")
	c.must(os.CopyFS(sage, must(fs.Sub(characters.FS, "sage"))))
	c.must(os.WriteFile(filepath.Join(sage, "persona.md"), []byte("Sage is a pirate now, and says arr.\n"), 0o644))
	out := replay()
	for _, want := range []string{"+Sage is a pirate now, and says arr.", "Layers", "-character  "} {
		if !strings.Contains(out, want) {
			t.Errorf("another persona, and no %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "Lookup") {
		t.Errorf("another persona, and another lookup:\n%s", out)
	}
	toml := string(must(os.ReadFile(filepath.Join(sage, "character.toml"))))
	c.must(os.WriteFile(filepath.Join(sage, "character.toml"), []byte(toml+"\n[web]\ndenied_topics = [\"programmer\"]\n"), 0o644))
	if out := replay(); !strings.Contains(out, "-state     found") || !strings.Contains(out, "+state     disabled") || !strings.Contains(out, "-query     ") {
		t.Errorf("a denied topic:\n%s", out)
	}
	if out := replay("--json"); !strings.Contains(out, `"name": "lookup"`) {
		t.Errorf("as JSON:\n%s", out)
	}
	if after := asked(); after != before {
		t.Errorf("%d services were asked", after-before)
	}

	c.must(os.RemoveAll(sage))
	if out := replay("--live"); asked() < before+3 || !strings.Contains(out, "asked again") || strings.Contains(out, "Lookup: decision") {
		t.Errorf("live, with %d requests:\n%s", asked()-before, out)
	}
	if code, _, err := c.command(nil, "replay", "nothing"); code != exitFailed || !strings.Contains(err, `no turn and no message "nothing"`) {
		t.Errorf("exit code %d: %s", code, err)
	}
	c.stop()
}

// TestReplayWithoutModel: what was read is read again from the record, and comes to the same.
func TestReplayWithoutModel(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	if code, out, err := c.command(nil, "ask", "how high is Mount Example?"); code != exitOK || !strings.Contains(out, "4,321") {
		t.Fatalf("exit code %d: %s%s", code, out, err)
	}
	_, list, _ := c.command(nil, "trace", "--json")
	id := regexp.MustCompile(`[0-9A-Z]{26}`).FindString(list)
	if code, out, err := c.command(nil, "replay", id); code != exitOK || !strings.Contains(out, "Nothing differs.") || strings.Contains(out, "note:") {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
