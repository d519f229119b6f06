package view

import (
	"fmt"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/web/clean"
)

// memoryChange says what became of an order to remember or to forget.
func memoryChange(m turn.MemoryChange) string {
	if m.Refused != "" {
		return fmt.Sprintf("%s refused: %s", m.Deed, m.Refused)
	}
	deed := map[string]string{"keep": "kept", "forget": "forgot", "correct": "corrected"}[m.Deed]
	text := fmt.Sprintf("%s %d", deed, len(m.IDs))
	if m.Text != "" {
		text += fmt.Sprintf(": %q", clean.Line(m.Text, 200))
	}
	if m.Scope != "" {
		text += fmt.Sprintf(" · %s · %s", m.Kind, m.Scope)
	}
	return text
}

// Memories lists statements for the operator, who alone sees them all.
func Memories(all []store.Memory) string {
	if len(all) == 0 {
		return "Nothing is remembered."
	}
	var w writer
	for _, m := range all {
		who := []string{string(m.Kind)}
		if m.Subject != "" {
			who = append(who, clean.Line(m.Subject, 60))
		}
		who = append(who, strings.TrimSpace(string(m.Scope.Kind)+" "+m.Scope.ID), m.SaidAt.Format("2006-01-02"))
		notes := []struct {
			note string
			is   bool
		}{{"pinned", m.Pinned}, {"replaced", m.Superseded}, {"learned by itself", m.By == ""}}
		for _, n := range notes {
			if n.is {
				who = append(who, n.note)
			}
		}
		w.line("%6d  %s\n        %s", m.ID, strings.Join(who, " · "), clean.Line(m.Text, 300))
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// recalled writes a line for each statement of memory that was offered. What it says stands in the prompt, which fewer people are shown.
func recalled(t *turn.Trace) (lines []string) {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			for _, m := range c.Recalled {
				if m.ID == 0 {
					continue // a message: see recollections
				}
				lines = append(lines, fmt.Sprintf("statement %d · %s · from %s", m.ID, m.Scope, strings.Join(m.Sources, ", ")))
			}
		}
	}
	return lines
}
