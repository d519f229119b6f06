package websearch

import (
	"cmp"
	"slices"

	"familiar/internal/context/turn"
)

// testified is a stance whose sentence passed the checks, with the claim that is made of it.
type testified struct {
	stance
	claim turn.Claim
}

// check judges the statement that a question is about by the pages that were read. The sentences that speak for and
// against it become the first of the claims.
func (s *summary) check(question string, sheets []sheet) {
	said := stated(question)
	pages := statementPages(sheets)
	var all []stance
	var claims []claim
	for i := range pages {
		if pages[i].Text == "" {
			continue
		}
		st, takes := takeStance(said, &pages[i])
		if !takes {
			continue
		}
		c, ok := checkFact(&sheets[i], fact{Text: st.text, Quote: st.text})
		if !ok {
			continue
		}
		st.page = i
		all = append(all, st)
		claims = append(claims, claim{Claim: c, sheet: i})
		c.Quote, c.Checks = excerpt(said, c.Quote), nonEmpty(st.rule)
		s.stances = append(s.stances, testified{st, c})
	}
	s.claims = append(claims, slices.DeleteFunc(s.claims, func(c claim) bool {
		return slices.ContainsFunc(claims, func(d claim) bool { return c.sheet == d.sheet && c.Text == d.Text })
	})...)
	s.verdict = &turn.Verdict{Statement: said}
	s.verdict.Label, s.verdict.Confidence = rule(said, all, pages)
	s.numberVerdict(sheets)
}

// statementPages are the pages as a statement is held against them.
func statementPages(sheets []sheet) []statementPage {
	pages := make([]statementPage, len(sheets))
	for i := range sheets {
		if s := &sheets[i]; s.good() {
			pages[i] = statementPage{Title: s.page.Title, Text: s.page.Text, Site: s.page.Site}
		}
	}
	return pages
}

// numberVerdict names the sources of a verdict as they are numbered now. What is not shown has the number 0.
func (s *summary) numberVerdict(sheets []sheet) {
	if s.verdict == nil {
		return
	}
	s.verdict.For, s.verdict.Against = nil, nil
	for _, st := range s.stances {
		c := st.claim
		page := &sheets[st.page].page
		c.Source, c.URL, c.Published = page.N, cmp.Or(page.Final, page.URL), page.Published
		if st.against {
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
