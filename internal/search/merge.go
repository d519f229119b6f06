package search

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

const (
	// fusion is k of reciprocal-rank fusion: a page's score is the sum of weight/(k+rank) over the backends that
	// returned it (Cormack, Clarke and Büttcher, SIGIR 2009, where 60 was found best).
	fusion = 60
	// overlap is how much a page gains if every word of the query stands in its title or snippet. Ranks 1 and 10
	// of a backend differ by 15 %.
	overlap = 0.5
	// direct is how much a hit gains that answers by itself.
	direct = 1.0
	// defaultPerDomain is as many pages as are read of one domain.
	defaultPerDomain = 2
)

// candidate is a hit with what merging needs to know of it, worked out once.
type candidate struct {
	turn.Hit
	key  string // the same for all spellings of the page's address
	host string
	site string // registrable domain
	hay  string // title and snippet in lower case
}

// candidates takes the hits of one backend that have an address a page can have; the others could be neither
// read nor cited.
func candidates(backend string, hits []turn.Hit) []candidate {
	var kept []candidate
	for i, h := range hits {
		if i == maxLimit {
			break
		}
		h.URL = guard.EncodeBlanks(h.URL)
		address, ok := guard.DedupeKey(h.URL)
		if !ok {
			continue
		}
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		h.Backend, h.Rank, h.Also, h.Score = backend, i+1, nil, 0
		h.Title = cmp.Or(h.Title, u.Hostname())
		kept = append(kept, candidate{
			Hit: h, key: pageKey(u), host: u.Hostname(), site: guard.Registrable(u.Hostname()),
			hay: strings.ToLower(h.Title + " " + h.Snippet),
		})
	}
	return kept
}

// pageKey drops what does not tell pages apart: scheme, "www.", a last slash. The query string stays: it is the
// page on half of the web, youtube.com/watch?v= first of all.
func pageKey(u *url.URL) string {
	k := strings.TrimPrefix(u.Host, "www.") + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		k += "?" + u.RawQuery
	}
	return k
}

// filter is Query.Include and Query.Exclude.
type filter struct{ guard.Domains }

func newFilter(include, exclude []string) (filter, error) {
	d, err := guard.NewDomains(include, exclude)
	if err != nil {
		return filter{}, errors.New("a domain to search in, or not to, is not a host name")
	}
	return filter{d}, nil
}

// rank merges the answers into one list, best first. The same answers give the same list, whoever was quickest.
func (e *Engine) rank(q Query, domains filter, asked []*station, answers []answer) []turn.Hit {
	pages := e.fuse(words(q.Text), domains, asked, answers)
	slices.SortStableFunc(pages, func(a, b *candidate) int { return cmp.Compare(b.Score, a.Score) })
	perDomain := e.PerDomain
	if perDomain <= 0 {
		perDomain = defaultPerDomain
	}
	pages = spread(pages, perDomain)
	hits := make([]turn.Hit, 0, min(len(pages), q.Limit))
	for _, p := range pages[:min(len(pages), q.Limit)] {
		hits = append(hits, p.Hit)
	}
	return hits
}

// fuse makes one candidate a page, with its score, in the order of first appearance.
func (e *Engine) fuse(query []string, domains filter, asked []*station, answers []answer) []*candidate {
	var pages []*candidate
	seen := map[string]*candidate{}
	for i, a := range answers {
		for _, c := range a.hits {
			if a.cached || a.stale > 0 {
				c.Age = e.now().Sub(a.at)
			}
			if !domains.Allows(c.host) {
				continue
			}
			gain := asked[i].weight / float64(fusion+c.Rank) * (1 + overlap*share(query, c.hay))
			if c.Answer {
				gain *= 1 + direct
			}
			if first := seen[c.key]; first != nil {
				join(first, c, gain)
				continue
			}
			c.Score = gain
			seen[c.key] = &c
			pages = append(pages, &c)
		}
	}
	return pages
}

// join adds another sighting of the same page. A backend that lists a page twice gains nothing by it.
func join(page *candidate, c candidate, gain float64) {
	if c.Backend == page.Backend || slices.Contains(page.Also, c.Backend) {
		return
	}
	page.Score += gain
	page.Also = append(page.Also, c.Backend)
	page.Title = cmp.Or(page.Title, c.Title)
	page.Snippet = cmp.Or(page.Snippet, c.Snippet)
	page.Text = cmp.Or(page.Text, c.Text)
	page.Language = cmp.Or(page.Language, c.Language)
	page.Answer = page.Answer || c.Answer
	if page.Published.IsZero() {
		page.Published = c.Published
	}
}

// share is how much of the query stands in hay, 0 to 1.
func share(query []string, hay string) float64 {
	if len(query) == 0 {
		return 0
	}
	n := 0
	for _, w := range query {
		if strings.Contains(hay, w) {
			n++
		}
	}
	return float64(n) / float64(len(query))
}

// words are the query's words in lower case, without the ones of one or two letters, which are found in any text,
// unless they are written in a script where two characters are a word.
func words(text string) []string {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }
	var kept []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), split) {
		if (len(w) > 2 || w[0] >= '0' && w[0] <= '9') && !slices.Contains(kept, w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// spread moves the hits of a domain past the first few behind everybody else's. They are not dropped: where
// there is little else they are what there is.
func spread(pages []*candidate, perDomain int) []*candidate {
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
