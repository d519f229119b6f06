package websearch

import (
	"cmp"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/factcheck"
	"familiar/internal/lookup/quote"
	"familiar/internal/text"
)

// checkedStance is a stance whose sentence passed the checks, with the claim that is made of it.
type checkedStance struct {
	factcheck.Stance
	claim turn.Claim
}

// verdictWords is how long a quotation beside a verdict is, where its sentence can be cut to that.
const verdictWords = 25

// factCheck judges the statement that a question is about by the pages that were read. The sentences that speak for and
// against it become the first of the claims.
func (s *summary) factCheck(question string, sources []source) {
	said := factcheck.Statement(question)
	pages := statementPages(sources)
	var all []factcheck.Stance
	var claims []finding
	for i := range pages {
		if pages[i].Text == "" {
			continue
		}
		st, takes := factcheck.StanceOf(said, &pages[i])
		if !takes {
			continue
		}
		c, ok := sources[i].claim(&st.Quote, st.Marked())
		if !ok {
			continue
		}
		st.Page = i
		all = append(all, st)
		claims = append(claims, finding{Claim: c, source: i})
		c.Quote, c.Checks = quote.Short(c.Quote, verdictWords, text.Keys(text.ContentWords(said))), nonEmpty(st.Rule)
		s.stances = append(s.stances, checkedStance{st, c})
	}
	s.claims = append(claims, slices.DeleteFunc(s.claims, func(c finding) bool {
		return slices.ContainsFunc(claims, func(d finding) bool { return c.source == d.source && c.Text == d.Text })
	})...)
	s.verdict = &turn.Verdict{Statement: said}
	s.verdict.Label, s.verdict.Confidence = factcheck.Verdict(said, all, pages)
	s.numberVerdict(sources)
}

// statementPages are the pages as a statement is held against them.
func statementPages(sources []source) []factcheck.Page {
	pages := make([]factcheck.Page, len(sources))
	for i := range sources {
		if s := &sources[i]; s.good() {
			pages[i] = factcheck.Page{Title: s.page.Title, Text: s.page.Text, Site: s.page.Site, Framing: s.framing}
		}
	}
	return pages
}

// numberVerdict names the sources of a verdict as they are numbered now. What is not shown has the number 0.
func (s *summary) numberVerdict(sources []source) {
	if s.verdict == nil {
		return
	}
	s.verdict.For, s.verdict.Against = nil, nil
	for _, st := range s.stances {
		c := st.claim
		page := &sources[st.Page].page
		c.Source, c.URL, c.Published = page.N, cmp.Or(page.Final, page.URL), page.Published
		if st.Against {
			s.verdict.Against = append(s.verdict.Against, c)
		} else {
			s.verdict.For = append(s.verdict.For, c)
		}
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
