package websearch

import (
	"cmp"
	"fmt"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/evidence"
	"familiar/internal/web/clean"
)

// droppedSentences are the best sentences of each page that are not among the claims shown, with why. The pages have
// their source numbers.
func (s *summary) droppedSentences(sources []source, shown int) []turn.DroppedSentence {
	all := slices.Clone(s.dropped)
	for i, c := range s.claims {
		if i >= shown {
			all = append(all, evidence.Dropped{Page: c.source, Text: c.Text, Score: c.score, Why: evidence.DroppedNoRoom})
		}
		for _, o := range c.same {
			all = append(all, evidence.Dropped{Page: o.source, Text: o.Text, Score: o.score, Why: evidence.DroppedSame + sourced(&sources[c.source])})
		}
	}
	slices.SortStableFunc(all, func(a, b evidence.Dropped) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(b.Score, a.Score))
	})
	var out []turn.DroppedSentence
	kept := map[int]int{}
	for _, d := range all {
		page := &sources[d.Page].page
		if kept[d.Page]++; kept[d.Page] > evidence.MaxDropped {
			continue
		}
		text := clean.Inert(d.Text, "")
		why := d.Why
		if why == evidence.DroppedSame {
			why += sourced(&sources[d.Page])
		}
		out = append(out, turn.DroppedSentence{Source: page.N, URL: page.URL, Text: clean.Line(text, evidence.MaxDroppedText), Score: d.Score, Why: why})
	}
	return out
}

// sourced names a page that a better sentence is of.
func sourced(s *source) string {
	if s.page.N == 0 {
		return "a better one"
	}
	return fmt.Sprintf("[%d]", s.page.N)
}
