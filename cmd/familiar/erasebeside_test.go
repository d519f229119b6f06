package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestEraseBesideARunningBot erases a person while another process, the bot, has the data open, and the second time while nobody has. The
// bot goes on, knows nothing of them any more, and their words are gone from the files.
func TestEraseBesideARunningBot(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nwhen model \"main\"\nsay I hear you.\n")))
	bot := c.process()
	c.hear0(c.discord.Say("general", "ana", "@familiar remember that I collect brass lighthouses"))
	c.hear0(c.discord.Say("general", "ben", "@familiar remember that I collect stamps"))
	erase := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("familiar", append([]string{"erase", "--yes"}, args...)...)
		cmd.Dir = c.dir
		cmd.Env = append(bot.Env[:len(bot.Env):len(bot.Env)], "LC_ALL=C")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("erase: %v\n%s", err, out)
		}
		return string(out)
	}
	out := erase(c.discord.UserID("ana"))
	if !strings.Contains(out, "is asked to forget them") || !strings.Contains(out, "messages   1 → 0\n") || !strings.Contains(out, "records    1 → 0\n") || !strings.Contains(out, "memories   1 → 0\n") {
		t.Errorf("erased:\n%s", out)
	}
	for _, name := range []string{"familiar.db", "familiar.db-wal"} {
		content, err := os.ReadFile(filepath.Join(c.dir, "data", name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte("lighthouses")) {
			t.Errorf("their words are in %s", name)
		}
	}
	c.hear0(c.discord.Say("general", "ana", "@familiar what do I collect?"))
	if prompt := c.prompt(); strings.Contains(prompt, "lighthouses") {
		t.Errorf("the bot still knows:\n%s", prompt)
	}
	c.hear0(c.discord.Say("general", "ben", "@familiar what do I collect?"))
	if prompt := c.prompt(); !strings.Contains(prompt, "“I collect stamps”") {
		t.Errorf("another is forgotten, too:\n%s", prompt)
	}
	c.must(bot.Process.Signal(syscall.SIGTERM))
	if err := bot.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	if out := erase(c.discord.UserID("ana")); strings.Contains(out, "is asked") || !strings.Contains(out, "messages   1 → 0\n") {
		t.Errorf("erased at rest:\n%s", out)
	}
}
