package websearch

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// backing is another page for a claim, with its own words.
type backing struct {
	source int
	quote  string
}

// mergeFindings keeps the best of claims that say the same, with all their pages. claims are sorted, best first.
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

// back adds the page of an equal claim, unless it is known.
func (c *finding) back(by finding) {
	known := func(b backing) bool { return b.source == by.source }
	if by.source != c.source && !slices.ContainsFunc(c.also, known) {
		c.also = append(c.also, backing{by.source, by.Quote})
	}
}

// sameAs reports whether another claim says the same, so that its page may back this one's words. They must share most
// words in the same order, all numbers, dates and names, and the polarity. Framed claims are never merged.
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

// sameOrder reports whether two texts have their shared words of content in the same order, dates aside. "Safe for
// adults but dangerous for children" shares all words with its reverse.
func sameOrder(a, b string) bool {
	x, y := undatedTerms(a), undatedTerms(b)
	return slices.Equal(among(x, y), among(y, x))
}

func undatedTerms(s string) []string {
	_, rest := text.Dates(s)
	return text.Terms(rest, "")
}

// among returns the terms that are among others, each once.
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

// namesIn reports whether every capitalised word of a text is in another.
func namesIn(s, other string) bool {
	have := text.Keys(text.Words(other))
	return !slices.ContainsFunc(text.Words(s), func(w text.Word) bool { return w.Upper && !have[w.Key] && !text.StopWords()[w.Key] })
}

// numberSources numbers the pages of claims in the order of the search, and sets the numbers in claims and pages.
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

// textsByNumber returns the texts of numbered pages.
func textsByNumber(sources []source) map[int]string {
	texts := map[int]string{}
	for i := range sources {
		if p := &sources[i].page; p.N > 0 {
			texts[p.N] = p.Text
		}
	}
	return texts
}

// droppedSentences returns the best sentences of each page that are not shown, with the reasons. The pages must be
// numbered.
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
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(b.Score, a.Score)) < 0
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

// sourced names the page of a better sentence.
func sourced(s *source) string {
	if s.page.N == 0 {
		return "a better one"
	}
	return fmt.Sprintf("[%d]", s.page.N)
}
