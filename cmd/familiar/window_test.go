package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/context/turn"
)

// TestModelsWindow checks that a turn asks a server for the model's window and sends no more than fits. /context shows what was left out.
func TestModelsWindow(t *testing.T) {
	t.Parallel()
	const file = "window"
	c := newConversation(t, txtar.Parse([]byte("-- model --\nwhen model \"main\"\nsay Hello.\n")))
	c.model.AnswerAlso(map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096}}`})
	c.do(file, "start")
	for range 30 {
		c.do(file, "say general ben "+strings.Repeat("Many words about the ferry. ", 12))
	}
	c.do(file, "say general ana @familiar hello, "+strings.Repeat("I have read all that, ", 300)+"have you?")
	c.do(file, "heard general")
	last, used := c.lastTrace(), 0
	for _, m := range last.Prompt {
		used += m.Tokens
	}
	if used < 1500 || used > 3072 {
		t.Errorf("%d tokens were sent to a window of 4,096", used)
	}
	for _, l := range last.Layers {
		if l.Layer == turn.RecentHistory && l.Budget != 768 {
			t.Errorf("the conversation may have %d tokens", l.Budget)
		}
	}
	if len(last.Dropped) == 0 {
		t.Error("nothing was left out")
	}
	c.do(file, "command ana context")
	if !strings.Contains(c.output, "left out") && !strings.Contains(c.output, "cut") && !strings.Contains(c.output, "truncated") {
		t.Errorf("/context does not say what was left out:\n%s", c.output)
	}
	c.stop()
}
