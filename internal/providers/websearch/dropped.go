package websearch

import (
	"cmp"
	"fmt"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Why a sentence that was considered as evidence is not told.
const (
	droppedBelow  = "below the best"
	droppedKind   = "not an answer of the kind asked"
	droppedBare   = "nothing of the question in it"
	droppedNoted  = "the side model's notes say enough"
	droppedSame   = "says the same as "
	droppedCheck  = "failed check: " // and its name
	droppedNoRoom = "no room in the block"
)

const (
	maxDropped     = 5   // of one page
	maxDroppedText = 160 // characters
)

// dropped is a sentence that was considered and not told.
type dropped struct {
	page  int
	text  string
	score float64
	why   string
}

// drop notes a sentence that was not taken. They come best first, so no more of a page are needed than are shown.
func (q *asked) drop(s *sentence, why string) {
	if q.drops[s.page]++; q.drops[s.page] > maxDropped {
		return
	}
	if why == droppedBelow && s.traits[traitLacks] == 1 {
		why = droppedKind
	}
	q.dropped = append(q.dropped, dropped{s.page, s.shown(), s.score, why})
}

// droppedSentences are the best sentences of each page that are not among the claims shown, with why. The pages have
// their source numbers.
func (s *summary) droppedSentences(sheets []sheet, shown int) []turn.DroppedSentence {
	all := slices.Clone(s.dropped)
	for i, c := range s.claims {
		if i >= shown {
			all = append(all, dropped{c.sheet, c.Text, c.score, droppedNoRoom})
		}
		for _, o := range c.same {
			all = append(all, dropped{o.sheet, o.Text, o.score, droppedSame + sourced(&sheets[c.sheet])})
		}
	}
	slices.SortStableFunc(all, func(a, b dropped) int {
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(b.score, a.score))
	})
	var out []turn.DroppedSentence
	kept := map[int]int{}
	for _, d := range all {
		page := &sheets[d.page].page
		if kept[d.page]++; kept[d.page] > maxDropped {
			continue
		}
		text, _ := clean.Inert(d.text, "")
		why := d.why
		if why == droppedSame {
			why += sourced(&sheets[d.page])
		}
		out = append(out, turn.DroppedSentence{Source: page.N, URL: page.URL, Text: clean.Line(text, maxDroppedText), Score: d.score, Why: why})
	}
	return out
}

// sourced names a page that a better sentence is of.
func sourced(s *sheet) string {
	if s.page.N == 0 {
		return "a better one"
	}
	return fmt.Sprintf("[%d]", s.page.N)
}
