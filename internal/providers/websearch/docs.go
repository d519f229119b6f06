package websearch

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
	"familiar/internal/web/clean"
	"familiar/internal/web/guard"
	"familiar/internal/web/read"
)

// Docs is a site of documentation. A lookup that is kept to it reads no page but the site's.
type Docs struct {
	Name   string
	Site   guard.Site
	Search string // address of the site's own search, with {query} in it; empty: none
}

// DocsFor chooses the site of documentation for a text: the one called name, or else the one that the text begins with,
// the only one, or the one that the text links to or names. rest is the text without the name that it begins with. It
// reports false where there is none, or no telling which.
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
		if slices.ContainsFunc(guard.TypedURLs(s), d.Site.Holds) {
			return d.Name, s, true
		}
	}
	if d := namedDocs(all, words); d != nil {
		return d.Name, s, true
	}
	return "", s, false
}

// namedDocs returns the first site whose name stands in a text.
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

// chooseDocs keeps the lookup to a site of documentation: the one that a person chose, or the one that a question about
// documentation names.
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

// findOnSite is find for a lookup that is kept to a site: pages that the person named, or else what is found on the site.
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
	if slug && notThere(sources) { // then it was a word to look for
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

// pagesNamed are the addresses that people typed, as far as they are the site's. The others are recorded as refused.
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

// slug takes a message that is one word for the short name of a page. In scripts without spaces a question is one word
// too.
func (r *run) slug() (targets []target, ok bool) {
	s := strings.TrimSpace(r.req.Message.Text)
	if r.req.Web.Docs == "" || s == "" || strings.ContainsFunc(s, unicode.IsSpace) || text.Unspaced(s) && !strings.Contains(s, "/") {
		return nil, false
	}
	found, err := r.site.Site.Find(s)
	if e, refused := err.(*guard.Error); refused {
		if e.Reason == turn.CodeOutsideSite {
			r.look.Pages = append(r.look.Pages, turn.Page{URL: clean.Line(s, 200), Site: "the page named", Failure: e.Code, Reason: e.Reason})
		}
		return nil, false
	}
	anchor := guard.Fragment(found[0])
	for i := range found {
		found[i] = strings.TrimSuffix(found[i], anchor)
	}
	return []target{{url: found[0], elsewhere: found[1:], anchor: anchor, site: siteOf(found[0])}}, true
}

// notThere reports whether the site says of a page that it has none of that name.
func notThere(sources []source) bool {
	return len(sources) == 1 && (sources[0].page.Status == http.StatusNotFound || sources[0].page.Status == http.StatusGone)
}

// searchSite asks the search services for pages of the site and, where they know of none, the site itself.
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

// keepToSite keeps the hits that are pages of the site: a search service goes by hosts.
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

// browse looks for pages in the lists that the site itself keeps. That a page read here adds addresses to be read (P2)
// is what an operator wants who names a site, and only addresses of the site are added.
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
