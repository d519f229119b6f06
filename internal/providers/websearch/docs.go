package websearch

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
	"familiar/internal/web/clean"
	"familiar/internal/web/read"
)

// Docs is a site of documentation. A lookup within it reads only its pages.
type Docs struct {
	Name   string
	Site   clean.Site
	Search string // URL of the site's own search, with {query} in it; empty: none
}

// DocsFor returns the site of documentation for a text. It is the one called name, or the one that the text begins with. It may be the only
// one, or one that the text links to or names. rest is the text without the name at its beginning. ok is false if there is none or the
// choice is unclear.
func (p *Provider) DocsFor(name, s string) (site, rest string, ok bool) {
	all := p.Policy.Docs
	if name != "" {
		for i := range all {
			if strings.EqualFold(all[i].Name, name) {
				return all[i].Name, s, true
			}
		}
		return "", s, false
	}
	words := text.Words(s)
	for _, d := range all {
		if n := len(text.PhraseKeys(d.Name)); n < len(words) && text.HasPrefix(words, text.PhraseKeys(d.Name)) {
			return d.Name, strings.TrimSpace(s[words[n-1].End:]), true
		}
	}
	if len(all) == 1 {
		return all[0].Name, s, true
	}
	for _, d := range all {
		if slices.ContainsFunc(clean.TypedURLs(s), d.Site.Holds) {
			return d.Name, s, true
		}
	}
	if d := namedDocs(all, words); d != nil {
		return d.Name, s, true
	}
	return "", s, false
}

// namedDocs returns the first site that a text names, or nil.
func namedDocs(all []Docs, words []text.Word) *Docs {
	for i := range words {
		for j := range all {
			if keys := text.PhraseKeys(all[j].Name); len(keys) > 0 && text.HasPrefix(words[i:], keys) {
				return &all[j]
			}
		}
	}
	return nil
}

// chooseDocs restricts the lookup to a site of documentation. A person chose it, or a question about documentation names it.
func (r *run) chooseDocs() {
	chosen := r.req.Web.Docs
	for i := range r.pol.Docs {
		if d := &r.pol.Docs[i]; strings.EqualFold(d.Name, chosen) {
			r.site = d
		}
	}
	if chosen == "" && r.plan.Intent == turn.IntentDocs && len(r.plan.URLs)+len(r.plan.Refused) == 0 {
		r.site = namedDocs(r.pol.Docs, text.Words(r.plan.Core))
	}
	if r.site == nil {
		return
	}
	r.plan.Intent, r.plan.Fresh = turn.IntentDocs, ""
	r.plan.Intents = []turn.ScoredIntent{{Name: turn.IntentDocs, Confidence: 1}}
	r.pol.PerDomain = r.pol.Pages
}

// findOnSite is [run.find] within one site: the pages that a person named, or else what is found there.
func (r *run) findOnSite(ctx context.Context, share time.Duration) {
	targets, slug := r.pagesNamed(), false
	if len(targets)+len(r.look.Pages) == 0 {
		targets, slug = r.slug()
	}
	if len(targets)+len(r.look.Pages) == 0 {
		targets = r.searchSite(ctx, share)
	}
	r.endStage("search")
	sources := r.read(ctx, targets, share)
	if slug && notThere(sources) { // the word was not a page's name: search for it
		for i := range sources {
			s := &sources[i].page
			s.Failure, s.Reason = turn.CodeSkipped, turn.CodeNotThere
			r.look.Pages = append(r.look.Pages, *s)
		}
		sources = r.read(ctx, r.searchSite(ctx, share), share)
	}
	r.endStage("read")
	if len(sources) == 0 {
		r.conclude(sources, summary{})
		return
	}
	r.summarise(ctx, sources, share)
}

// pagesNamed returns the typed URLs that belong to the site. The others are recorded as refused.
func (r *run) pagesNamed() []target {
	var inside []string
	for _, u := range r.plan.URLs {
		if r.site.Site.Holds(u) {
			inside = append(inside, u)
			continue
		}
		r.look.Pages = append(r.look.Pages, turn.Page{URL: clean.Line(u, 200), Site: "the address given", Failure: turn.CodeBlockedURL, Reason: turn.CodeOutsideSite})
	}
	r.refuseTyped()
	return typedTargets(inside, r.pol)
}

