package meta

import (
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"familiar/internal/web/page/dom"
)

// shownNames are the last words of the classes of what stands below a headline.
var shownNames = dom.WordSet("byline author authors authorname writer credits date dateline pubdate publishdate published posted timestamp time meta postmeta entrymeta")

var (
	writtenBy = regexp.MustCompile(`(?i)^(?:(?:written|posted|published|words|story|text) )?(?:by|von|por|par)[: ] *(\p{L}[\p{L}.'’ -]{2,60}?)(?: *[|·•–—,/(\d]| (?:on|in|published|updated|posted)\b|$)`)
	dayShown  = regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])((?:(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? \d{1,2},? |\d{1,2} (?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.? |)(?:19|20)\d\d(?:-\d\d-\d\d)?)\b`)
	changed   = regexp.MustCompile(`(?i)\b(?:updated|modified|edited|reviewed|changed)\b`)
)

// maxLooked is how many elements with such names are read.
const maxLooked = 64

// shown is what a page shows of its author and its day where no other witness knows: in the elements that are
// named for them. Of several days that differ none is taken, for they may be those of other texts.
func shown(doc *html.Node) (author string, day time.Time) {
	looked, torn := 0, false
	known := map[string]bool{} // of the classes so far: pages repeat them
	for n := range doc.Descendants() {
		class, ok := dom.Attr(n, "class")
		if !ok || looked == maxLooked {
			continue
		}
		named, judged := known[class]
		if !judged {
			named = dom.NameEndsIn(n, shownNames)
			known[class] = named
		}
		if !named {
			continue
		}
		looked++
		own := dom.Line(dom.Label(n))
		if found := writtenBy.FindStringSubmatch(own); author == "" && found != nil {
			author = strings.TrimSpace(found[1])
		}
		if found := dayShown.FindStringSubmatch(own); found != nil && !changed.MatchString(own) {
			date := parseDate(strings.NewReplacer("Sept.", "Sep", "Sept ", "Sep ", ".", "").Replace(found[1]))
			torn = torn || !day.IsZero() && !date.IsZero() && !date.Equal(day)
			if day.IsZero() {
				day = date
			}
		}
	}
	if torn {
		day = time.Time{}
	}
	return author, day
}
