package search

import (
	"cmp"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

const (
	// rrfK is k of reciprocal-rank fusion: a page's score is the sum of weight/(k+rank) over the backends that
	// returned it (Cormack, Clarke and Büttcher, SIGIR 2009, where 60 was found best).
	rrfK = 60
	// relevanceGain is how much the page gains whose title and snippet fit the query best. Ranks 1 and 10 of a backend
	// differ by 15 %.
	relevanceGain = 0.5
	// answerGain is how much a hit gains that answers by itself.
	answerGain = 1.0
	// perDomain is how many hits of one registrable domain go before those of others.
	perDomain = 2
)

// rank merges the answers into one list, best first. The same answers give the same list, whoever was quickest.
func (e *Engine) rank(q Query, domains guard.Domains, sources []*source, answers []answer) []*candidate {
	pages := e.fuse(domains, sources, answers)
	fit, newer := relevance(text.HashTerms(nil, q.Text), pages), halves(q)
	for i, p := range pages {
		p.Score *= (1 + relevanceGain*fit[i]) * (1 + newer.recency(p.Published, e.now()))
		if p.Answer {
			p.Score *= 1 + answerGain
		}
	}
	sortPages(pages)
	return spread(mergeNearDuplicates(pages))
}

// top are the hits of the first n pages.
func top(pages []*candidate, n int) []turn.Hit {
	hits := make([]turn.Hit, 0, min(len(pages), n))
	for _, p := range pages[:min(len(pages), n)] {
		hits = append(hits, p.Hit)
	}
	return hits
}

func sortPages(pages []*candidate) {
	slices.SortStableFunc(pages, func(a, b *candidate) int { return cmp.Compare(b.Score, a.Score) })
}

// fuse makes one candidate a page, scored by its ranks, in the order of first appearance.
func (e *Engine) fuse(domains guard.Domains, sources []*source, answers []answer) []*candidate {
	var pages []*candidate
	seen := map[string]*candidate{}
	for i, a := range answers {
		for j := range a.hits {
			if !domains.Allows(a.hits[j].host) {
				continue
			}
			c := a.hits[j] // a copy: answers are shared
			if a.cached || a.stale > 0 {
				c.Age = e.now().Sub(a.at)
			}
			gain := sources[i].Weight / float64(rrfK+c.Rank)
			if first := seen[c.key]; first != nil {
				join(first, &c, gain)
				continue
			}
			c.Score = gain
			seen[c.key] = &c
			pages = append(pages, &c)
		}
	}
	return pages
}

// join adds another hit on the same page. A backend that lists a page twice gains nothing by it.
func join(page, c *candidate, gain float64) {
	if c.Backend == page.Backend || slices.Contains(page.Also, c.Backend) {
		return
	}
	page.Score += gain
	page.Also = append(page.Also, c.Backend)
	page.Title = cmp.Or(page.Title, c.Title)
	page.Snippet = cmp.Or(page.Snippet, c.Snippet)
	if page.Text == "" && c.Text != "" {
		page.Text, page.Age = c.Text, c.Age
	}
	page.Language = cmp.Or(page.Language, c.Language)
	page.Thumbnail, page.Media = cmp.Or(page.Thumbnail, c.Thumbnail), cmp.Or(page.Media, c.Media)
	page.Answer = page.Answer || c.Answer
	if page.Published.IsZero() {
		page.Published, page.DayOnly = c.Published, c.DayOnly
	}
}

// spread moves the hits of a domain, except the first few, behind those of the others. They are not dropped: there may be
// little else.
func spread(pages []*candidate) []*candidate {
	count := map[string]int{}
	var first, later []*candidate
	for _, p := range pages {
		if count[p.site]++; count[p.site] > perDomain {
			later = append(later, p)
			continue
		}
		first = append(first, p)
	}
	return append(first, later...)
}
