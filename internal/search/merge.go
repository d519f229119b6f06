package search

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

const (
	// rrfK is the constant k of reciprocal-rank fusion. A page's score is the sum of weight/(k+rank) over the backends
	// that returned it. 60 works best (Cormack, Clarke and Büttcher, SIGIR 2009).
	rrfK = 60
	// relevanceGain is the bonus of the page whose title and snippet fit the query best. For comparison, ranks 1 and 10
	// of one backend differ by 15 %.
	relevanceGain = 0.5
	// answerGain is the bonus of a hit that answers the question by itself.
	answerGain = 1.0
	// perDomain is how many hits of one registrable domain are ranked before hits of other domains.
	perDomain = 2
)

// rank merges the answers into one list, best first. The list does not depend on the order in which answers arrived.
func (e *Engine) rank(q Query, domains clean.Domains, sources []*source, answers []answer) []*candidate {
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

// top returns the hits of the first n pages.
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

// fuse makes one candidate per page, scored by its ranks, in order of first appearance.
func (e *Engine) fuse(domains clean.Domains, sources []*source, answers []answer) []*candidate {
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

// join merges another hit on the same page into it. A backend that lists a page twice gains nothing.
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

// spread moves all but the first hits of each domain to the end. They are not dropped, since there may be little else.
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

// candidate is a hit with the data needed for merging, computed once.
type candidate struct {
	turn.Hit
	key  string // the same for all spellings of the address
	host string
	site string // registrable domain

	title, snippet    []uint32 // terms
	titleSet, numbers []uint32 // of the title: all terms, and the terms with a digit; sorted and unique
	shingles          []uint32 // of the snippet
}

// candidates returns the hits of one backend that have a page's address. Others could be neither read nor cited.
func candidates(backend string, hits []turn.Hit) []candidate {
	all := make([]candidate, 0, min(len(hits), maxLimit))
	for i, h := range hits {
		if i == maxLimit {
			break
		}
		h.Backend, h.Rank, h.Also, h.Score = backend, i+1, nil, 0
		if c, ok := candidateOf(h); ok {
			all = append(all, c)
		}
	}
	return all
}

// candidateOf computes the data for merging. It returns false if the address is not a page's.
func candidateOf(h turn.Hit) (candidate, bool) {
	h.URL = clean.EncodeBlanks(h.URL)
	address, ok := clean.DedupeKey(h.URL)
	if !ok {
		return candidate{}, false
	}
	u, err := url.Parse(address)
	if err != nil {
		return candidate{}, false
	}
	h.Title = cmp.Or(h.Title, u.Hostname())
	c := candidate{
		Hit: h, key: pageKey(u), host: u.Hostname(), site: clean.Registrable(u.Hostname()),
		title: text.HashTerms(nil, h.Title), snippet: text.HashTerms(nil, h.Snippet),
	}
	if strings.ContainsFunc(h.Title, unicode.IsNumber) {
		c.numbers = text.Unique(text.HashTerms(nil, digits(h.Title)))
	}
	c.titleSet, c.shingles = text.Unique(c.title), text.Shingles(c.snippet, shingleWords)
	return c, true
}

// digits replaces everything in s except numbers by spaces.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsNumber(r) {
			return r
		}
		return ' '
	}, s)
}

// pageKey drops the parts of an address that do not distinguish pages: scheme, "www." and a trailing slash. It keeps
// the query string, which identifies the page on many sites, such as youtube.com/watch?v=.
func pageKey(u *url.URL) string {
	k := strings.TrimPrefix(u.Host, "www.") + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		k += "?" + u.RawQuery
	}
	return k
}

const (
	// shingleWords is the number of consecutive words that are compared.
	shingleWords = 3
	// sameText and sameTitle are the shares of the shorter text that the longer one must contain for a copy.
	sameText, sameTitle = 0.85, 0.6
)

