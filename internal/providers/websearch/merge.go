package websearch

import (
	"slices"

	"familiar/internal/context/turn"
)

// backing is another page that says what a claim says, with its own words for it.
type backing struct {
	sheet int
	quote string
}

// merged keeps of claims that say the same the best, with all the pages that say it. They are sorted, best first.
func merged(claims []claim, sheets []sheet) []claim {
	var out []claim
next:
	for _, c := range claims {
		c.terms = terms(c.Text, "")
		for i := range out {
			if kept := &out[i]; kept.saidBy(c, sheets) {
				kept.back(c)
				kept.same = append(kept.same, c)
				continue next
			}
		}
		out = append(out, c)
	}
	return out
}

// back adds the page of a claim that says the same, unless it is one of those that are known to.
func (c *claim) back(by claim) {
	known := func(b backing) bool { return b.sheet == by.sheet }
	if by.sheet != c.sheet && !slices.ContainsFunc(c.also, known) {
		c.also = append(c.also, backing{by.sheet, by.Quote})
	}
}

// saidBy reports whether another claim says the same, so that its page may stand behind the words of this one: most of
// their words are shared, all numbers and names and what is denied; and the words stand every check against that page.
func (c *claim) saidBy(other claim, sheets []sheet) bool {
	if c.Text == other.Text && c.sheet == other.sheet {
		return true
	}
	if jaccard(c.terms, other.terms) < 0.6 || denies(c.Text) != denies(other.Text) ||
		!slices.Equal(unique(numbersIn(c.Text)), unique(numbersIn(other.Text))) || !namesIn(c.Text, other.Text+" "+other.Quote) {
		return false
	}
	_, failed := sheets[other.sheet].index.checkClaim(c.Text, other.Quote)
	return failed == ""
}

// namesIn reports whether every capitalised word of a text stands in another.
func namesIn(text, other string) bool {
	have := map[string]bool{}
	for _, w := range split(other) {
		have[w.key] = true
	}
	return !slices.ContainsFunc(split(text), func(w word) bool { return w.upper && !have[w.key] && !stopWords[w.key] })
}

// number gives the pages of these claims their source numbers, in the order of the search, and writes them into
// claims and pages.
func number(claims []claim, sheets []sheet) ([]turn.Claim, []turn.Source) {
	used := map[int]int{}
	for _, c := range claims {
		used[c.sheet] = 0
		for _, b := range c.also {
			used[b.sheet] = 0
		}
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
		for _, b := range c.also {
			out[i].Also = append(out[i].Also, turn.Backing{Source: used[b.sheet], Quote: b.quote})
		}
	}
	return out, sources
}

// textsOf are the texts of the pages that have a source number, by it.
func textsOf(sheets []sheet) map[int]string {
	texts := map[int]string{}
	for i := range sheets {
		if p := &sheets[i].page; p.N > 0 {
			texts[p.N] = p.Text
		}
	}
	return texts
}
