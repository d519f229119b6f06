package console

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// bar is one step of a turn, with times from the turn's beginning.
type bar struct {
	Label string
	Kind  string // class for its colour: context, search, read, model, write, side, door
	Note  string // shown in the tooltip and in the table
	Depth int    // 1 inside the step above, otherwise 0
	From  time.Duration
	Took  time.Duration
	Bad   bool // it failed or was canceled

	// Position and size in the picture.
	Y, X, W         float64
	LabelX, TextX   float64
	TextEnd, Inside bool // whether its length is written inside, before its end
}

// tick is a line of the axis.
type tick struct {
	X     float64
	Label string
}

// timeline is a turn's steps on one axis.
type timeline struct {
	Bars          []bar
	Ticks         []tick
	Seen          float64 // time of the first words; 0 if unknown
	SeenAt        time.Duration
	Width, Height float64
	Left, Right   float64 // ends of the axis
	Bottom        float64
	Whole         time.Duration
}

// Measures of the picture in its own units.
const (
	drawnWidth = 960.0
	labelWidth = 210.0
	rightEdge  = 14.0
	rowHeight  = 26.0
	headHeight = 30.0
	barHeight  = 14.0
	leastBar   = 2.0
	textWidth  = 58.0 // of a length beside a bar
)

// timelineOf lays out the recorded times of a turn. It is empty without times.
func timelineOf(t *turn.Trace) *timeline {
	bars := steps(t)
	whole := t.Took
	for _, b := range bars {
		whole = max(whole, b.From+b.Took)
	}
	if whole <= 0 || len(bars) == 0 {
		return nil
	}
	l := &timeline{Width: drawnWidth, Left: labelWidth, Right: drawnWidth - rightEdge, Whole: whole}
	scale := (l.Right - l.Left) / float64(whole)
	for i := range bars {
		b := &bars[i]
		b.Y = headHeight + float64(i)*rowHeight
		b.X, b.W = l.Left+float64(b.From)*scale, max(leastBar, float64(b.Took)*scale)
		b.LabelX = 4 + 14*float64(b.Depth)
		b.TextX = b.X + b.W + 6
		if b.TextX+textWidth > l.Right {
			b.TextX, b.TextEnd = b.X-6, true
			if b.TextX-textWidth < l.Left {
				b.TextX, b.Inside = b.X+b.W-6, true
			}
		}
	}
	l.Bars = bars
	l.Bottom = headHeight + float64(len(bars))*rowHeight
	l.Height = l.Bottom + 8
	step := tickStep(whole)
	for at := time.Duration(0); at <= whole; at += step {
		label := "0"
		if at > 0 {
			label = axis(at, step)
		}
		l.Ticks = append(l.Ticks, tick{l.Left + float64(at)*scale, label})
	}
	if seen := t.Timings.FirstSeen; seen > 0 && seen <= whole {
		l.Seen, l.SeenAt = l.Left+float64(seen)*scale, seen
	}
	return l
}

// tickStep returns a round length that divides the whole into four to nine parts.
func tickStep(whole time.Duration) time.Duration {
	for unit := time.Microsecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if whole/(unit*n) < 9 {
				return unit * n
			}
		}
	}
}

func axis(at, step time.Duration) string {
	if step < 100*time.Millisecond {
		return fmt.Sprintf("%d ms", at.Milliseconds())
	}
	if step < time.Second {
		return fmt.Sprintf("%.1f s", at.Seconds())
	}
	return fmt.Sprintf("%d s", int(at.Seconds()))
}

// steps returns the recorded steps of a turn, in reading order.
func steps(t *turn.Trace) (all []bar) {
	for _, o := range t.Outcomes {
		b := bar{Label: o.Provider, Kind: "context", Took: o.Took, Bad: o.Status != turn.OK, Note: string(o.Status)}
		if o.Err != "" {
			b.Note += ": " + o.Err
		}
		all = append(all, b)
		for _, c := range o.Contributions {
			if c.Lookup != nil && c.Lookup.State != turn.NotNeeded && c.Lookup.State != turn.Disabled {
				all = append(all, lookupSteps(t.Began, c.Lookup)...)
			}
		}
	}
	ready := t.Timings.Prompt
	before := ready
	for _, p := range t.Processed {
		if p.By == "think" {
			all = append(all, bar{Label: "thinks before", Kind: "side", From: ready, Took: p.Took, Bad: p.Status != turn.OK, Note: p.Model})
			before = ready + p.Took
		}
	}
	end := t.Took
	var after []bar
	if v := t.Verified; v != nil && v.Took > 0 {
		after = append(after, bar{Label: "verifies citations", Kind: "side", From: max(0, end-v.Took), Took: v.Took, Note: fmt.Sprintf("%d opinions", len(v.Opinions))})
		end -= v.Took
	}
	for _, p := range slices.Backward(t.Processed) {
		if p.By == "recast" && p.Took > 0 {
			after = append(after, bar{Label: "rewords it", Kind: "side", From: max(0, end-p.Took), Took: p.Took, Bad: p.Status != turn.OK, Note: p.Model})
			end -= p.Took
		}
	}
	if t.Model != "" && t.Model != "none" && ready > 0 {
		first := t.Timings.FirstToken
		if first == 0 || first > end {
			all = append(all, bar{Label: "model", Kind: "model", From: before, Took: max(0, end-before), Bad: t.Err != "", Note: t.Model})
		} else {
			all = append(all,
				bar{Label: "model: first word", Kind: "model", From: before, Took: max(0, first-before), Note: t.Model},
				bar{Label: "model: writes", Kind: "write", From: first, Took: max(0, end-first), Bad: t.Cut, Note: fmt.Sprintf("%d tokens", t.Usage.Completion)})
		}
	}
	slices.Reverse(after)
	return append(all, after...)
}

// lookupSteps returns the stages of a lookup in order, with the services and pages inside them.
func lookupSteps(began time.Time, l *turn.Lookup) (all []bar) {
	at := max(0, l.Began.Sub(began))
	for _, s := range l.Stages {
		kind := "read"
		if s.Name == "search" || s.Name == "need" {
			kind = "search"
		}
		all = append(all, bar{Label: s.Name, Kind: kind, Depth: 1, From: at, Took: s.Took, Note: "stage of the lookup"})
		switch s.Name {
		case "search":
			for _, a := range l.Asked {
				if a.Took > 0 {
					all = append(all, bar{Label: a.Backend, Kind: "search", Depth: 2, From: at, Took: a.Took, Bad: a.Status != turn.CodeOK && a.Status != turn.CodeEmpty, Note: fmt.Sprintf("%s, %d hits", a.Status, a.Hits)})
				}
			}
		case "read":
			pages := slices.Clone(l.Pages)
			sort.SliceStable(pages, func(i, j int) bool {
				a, b := pages[i], pages[j]
				return cmp.Compare(b.Took, a.Took) < 0
			})
			for _, p := range pages[:min(len(pages), maxPagesDrawn)] {
				if p.Took > 0 {
					all = append(all, bar{Label: cmp.Or(p.Site, hostOf(p.URL)), Kind: "read", Depth: 2, From: at, Took: p.Took, Bad: p.Failure != "", Note: strings.TrimSpace(fmt.Sprintf("%s %s", p.Failure, p.Title))})
				}
			}
		}
		at += s.Took
	}
	return all
}

// maxPagesDrawn is how many pages of a lookup the picture shows.
const maxPagesDrawn = 6
