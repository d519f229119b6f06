package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/search/backend"
	"familiar/internal/text"
	"familiar/internal/view"
)

// pageWidth is the width of a terminal whose width is not known, in columns.
const pageWidth = 100

// viewBackends writes the backends in [pageWidth] columns. The ones that are on have their answers to a probe, and those that are off
// follow. Details are below their row.
func viewBackends(list []backend.Status) string {
	var b strings.Builder
	rows := [][]string{{"on", "kind", "health", "p50", "p95", "left"}}
	var below [][]string
	for _, l := range list {
		if l.On {
			rows = append(rows, []string{l.Name, l.Kind, healthText(l), paceText(l, l.P50), paceText(l, l.P95), leftText(l)})
			below = append(below, detailLines(l))
		}
	}
	writeTable(&b, rows, below)
	rows = [][]string{{"asked just now", "status", "hits", "time"}}
	for _, l := range list {
		if l.Probe != nil {
			rows = append(rows, []string{l.Name, string(l.Probe.Status), fmt.Sprint(l.Probe.Hits), view.Exact(l.Probe.Took)})
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

// writeTable writes rows in columns. below has further lines for each row after the first.
func writeTable(b *strings.Builder, rows [][]string, below [][]string) {
	var aligned strings.Builder
	t := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush() // a builder cannot fail
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

// detailLines returns the intents that a backend serves, and its last failure.
func detailLines(l backend.Status) (lines []string) {
	if intents := intentsText(l); intents != "all" {
		lines = append(lines, "for "+intents)
	}
	if failure := failureText(l); failure != "" {
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

func intentsText(l backend.Status) string {
	text := cmp.Or(listed(l.Intents), "all")
	if len(l.Best) > 0 {
		text += ", best " + listed(l.Best)
	}
	if len(l.Last) > 0 {
		text += ", last " + listed(l.Last)
	}
	return text
}

func healthText(l backend.Status) string {
	text := strings.ReplaceAll(string(l.Health), "_", " ")
	if l.Health == search.Resting {
		text += " until " + l.Until.UTC().Format("15:04:05Z")
	}
	return text
}

func paceText(l backend.Status, d time.Duration) string {
	if l.Answers == 0 {
		return "–"
	}
	return view.Exact(d)
}

func leftText(l backend.Status) string {
	if l.Of == 0 {
		return "–"
	}
	text := fmt.Sprintf("%d of %d", l.Left, l.Of)
	if !l.Resets.IsZero() {
		text += " until " + l.Resets.UTC().Format("01-02 15:04Z")
	}
	return text
}

func failureText(l backend.Status) string {
	if l.Failure == "" {
		return ""
	}
	text := l.FailedAt.UTC().Format("01-02 15:04Z ") + string(l.Failure)
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	return text
}

type backendsCommand struct {
	Probe bool `help:"Ask each backend that is on a question. It counts against the limits."`
	JSON  bool `name:"json" help:"Print JSON."`
}

// Run shows every search backend. It works beside a running bot.
func (c backendsCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		a, err := app.OpenBackendsList(ctx, p.process(), c.Probe)
		if a != nil {
			defer a.Close()
		}
		if err != nil {
			return err
		}
		list, err := a.ListBackends(ctx, c.Probe)
		if err == nil && c.JSON {
			err = printJSON(p, a, list)
		} else if err == nil {
			_, err = fmt.Fprint(p.out, a.Redact.String(viewBackends(list)))
		}
		return err
	})
}
