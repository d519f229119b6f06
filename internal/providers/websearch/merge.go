package websearch

import (
	"cmp"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// backing is another page that says what a claim says, with its own words for it.
type backing struct {
	source int
	quote  string
}

// mergeFindings keeps of claims that say the same the best, with all the pages that say it. They are sorted, best first.
func mergeFindings(claims []finding) []finding {
	var out []finding
next:
	for _, c := range claims {
		c.terms = text.Unique(text.Terms(c.Text, ""))
		for i := range out {
			if kept := &out[i]; kept.sameAs(c) {
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
func (c *finding) back(by finding) {
	known := func(b backing) bool { return b.source == by.source }
	if by.source != c.source && !slices.ContainsFunc(c.also, known) {
		c.also = append(c.also, backing{by.source, by.Quote})
	}
}

// sameAs reports whether another claim says the same, so that its page may stand behind the words of this one: most of
// their words are shared, and stand in the same order, all numbers, dates and names are, and what is denied. What a page
// denies itself is said by none.
func (c *finding) sameAs(other finding) bool {
	if c.Framing.Role != other.Framing.Role || c.Framing.Denied != other.Framing.Denied {
		return false
	}
	if c.Text == other.Text && c.source == other.source {
		return true
	}
	if !c.Framing.Plain() || c.Framing.Under+other.Framing.Under != "" || text.Jaccard(c.terms, other.terms) < 0.6 || text.Denies(c.Text) != text.Denies(other.Text) ||
		!slices.Equal(text.Unique(text.Numbers(c.Text)), text.Unique(text.Numbers(other.Text))) || !namesIn(c.Text, other.Text) || !namesIn(other.Text, c.Text) {
		return false
	}
	return sameOrder(c.Text, other.Text)
}

// sameOrder reports whether the words of content that two texts share stand in the same order in both, dates aside. "Safe for
// adults but dangerous for children" has the words of its reverse.
func sameOrder(a, b string) bool {
	x, y := undatedTerms(a), undatedTerms(b)
	return slices.Equal(among(x, y), among(y, x))
}

func undatedTerms(s string) []string {
	_, rest := text.Dates(s)
	return text.Terms(rest, "")
}

// among returns those of some terms that are among others, each once.
func among(terms, others []string) []string {
	have := map[string]bool{}
	for _, t := range others {
		have[t] = true
	}
	var out []string
	for _, t := range terms {
		if have[t] {
			out = append(out, t)
			delete(have, t)
		}
	}
	return out
}

// namesIn reports whether every capitalised word of a text stands in another.
func namesIn(s, other string) bool {
	have := text.Keys(text.Words(other))
	return !slices.ContainsFunc(text.Words(s), func(w text.Word) bool { return w.Upper && !have[w.Key] && !text.StopWords[w.Key] })
}

// numberSources gives the pages of these claims their source numbers, in the order of the search, and writes them into
// claims and pages.
func numberSources(claims []finding, sources []source) ([]turn.Claim, []turn.Source) {
	used := map[int]int{}
	for _, c := range claims {
		used[c.source] = 0
		for _, b := range c.also {
			used[b.source] = 0
		}
	}
	var numbered []turn.Source
	for i := range sources {
		s := &sources[i]
		s.page.N = 0
		if _, ok := used[i]; !ok {
			continue
		}
		n := len(numbered) + 1
		used[i], s.page.N = n, n
		numbered = append(numbered, turn.Source{N: n, URL: cmp.Or(s.page.Final, s.page.URL), Title: s.page.Title, Site: s.page.Site, Published: s.page.Published, Fetched: s.page.Fetched})
	}
	out := make([]turn.Claim, len(claims))
	for i, c := range claims {
		out[i] = c.Claim
		out[i].Source = used[c.source]
		for _, b := range c.also {
			out[i].Also = append(out[i].Also, turn.Backing{Source: used[b.source], Quote: b.quote})
		}
	}
	return out, numbered
}

// textsByNumber are the texts of the pages that have a source number, by it.
func textsByNumber(sources []source) map[int]string {
	texts := map[int]string{}
	for i := range sources {
		if p := &sources[i].page; p.N > 0 {
			texts[p.N] = p.Text
		}
	}
	return texts
}
