package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Changes that do not fit one page are on the pages that the buttons lead to, newest first, each once.
func TestChangesAreTurnedPageByPage(t *testing.T) {
	t.Parallel()
	b := resting(t)
	const n = 130
	for i := range n {
		by := store.By{ID: "7", Name: fmt.Sprintf("moderator %03d", i), At: time.Unix(int64(i)*60, 0)}
		err := b.Bot.Store.Settings.ChangeConduct(t.Context(), "general", "hall", by, func(c *store.Conduct) { c.Chatty = i%2 == 0 })
		if err != nil {
			t.Fatal(err)
		}
	}
	e := turn.Event{GuildID: "hall", Command: &turn.Command{Name: "changes", Admin: true}}
	var all string
	a, pages := answered(t, b, e), 0
	for next := ""; ; {
		for _, s := range a.Sections {
			all += s.Text + "\n"
		}
		pages++
		shown := next
		for _, button := range a.Buttons {
			shown := &call{variables: map[string]string{"page": strings.TrimPrefix(button.ID, changesPrefix+":")}}
			if shown.number("page") == pages && !button.Disabled {
				next = button.ID
			}
		}
		if next == shown {
			break
		}
		e.Command.Button = next
		a = answered(t, b, e)
	}
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if pages < 2 || len(lines) != n {
		t.Fatalf("%d lines on %d pages", len(lines), pages)
	}
	for i, line := range lines {
		if want := fmt.Sprintf("moderator %03d", n-1-i); !strings.Contains(line, want) {
			t.Errorf("line %d is %q, want %s", i, line, want)
		}
	}
}
