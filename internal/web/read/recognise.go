package read

import (
	"context"
	"net/url"
	"strings"

	"familiar/internal/api"
	"familiar/internal/web/clean"
	"familiar/internal/web/page"
)

// entry is one row of the table of services.
type entry struct {
	name   string
	origin string // origin of the service; {language} is replaced by a language from a closed list
	// find returns the request for a URL, or nil if the service does not have the page. u has passed the rules for URLs.
	// Its fragment has been removed and is passed as anchor. find sets final and read. It also sets language if the
	// origin needs one.
	find func(u *url.URL, anchor string) *request
	// explain classifies error replies more precisely than by their status.
	explain func(api.Reply) api.Failure
}

// table lists all services. No two of them have the same URL.
func table() []entry {
	return []entry{
		{"wikipedia", "https://{language}.wikipedia.org", findWikipedia, explainWikipedia},
		{"youtube", "https://www.youtube.com", findYouTube, explainMissing},
		{"github", "https://api.github.com", findGitHub, explainGitHub},
		{"stackexchange", "https://api.stackexchange.com", findStackExchange, explainStackExchange},
		{"hackernews", "https://hn.algolia.com", findHackerNews, explainMissing},
	}
}

// request is a request to a service, derived from a URL.
type request struct {
	reader         string
	url            string // URL of the page, canonical
	final          string // address of the page for people, built only from identifiers
	origin         string // origin of the service
	key            string // equal for equal requests
	language       string // language of the host, if the origin has one
	acceptLanguage string // preferred language of a page in several, BCP 47
	read           func(ctx context.Context, s *session) (page.Page, error)
	explain        func(api.Reply) api.Failure
}

// maxAnchor is the greatest length of a fragment that is used, in bytes.
const maxAnchor = 300

// recognise returns the request for a URL, or nil if no service has the page.
func recognise(rawURL, language string) *request {
	rawURL, fragment, _ := strings.Cut(rawURL, "#")
	canonical, ok := clean.Canonical(rawURL)
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

// allowed reports whether the lists allow every host of the request.
func (req *request) allowed(lists clean.Domains) bool {
	for _, address := range []string{req.url, req.final, req.origin} {
		u, err := url.Parse(address)
		if err != nil || !lists.Allows(u.Hostname()) {
			return false
		}
	}
	return true
}

// address returns the canonical URL of a page, or "" if it is invalid. It does not escape the marks that people leave
// unescaped in paths.
func address(host, path string) string {
	u := url.URL{Scheme: "https", Host: host, Path: path}
	canonical, _ := clean.Canonical(strings.NewReplacer("%28", "(", "%29", ")", "%21", "!", "%27", "'", "%2A", "*").Replace(u.String()))
	return canonical
}

// segments returns the unescaped parts of a path: "a", "b c" for "/a/b%20c/".
func segments(u *url.URL) []string {
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// hasOnlyParam reports whether a URL has no query parameter except name.
func hasOnlyParam(u *url.URL, name string) bool {
	for key := range u.Query() {
		if key != name {
			return false
		}
	}
	return true
}

// isNumber reports whether s is a positive integer of at most 12 digits without leading zeros.
func isNumber(s string) bool {
	return s != "" && len(s) <= 12 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}
