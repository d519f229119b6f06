package meta

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/atom"

	"familiar/internal/text/lazyregexp"
)

// The names under which sites put their dates into <meta>, the most exact ones first.
var (
	publishedMeta = [...]string{
		"article:published_time", "og:published_time", "datepublished", "article.published", "parsely-pub-date", "sailthru.date", "cxenseparse:recs:publishtime",
		"pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "citation_publication_date", "citation_date", "dc.date.issued", "dcterms.created", "dc.date", "dcterms.date",
		"date", "datecreated", "article_date_original", "originalpublicationdate", "displaydate",
	}
	modifiedMeta = [...]string{
		"article:modified_time", "og:updated_time", "og:modified_time", "datemodified", "article.updated", "dcterms.modified", "dc.date.modified", "last-modified", "lastmod", "revised", "updated_time",
	}
)

// stamp is one machine-readable date in the body.
type stamp struct {
	value string
	role  string // what its itemprop and its class call it, in lower case
}

// maxStamps is how many dates of the body are read.
const maxStamps = 200

func (s *source) readStamps() {
	for _, n := range s.elements.FilterMatcher(dateElements).EachIter() {
		if len(s.stamps) >= maxStamps {
			return
		}
		property := n.AttrOr("itemprop", "")
		if value, ok := n.Attr("datetime"); ok && n.Nodes[0].DataAtom == atom.Time {
			role := strings.ToLower(property + " " + n.AttrOr("class", ""))
			if _, ok := n.Attr("pubdate"); ok {
				role += " published"
			}
			s.stamps = append(s.stamps, stamp{value, role})
		}
		if content, ok := n.Attr("content"); ok && strings.HasPrefix(property, "date") {
			s.stamps = append(s.stamps, stamp{content, strings.ToLower(property)})
		}
	}
}

// dates takes the first of these that holds a date: JSON-LD, <meta>, marked dates in the body. For the day of publication
// the only date in the body and the address count too.
func (s *source) dates(base *url.URL) (published date, modified time.Time) {
	published = s.firstDate(publishedMeta[:], cmp.Or(s.property("datePublished"), s.property("dateCreated")), "publish", "pubdate", "datecreated", "entry-date")
	modified = s.firstDate(modifiedMeta[:], s.property("dateModified"), "modif", "updated").Time
	if published.IsZero() && len(s.stamps) == 1 {
		published = parseDate(s.stamps[0].value)
	}
	if published.IsZero() && base != nil {
		if m := addressDate.FindStringSubmatch(base.Path); m != nil {
			published = parseDate(m[1] + "-" + m[2] + "-" + m[3])
		}
	}
	if !modified.After(published.Time) {
		modified = time.Time{}
	}
	return published, modified
}

var addressDate = lazyregexp.New(`/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?:[/-]|$)`)

func (s *source) firstDate(names []string, property string, roles ...string) date {
	if found := parseDate(property); !found.IsZero() {
		return found
	}
	for _, name := range names {
		if found := parseDate(s.meta[name]); !found.IsZero() {
			return found
		}
	}
	for _, stamp := range s.stamps {
		for _, role := range roles {
			if strings.Contains(stamp.role, role) {
				if found := parseDate(stamp.value); !found.IsZero() {
					return found
				}
			}
		}
	}
	return date{}
}

// layouts are the notations in use. None depends on whether the day or the month comes first.
var layouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006/1/2", "20060102",
	time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "Mon Jan 2 15:04:05 MST 2006", "Mon Jan 2 2006 15:04:05 GMT-0700",
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "January 2, 2006 15:04", "Jan 2, 2006 3:04 PM", "January 2, 2006 3:04 PM", monthLayout,
}

const monthLayout = "2006-01"

// date is a moment, midnight UTC of a day, or that of the first day of a month of which no day is given.
type date struct {
	time.Time
	monthOnly bool
}

// firstPages is before any page was written. An earlier date is a mistake, and so is one after tomorrow.
var firstPages = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

func parseDate(value string) date {
	value = strings.TrimSpace(value)
	if len(value) < 7 || len(value) > 64 {
		return date{}
	}
	value, _, _ = strings.Cut(value, " (")
	for _, layout := range layouts {
		at, err := time.Parse(layout, value)
		if err != nil {
			continue
		}
		if at = at.UTC(); at.Before(firstPages) || at.After(time.Now().Add(48*time.Hour)) {
			return date{}
		}
		return date{at, layout == monthLayout}
	}
	return date{}
}
