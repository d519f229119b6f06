package search

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

// candidate is a hit with what merging needs to know about it, worked out once.
type candidate struct {
	turn.Hit
	key  string // the same for all spellings of the page's address
	host string
	site string // registrable domain

	title, snippet    []uint32 // their terms
	titleSet, numbers []uint32 // of the title: its terms, and those of them that hold a digit; sorted, each once
	shingles          []uint32 // of the snippet
}

// candidates are the hits of one backend that have the address of a page; the others could be neither read nor cited.
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

// candidateOf works out what merging needs to know about a hit; false if its address is not that of a page.
func candidateOf(h turn.Hit) (candidate, bool) {
	h.URL = guard.EncodeBlanks(h.URL)
	address, ok := guard.DedupeKey(h.URL)
	if !ok {
		return candidate{}, false
	}
	u, err := url.Parse(address)
	if err != nil {
		return candidate{}, false
	}
	h.Title = cmp.Or(h.Title, u.Hostname())
	c := candidate{
		Hit: h, key: pageKey(u), host: u.Hostname(), site: guard.Registrable(u.Hostname()),
		title: text.HashTerms(nil, h.Title), snippet: text.HashTerms(nil, h.Snippet),
	}
	if strings.ContainsFunc(h.Title, unicode.IsNumber) {
		c.numbers = text.Unique(text.HashTerms(nil, digits(h.Title)))
	}
	c.titleSet, c.shingles = text.Unique(c.title), text.Shingles(c.snippet, shingleWords)
	return c, true
}

// digits is s with nothing but its numbers.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsNumber(r) {
			return r
		}
		return ' '
	}, s)
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
