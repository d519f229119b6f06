package clean

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"familiar/internal/context/turn"
)

// Domains are an operator's allow and deny lists. A name in a list includes all names below it. Deny takes precedence.
// An empty allow list allows everything. The zero value allows everything. Domains is immutable and safe for concurrent
// use.
type Domains struct {
	allow, deny map[string]bool
	version     string
}

// NewDomains normalises both lists. If an entry is not a host name, it returns an error that names the entry and its list. Skipping the
// entry would weaken the list.
func NewDomains(allow, deny []string) (Domains, error) {
	d := Domains{}
	var err error
	if d.allow, err = domainSet("allow", allow); err != nil {
		return Domains{}, err
	}
	if d.deny, err = domainSet("deny", deny); err != nil {
		return Domains{}, err
	}
	if len(d.allow)+len(d.deny) > 0 {
		d.version = listVersion(d.allow, d.deny)
	}
	return d, nil
}

func domainSet(list string, names []string) (map[string]bool, error) {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		h, err := Host(n)
		if err != nil {
			return nil, fmt.Errorf("parse %s list: %q is not a domain name such as example.org", list, n)
		}
		m[h] = true
	}
	return m, nil
}

func listVersion(allow, deny map[string]bool) string {
	lists := strings.Join(slices.Sorted(maps.Keys(allow)), " ") + "\n" + strings.Join(slices.Sorted(maps.Keys(deny)), " ")
	sum := sha256.Sum256([]byte(lists))
	return hex.EncodeToString(sum[:8])
}

// Allows reports whether host may be fetched. If a list is not empty, a host that is not a canonical public name is
// never allowed.
func (d Domains) Allows(host string) bool {
	if d.version == "" {
		return true
	}
	h, err := Host(host)
	if err != nil || hasSuffix(d.deny, h) {
		return false
	}
	return len(d.allow) == 0 || hasSuffix(d.allow, h)
}

// Version identifies the content of the lists: equal lists have equal versions, and the zero value has "". It must be
// part of the cache key of any result that depends on the lists.
func (d Domains) Version() string { return d.version }

// Registrable returns the registered domain of a canonical host: its public suffix and one more label
// (publicsuffix.org). www.example.co.uk becomes example.co.uk. A host that is itself a suffix is returned unchanged.
func Registrable(host string) string {
	if d, ok := Registered(host); ok {
		return d
	}
	return host
}

// Registered is like [Registrable]. ok is false if there is no registered domain, because the host is a public suffix or
// not a name.
func Registered(host string) (domain string, ok bool) {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	return domain, err == nil
}

// Site is a part of the web: the pages of one host below one path. The zero value is the whole web. Site is immutable
// and comparable.
type Site struct {
	scheme, host string
	path         string // escaped; begins and ends with a slash
}

// NewSite parses the address of a site: a URL without a query, whose path is a folder. The error is a *[Refusal].
func NewSite(raw string) (Site, error) {
	canonical, ok := Canonical(raw)
	u, err := ParseURL(raw)
	if ok {
		u, err = ParseURL(canonical)
	}
	if err != nil {
		return Site{}, err
	}
	if u.RawQuery != "" || strings.Contains(raw, "#") || climbs(u.EscapedPath()) {
		return Site{}, Refuse(turn.CodeInvalidTarget)
	}
	return Site{u.Scheme, u.Host, strings.TrimRight(u.EscapedPath(), "/") + "/"}, nil
}

// String returns the site's address, which ends with a slash, or "" for the whole web.
func (s Site) String() string {
	if s.host == "" {
		return ""
	}
	return s.scheme + "://" + s.host + s.path
}

// Host returns the host name without a port, or "" for the whole web.
func (s Site) Host() string {
	host, _, _ := strings.Cut(s.host, ":")
	return host
}

// Holds reports whether a page belongs to the site. It is on its host and below its path, however a server reads the path. If the site uses
// https, the page must too.
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

// Find returns the possible addresses of a page by its slug, likeliest first. "architecture/blackboard" is tried with the suffix .html, as
// it is, and as a folder. It keeps a fragment. If a slug is invalid or leads out of the site, the error is a *[Refusal].
func (s Site) Find(slug string) ([]string, error) {
	slug = strings.TrimSpace(slug)
	fragment := Fragment(slug)
	slug, _, _ = strings.Cut(strings.TrimLeft(slug, "/"), "#")
	if _, err := url.Parse(fragment); err != nil || strings.ContainsAny(slug, "?:\\") || !readable(slug+fragment) {
		return nil, Refuse(turn.CodeInvalidTarget)
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
			return nil, Refuse(turn.CodeOutsideSite)
		}
		if !slices.Contains(found, address+fragment) {
			found = append(found, address+fragment)
		}
	}
	return found, nil
}

// climbs reports whether some server could read an escaped path as containing a segment that leads up. It considers
// repeated unescaping, any character that may count as a slash, and servers that drop what follows a semicolon.
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
