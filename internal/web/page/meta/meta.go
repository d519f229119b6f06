// Package meta reads what a web page says about itself where no reader looks: in <meta>, JSON-LD (jsonld.go), microdata,
// link relations and machine-readable dates (dates.go). Where these name no author or no day, it takes the byline that
// the page shows (byline.go). types.go holds the kinds of page that a page declares itself to be, product.go what it says
// about a thing on sale.
//
// Nobody sees these attributes, so a page may write anything there. Each is used for its own field only, and a title has
// to agree with a title that can be seen.
package meta

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/text/language"

	"familiar/internal/web/page/dom"
)

// Metadata is what a page says about itself. Strings are single lines, empty if unknown.
type Metadata struct {
	Title     string
	Author    string
	Site      string    // the site's name for itself
	Language  string    // BCP 47
	Published time.Time // zero if unknown; midnight UTC where only the day is known
	MonthOnly bool      // Published is the first day of a month, and no more is known
	Modified  time.Time // zero if unknown or not after Published
	Types     Types
	Product   Product
}

// One walk over the tree finds all elements with metadata, and the other selectors look at these alone.
var (
	elements     = cascadia.MustCompile("html, title, h1, meta, script, time, [itemtype], [itemprop], [rel=author]")
	root         = cascadia.MustCompile("html")
	titles       = cascadia.MustCompile("head > title")
	headlines    = cascadia.MustCompile("h1")
	metas        = cascadia.MustCompile("meta")
	scripts      = cascadia.MustCompile("script[type]")
	items        = cascadia.MustCompile("[itemtype]")
	authors      = cascadia.MustCompile("[rel=author], [itemprop=author]")
	dateElements = cascadia.MustCompile("time[datetime], [itemprop^=date][content]:not(meta)")
)

// source is a page while its metadata is read.
type source struct {
	elements *goquery.Selection
	meta     map[string]string // the first content of each name, property or itemprop of <meta>, in lower case
	objects  []object          // of JSON-LD, in order
	stamps   []stamp           // dates in the body, in order
	types    Types
	product  Product
}

// Read reads the metadata of doc. base is its address, which may hold a date; it may be nil.
func Read(doc *html.Node, base *url.URL) Metadata {
	s := source{elements: goquery.NewDocumentFromNode(doc).FindMatcher(elements), meta: map[string]string{}}
	s.readMeta()
	s.readJSONLD()
	s.readStamps()
	s.elements.FilterMatcher(items).Each(func(_ int, n *goquery.Selection) { s.types.add(n.AttrOr("itemtype", "")) })
	s.types.OpenGraph = strings.ToLower(s.meta["og:type"])
	m := Metadata{
		Author:   cmp.Or(s.property("author"), s.meta["author"], s.meta["article:author"], s.meta["parsely-author"], s.meta["dc.creator"], s.meta["sailthru.author"]),
		Site:     cmp.Or(s.meta["og:site_name"], s.property("publisher"), s.meta["application-name"]),
		Language: s.language(),
		Types:    s.types,
		Product:  s.product,
	}
	if m.Author == "" {
		m.Author = s.firstText(authors)
	}
	m.Author = personName(m.Author)
	m.Title = withoutSite(s.title(), m.Site)
	published, modified := s.dates(base)
	m.Published, m.MonthOnly, m.Modified = published.Time, published.monthOnly, modified
	if m.Author == "" || m.Published.IsZero() {
		author, day := byline(doc)
		m.Author = cmp.Or(m.Author, author)
		if m.Published.IsZero() && (m.Modified.IsZero() || day.Before(m.Modified)) {
			m.Published = day
		}
	}
	return m
}

func (s *source) readMeta() {
	for _, n := range s.elements.FilterMatcher(metas).EachIter() {
		content := dom.Line(n.AttrOr("content", ""))
		if content == "" {
			continue
		}
		name := n.AttrOr("itemprop", "")
		for _, key := range [...]string{"name", "property", "http-equiv"} {
			if value, ok := n.Attr(key); ok {
				name = value
				break
			}
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if _, ok := s.meta[name]; !ok {
			s.meta[name] = content
		}
	}
}

// maxTexts is how many elements are read in search of a text. Most pages have one heading and one byline.
const maxTexts = 32

// firstText returns the first text of an element that matches, in one line.
func (s *source) firstText(m goquery.Matcher) string {
	for i, n := range s.elements.FilterMatcher(m).Nodes {
		if text := dom.Line(dom.Text(n)); text != "" || i == maxTexts {
			return text
		}
	}
	return ""
}

// title prefers the title made for sharing, which does not name the site, if a title that can be seen agrees with it.
func (s *source) title() string {
	shared, title, headline := cmp.Or(s.meta["og:title"], s.meta["twitter:title"]), s.firstText(titles), s.firstText(headlines)
	switch {
	case shared != "" && (title == "" && headline == "" || SharesWords(shared, title) || SharesWords(shared, headline)):
		return shared
	case title == "":
		return headline
	case headline != "" && len(headline) >= len(title)/3 && strings.HasPrefix(title, headline):
		return headline
	}
	return title
}

// SharesWords reports whether b has at least half of the words of a.
func SharesWords(a, b string) bool {
	words, has := strings.Fields(Words(a)), dom.WordSet(Words(b))
	shared := 0
	for _, word := range words {
		if has[word] {
			shared++
		}
	}
	return len(words) > 0 && shared*2 >= len(words)
}

// withoutSite takes the site's name off the end of a title where a dash or a bar stands before it.
func withoutSite(title, site string) string {
	rest, ok := strings.CutSuffix(title, site)
	if !ok || site == "" {
		return title
	}
	bare := strings.TrimRight(rest, " |-–—·:»")
	if bare == "" || len(bare) == len(strings.TrimRight(rest, " ")) {
		return title
	}
	return bare
}

func (s *source) language() string {
	html := s.elements.FilterMatcher(root).First()
	declared := cmp.Or(html.AttrOr("lang", ""), html.AttrOr("xml:lang", ""))
	for _, tag := range [...]string{declared, s.meta["content-language"], s.meta["og:locale"], s.property("inLanguage")} {
		tag, _, _ = strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), ",")
		if parsed, err := language.Parse(tag); tag != "" && err == nil && parsed != language.Und {
			return parsed.String()
		}
	}
	return ""
}

// personName makes a name of a byline: without "by", and nothing if it is an address or as long as a sentence.
func personName(byline string) string {
	name := dom.Line(byline)
	if len(name) > 3 && strings.EqualFold(name[:3], "by ") {
		name = strings.TrimSpace(name[3:])
	}
	if strings.Contains(name, "://") || utf8.RuneCountInString(name) > 120 {
		return ""
	}
	return name
}
