package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
)

// pageWidth is how wide what is read at a terminal may be, in columns, where the window's width is not known.
const pageWidth = 100

// viewBackends writes the backends in [pageWidth] columns: those that are on, what they said to a probe, and those that are off. What does
// not fit into a row stands below it.
func viewBackends(list []backend) string {
	var b strings.Builder
	rows := [][]string{{"on", "kind", "health", "p50", "p95", "left"}}
	var below [][]string
	for _, l := range list {
		if l.On {
			rows = append(rows, []string{l.Name, l.Kind, l.health(), l.pace(l.P50), l.pace(l.P95), l.left()})
			below = append(below, l.details())
		}
	}
	writeTable(&b, rows, below)
	rows = [][]string{{"asked just now", "status", "hits", "time"}}
	for _, l := range list {
		if l.Probe != nil {
			rows = append(rows, []string{l.Name, string(l.Probe.Status), fmt.Sprint(l.Probe.Hits), ms(l.Probe.Took)})
		}
	}
	if len(rows) > 1 {
		b.WriteByte('\n')
		writeTable(&b, rows, nil)
	}
	off := false
	for _, l := range list {
		if l.On {
			continue
		}
		if !off {
			b.WriteString("\noff             why\n")
			off = true
		}
		fmt.Fprintln(&b, text.Hanging(fmt.Sprintf("%-14s  %s", l.Name, l.Why), 16, pageWidth))
	}
	return b.String()
}

// writeTable writes rows in columns, and below each but the first the lines that belong to it.
func writeTable(b *strings.Builder, rows [][]string, below [][]string) {
	var aligned strings.Builder
	t := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush() // to a builder, which takes all
	for i, line := range strings.Split(strings.TrimSuffix(aligned.String(), "\n"), "\n") {
		fmt.Fprintln(b, strings.TrimRight(line, " "))
		if i == 0 || below == nil {
			continue
		}
		for _, detail := range below[i-1] {
			fmt.Fprintln(b, text.Hanging("    "+detail, 6, pageWidth))
		}
	}
}

// details are what is special about a backend: the intents that it serves, and its last failure.
func (l backend) details() (lines []string) {
	if intents := l.intents(); intents != "all" {
		lines = append(lines, "for "+intents)
	}
	if failure := l.lastFailure(); failure != "" {
		lines = append(lines, "last failure "+failure)
	}
	return lines
}

func listed(intents []turn.Intent) string {
	var words []string
	for _, in := range intents {
		words = append(words, string(in))
	}
	return strings.Join(words, ", ")
}

func (l backend) intents() string {
	text := cmp.Or(listed(l.Intents), "all")
	if len(l.Best) > 0 {
		text += ", best " + listed(l.Best)
	}
	if len(l.Last) > 0 {
		text += ", last " + listed(l.Last)
	}
	return text
}

func (l backend) health() string {
	text := strings.ReplaceAll(string(l.Health), "_", " ")
	if l.Health == search.Resting {
		text += " until " + l.Until.UTC().Format("15:04:05Z")
	}
	return text
}

func (l backend) pace(d time.Duration) string {
	if l.Answers == 0 {
		return "–"
	}
	return ms(d)
}

func (l backend) left() string {
	if l.Of == 0 {
		return "–"
	}
	text := fmt.Sprintf("%d of %d", l.Left, l.Of)
	if !l.Resets.IsZero() {
		text += " until " + l.Resets.UTC().Format("01-02 15:04Z")
	}
	return text
}

func (l backend) lastFailure() string {
	if l.Failure == "" {
		return ""
	}
	text := l.FailedAt.UTC().Format("01-02 15:04Z ") + string(l.Failure)
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	return text
}
