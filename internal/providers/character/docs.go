package character

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/web/guard"
)

// Docs is a site of documentation that the character knows by name.
type Docs struct {
	Name string // no two are the same but for case
	Site guard.Site
	// Search is the address of the site's own search, with {query} where the words of a question belong; empty: none.
	Search string
}

// maxDocs is as many as Discord shows to choose from.
const maxDocs = 25

// queryMark stands in a search address for the question.
const queryMark = "{query}"

var docsName = regexp.MustCompile(`^[\pL\pN](?:[\pL\pN ._+-]{0,30}[\pL\pN.+])?$`)

// docs looks at the sites of documentation.
func (r *reading) docs(all []docsConfig) {
	lists, err := guard.NewDomains(r.config.Web.Allow, r.config.Web.Deny)
	named := map[string]bool{}
	for i, d := range all {
		item := fmt.Sprintf("docs[%d]", i)
		if i == maxDocs {
			r.reject(item, "is one too many", fmt.Sprintf("there may be %d", maxDocs))
			return
		}
		folded := strings.ToLower(d.Name)
		switch {
		case !r.given(item, "name", d.Name):
		case !docsName.MatchString(d.Name):
			r.reject(item+".name", fmt.Sprintf("%q is no name", d.Name), "use up to 32 letters, digits, spaces and . _ + -")
		case named[folded]:
			r.reject(item+".name", fmt.Sprintf("%q is there already", d.Name), "")
		}
		named[folded] = true
		site, ok := r.site(item, d.URL)
		if !ok {
			continue
		}
		if err == nil && !lists.Allows(site.Host()) { // else the lists have been complained about
			r.reject(item+".url", "web.allow and web.deny keep the character off this site", "")
		}
		r.search(item+".search", d.Search, site)
	}
}

// given reports whether an element has a key that it must have, and complains if not. One of a wrong type has been
// complained about.
func (r *reading) given(item, key, value string) bool {
	at, set := r.spots[item+"."+key]
	switch {
	case value != "":
		return true
	case !set:
		r.problem(r.spots[item], item+"."+key, "is missing", "")
	case !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.File == at.file && p.Line == at.line }):
		r.reject(item+"."+key, "is empty", "")
	}
	return false
}

func (r *reading) site(item, address string) (guard.Site, bool) {
	if !r.given(item, "url", address) {
		return guard.Site{}, false
	}
	site, err := guard.NewSite(address)
	if err != nil {
		r.reject(item+".url", fmt.Sprintf("%q is no address of a public site", address), `write the address below which all its pages are, as in "https://docs.example.org/en/latest/"`)
	}
	return site, err == nil
}

func (r *reading) search(key, template string, site guard.Site) {
	switch {
	case template == "":
	case strings.Count(template, queryMark) != 1:
		r.reject(key, "must hold "+queryMark+" once, where the words of the question belong", "")
	case !site.Holds(searchAddress(site, template, "word")):
		r.reject(key, "is not on the site", `write the path behind the site's url, as in "search.html?q={query}"`)
	}
}

// searchAddress is the address of a site's own search: template is a path on the site or a whole address.
func searchAddress(site guard.Site, template, word string) string {
	address := strings.Replace(template, queryMark, word, 1)
	if !strings.Contains(template, "://") {
		address = site.String() + strings.TrimLeft(address, "/")
	}
	return address
}

func (d docsConfig) into() Docs {
	site, _ := guard.NewSite(d.URL) // checked
	out := Docs{Name: d.Name, Site: site}
	if d.Search != "" {
		out.Search = searchAddress(site, d.Search, queryMark)
	}
	return out
}
