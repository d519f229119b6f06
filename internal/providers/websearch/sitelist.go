package websearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/question"
	"familiar/internal/text"
	"familiar/internal/web/fetch"
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

// list reads a list's links.
func (p *Provider) list(ctx context.Context, l siteList, pol Policy) ([]page.Link, *fetch.Error) {
	if p.Fetch == nil {
		return nil, &fetch.Error{Code: fetch.CodeBlocked, Reason: "no_fetcher"}
	}
	o := pol.options(false)
	o.XML = l.xml
	doc, err := p.Fetch.Fetch(ctx, l.address, o)
	if e, failed := errors.AsType[*fetch.Error](err); failed {
		return nil, e
	}
	if !p.sit(ctx) {
		return nil, &fetch.Error{Code: fetch.CodeTimeout, Reason: "deadline"}
	}
	defer p.rise()
	if l.xml {
		return sitemap(doc.Body), nil
	}
	base, err := url.Parse(doc.Final)
	if err != nil {
		return nil, &fetch.Error{Code: fetch.CodeExtraction}
	}
	links, err := page.Links(doc.Body, doc.ContentType, base)
	if err != nil {
		return nil, &fetch.Error{Code: fetch.CodeExtraction}
	}
	return links, nil
}

// maxListed is how many pages of a list are looked at.
const maxListed = 20_000

// sitemap reads the addresses of a sitemap (sitemaps.org), as far as it can be read. The sitemaps of an index are not
// followed.
func sitemap(text []byte) []page.Link {
	var links []page.Link
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // addresses are ASCII
	in := ""
	for len(links) < maxListed {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			in = t.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if address := strings.TrimSpace(string(t)); in == "loc" && address != "" {
				links = append(links, page.Link{URL: address})
			}
		}
	}
	return links
}

// fitting ranks the links to pages of the site by the words of the query in their text and address, the rarer the
// better, and drops those that have none.
func fitting(links []page.Link, query, language string, site guard.Site) []turn.Hit {
	asked := text.Unique(text.Terms(query, language))
	var hits []turn.Hit
	var held [][]string // terms of asked, for each hit
	known, df := map[string]bool{}, map[string]int{}
	for _, l := range links {
		canonical, ok := guard.Canonical(l.URL)
		if !ok || known[canonical] || !site.Holds(canonical) || question.IsFile(canonical) || strings.HasSuffix(canonical, ".xml") {
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
			hits[i].Score += math.Log(1 + float64(len(known))/float64(df[t]))
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
