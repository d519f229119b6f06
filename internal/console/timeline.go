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
	Note  string
	Href  string // where one can read it; may be empty
	Depth int    // how many steps it is inside of
	From  time.Duration
	Took  time.Duration
	Bad   bool    // it failed or was canceled
	X, W  float64 // in the picture
}

// timeline is a turn's steps on one axis. Each step is a row with a picture of its own, as wide as there is room.
type timeline struct {
	Bars   []bar
	Ticks  []string // labels of the axis, one for each part of it
	Grid   string   // the path of the lines between the parts
	Seen   float64  // place of the first words; 0 if unknown
	SeenAt time.Duration
	Whole  time.Duration
}

const (
	axisWidth = 1000.0 // of the picture in its own units
	leastBar  = 3.0
)

// timelineOf lays out the recorded times of a turn. It is nil without times.
func timelineOf(t *turn.Trace) *timeline {
	bars := steps(t)
	whole := t.Took
	for _, b := range bars {
		whole = max(whole, b.From+b.Took)
	}
	if whole <= 0 || len(bars) == 0 {
		return nil
	}
	l := &timeline{Bars: bars, Whole: whole}
	step := tickStep(whole)
	parts := int((whole + step - 1) / step)
	scale := axisWidth / (float64(parts) * float64(step))
	for i := range bars {
		b := &bars[i]
		b.W = max(leastBar, float64(b.Took)*scale)
		b.X = min(float64(b.From)*scale, axisWidth-b.W)
	}
	for n := range parts {
		label := "0"
		if n > 0 {
			label = axis(time.Duration(n)*step, step)
		}
		l.Ticks = append(l.Ticks, label)
		l.Grid += fmt.Sprintf("M%.0f 0V10", float64(n)*float64(step)*scale)
	}
	if seen := t.Timings.FirstSeen; seen > 0 && seen <= whole {
		l.Seen, l.SeenAt = float64(seen)*scale, seen
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
	for i, c := range t.Asked() {
		from, first := max(0, c.Began.Sub(t.Began)), t.Timings.FirstToken
		b := bar{Label: callWord(c.For), Kind: "side", Href: fmt.Sprintf("?tab=calls&n=%d", i), From: from, Took: c.Took, Bad: c.Err != "", Note: strings.TrimSpace(c.Model + " " + c.Err)}
		if c.For == turn.ForAnswer {
			b.Kind = "model"
			if first > from && first < from+c.Took {
				b.Took = first - from
				all = append(all, b)
				b = bar{Label: "writes", Kind: "write", Href: b.Href, From: first, Took: from + c.Took - first, Bad: t.Cut, Note: fmt.Sprintf("%d tokens", c.Usage.Completion)}
			}
		}
		all = append(all, b)
	}
	return all
}

// callWord says for people what a model was asked for.
func callWord(purpose string) string {
	words, known := map[string]string{
		turn.ForAnswer: "model: answer", "need": "is a search needed?", "reword": "rewords the question", "select": "selects quotes", "filter": "filters what is recalled",
		"verify": "verifies citations", "think": "thinks before", "recast": "rewords the answer", "orders": "reads an order", "vision": "describes a picture",
		turn.ForMood: "which mood it shows", turn.ForSpeech: "says it aloud", "chatter": "joins in?", "summary": "sums a channel up", "learn": "learns", "topics": "sorts into topics",
	}[purpose]
	if !known {
		return "side model"
	}
	return words
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
