package reader

import (
	"context"
	"net/url"
	"strings"

	"familiar/internal/api"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
)

// entry is one line of the table.
type entry struct {
	name   string
	origin string // of the service, with {language} where a language of a closed list stands
	// find says what a URL asks for, nil if it is none of the reader's. u has passed the rules for URLs and has no
	// fragment; anchor is the fragment it had. It sets final, read and, for an origin that has one, language.
	find func(u *url.URL, anchor string) *errand
	// explain reads the refusals of a service that says more than its status does.
	explain func(api.Reply) api.Failure
}

// table lists every reader there is. No two are for the same URL.
func table() []entry {
	return []entry{
		{"wikipedia", "https://{language}.wikipedia.org", findWikipedia, explainWikipedia},
		{"youtube", "https://www.youtube.com", findYouTube, explainMissing},
		{"github", "https://api.github.com", findGitHub, explainGitHub},
		{"stackexchange", "https://api.stackexchange.com", findStackExchange, explainStackExchange},
		{"hackernews", "https://hn.algolia.com", findHackerNews, explainMissing},
	}
}

// errand is what a URL comes to: who is asked, and what for.
type errand struct {
	reader   string
	asked    string // the URL, canonical
	final    string // the address of the page for people, built from nothing but identifiers
	origin   string // of the service
	key      string // equal for equal errands
	language string // of the host, for an origin that has one
	spoken   string // language that is wanted, in which a page of several is read
	read     func(ctx context.Context, d *desk) (page.Page, error)
	explain  func(api.Reply) api.Failure
}

// maxAnchor is how long, in bytes, a fragment may be that is looked at.
const maxAnchor = 300

// recognise returns the errand of a URL, nil if no reader is for it.
func recognise(rawURL, language string) *errand {
	rawURL, fragment, _ := strings.Cut(rawURL, "#")
	canonical, ok := guard.Canonical(rawURL)
	if !ok {
		return nil
	}
	u, err := url.Parse(canonical)
	if err != nil || u.Port() != "" {
		return nil
	}
	anchor, err := url.PathUnescape(fragment)
	if err != nil || len(anchor) > maxAnchor {
		anchor = ""
	}
	for _, t := range table() {
		if e := t.find(u, anchor); e != nil && e.final != "" {
			e.reader, e.asked, e.spoken, e.explain = t.name, canonical, language, t.explain
			e.origin = strings.ReplaceAll(t.origin, "{language}", e.language)
			e.key = strings.Join([]string{e.reader, e.final, anchor, language}, " ")
			return e
		}
	}
	return nil
}

// allowed says whether the lists allow every host that the errand has to do with.
func (e *errand) allowed(lists guard.Domains) bool {
	for _, address := range []string{e.asked, e.final, e.origin} {
		u, err := url.Parse(address)
		if err != nil || !lists.Allows(u.Hostname()) {
			return false
		}
	}
	return true
}

// address is the canonical URL of a page, "" if there is none. In paths that people write these marks stand as they are.
func address(host, path string) string {
	u := url.URL{Scheme: "https", Host: host, Path: path}
	canonical, _ := guard.Canonical(strings.NewReplacer("%28", "(", "%29", ")", "%21", "!", "%27", "'", "%2A", "*").Replace(u.String()))
	return canonical
}

// segments are the parts of a path, unescaped: "/a/b%20c/" is "a", "b c".
func segments(u *url.URL) []string {
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// only says that a URL has no query parameter but name.
func only(u *url.URL, name string) bool {
	for key := range u.Query() {
		if key != name {
			return false
		}
	}
	return true
}

// number says that s is a whole number above 0 of at most 12 digits, written in the one way.
func number(s string) bool {
	return s != "" && len(s) <= 12 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// under says that host is domain, or below it by one of labels.
func under(host, domain string, labels ...string) bool {
	if host == domain {
		return true
	}
	for _, l := range labels {
		if host == l+"."+domain {
			return true
		}
	}
	return false
}
