package reader

import (
	"context"
	"net/url"
	"strings"

	"familiar/internal/api"
	"familiar/internal/web/guard"
	"familiar/internal/web/page"
)

// entry is one row of the table.
type entry struct {
	name   string
	origin string // of the service, with {language} where a language of a closed list stands
	// find returns the request for a URL, nil if the reader does not read it. u has passed the rules for URLs and has
	// no fragment; anchor is the fragment it had. It sets final, read and, for an origin that has one, language.
	find func(u *url.URL, anchor string) *request
	// explain classifies error replies by more than their status.
	explain func(api.Reply) api.Failure
}

// table lists every reader. No two read the same URL.
func table() []entry {
	return []entry{
		{"wikipedia", "https://{language}.wikipedia.org", findWikipedia, explainWikipedia},
		{"youtube", "https://www.youtube.com", findYouTube, explainMissing},
		{"github", "https://api.github.com", findGitHub, explainGitHub},
		{"stackexchange", "https://api.stackexchange.com", findStackExchange, explainStackExchange},
		{"hackernews", "https://hn.algolia.com", findHackerNews, explainMissing},
	}
}

// request is what a reader asks its service for, recognised from a URL.
type request struct {
	reader         string
	url            string // of the page, canonical
	final          string // the address of the page for people, built from nothing but identifiers
	origin         string // of the service
	key            string // equal for equal requests
	language       string // of the host, for an origin that has one
	acceptLanguage string // preferred language of a page that has several, BCP 47
	read           func(ctx context.Context, s *session) (page.Page, error)
	explain        func(api.Reply) api.Failure
}

// maxAnchor bounds the fragments that are used, in bytes.
const maxAnchor = 300

// recognise returns the request for a URL, nil if no reader reads it.
func recognise(rawURL, language string) *request {
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
		if req := t.find(u, anchor); req != nil && req.final != "" {
			req.reader, req.url, req.acceptLanguage, req.explain = t.name, canonical, language, t.explain
			req.origin = strings.ReplaceAll(t.origin, "{language}", req.language)
			req.key = strings.Join([]string{req.reader, req.final, anchor, language}, " ")
			return req
		}
	}
	return nil
}

// allowed reports whether the lists allow every host that the request is about.
func (req *request) allowed(lists guard.Domains) bool {
	for _, address := range []string{req.url, req.final, req.origin} {
		u, err := url.Parse(address)
		if err != nil || !lists.Allows(u.Hostname()) {
			return false
		}
	}
	return true
}

// address returns the canonical URL of a page, "" if there is none. It leaves the marks unescaped that people do not
// escape in paths.
func address(host, path string) string {
	u := url.URL{Scheme: "https", Host: host, Path: path}
	canonical, _ := guard.Canonical(strings.NewReplacer("%28", "(", "%29", ")", "%21", "!", "%27", "'", "%2A", "*").Replace(u.String()))
	return canonical
}

// segments returns the parts of a path, unescaped: "/a/b%20c/" is "a", "b c".
func segments(u *url.URL) []string {
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// hasOnlyParam reports whether a URL has no query parameter but name.
func hasOnlyParam(u *url.URL, name string) bool {
	for key := range u.Query() {
		if key != name {
			return false
		}
	}
	return true
}

// isNumber reports whether s is a whole number above 0 of at most 12 digits, without leading zeros.
func isNumber(s string) bool {
	return s != "" && len(s) <= 12 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}
