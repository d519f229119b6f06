package websearch

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
)

// siteList is a page of a site that tells which others there are.
type siteList struct {
	name    string
	address string
	xml     bool
}

// lists are what stands in for a search service that knows the site, best first: its own search, which the operator
// named, and the list that it keeps for search services. Both name pages of the site alone, and no page that was found
// to read names another. Indexes that only the site's own scripts can read are left to those.
func (d *Docs) lists(query string) []siteList {
	var all []siteList
	if path, params, ok := strings.Cut(d.Search, "?"); ok {
		all = append(all, siteList{name: "its own search", address: strings.Replace(path, queryMark, url.PathEscape(query), 1) + "?" +
			strings.Replace(params, queryMark, url.QueryEscape(query), 1)})
	} else if d.Search != "" {
		all = append(all, siteList{name: "its own search", address: strings.Replace(d.Search, queryMark, url.PathEscape(query), 1)})
	}
	return append(all, siteList{name: "its sitemap.xml", address: d.Site.String() + "sitemap.xml", xml: true})
}

// queryMark stands in Docs.Search for the question.
const queryMark = "{query}"

// rankLinks ranks the links to pages of the site by the words of the query in their text and address, the rarer the
// better, and drops those that have none.
func rankLinks(links []page.Link, query, language string, site guard.Site) []turn.Hit {
	asked := text.Unique(text.Terms(query, language))
	var hits []turn.Hit
	var held [][]string // terms of asked, for each hit
	known, df := map[string]bool{}, map[string]int{}
	for _, l := range links {
		canonical, ok := guard.Canonical(l.URL)
		if !ok || known[canonical] || !site.Holds(canonical) || guard.Unreadable(canonical) || strings.HasSuffix(canonical, ".xml") {
			continue
		}
		known[canonical] = true
		path, err := url.PathUnescape(strings.TrimPrefix(canonical, site.String()))
		if err != nil {
			continue
		}
		var has []string
		for _, t := range text.Unique(text.Terms(l.Text+" "+path, language)) {
			if slices.Contains(asked, t) {
				has = append(has, t)
				df[t]++
			}
		}
		if len(has) > 0 {
			hits, held = append(hits, turn.Hit{Title: cmp.Or(l.Text, path), URL: canonical}), append(held, has)
		}
	}
	for i := range hits {
		for _, t := range held[i] {
			hits[i].Score += text.IDF(df[t], len(known))
		}
	}
	slices.SortStableFunc(hits, func(a, b turn.Hit) int { return cmp.Compare(b.Score, a.Score) })
	hits = hits[:min(len(hits), maxHits)]
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits
}

// maxHits is how many pages of a list are hits.
const maxHits = 10
