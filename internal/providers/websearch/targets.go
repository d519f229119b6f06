package websearch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sort"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Trust has the sites that an operator prefers for an intent.
type Trust struct {
	Sites []string      // and all their subdomains
	Hosts clean.Domains // the same, for comparison
	Only  bool          // pages of other sites are not read
}

// How many places trust raises a hit and feedback lowers it. No hit appears or vanishes by them.
const (
	trustedPlaces  = 5
	outdatedPlaces = 2
	wrongPlaces    = 4
	mostPlaces     = 4 // for any number of votes
)

// verdicts count people's feedback on a domain.
type verdicts struct{ outdated, wrong int }

// feedback is people's feedback on a character's sources, by registrable domain.
type feedback map[string]verdicts

func (h feedback) version() string { return fmt.Sprint(map[string]verdicts(h)) } // fmt sorts the keys

// loadFeedback reads the feedback of this server's people or, in direct messages, of this person. Without it no hit is
// lowered.
func (r *run) loadFeedback(ctx context.Context) {
	if r.p.Store == nil {
		return
	}
	all, err := r.p.Store.Ratings.FeedbackIn(ctx, r.req.Character, r.req.GuildID, r.req.Message.Author.ID)
	if err != nil {
		return
	}
	r.feedback = feedback{}
	for _, f := range all {
		v := r.feedback[f.Domain]
		switch f.Verdict {
		case "outdated":
			v.outdated++
		case "wrong":
			v.wrong++
		}
		r.feedback[f.Domain] = v
	}
}

// trust returns the operator's trust for an intent.
func (p Policy) trust(intent turn.Intent) (Trust, bool) {
	t, ok := p.Trusted[intent]
	return t, ok && len(t.Sites) > 0
}

func (p Policy) trustVersion() string {
	var all strings.Builder
	for _, intent := range slices.Sorted(maps.Keys(p.Trusted)) {
		t := p.Trusted[intent]
		fmt.Fprintf(&all, "%s %s %t\n", intent, t.Hosts.Version(), t.Only)
	}
	return all.String()
}

// rank orders hits by their place, trust and feedback, and notes the reasons on each.
func rank(hits []turn.Hit, intent turn.Intent, pol Policy, fb feedback) []turn.Hit {
	trusted, some := pol.trust(intent)
	type placed struct {
		turn.Hit
		place int
	}
	all := make([]placed, len(hits))
	for i, h := range hits {
		var why []string
		place := i
		site := ""
		if canonical, ok := clean.Canonical(h.URL); ok {
			site = siteOf(canonical)
		}
		if some && site != "" && trusted.Hosts.Allows(site) {
			place -= trustedPlaces
			why = append(why, fmt.Sprintf("%d places up, trusted for %s", trustedPlaces, intent))
		}
		if v := fb[clean.Registrable(site)]; v != (verdicts{}) {
			down := min(mostPlaces, v.outdated*outdatedPlaces+v.wrong*wrongPlaces)
			place += down
			why = append(why, fmt.Sprintf("%d places down, called outdated %d× and wrong %d×", down, v.outdated, v.wrong))
		}
		h.Why = strings.Join(why, "; ")
		all[i] = placed{h, place}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(a.place, b.place) < 0
	})
	out := make([]turn.Hit, len(all))
	for i, h := range all {
		out[i] = h.Hit
	}
	return out
}

// target is a page that may be read, and why it may (P2).
type target struct {
	url       string    // canonical
	elsewhere []string  // other URLs to try
	anchor    string    // its fragment with "#": a part of the page
	site      string    // the host
	hit       *turn.Hit // of this turn's search; nil if a person typed it
	rank      int       // from 0
}

// delivers reports whether the search delivered the page's text.
func (t target) delivers() bool { return t.hit != nil && strings.TrimSpace(t.hit.Text) != "" }

// choose picks the pages to read: the best ranked that the operator allows, a few of each domain. Pages refused by a
// rule are returned as not read. Each hit that is passed over notes the reason.
func choose(hits []turn.Hit, intent turn.Intent, pol Policy) (targets []target, refused []turn.Page) {
	perDomain := map[string]int{}
	seen := map[string]bool{}
	trusted, some := pol.trust(intent)
	for i := range hits {
		hit := &hits[i]
		canonical, ok := clean.Canonical(hit.URL)
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
		domain := clean.Registrable(site)
		switch {
		case len(targets) >= pol.Pages:
			passOver(hit, "enough pages before it")
			continue
		case perDomain[domain] >= pol.PerDomain:
			passOver(hit, "enough of its site before it")
			continue
		}
		perDomain[domain]++
		targets = append(targets, target{url: canonical, anchor: clean.Fragment(hit.URL), site: site, hit: hit, rank: len(targets)})
	}
	return targets, refused
}

// passOver notes why a hit is not read.
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

// typedTargets makes targets of typed URLs. Forbidden ones are left to the fetcher, so that one place knows the rules.
func typedTargets(urls []string, pol Policy) []target {
	var out []target
	for _, u := range urls[:min(len(urls), pol.Pages)] {
		anchor := clean.Fragment(u)
		u = strings.TrimSuffix(u, anchor)
		out = append(out, target{url: u, anchor: anchor, site: siteOf(u), rank: len(out)})
	}
	return out
}
