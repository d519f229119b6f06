package view

import (
	"cmp"
	"fmt"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// recalled lists what was recalled for the turn: from where, and what made it be chosen.
func recalled(t *turn.Trace) string {
	var w writer
	n := 0
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			for _, r := range c.Recalled {
				if r.Kind == "before" {
					continue // it is quoted with the next one's answer
				}
				n++
				w.line("%d. %s, %s: %q", n, cmp.Or(clean.Line(r.By, 60), r.File), day(r.At), clean.Line(r.Text, 200))
				var why []string
				for _, g := range r.Why {
					why = append(why, fmt.Sprintf("%s %+.1f", g.Of, g.Add))
				}
				w.line("   %.1f: %s", r.Score, strings.Join(why, ", "))
				if r.URL != "" {
					w.line("   %s", r.URL)
				}
			}
		}
	}
	return w.String()
}