// nearDuplicates reports whether two hits show the same text. Their snippets differ only in where they were cut, their
// titles are similar, and their titles have the same numbers. Parts of a series differ in a number.
func nearDuplicates(a, b *candidate) bool {
	return slices.Equal(a.numbers, b.numbers) && text.NearDuplicates(a.shingles, b.shingles, sameText) &&
		text.Containment(a.titleSet, b.titleSet) >= sameTitle
}

// mergeNearDuplicates merges pages that show the same text into the best of them. The pages must be sorted best first,
// and so is the result.
func mergeNearDuplicates(pages []*candidate) []*candidate {
	var kept []*candidate
	for _, p := range pages {
		i := slices.IndexFunc(kept, func(k *candidate) bool { return nearDuplicates(k, p) })
		if i < 0 {
			kept = append(kept, p)
			continue
		}
		kept[i].Twins = append(kept[i].Twins, p.URL)
		join(kept[i], p, p.Score)
	}
	sortPages(kept)
	return kept
}

// Parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). They are the saturation of term frequency,
// length normalization, and the weight of a word in the title.
const (
	saturation = 1.2
	lengthy    = 0.75
	inTitle    = 2
)

// relevance scores title and snippet of each page against the query by BM25 over the pages themselves. The best page
// gets 1, a page without a word of the query gets 0.
func relevance(query []uint32, pages []*candidate) []float64 {
	query = text.Unique(query)
	scores := make([]float64, len(pages))
	if len(query) == 0 || len(pages) == 0 {
		return scores
	}
	counts := make([]float64, len(pages)*len(query)) // of word j in page i, at i*len(query)+j
	lengths, mean := make([]float64, len(pages)), 0.0
	holding := make([]int, len(query)) // how many pages hold word j
	for i, p := range pages {
		row := counts[i*len(query) : (i+1)*len(query)]
		tally(row, query, p.title, inTitle)
		tally(row, query, p.snippet, 1)
		for j, n := range row {
			if n > 0 {
				holding[j]++
			}
		}
		lengths[i] = float64(inTitle*len(p.title) + len(p.snippet))
		mean += lengths[i] / float64(len(pages))
	}
	rarity := make([]float64, len(query))
	for j, n := range holding {
		rarity[j] = text.IDF(n, len(pages))
	}
	best := 0.0
	for i := range pages {
		for j, n := range counts[i*len(query) : (i+1)*len(query)] {
			if n > 0 {
				scores[i] += rarity[j] * n * (saturation + 1) / (n + saturation*(1-lengthy+lengthy*lengths[i]/mean))
			}
		}
		best = max(best, scores[i])
	}
	for i := range scores {
		if best > 0 {
			scores[i] /= best
		}
	}
	return scores
}

func tally(row []float64, query, words []uint32, weight float64) {
	for _, w := range words {
		if j, ok := slices.BinarySearch(query, w); ok {
			row[j] += weight
		}
	}
}

// half is the half-life of a page's bonus for being new, and that bonus.
type half struct {
	life time.Duration
	gain float64
}

// halves returns the bonus for queries that prefer new pages, or the zero value.
func halves(q Query) half {
	const day = 24 * time.Hour
	switch {
	case q.Intent == turn.IntentNews:
		return half{2 * day, 0.5}
	case q.Fresh == "day":
		return half{day, 0.3}
	case q.Fresh == "week":
		return half{4 * day, 0.3}
	case q.Fresh == "month":
		return half{15 * day, 0.3}
	case q.Fresh == "year":
		return half{120 * day, 0.2}
	case q.Intent == turn.IntentForum, q.Intent == turn.IntentDocs:
		return half{365 * day, 0.1}
	}
	return half{}
}

// recency returns a page's bonus for its date. It is 0 if the page has no date or if dates do not matter.
func (h half) recency(published, now time.Time) float64 {
	age := now.Sub(published)
	if h.gain == 0 || published.IsZero() || age < -24*time.Hour {
		return 0
	}
	return h.gain * math.Exp2(-max(0, age.Hours())/h.life.Hours())
}
