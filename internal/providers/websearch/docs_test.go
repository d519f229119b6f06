package websearch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/web/clean"
)

// withDocs adds sites of the small web. "comets" has suffixed slugs. "handbook" has folders, a search and no sitemap. "bare" has only a
// first page.
func withDocs(t testing.TB, f *finder) *world {
	t.Helper()
	w := newWorld(t, f)
	for _, d := range []struct{ name, url, search string }{
		{"comets", "https://docs.example.org/comets/", ""},
		{"Star Handbook", "https://stars.example.org/", "https://stars.example.org/find?q={query}"},
		{"bare", "https://bare.example.org/en/", ""},
	} {
		site, err := clean.NewSite(d.url)
		if err != nil {
			t.Fatal(err)
		}
		w.Policy.Docs = append(w.Policy.Docs, Docs{Name: d.name, Site: site, Search: d.search})
	}
	return w
}

func inDocs(site, text string) turn.Request {
	req := ask(text)
	req.GuildID = "G1"
	req.Web = turn.Web{Switch: turn.WebAlways, Docs: site}
	return req
}

func TestDocs(t *testing.T) {
	const tails = "https://docs.example.org/comets/anatomy/tails.html"
	down := &search.Error{Backend: "finder", Code: turn.CodeUnreachable}
	outside := hits("https://docs.example.org/blog/tails.html", "https://evil.net/everest", "https://docs.example.org/comets/../blog/tails.html")
	tests := []struct {
		name, site, text string
		finder           *finder
		state            turn.State
		page             string // the first source, or the first page tried
		reason           string // of that page
		Question         string // backends and their status
	}{
		{name: "found by a search service", site: "comets", text: "why do comets have two tails?", finder: &finder{hits: append(outside, hits(tails)...)}, state: turn.Found, page: tails, Question: "finder ok"},
		{name: "hits outside are none; the sitemap knows", site: "comets", text: "why do comets have two tails?", finder: &finder{hits: outside}, state: turn.Found, page: tails, Question: "finder ok, finder ok, site comets ok its sitemap.xml"},
		{name: "the search is down; the sitemap knows", site: "comets", text: "why do comets have two tails?", finder: &finder{err: down}, state: turn.Found, page: tails, Question: "finder unreachable, site comets ok its sitemap.xml"},
		{name: "nobody knows", site: "comets", text: "how are bicycles repaired?", finder: &finder{}, state: turn.Empty, Question: "finder empty, finder empty, site comets empty its sitemap.xml"},
		{name: "the search is down and the site knows nothing", site: "comets", text: "how are bicycles repaired?", finder: &finder{err: down}, state: turn.LookupFailed, Question: "finder unreachable, site comets empty its sitemap.xml"},
		{name: "its own search", site: "star handbook", text: "what is a white dwarf?", finder: &finder{}, state: turn.Found, page: "https://stars.example.org/dwarfs/white/", Question: "finder empty, finder empty, site Star Handbook ok its own search"},

		{name: "a slug with the suffix", site: "comets", text: "anatomy/tails", finder: &finder{}, state: turn.Found, page: tails},
		{name: "a slug as a folder", site: "star handbook", text: "/dwarfs/white", finder: &finder{}, state: turn.Found, page: "https://stars.example.org/dwarfs/white/"},
		{name: "a slug as it is", site: "bare", text: "lamp#oil", finder: &finder{}, state: turn.Found, page: "https://bare.example.org/en/lamp"},
		{name: "a word that is no slug", site: "comets", text: "tails", finder: &finder{}, state: turn.Found, page: tails, Question: "finder empty, site comets ok its sitemap.xml"},
		{name: "a word that is nowhere", site: "comets", text: "bicycles", finder: &finder{}, state: turn.Empty, Question: "finder empty, site comets empty its sitemap.xml"},
		{name: "a slug that climbs", site: "comets", text: "../blog/tails", finder: &finder{}, state: turn.LookupFailed, page: "../blog/tails", reason: "outside_site"},
		{name: "a slug that climbs in code", site: "comets", text: "%2e%2e/blog/tails", finder: &finder{}, state: turn.LookupFailed, page: "%2e%2e/blog/tails", reason: "outside_site"},

		{name: "an address inside", site: "comets", text: tails, finder: &finder{}, state: turn.Found, page: tails},
		{name: "an address outside", site: "comets", text: "https://peaks.example.org/everest.html", finder: &finder{}, state: turn.LookupFailed, page: "https://peaks.example.org/everest.html", reason: "outside_site"},
		{name: "a question about an address outside", site: "comets", text: "what does https://docs.example.org/blog/tails.html say about tails?", finder: &finder{}, state: turn.LookupFailed, page: "https://docs.example.org/blog/tails.html", reason: "outside_site"},
		{name: "an address that leads outside", site: "comets", text: "https://docs.example.org/comets/away", finder: &finder{}, state: turn.LookupFailed, page: "https://docs.example.org/comets/away", reason: "redirect_to_blocked_target"},
		{name: "no such site", site: "nowhere", text: "why do comets have two tails?", finder: &finder{hits: hits(tails)}, state: turn.LookupFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := withDocs(t, tt.finder)
			l := w.lookup(t, inDocs(tt.site, tt.text))
			page, reason := "", ""
			switch {
			case len(l.Sources) > 0:
				page = l.Sources[0].URL
			case tt.page != "" && len(l.Pages) > 0:
				page, reason = l.Pages[0].URL, string(l.Pages[0].Reason)
			}
			var asked []string
			for _, a := range l.Asked {
				asked = append(asked, strings.TrimSpace(fmt.Sprint(a.Backend, " ", a.Status, " ", a.Detail)))
			}
			if l.State != tt.state || page != tt.page || reason != tt.reason || strings.Join(asked, ", ") != tt.Question {
				t.Errorf("state %s (%s), page %s (%s), asked %q\npages %+v", l.State, l.Reason, page, reason, asked, l.Pages)
			}
			for _, q := range tt.finder.queries() {
				if !slices.Equal(q.Include, []string{w.Policy.Docs[0].Site.Host()}) && tt.site == "comets" {
					t.Errorf("searched in %q", q.Include)
				}
			}
			for _, r := range w.web.Requests() {
				if !strings.HasSuffix(r.URL, "/robots.txt") && !slices.ContainsFunc(w.Policy.Docs, func(d Docs) bool { return d.Site.Holds(r.URL) }) {
					t.Errorf("%s was asked for", r.URL)
				}
			}
		})
	}
}

