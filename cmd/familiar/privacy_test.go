package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/forget"
	"familiar/internal/store"
)

// TestErase counts what is kept of a person, exports it, deletes it, and finds nothing then.
func TestErase(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	db, err := store.Open(t.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	for _, author := range []string{"1001", "1002"} {
		_, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: store.Message{ID: "9" + author, ChannelID: "5", GuildID: "6", AuthorID: author, AuthorName: "n" + author, Text: "words of " + author, At: time.Now()}})
		c.must(err)
	}
	c.must(db.Close())
	if code, out, complaint := c.command(nil, "erase", "--dry-run", "1001"); code != exitOK || !strings.Contains(out, "messages   1\n") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
	if code, _, complaint := c.command(nil, "privacy", "export", "1001", "data.json"); code != exitOK {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	if code, _, complaint := c.command(nil, "privacy", "export", "1001", "data.json"); code != exitFailed || !strings.Contains(complaint, "exists") {
		t.Errorf("again: exit code %d, errors %q", code, complaint)
	}
	content, err := os.ReadFile(filepath.Join(c.dir, "data.json"))
	c.must(err)
	var data forget.Export
	if err := json.Unmarshal(content, &data); err != nil || len(data.Messages) != 1 || data.Messages[0].Text != "words of 1001" || data.Names[0] != "n1001" {
		t.Errorf("exported %s: %v", content, err)
	}
	if code, out, complaint := c.command(nil, "erase", "--yes", "1001"); code != exitOK || !strings.Contains(out, "messages   1 → 0\n") || !strings.Contains(out, "names      1 → 0\n") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
	if _, out, _ := c.command(nil, "erase", "--dry-run", "1001"); strings.Trim(out, "abcdefghijklmnopqrstuvwxyz 0\n") != "" {
		t.Errorf("left:\n%s", out)
	}
	if _, out, _ := c.command(nil, "erase", "--dry-run", "1002"); !strings.Contains(out, "messages   1\n") {
		t.Errorf("another is gone:\n%s", out)
	}
	if code, _, complaint := c.command(nil, "erase", "--yes", "ana"); code != exitUsage || !strings.Contains(complaint, "developer mode") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
}

// TestForgetAtATerminal has everything forgotten through a pipe: a yes after the question confirms it, and anything else does not. Without a
// model the receipts are the answers.
func TestForgetAtATerminal(t *testing.T) {
	t.Parallel()
	c := newConversation(t, new(txtar.Archive))
	chat := func(lines ...string) string {
		t.Helper()
		code, out, complaint := c.command(strings.NewReader(strings.Join(lines, "\n")+"\n"), "chat")
		if code != exitOK {
			t.Fatalf("exit code %d, errors %q:\n%s", code, complaint, out)
		}
		return out
	}
	holds := func(out string, all ...string) {
		t.Helper()
		for _, want := range all {
			_, rest, found := strings.Cut(out, want)
			if !found {
				t.Fatalf("%q is missing in:\n%s", want, out)
			}
			out = rest
		}
	}
	holds(chat("merk dir, dass ich Nüsse nicht vertrage", "delete everything you know about me", "no", "/memory show"),
		"Behalten: „ich Nüsse nicht vertrage“", "/memory undo", "Forget everything I know of you", "Nüsse")
	holds(chat("delete everything you know about me", "yes", "/memory show", "/memory undo", "/memory show"),
		"Forgotten: everything (1).", "There is nothing in my memory", "That is undone.", "Nüsse")
	holds(chat("/privacy forget", "hello", "/memory show"), "(yes: Forget me)", "Nüsse")
	holds(chat("/privacy forget", "yes", "/privacy forget"), "(yes: Forget me)", "You are forgotten.", "I keep nothing of you.")
	chat("hello")
	if code, _, complaint := c.command(nil, "erase", "--yes", "mcp"); code != exitOK {
		t.Errorf("mcp: exit code %d: %s", code, complaint)
	}
	if code, _, complaint := c.command(nil, "erase", "1001"); code != exitUsage || !strings.Contains(complaint, "add --yes") {
		t.Errorf("without --yes: exit code %d: %s", code, complaint)
	}
	if code, out, complaint := c.command(nil, "erase", "--yes", "terminal:you"); code != exitOK || !strings.Contains(out, "messages   1 → 0\n") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
}
