package view

import (
	"cmp"
	"fmt"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// recollections list the messages and passages of lore that were recalled for the turn: where they stand, and what made them be chosen;
// and what the side model left out. What they say stands in the prompt, which fewer people are shown.
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
				if m.File != "" {
					w.line("%d. %s:%d %s", n, m.File, m.Line, clean.Line(m.Heading, 100))
				} else {
					w.line("%d. %s, %s", n, day(m.At), cmp.Or(m.URL, "in this conversation"))
				}
				w.line("   %.1f: %s", m.Score, strings.Join(why, ", "))
			}
		}
	}
	if f := t.Filtered(); f != nil {
		w.line("%s left out %d of %d in %s · %d tokens in, %d out%s", orDash(f.Model), len(f.Out), f.Shown, ms(f.Took), f.Usage.Prompt, f.Usage.Completion, inParens(f.Err))
		for _, id := range f.Out {
			w.line("   out: %s", id)
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
