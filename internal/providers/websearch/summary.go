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
	score float64
}

// summary is what the pages say, checked, best first.
type summary struct {
	claims   []claim
	rejected []turn.Claim
	verdict  *turn.Verdict // fact checks only
	stances  []stance      // those of the verdict: For, then Against
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
	noted := map[int]bool{}
	for _, n := range taken {
		out.usage = addUsage(out.usage, n.usage)
		for i, f := range n.facts {
			c, ok := checkFact(&sheets[n.sheet], f)
			c.Source = 0
			if !ok {
				out.rejected = append(out.rejected, c)
				continue
			}
			noted[n.sheet] = true
			out.by = n.model
			out.claims = append(out.claims, claim{Claim: c, sheet: n.sheet, score: n.worth(i, c, asked, lang, sheets[n.sheet].rank)})
		}
	}
	for _, s := range selectSentences(rankSentences(question, lang, pl.day, sheets), asked, sheets, limit) {
		if noted[s.sheet] || out.by != extractive && s.hits == 0 {
			continue
		}
		c, ok := checkFact(&sheets[s.sheet], fact{Text: s.text, Quote: s.text})
		if ok {
			out.claims = append(out.claims, claim{Claim: c, sheet: s.sheet, score: s.score})
		}
	}
	slices.SortStableFunc(out.claims, func(a, b claim) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return out
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
	if orderly.MatchString(c.Text) {
		c.Refused = "order"
	} else {
		c.Checks, c.Refused = s.index.checkClaim(c.Text, c.Quote)
	}
	if c.Refused != "" { // kept for the record alone, and not at any length
		c.Text, c.Quote = cut(c.Text, maxFact), cut(c.Quote, maxFact)
	}
	return c, c.Refused == ""
}

// number gives the pages of these claims their source numbers, in the order of the search, and writes them into
// claims and pages.
func number(claims []claim, sheets []sheet) ([]turn.Claim, []turn.Source) {
	used := map[int]int{}
	for _, c := range claims {
		used[c.sheet] = 0
	}
	var sources []turn.Source
	for i := range sheets {
		s := &sheets[i]
		s.page.N = 0
		if _, ok := used[i]; !ok {
			continue
		}
		n := len(sources) + 1
		used[i], s.page.N = n, n
		at := s.page.URL
		if s.page.Final != "" {
			at = s.page.Final
		}
		sources = append(sources, turn.Source{N: n, URL: at, Title: s.page.Title, Site: s.page.Site, Published: s.page.Published, Fetched: s.page.Fetched})
	}
	out := make([]turn.Claim, len(claims))
	for i, c := range claims {
		out[i] = c.Claim
		out[i].Source = used[c.sheet]
	}
	return out, sources
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
		s.page.Via += " snippet"
		if s.good() {
			out = append(out, s)
		}
	}
	return out
}