// TestDocsInConversation checks that a question about documentation stays on the site that it names, and other questions
// do not.
func TestDocsInConversation(t *testing.T) {
	for text, include := range map[string]string{
		"what does the documentation of Comets say about tails?":       "docs.example.org",
		"look up the star handbook documentation on white dwarfs":      "stars.example.org",
		"what does the documentation of nginx say about tails?":        "",
		"when do the next comets come?":                                "",
		"what do the docs of comets at https://trek.com/everest say??": "",
	} {
		w := withDocs(t, &finder{})
		w.lookup(t, ask(text))
		for _, q := range w.finder.queries() {
			if got := strings.Join(q.Include, " "); got != include {
				t.Errorf("%s: searched in %q", text, got)
			}
		}
		if len(w.finder.queries()) == 0 && !strings.Contains(text, "https") {
			t.Errorf("%s: nobody was asked", text)
		}
	}
}

func TestDocsFor(t *testing.T) {
	w := withDocs(t, &finder{})
	for _, tt := range []struct{ name, text, site, rest string }{
		{"COMETS", "tails", "comets", "tails"},
		{"nowhere", "comets tails", "", "comets tails"},
		{"", "comets anatomy/tails", "comets", "anatomy/tails"},
		{"", "Star handbook: what is a white dwarf?", "Star Handbook", ": what is a white dwarf?"},
		{"", "comets", "comets", "comets"},
		{"", "what are the tails of comets?", "comets", "what are the tails of comets?"},
		{"", "https://stars.example.org/dwarfs/white/", "Star Handbook", "https://stars.example.org/dwarfs/white/"},
		{"", "anatomy/tails", "", "anatomy/tails"},
	} {
		site, rest, ok := w.DocsFor(tt.name, tt.text)
		if site != tt.site || rest != tt.rest || ok != (tt.site != "") {
			t.Errorf("%q, %q: %q, %q, %v", tt.name, tt.text, site, rest, ok)
		}
	}
	w.Policy.Docs = w.Policy.Docs[:1]
	if site, _, ok := w.DocsFor("", "anatomy/tails"); site != "comets" || !ok {
		t.Errorf("the only site is not chosen: %q", site)
	}
}
