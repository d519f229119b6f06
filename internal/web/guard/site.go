package guard

import (
	"net/url"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// Site is a part of the web: the pages of one host below one path. The zero value is the whole web. Site is immutable
// and comparable.
type Site struct {
	scheme, host string
	path         string // escaped; begins and ends with a slash
}

// NewSite reads the address of a site: a URL without a query, whose path is that of a folder. The error is a *[Error].
func NewSite(raw string) (Site, error) {
	canonical, ok := Canonical(raw)
	u, err := Parse(raw)
	if ok {
		u, err = Parse(canonical)
	}
	if err != nil {
		return Site{}, err
	}
	if u.RawQuery != "" || strings.Contains(raw, "#") || climbs(u.EscapedPath()) {
		return Site{}, blocked(turn.CodeInvalidTarget)
	}
	return Site{u.Scheme, u.Host, strings.TrimRight(u.EscapedPath(), "/") + "/"}, nil
}

// String is the site's address, which ends with a slash; "" for the whole web.
func (s Site) String() string {
	if s.host == "" {
		return ""
	}
	return s.scheme + "://" + s.host + s.path
}

// Host is the name of the host, without a port; "" for the whole web.
func (s Site) Host() string {
	host, _, _ := strings.Cut(s.host, ":")
	return host
}

// Holds reports whether a page is one of the site: on its host, below its path, however the path is read, and not in the
// clear where the site is not.
func (s Site) Holds(raw string) bool {
	if s.host == "" {
		return true
	}
	canonical, ok := Canonical(raw)
	if !ok {
		return false
	}
	u, err := url.Parse(canonical)
	if err != nil || u.Host != s.host || u.Scheme != s.scheme && u.Scheme != "https" {
		return false
	}
	path := u.EscapedPath()
	return (strings.HasPrefix(path, s.path) || path+"/" == s.path) && !climbs(path)
}

// Find returns the addresses at which the page of a slug may be, likeliest first: "architecture/blackboard" with the suffix
// .html, as it is, and as a folder. A fragment is kept. A slug that leads out of the site, or is none, is a *[Error].
func (s Site) Find(slug string) ([]string, error) {
	slug = strings.TrimSpace(slug)
	fragment := Fragment(slug)
	slug, _, _ = strings.Cut(strings.TrimLeft(slug, "/"), "#")
	if _, err := url.Parse(fragment); err != nil || strings.ContainsAny(slug, "?:\\") || !readable(slug+fragment) {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	stem := strings.TrimSuffix(strings.TrimRight(slug, "/"), ".html")
	if stem == "" {
		return []string{s.String() + fragment}, nil
	}
	tries := []string{stem + ".html", stem, stem + "/"}
	if slug != stem {
		tries = slices.Insert(tries, 0, slug)
	}
	var found []string
	for _, at := range tries {
		address, ok := Canonical(s.String() + at)
		if !ok || !s.Holds(s.String()+at) {
			return nil, blocked(turn.CodeOutsideSite)
		}
		if !slices.Contains(found, address+fragment) {
			found = append(found, address+fragment)
		}
	}
	return found, nil
}

// climbs reports whether some server could read an escaped path as one with a segment that leads up: however often it
// unescapes, whatever it takes for a slash, and with what comes behind a semicolon taken off.
func climbs(path string) bool {
	for range 4 {
		segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
		for _, segment := range segments {
			if name, _, _ := strings.Cut(segment, ";"); name == ".." {
				return true
			}
		}
		plain, err := url.PathUnescape(path)
		if err != nil || plain == path {
			return err != nil && strings.Contains(path, "..")
		}
		path = plain
	}
	return true
}
