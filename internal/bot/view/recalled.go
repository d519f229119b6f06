package view

import (
	"cmp"
	"fmt"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// recollections list the messages that were recalled for the turn: where they stand, and what made them be chosen. What they say stands in
// the prompt, which fewer people are shown.
func recollections(t *turn.Trace) string {
	var w writer
	n := 0
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			for _, m := range c.Recalled {
				if m.ID != 0 {
					continue // a statement: see recalled
				}
				var why []string
				for _, g := range m.Why {
					why = append(why, fmt.Sprintf("%s %+.1f", g.Of, g.Add))
				}
				n++
				w.line("%d. %s, %s", n, day(m.At), cmp.Or(m.URL, "in this conversation"))
				w.line("   %.1f: %s", m.Score, strings.Join(why, ", "))
			}
		}
	}
	return w.String()
}

// embeddings say where the message was sent for its meaning, and whether that came to anything.
func embeddings(t *turn.Trace) (lines []string) {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if e := c.Embedding; e != nil {
				lines = append(lines, fmt.Sprintf("%s · %s · %s%s", clean.Line(e.Host, 60), clean.Line(e.Model, 60), ms(e.Took), inParens(string(e.Failure))))
			}
		}
	}
	return lines
}
