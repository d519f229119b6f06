package view

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// Widths of bars, in characters.
const (
	timeBar  = 20
	tokenBar = 10
)

// bar shows the part from one value to another of a whole. What is not nothing has a character at least.
func bar[T int | time.Duration](from, to, whole T, width int) string {
	if whole <= 0 {
		return strings.Repeat("·", width)
	}
	first := min(int(from*T(width)/whole), width-1)
	last := min(max(int((to*T(width)+whole-1)/whole), first+1), width)
	return strings.Repeat("·", first) + strings.Repeat("█", last-first) + strings.Repeat("·", width-last)
}

// timeline shows who took how long, and when: the providers at once, the steps of the lookup below it, then the model.
func timeline(t *turn.Trace) string {
	var w writer
	whole := max(t.Took, t.Timings.Prompt, t.Timings.FirstToken)
	row := func(from, to time.Duration, format string, values ...any) {
		if to = max(from, to); from < whole {
			w.line("%s %8s  %s", bar(from, min(to, whole), whole, timeBar), ms(to-from), fmt.Sprintf(format, values...))
		}
	}
	for _, o := range t.Outcomes {
		row(0, o.Took, "%s %s%s", o.Provider, o.Status, inParens(o.Err))
		for _, c := range o.Contributions {
			if c.Lookup == nil {
				continue
			}
			at := time.Duration(0)
			for _, s := range c.Lookup.Stages {
				row(at, at+s.Took, "  %s", s.Name)
				at += s.Took
			}
		}
	}
	if t.Timings.FirstToken > 0 {
		row(t.Timings.Prompt, t.Timings.FirstToken, "the model, up to its first word")
		row(t.Timings.FirstToken, t.Took, "the reply")
	}
	w.line("prompt after %s, first word after %s, seen after %s", ms(t.Timings.Prompt), ms(t.Timings.FirstToken), ms(t.Timings.FirstSeen))
	return w.String()
}
