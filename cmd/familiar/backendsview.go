package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// viewBackends writes the backends as tables: those that are on, what they said to a probe, and those that are off.
func viewBackends(list []backend) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "on\tkind\tintents\thealth\tp50\tp95\tleft\tlast failure")
	for _, l := range list {
		if l.On {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, l.Kind, l.intents(), l.health(), l.pace(l.P50), l.pace(l.P95), l.left(), l.lastFailure())
		}
	}
	probed := false
	for _, l := range list {
		if l.Probe == nil {
			continue
		}
		if !probed {
			fmt.Fprintln(t, "\nasked just now\tstatus\thits\ttime")
			probed = true
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", l.Name, l.Probe.Status, l.Probe.Hits, ms(l.Probe.Took))
	}
	off := false
	for _, l := range list {
		if l.On {
			continue
		}
		if !off {
			fmt.Fprintln(t, "\noff\tkind\tintents\twhy")
			off = true
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.Name, l.Kind, l.intents(), l.Why)
	}
	t.Flush() // to a builder, which takes all
	return b.String()
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
		return "–"
	}
	text := l.FailedAt.UTC().Format("01-02 15:04Z ") + string(l.Failure)
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	return text
}
