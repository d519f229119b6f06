package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/web/clean"
)

// memoryChange describes the result of an order to remember or to forget.
func memoryChange(m turn.MemoryChange) string {
	if m.Refused != "" {
		return fmt.Sprintf("%s refused: %s", m.Deed, m.Refused)
	}
	deed := map[string]string{"keep": "kept", "forget": "forgot", "correct": "corrected", "remind": "reminder"}[m.Deed]
	text := fmt.Sprintf("%s %d", deed, len(m.IDs))
	if m.Text != "" {
		text += fmt.Sprintf(": %s", quoted(clean.Line(m.Text, 200)))
	}
	if m.Scope != "" {
		text += fmt.Sprintf(" · %s · %s", m.Kind, m.Scope)
	}
	return text
}

// Memories lists memories for the operator, the only person who may see all of them.
func Memories(all []memory.Statement) string {
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

// recalled writes a line for each memory that was offered. Its text is in the prompt, which fewer people may see.
func recalled(t *turn.Trace) (lines []string) {
	for c := range t.Contributions() {
		for _, m := range c.Recalled {
			if m.ID == 0 {
				continue // a message: see recollections
			}
			lines = append(lines, fmt.Sprintf("statement %d · %s · from %s", m.ID, m.Scope, strings.Join(m.Sources, ", ")))
		}
	}
	return lines
}

// mostLore is how many lorebook entries are shown. The record has all of them.
const mostLore = 20

// lore lists the lorebook entries that are in the prompt, those that are not, and the reasons.
func lore(t *turn.Trace) (lines []string) {
	for c := range t.Contributions() {
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

// recollections lists the messages and lore passages that were recalled for the turn. It says where they are, why they were chosen, and
// what the side model left out. Their text is in the prompt, which fewer people may see.
func recollections(t *turn.Trace) string {
	var w writer
	n := 0
	for c := range t.Contributions() {
		for _, m := range c.Recalled {
			if m.ID != 0 {
				continue // a memory: see recalled
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
	if f := t.Filtered(); f != nil {
		used := t.Spent(turn.ForFilter)
		w.line("%s left out %d of %d in %s · %d tokens in, %d out%s", orDash(f.Model), len(f.Out), f.Shown, ms(f.Took), used.Prompt, used.Completion, inParens(f.Err))
		for _, id := range f.Out {
			w.line("   out: %s", id)
		}
	}
	return w.String()
}

// embeddings lists the services that embedded the message, with the results.
func embeddings(t *turn.Trace) (lines []string) {
	for c := range t.Contributions() {
		if e := c.Embedding; e != nil {
			lines = append(lines, fmt.Sprintf("%s · %s · %s%s", clean.Line(e.Host, 60), clean.Line(e.Model, 60), ms(e.Took), inParens(string(e.Failure))))
		}
	}
	return lines
}

// Learning writes how often each result of a side model's proposals occurred. It also writes which channels wait to be read for memory.
func Learning(counts map[string]int, waiting []memory.Watermark) string {
	var w writer
	if len(counts)+len(waiting) == 0 {
		return "Nothing was proposed yet."
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		w.line("%7d  %s", counts[name], name)
	}
	for i, m := range waiting {
		failed := ""
		if m.Failures > 0 {
			failed = " · tried again after " + m.Retry.UTC().Format("2006-01-02 15:04 UTC")
		}
		w.item(i, "waiting", "%s · turns %d, the last %s%s", m.ChannelID, m.Turns, m.Active.UTC().Format("2006-01-02 15:04 UTC"), failed)
	}
	return w.String()
}
