package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxLinks is how many links of a page are kept.
const maxLinks = 300

// links lists where the text points to.
func links(root *html.Node, base *url.URL) []Link {
	var found []Link
	known := map[string]bool{}
	for n := range root.Descendants() {
		if n.DataAtom != atom.A || len(found) == maxLinks {
			continue
		}
		href, _ := attr(n, "href")
		label := oneLine(text(n))
		if strings.HasPrefix(href, "#") || label == "" {
			continue
		}
		target := resolve(base, href)
		if target == nil {
			continue
		}
		target.Fragment, target.RawFragment = "", ""
		if address := target.String(); !known[address] && (base == nil || address != withoutFragment(base)) {
			known[address] = true
			found = append(found, Link{URL: address, Text: label})
		}
	}
	return found
}

// resolve is href as an absolute web address, nil if it is none.
func resolve(base *url.URL, href string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil {
		return nil
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	return u
}

func withoutFragment(u *url.URL) string {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	return v.String()
}
