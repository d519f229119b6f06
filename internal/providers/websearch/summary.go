package websearch

import (
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// claim is a checked fact on its way into the block.
type claim struct {
	turn.Claim
	sheet int
	also  []backing
	same  []claim  // those that it stands for: they say no more
	terms []string // for [merged]
	score float64
}

// summary is what the pages say, checked, best first.
type summary struct {
	claims   []claim
	rejected []turn.Claim
	dropped  []dropped
	verdict  *turn.Verdict // fact checks only
	stances  []testified   // those of the verdict: For, then Against
	by       string
	usage    turn.Usage
}

// extractive says in Lookup.By that no model had a part in a summary.
const extractive = "extractive"

// judge keeps of the side model's notes what stands on the pages, and puts the pages' own sentences where there
// are no notes worth keeping.
func judge(sheets []sheet, taken []notes, pl *plan, limit int) summary {
	question, lang := pl.question, pl.language
	out := summary{by: extractive}
	asked := unique(terms(question, lang))
	quoted := map[int][]string{} // page → what its notes quote
	for _, n := range taken {
		out.usage = addUsage(out.usage, n.usage)
		for i, f := range n.facts {
			c, ok := checkFact(&sheets[n.sheet], f)
			c.Source = 0
			if !ok {
				out.rejected = append(out.rejected, c)
				continue
			}
			quoted[n.sheet] = append(quoted[n.sheet], c.Quote)
			out.by = n.model
			out.claims = append(out.claims, claim{Claim: c, sheet: n.sheet, score: n.worth(i, c, asked, lang, sheets[n.sheet].rank)})
		}
	}
	q := newAsked(question, lang, pl.day)
	for _, s := range q.choose(evidencePages(sheets), limit) {
		if out.by != extractive && (s.mask == 0 || noted(&s, quoted)) {
			out.dropped = append(out.dropped, dropped{s.page, s.said, s.score, droppedNoted})
			continue
		}
		c, ok := checkFact(&sheets[s.page], fact{Text: s.said, Quote: s.text})
		if !ok {
			out.dropped = append(out.dropped, dropped{s.page, s.said, s.score, droppedCheck + c.Refused})
			continue
		}
		out.claims = append(out.claims, claim{Claim: c, sheet: s.page, score: s.score})
	}
	out.dropped = append(out.dropped, q.dropped...)
	slices.SortStableFunc(out.claims, func(a, b claim) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	out.claims = merged(out.claims, sheets)
	return out
}

// noted reports whether the side model's notes on a page make a sentence of it needless. Its best sentence stands beside
// them unless they quote it: notes that leave out what matters, as a page may have told the model to, then hide nothing.
func noted(s *sentence, quoted map[int][]string) bool {
	quotes := quoted[s.page]
	if len(quotes) == 0 {
		return false
	}
	quoted[s.page] = append(quotes, "") // which every later sentence holds
	text := oneLine(s.text)
	return slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(q, text) || strings.Contains(text, q) })
}

// worth ranks a note among the sentences: what answers, what shares words with the question, what came first.
func (n notes) worth(i int, c turn.Claim, asked []string, lang string, rank int) float64 {
	score := 6 - 0.5*float64(i) - 0.2*float64(rank)
	if n.answers {
		score += 2
	}
	have := terms(c.Text, lang)
	for _, t := range asked {
		if slices.Contains(have, t) {
			score += 0.7
		}
	}
	return score
}

// checkFact makes a claim of a fact, with the checks that it passed or the one that refused it. Both strings are
// made inert as the page was, so that like is compared with like.
func checkFact(s *sheet, f fact) (turn.Claim, bool) {
	text, _ := clean.Inert(f.Text, "")
	quote, _ := clean.Inert(f.Quote, "")
	c := turn.Claim{Text: oneLine(text), Quote: oneLine(quote)}
	if Orders(c.Text) {
		c.Refused = "order"
	} else {
		c.Checks, c.Refused = s.index.checkClaim(c.Text, c.Quote)
	}
	if c.Refused != "" { // kept for the record alone, and not at any length
		c.Text, c.Quote = cut(c.Text, maxFact), cut(c.Quote, maxFact)
	}
	return c, c.Refused == ""
}

// snippets makes pages of what the search services said about pages of which none could be read.
func (p *Provider) snippets(targets []target) []sheet {
	var out []sheet
	for _, t := range targets {
		if t.hit == nil || strings.TrimSpace(t.hit.Snippet) == "" {
			continue
		}
		hit := *t.hit
		hit.Text = hit.Snippet
		s := sheet{rank: t.rank, page: turn.Page{URL: t.url, Site: t.site}}
		p.readDelivered(&s, &hit)
		s.page.Via += turn.SnippetMark
		if s.good() {
			out = append(out, s)
		}
	}
	return out
}

// evidencePages are the pages as evidence is looked for on them.
func evidencePages(sheets []sheet) []evidencePage {
	pages := make([]evidencePage, len(sheets))
	for i := range sheets {
		if s := &sheets[i]; s.good() {
			pages[i] = evidencePage{Title: s.page.Title, Text: s.page.Text, Rank: s.rank, Answer: s.answer}
		}
	}
	return pages
}
