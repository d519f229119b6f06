package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/wait"
)

// TestChatAtATerminal sits at a real terminal: it edits a line, recalls one, pastes several, stops an answer, and leaves. It types as people
// do, who see each word before they go on.
func TestChatAtATerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal, is not installed")
	}
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(`-- model --
when "tea"
wait 400ms
say Well, **tea** is simple, and this sentence is longer than the window is wide.
say
say - boil
say - pour
when "slowly"
say It starts very slowly, as you see, and
wait 8s
say  ends.
when "several"
say Three lines.
when "long"
say It begins very slowly, as you see
wait 30s
say and never ends.
`)))
	w := openWindow(c, "chat")
	w.shows("  searches  searxng, openmeteo, wikipedia,\n            duckduckgo\n", "you>")
	w.keys("taea")
	w.shows("you> taea")
	w.keys("Left")
	w.keys("BSpace")
	w.shows("you> taa")
	w.keys("BSpace", "e")
	w.shows("you> tea")
	w.keys("Enter")
	w.shows("thinking")
	w.shows("and this sentence\nis longer than the window is wide.\n\n• boil\n• pour\nyou>")
	w.keys("Up")
	w.shows("pour\nyou> tea")
	w.keys("C-c")
	w.shows("(Ctrl-C once more to leave)\nyou>")
	w.paste("one\ntwo\nseveral lines")
	w.shows("you> one", "two", "several lines")
	w.keys("Enter")
	w.shows("sage> Three lines.\nyou>")
	w.keys("slowly")
	w.shows("you> slowly")
	w.keys("Enter")
	w.shows("sage> It starts very slowly, as you\nyou>")
	w.keys("several times, ｗｉｄｅ ｌｅｔｔｅｒｓ ａｌｌ ａｌｏｎｇx", "BSpace") // which the answer moves down and does not hold
	w.shows("sage> It starts very slowly, as you\nyou> several times, ｗｉｄｅ ｌｅｔｔｅｒｓ\nａｌｌ ａｌｏｎｇ\n")
	w.keys("Enter", "something long")
	w.shows("sage> It starts very slowly, as you\n(+1) you> something long\n")
	w.shows("sage> It starts very slowly, as you see, and\nends.\nyou> several times, ｗｉｄｅ ｌｅｔｔｅｒｓ\nａｌｌ ａｌｏｎｇ\nsage> Three lines.\nyou> something long\n")
	w.keys("Enter")
	w.shows("It begins")
	w.keys("C-c")
	w.shows("stopped\nyou>")
	w.keys("/lokup tides")
	w.shows("you> /lokup tides")
	w.keys("Enter")
	w.shows("did you mean /lookup?", "all commands\nyou>")
	w.keys("/he")
	w.shows("you> /he")
	w.keys("Tab")
	w.shows("you> /help")
	w.keys("Enter")
	w.shows("At a terminal also:", "facts were read\nyou>")
	w.keys("/context")
	w.shows("you> /context")
	w.keys("Enter")
	w.shows("asked      User: \"something long\"", "more       familiar trace\n           01", "--all;\n           with --prompt what the model was\n           sent\nyou>")
	w.keys("/co")
	w.keys("Tab")
	w.shows("/context  ", "/copy  ", "you> /co")
	w.keys("C-u")
	w.paste("several " + strings.Repeat("x", 5000))
	w.keys("Enter")
	w.shows("(cut after 4096 characters)", "sage> Three lines.\nyou>")
	w.keys("/quit")
	w.shows("you> /quit")
	w.keys("Enter")
	w.shows("left with 0")
	w.keys("echoed")
	w.shows("left with 0\nechoed")
}

// window is a terminal with the program in it.
type window struct {
	*conversation
	socket string
}

func openWindow(c *conversation, args string) *window {
	c.Helper()
	return openWindowOf(c, "familiar", args, "44", "40")
}

// openWindowOf opens a window of a size with a program of the test binary in it.
func openWindowOf(c *conversation, program, args, width, height string) *window {
	c.Helper()
	w := &window{conversation: c, socket: filepath.Join(c.TempDir(), "tmux")}
	program, err := exec.LookPath(program)
	c.must(err)
	line := "env -i TERM=screen LC_ALL=C.UTF-8 HOME=" + c.dir
	for name, value := range c.env {
		if name != "DISCORD_TOKEN" {
			line += " " + name + "='" + value + "'"
		}
	}
	line += " " + withoutSleep + " " + program + " " + args + "; echo left with $?; sleep 60"
	w.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, "-c", c.dir, line)
	c.Cleanup(func() { exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	return w
}

func (w *window) tmux(args ...string) string {
	w.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", w.socket}, args...)...).CombinedOutput()
	if err != nil {
		w.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *window) keys(keys ...string) {
	w.Helper()
	for _, key := range keys {
		w.tmux("send-keys", key)
	}
}

func (w *window) paste(text string) {
	w.Helper()
	w.tmux("set-buffer", text)
	w.tmux("paste-buffer", "-p")
}

// shows waits until all of that is on the screen.
func (w *window) shows(want ...string) {
	w.Helper()
	var screen string
	if !wait.Until(func() bool {
		screen = w.tmux("capture-pane", "-p")
		return !slices.ContainsFunc(want, func(text string) bool { return !strings.Contains(screen, text) })
	}) {
		w.Fatalf("the screen never shows %q:\n%s", want, strings.TrimRight(screen, "\n"))
	}
}
