package command

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// Feedback from another server counts, is shown and is taken back only there.
func TestFeedbackStaysInItsServer(t *testing.T) {
	b := resting(t)
	order := func(guild, who string, admin bool, verdict, source string) string {
		e := turn.Event{GuildID: guild, Direct: guild == "", Command: &turn.Command{Name: "lookup", Options: map[string]string{"feedback": verdict, "source": source}, By: turn.Author{ID: who}, Admin: admin}}
		a := answered(t, b, e)
		return fmt.Sprint(a.Text, a.Sections)
	}
	const page = "https://a.example.org/private"
	has := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if lack, found := strings.CutPrefix(p, "-"); strings.Contains(text, lack) == found {
				t.Errorf("%q in\n%s", p, text)
			}
		}
	}
	order("G", "ana", false, wrong, page)
	order("G", "bob", false, wrong, page)
	order("", "cleo", false, outdated, page)

	has(order("G", "dan", false, "show", ""), "by ana", "by bob", page, "-cleo", "-outdated")
	has(order("H", "eve", true, "show", ""), "Nothing was said", "-ana", "-bob", "-cleo", "-private")
	has(order("", "cleo", false, "show", ""), "by cleo", "-wrong", "-ana")
	has(order("", "dan", false, "show", ""), "Nothing was said", "-by ")

	has(order("H", "eve", true, "undo", page), "Nothing was said")
	has(order("H", "ana", false, "undo", page), "Nothing was said")
	has(order("", "dan", true, "undo", page), "Nothing was said")
	has(order("G", "dan", false, "undo", page), "Nothing was said")
	has(order("", "ana", false, "undo", page), "Forgotten")
	has(order("G", "dan", true, "undo", page), "Forgotten")
	has(order("G", "dan", false, "show", ""), "-by ", "Nothing was said")
	if left, err := b.Bot.Store.Ratings.Feedback(t.Context(), "sage"); err != nil || len(left) != 1 || left[0].By != "cleo" {
		t.Errorf("left %+v, %v", left, err)
	}
}