// slug takes a message of one word for the short name of a page. A question without spaces is one word, too.
func (r *run) slug() (targets []target, ok bool) {
	s := strings.TrimSpace(r.req.Message.Text)
	if r.req.Web.Docs == "" || s == "" || strings.ContainsFunc(s, unicode.IsSpace) || text.Unspaced(s) && !strings.Contains(s, "/") {
		return nil, false
	}
	found, err := r.site.Site.Find(s)
	if e, refused := err.(*clean.Refusal); refused {
		if e.Reason == turn.CodeOutsideSite {
			r.look.Pages = append(r.look.Pages, turn.Page{URL: clean.Line(s, 200), Site: "the page named", Failure: e.Code, Reason: e.Reason})
		}
		return nil, false
	}
	anchor := clean.Fragment(found[0])
	for i := range found {
		found[i] = strings.TrimSuffix(found[i], anchor)
	}
	return []target{{url: found[0], elsewhere: found[1:], anchor: anchor, site: siteOf(found[0])}}, true
}

// notThere reports whether the site says that it has no such page.
func notThere(sources []source) bool {
	return len(sources) == 1 && (sources[0].page.Status == http.StatusNotFound || sources[0].page.Status == http.StatusGone)
}

// searchSite asks the search services for pages of the site, and then the site itself.
func (r *run) searchSite(ctx context.Context, share time.Duration) []target {
	if len(r.plan.Queries) == 0 {
		return nil
	}
	why := r.look.Reason
	r.search(ctx, share/2)
	if len(r.look.Hits) == 0 {
		r.browse(ctx, share/2)
	}
	if r.look.State == turn.Found {
		r.look.Reason = why
	}
	targets, refused := choose(r.look.Hits, "", r.pol)
	r.look.Pages = append(r.look.Pages, refused...)
	return targets
}

// keepToSite drops the hits outside the site: a search service only knows hosts.
func (r *run) keepToSite(res search.Result) search.Result {
	if r.site == nil || res.State != turn.Found {
		return res
	}
	var kept []turn.Hit
	for _, h := range res.Hits {
		if r.site.Site.Holds(h.URL) {
			kept = append(kept, h)
		}
	}
	if res.Hits = kept; len(kept) == 0 {
		res.State = turn.Empty
	}
	return res
}

// browse looks for pages in the lists that the site keeps. These lists add URLs to be read (P2). The operator wants that
// by naming the site, and only the site's own URLs are added.
func (r *run) browse(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	query := r.plan.Queries[0]
	if r.site.Search != "" && r.look.Query == "" {
		r.look.Query = query
	}
	for _, list := range r.site.lists(query) {
		began := time.Now()
		asked := turn.Asked{Backend: "site " + r.site.Name, Detail: list.name, Status: turn.CodeOK}
		links, err := r.p.Reader.Links(ctx, read.Request{URL: list.address, Domains: r.pol.Domains, Site: r.site.Site}, list.xml)
		hits := rankLinks(links, query, r.plan.Language, r.site.Site)
		asked.Hits, asked.Took = len(hits), time.Since(began)
		switch {
		case err != nil:
			asked.Status = err.Code
			if err.Reason != "" {
				asked.Detail += ": " + string(err.Reason)
			}
		case len(hits) == 0:
			asked.Status = turn.CodeEmpty
		}
		r.look.Asked = append(r.look.Asked, asked)
		if len(hits) > 0 {
			for i := range hits {
				hits[i].Backend = asked.Backend
			}
			r.look.Hits, r.look.State, r.look.Failure = cleanHits(hits), turn.Found, ""
			return
		}
	}
}

// siteList is a page of a site that lists other pages.
type siteList struct {
	name    string
	address string
	xml     bool
}

// lists returns what replaces a search service that knows the site, best first. That is the site's own search, which the operator named,
// and its sitemap. Both list only pages of the site. Indexes that need the site's scripts are not read.
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

// queryMark is the placeholder for the query in Docs.Search.
const queryMark = "{query}"

// rankLinks ranks the site's links by the words of the query in their text and URL, rare words first. Links without such
// a word are dropped.
func rankLinks(links []read.Link, query, language string, site clean.Site) []turn.Hit {
	asked := text.Unique(text.Terms(query, language))
	var hits []turn.Hit
	var held [][]string // by hit: the terms of asked that it has
	known, df := map[string]bool{}, map[string]int{}
	for _, l := range links {
		canonical, ok := clean.Canonical(l.URL)
		if !ok || known[canonical] || !site.Holds(canonical) || clean.Unreadable(canonical) || strings.HasSuffix(canonical, ".xml") {
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
	sort.SliceStable(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Compare(b.Score, a.Score) < 0
	})
	hits = hits[:min(len(hits), maxHits)]
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits
}

// maxHits is how many links of a list become hits.
const maxHits = 10
