package bot

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
	"familiar/internal/store/storetest"
)

// What was said in another server counts, is seen and is taken back there alone.
func TestFeedbackStaysInItsServer(t *testing.T) {
	db := storetest.Open(t)
	b := &Bot{Store: db, Cast: &Cast{Default: &Actor{Character: &character.Character{ID: "sage", Name: "Sage"}}}, Log: slog.New(slog.DiscardHandler)}
	order := func(guild, who string, admin bool, verdict, source string) string {
		e := turn.Event{GuildID: guild, Direct: guild == "", Command: &turn.Command{By: turn.Author{ID: who}, Admin: admin}}
		a := b.feedback(t.Context(), e, verdict, source)
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
	if left, err := db.Feedback(t.Context(), "sage"); err != nil || len(left) != 1 || left[0].By != "cleo" {
		t.Errorf("left %+v, %v", left, err)
	}
}
