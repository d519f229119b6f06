package websearch

import (
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// target is one page that may be read, and how it came to be allowed (P2).
type target struct {
	url       string    // canonical
	elsewhere []string  // where the page may be if it isn't there
	anchor    string    // the fragment it had, with its "#": a part of the page
	site      string    // its host
	hit       *turn.Hit // from the search of this turn; nil if a person typed it
	rank      int       // from 0
}

// delivers reports whether the search delivered the page's text.
func (t target) delivers() bool { return t.hit != nil && strings.TrimSpace(t.hit.Text) != "" }

// choose picks the pages to be read of what was found: the best ranked that the operator's lists allow, a few of
// one domain at most. Pages that are refused by a rule come back as not read. Each hit that is passed over says why.
func choose(hits []turn.Hit, intent turn.Intent, pol Policy) (targets []target, refused []turn.Page) {
	perDomain := map[string]int{}
	seen := map[string]bool{}
	trusted, some := pol.trust(intent)
	for i := range hits {
		hit := &hits[i]
		canonical, ok := guard.Canonical(hit.URL)
		switch {
		case !ok:
			passOver(hit, "no address that may be read")
			continue
		case seen[canonical]:
			passOver(hit, "the same page again")
			continue
		}
		seen[canonical] = true
		site := siteOf(canonical)
		if !pol.Domains.Allows(site) {
			passOver(hit, "not allowed by the operator")
			refused = append(refused, turn.Page{URL: canonical, Site: site, Failure: turn.CodeBlockedURL, Reason: turn.CodeDeniedDomain})
			continue
		}
		if some && trusted.Only && !trusted.Hosts.Allows(site) {
			passOver(hit, "not one of the sites trusted for "+string(intent))
			continue
		}
		domain := guard.Registrable(site)
		switch {
		case len(targets) >= pol.Pages:
			passOver(hit, "enough pages before it")
			continue
		case perDomain[domain] >= pol.PerDomain:
			passOver(hit, "enough of its site before it")
			continue
		}
		perDomain[domain]++
		targets = append(targets, target{url: canonical, anchor: guard.Fragment(hit.URL), site: site, hit: hit, rank: len(targets)})
	}
	return targets, refused
}

// passOver notes why a hit's page is not read.
func passOver(hit *turn.Hit, why string) {
	if hit.Why != "" {
		why = hit.Why + "; " + why
	}
	hit.Why = why
}

func siteOf(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// typedTargets makes targets of typed URLs. A private or forbidden one is left to the fetcher to refuse, so that
// there is one place which knows the rules.
func typedTargets(urls []string, pol Policy) []target {
	var out []target
	for _, u := range urls[:min(len(urls), pol.Pages)] {
		anchor := guard.Fragment(u)
		u = strings.TrimSuffix(u, anchor)
		out = append(out, target{url: u, anchor: anchor, site: siteOf(u), rank: len(out)})
	}
	return out
}
