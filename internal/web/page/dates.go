package page

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text"
	"familiar/visible/dom"
)

// The names under which sites put their dates into <meta>, most precise first.
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

// bodyDate is one machine-readable date in the body.
type bodyDate struct {
	value string
	role  string // its itemprop and class, in lower case
}

// maxBodyDates is how many dates in the body are read.
const maxBodyDates = 200

func (s *metaSource) readBodyDates() {
	for _, n := range s.elements.FilterMatcher(dateElements).EachIter() {
		if len(s.bodyDates) >= maxBodyDates {
			return
		}
		property := n.AttrOr("itemprop", "")
		if value, ok := n.Attr("datetime"); ok && n.Nodes[0].DataAtom == atom.Time {
			role := strings.ToLower(property + " " + n.AttrOr("class", ""))
			if _, ok := n.Attr("pubdate"); ok {
				role += " published"
			}
			s.bodyDates = append(s.bodyDates, bodyDate{value, role})
		}
		if content, ok := n.Attr("content"); ok && strings.HasPrefix(property, "date") {
			s.bodyDates = append(s.bodyDates, bodyDate{content, strings.ToLower(property)})
		}
	}
}

// dates returns the first date found in JSON-LD, <meta> or the marked dates in the body. The day of publication may also
// come from the only date in the body or from the address.
func (s *metaSource) dates(base *url.URL) (published date, modified time.Time) {
	published = s.firstDate(publishedMeta[:], cmp.Or(s.property("datePublished"), s.property("dateCreated")), "publish", "pubdate", "datecreated", "entry-date")
	modified = s.firstDate(modifiedMeta[:], s.property("dateModified"), "modif", "updated").Time
	if published.IsZero() && len(s.bodyDates) == 1 {
		published = parseDate(s.bodyDates[0].value)
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

var addressDate = text.NewLazyRegexp(`/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?:[/-]|$)`)

func (s *metaSource) firstDate(names []string, property string, roles ...string) date {
	if found := parseDate(property); !found.IsZero() {
		return found
	}
	for _, name := range names {
		if found := parseDate(s.meta[name]); !found.IsZero() {
			return found
		}
	}
	for _, stamp := range s.bodyDates {
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

// layouts are the notations that sites use. In none of them is the order of day and month ambiguous.
var layouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006/1/2", "20060102",
	time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "Mon Jan 2 15:04:05 MST 2006", "Mon Jan 2 2006 15:04:05 GMT-0700",
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "January 2, 2006 15:04", "Jan 2, 2006 3:04 PM", "January 2, 2006 3:04 PM", monthLayout,
}

const monthLayout = "2006-01"

// date is a moment or midnight UTC of a day. It is the first day of a month if no day is given.
type date struct {
	time.Time
	monthOnly bool
}

// firstPages is before the first web page. Earlier dates are mistakes, and so are dates after tomorrow.
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

// bylineNames are the last words of the class names of bylines.
var bylineNames = dom.WordSet("byline author authors authorname writer credits date dateline pubdate publishdate published posted timestamp time meta postmeta entrymeta")

var (
	writtenBy = text.NewLazyRegexp(`(?i)^(?:(?:written|posted|published|words|story|text) )?(?:by|von|por|par)[: ] *(\p{L}[\p{L}.'’ -]{2,60}?)(?: *[|·•–—,/(\d]| (?:on|in|published|updated|posted)\b|$)`)
	datedOn   = text.NewLazyRegexp(`(?i)(?:^|[^\p{L}\d])((?:(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? \d{1,2},? |\d{1,2} (?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? |)(?:19|20)\d\d(?:-\d\d-\d\d)?)\b`)
	changedOn = text.NewLazyRegexp(`(?i)\b(?:updated|modified|edited|reviewed|changed)\b`)
	monthName = strings.NewReplacer("Sept.", "Sep", "Sept ", "Sep ", ".", "")
)

// maxBylines is how many elements with such names are read.
const maxBylines = 64

// byline returns the author and the day that a page shows in elements with names such as "byline". It returns no day if
// the page shows several, because they may belong to other texts.
func byline(doc *html.Node) (author string, day time.Time) {
	count, differ := 0, false
	isByline := map[string]bool{} // by class attribute, because pages repeat it
	for n := range doc.Descendants() {
		class, ok := dom.Attr(n, "class")
		if !ok || count == maxBylines {
			continue
		}
		named, ok := isByline[class]
		if !ok {
			named = dom.NameEndsIn(n, bylineNames)
			isByline[class] = named
		}
		if !named {
			continue
		}
		count++
		text := dom.Line(dom.Label(n))
		if found := writtenBy.FindStringSubmatch(text); author == "" && found != nil {
			author = strings.TrimSpace(found[1])
		}
		if found := datedOn.FindStringSubmatch(text); found != nil && !changedOn.MatchString(text) {
			date := parseDate(monthName.Replace(found[1])).Time
			differ = differ || !day.IsZero() && !date.IsZero() && !date.Equal(day)
			if day.IsZero() {
				day = date
			}
		}
	}
	if differ {
		day = time.Time{}
	}
	return author, day
}
