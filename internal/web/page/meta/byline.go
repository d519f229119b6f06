package meta

import (
	"strings"
	"time"

	"golang.org/x/net/html"

	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
)

// bylineNames are the last words of the class names of what stands below a headline.
var bylineNames = dom.WordSet("byline author authors authorname writer credits date dateline pubdate publishdate published posted timestamp time meta postmeta entrymeta")

var (
	writtenBy = lazyregexp.New(`(?i)^(?:(?:written|posted|published|words|story|text) )?(?:by|von|por|par)[: ] *(\p{L}[\p{L}.'’ -]{2,60}?)(?: *[|·•–—,/(\d]| (?:on|in|published|updated|posted)\b|$)`)
	datedOn   = lazyregexp.New(`(?i)(?:^|[^\p{L}\d])((?:(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? \d{1,2},? |\d{1,2} (?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? |)(?:19|20)\d\d(?:-\d\d-\d\d)?)\b`)
	changedOn = lazyregexp.New(`(?i)\b(?:updated|modified|edited|reviewed|changed)\b`)
	monthName = strings.NewReplacer("Sept.", "Sep", "Sept ", "Sep ", ".", "")
)

// maxBylines is how many elements with such names are read.
const maxBylines = 64

// byline returns the author and the day that a page shows in elements that are named for them. It returns no day if
// the page shows several: they may belong to other texts.
func byline(doc *html.Node) (author string, day time.Time) {
	count, differ := 0, false
	isByline := map[string]bool{} // by class attribute: pages repeat them
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
