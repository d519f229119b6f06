package view

import (
	"maps"
	"slices"

	"familiar/internal/store"
)

// Learning writes what became of what side models said of messages, by name, and which channels wait to be read for memory.
func Learning(counts map[string]int, waiting []store.Watermark) string {
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
