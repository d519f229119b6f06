package view

import (
	"fmt"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// mostLore is how many entries of lorebooks are shown; the record has them all.
const mostLore = 20

// lore says which entries of lorebooks are in the prompt and why, and which are not.
func lore(t *turn.Trace) (lines []string) {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if c.Lore == nil {
				continue
			}
			for _, e := range c.Lore.Fired {
				lines = append(lines, fmt.Sprintf("%s: %s, %d tokens (%s)", entryName(e), clean.Line(e.Why, 100), e.Tokens, e.Place))
			}
			for _, e := range c.Lore.Lost {
				lines = append(lines, fmt.Sprintf("%s: not in: %s", entryName(e), clean.Line(e.Why, 100)))
			}
			if c.Lore.Cut {
				lines = append(lines, "there was no time to look for all entries")
			}
		}
	}
	if more := len(lines) - mostLore; more > 0 {
		lines = append(lines[:mostLore], fmt.Sprintf("and %d more", more))
	}
	return lines
}

func entryName(e turn.LoreEntry) string {
	name := clean.Line(e.Book+"/"+e.Entry, 60)
	if e.Comment != "" {
		name += " " + clean.Line(e.Comment, 60)
	}
	return name
}
