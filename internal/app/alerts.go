package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/cache"
	"familiar/internal/store"
	"familiar/internal/text"
)

// The figures that the operator is alerted to. They are those of the console's page Health, in the last hour.
const (
	ofWords   = "words"   // until the first words were seen, in seconds, in all but 5 of 100 turns
	ofErrors  = "errors"  // the share of turns that failed
	ofLookups = "lookups" // the share of lookups that failed
	ofDollars = "dollars" // spent on this day of UTC
	ofDisk    = "disk"    // bytes that are free
)

// alertTexts say that a figure has passed its limit. Both values follow.
var alertTexts = map[string]string{
	ofWords: "First words come late: after %s or more for the slowest 5 %% of the last hour, and the limit is %s.", ofErrors: "Of the turns of the last hour %s failed, and the limit is %s.",
	ofLookups: "Of the lookups of the last hour %s failed, and the limit is %s.", ofDollars: "Today cost %s dollars, and the limit is %s.",
	ofDisk: "On the disk of FAMILIAR_DATA %s are free, and the limit is %s.",
}

// parseAlerts reads limits such as "words 20s, errors 20%, dollars 5, disk 500MB", by the names of their figures.
func parseAlerts(text string) (map[string]float64, error) {
	limits := map[string]float64{}
	if text == "off" {
		return limits, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		limit, ok := 0.0, len(words) == 2
		if ok {
			limit, ok = parseLimit(words[0], words[1])
		}
		if !ok || !(limit > 0) || math.IsInf(limit, 0) {
			return nil, fmt.Errorf("%q is not a limit; write it as in: words 20s, errors 20%%, lookups 50%%, dollars 5, disk 500MB", strings.TrimSpace(one))
		}
		limits[words[0]] = limit
	}
	return limits, nil
}

// parseLimit reads one limit in the unit of its figure.
func parseLimit(of, value string) (limit float64, ok bool) {
	unit := 1.0
	switch of {
	case ofWords:
		d, err := time.ParseDuration(value)
		return d.Seconds(), err == nil
	case ofErrors, ofLookups:
		value, ok = strings.CutSuffix(value, "%")
		unit = 0.01
	case ofDisk:
		if value, ok = strings.CutSuffix(value, "MB"); ok {
			unit = 1e6
		} else if value, ok = strings.CutSuffix(value, "GB"); ok {
			unit = 1e9
		}
	case ofDollars:
		ok = true
	}
	n, err := strconv.ParseFloat(value, 64)
	return n * unit, ok && err == nil
}

func checkAlerts(text string) error {
	_, err := parseAlerts(text)
	return err
}

// shownFigure writes a value of a figure for people.
func shownFigure(of string, value float64) string {
	switch of {
	case ofWords:
		return (time.Duration(value*10) * (time.Second / 10)).String()
	case ofErrors, ofLookups:
		return fmt.Sprintf("%.0f %%", value*100)
	case ofDisk:
		return text.Size(int64(value))
	}
	return fmt.Sprintf("%.2f", value)
}

// alerts tells the operator when a figure passes its limit, once, and once when that is over.
type alerts struct {
	app    *App
	limits map[string]float64
	free   func(dir string) (int64, error)
	dir    string                                       // of the data
	tell   func(ctx context.Context, text string) error // writes to the operator's channel
}

func (a *App) newAlerts(p *Process, tell func(ctx context.Context, text string) error) *alerts {
	limits, _ := parseAlerts(a.Config.Get("FAMILIAR_ALERTS")) // it was checked
	w := &alerts{app: a, limits: limits, free: p.Far.Free, dir: Resolve(p.Dir, a.Config.Get("FAMILIAR_DATA")), tell: tell}
	if w.free == nil {
		w.free = cache.FreeSpace
	}
	return w
}

// alertsEvery is how often the figures are compared with their limits.
const alertsEvery = time.Minute

// run compares the figures with their limits until ctx is done.
func (w *alerts) run(ctx context.Context, every time.Duration) {
	for waited(ctx, every) {
		w.app.tidied(ctx, "compare figures with FAMILIAR_ALERTS", w.look(ctx, time.Now()))
	}
}

const (
	// leastCounted is how many turns or lookups make a figure that may alert. One is enough to end an alert.
	leastCounted = 5
	// calm is how far below its limit a figure is when an alert is over.
	calm = 0.8
)

// look compares the figures with their limits, and tells what has changed. What was told is kept, so that a restart does not repeat it.
func (w *alerts) look(ctx context.Context, now time.Time) error {
	told, err := w.app.Store.Notes.Under(ctx, store.AlertNotes)
	if err != nil {
		return err
	}
	figures, err := w.figures(ctx, now)
	if err != nil {
		return err
	}
	changed := map[string]string{}
	var lines []string
	for of := range told {
		if w.limits[of] == 0 { // it is not wanted any more
			changed[of] = ""
		}
	}
	for _, of := range slices.Sorted(maps.Keys(w.limits)) {
		limit, f := w.limits[of], figures[of]
		share := f.value / limit
		if of == ofDisk {
			share = limit / max(f.value, 1)
		}
		text := fmt.Sprintf(alertTexts[of], shownFigure(of, f.value), shownFigure(of, limit))
		switch alerted := told[of] != ""; {
		case !alerted && f.n >= leastCounted && share > 1:
			changed[of], lines = text, append(lines, text)
		case alerted && f.n > 0 && share <= calm:
			changed[of], lines = "", append(lines, "Over: "+told[of]+" Now it is "+shownFigure(of, f.value)+".")
		}
	}
	if len(changed) == 0 {
		return nil
	}
	for _, line := range lines {
		w.app.Log.Warn("alert", "text", line)
	}
	if len(lines) > 0 {
		if err := w.tell(ctx, strings.Join(lines, "\n")); err != nil {
			return err // the next look tells it
		}
	}
	return w.app.Store.Notes.SetUnder(ctx, store.AlertNotes, changed)
}

// figure is a value that is made of n turns or lookups.
type figure struct {
	value float64
	n     int
}

// figures returns the figures that have a limit. One that is not known has no turns.
func (w *alerts) figures(ctx context.Context, now time.Time) (map[string]figure, error) {
	all := map[string]figure{}
	periods, err := w.app.Traces.Periods(ctx, now.Add(-time.Hour), 2*time.Hour)
	if err != nil || len(periods) != 1 {
		return nil, err
	}
	if h := periods[0]; h.Turns > 0 {
		all[ofErrors] = figure{float64(h.Failed) / float64(h.Turns), h.Turns}
		if h.P95 > 0 {
			all[ofWords] = figure{h.P95.Seconds(), h.Turns}
		}
		if h.Lookups > 0 {
			all[ofLookups] = figure{float64(h.NoLookup) / float64(h.Lookups), h.Lookups}
		}
	}
	days, err := w.app.Store.Quotas.UsageByDay(ctx, now)
	spent := figure{n: leastCounted}
	for _, d := range days {
		spent.value += d.Cost
	}
	all[ofDollars] = spent
	if w.limits[ofDisk] > 0 {
		switch free, failed := w.free(cache.Nearest(w.dir)); {
		case failed == nil:
			all[ofDisk] = figure{float64(free), leastCounted}
		case !errors.Is(failed, errors.ErrUnsupported):
			err = errors.Join(err, failed)
		}
	}
	return all, err
}
