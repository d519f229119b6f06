package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/text/language"

	"familiar/visible/dom"
)

// metadata is what a page says about itself where no reader looks. That is in <meta>, JSON-LD, microdata, link relations and
// machine-readable dates. If these give no author or no day, the visible byline is used.
//
// Nobody sees these attributes, so a page may write anything there. Each is used only for its own field, and a title
// must agree with a visible title. Strings are single lines, empty if unknown.
type metadata struct {
	Title     string
	Author    string
	Site      string    // the site's name for itself
	Language  string    // BCP 47
	Published time.Time // zero if unknown; midnight UTC if only the day is known
	MonthOnly bool      // Published is the first day of a month, and the day is unknown
	Modified  time.Time // zero if unknown or not after Published
	Types     pageTypes
	Product   product
}

// One walk over the tree finds all elements with metadata. The other selectors search only these.
var (
	elements     = dom.NewSelector("html, title, h1, meta, script, time, [itemtype], [itemprop], [rel=author]")
	htmlElement  = dom.NewSelector("html")
	headTitles   = dom.NewSelector("head > title")
	headlines    = dom.NewSelector("h1")
	metas        = dom.NewSelector("meta")
	scripts      = dom.NewSelector("script[type]")
	items        = dom.NewSelector("[itemtype]")
	authors      = dom.NewSelector("[rel=author], [itemprop=author]")
	dateElements = dom.NewSelector("time[datetime], [itemprop^=date][content]:not(meta)")
)

// metaSource is a page while its metadata is read.
type metaSource struct {
	elements  *goquery.Selection
	meta      map[string]string // first content of each name, property or itemprop of <meta>, in lower case
	objects   []object          // from JSON-LD, in order
	bodyDates []bodyDate        // dates in the body, in order
	types     pageTypes
	product   product
}

// readMetadata reads the metadata of doc. base is its address, which may contain a date, and may be nil.
func readMetadata(doc *html.Node, base *url.URL) metadata {
	s := metaSource{elements: goquery.NewDocumentFromNode(doc).FindMatcher(elements), meta: map[string]string{}}
	s.readMeta()
	s.readJSONLD()
	s.readBodyDates()
	s.elements.FilterMatcher(items).Each(func(_ int, n *goquery.Selection) { s.types.add(n.AttrOr("itemtype", "")) })
	s.types.OpenGraph = strings.ToLower(s.meta["og:type"])
	m := metadata{
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

func (s *metaSource) readMeta() {
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

// maxTexts is how many elements are searched for a text. Most pages have one heading and one byline.
const maxTexts = 32

// firstText returns the first text of a matching element, in one line.
func (s *metaSource) firstText(m goquery.Matcher) string {
	for i, n := range s.elements.FilterMatcher(m).Nodes {
		if text := dom.Line(dom.Text(n)); text != "" || i == maxTexts {
			return text
		}
	}
	return ""
}

// title prefers the title made for sharing, which does not name the site, if it agrees with a visible title.
func (s *metaSource) title() string {
	shared, title, headline := cmp.Or(s.meta["og:title"], s.meta["twitter:title"]), s.firstText(headTitles), s.firstText(headlines)
	switch {
	case shared != "" && (title == "" && headline == "" || sharesWords(shared, title) || sharesWords(shared, headline)):
		return shared
	case title == "":
		return headline
	case headline != "" && len(headline) >= len(title)/3 && strings.HasPrefix(title, headline):
		return headline
	}
	return title
}

// sharesWords reports whether b contains at least half of the words of a.
func sharesWords(a, b string) bool {
	words, has := strings.Fields(normalWords(a)), dom.WordSet(normalWords(b))
	shared := 0
	for _, word := range words {
		if has[word] {
			shared++
		}
	}
	return len(words) > 0 && shared*2 >= len(words)
}

// withoutSite removes the site's name from the end of a title if a dash or a bar precedes it.
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

func (s *metaSource) language() string {
	html := s.elements.FilterMatcher(htmlElement).First()
	declared := cmp.Or(html.AttrOr("lang", ""), html.AttrOr("xml:lang", ""))
	for _, tag := range [...]string{declared, s.meta["content-language"], s.meta["og:locale"], s.property("inLanguage")} {
		tag, _, _ = strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), ",")
		if parsed, err := language.Parse(tag); tag != "" && err == nil && parsed != language.Und {
			return parsed.String()
		}
	}
	return ""
}

// personName turns a byline into a name, without "by". It returns "" for an address or a whole sentence.
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

// pageTypes are the kinds of page that a page declares itself to be. None is enough alone: a page of a shop may call
// itself an article.
type pageTypes struct {
	OpenGraph string          // og:type, in lower case
	schema    map[string]bool // schema.org types of its elements and its JSON-LD
}

// maxTypes is how many types of one page are kept.
const maxTypes = 64

// add keeps the last part of the address of a type.
func (t *pageTypes) add(address string) {
	address = strings.TrimRight(strings.TrimSpace(address), "/#")
	name := address[strings.LastIndexAny(address, "/#:")+1:]
	if name != "" && len(name) < 40 && len(t.schema) < maxTypes {
		if t.schema == nil {
			t.schema = map[string]bool{}
		}
		t.schema[name] = true
	}
}

func (t *pageTypes) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return t.schema[name] })
}

// isArticle reports whether the page declares itself one text by one source.
func (t *pageTypes) isArticle() bool {
	return t.has("NewsArticle", "BlogPosting", "Article", "ReportageNewsArticle", "OpinionNewsArticle", "TechArticle", "ScholarlyArticle", "Recipe")
}

// isThread reports whether the page declares itself a conversation.
func (t *pageTypes) isThread() bool {
	return t.has("DiscussionForumPosting", "QAPage") || !t.has("FAQPage") && t.has("Question") && t.has("Answer") && t.has("Comment")
}

// isProduct reports whether the page declares itself to be about one product.
func (t *pageTypes) isProduct() bool {
	return strings.HasPrefix(t.OpenGraph, "product") && t.OpenGraph != "product.group" ||
		t.has(productTypes[:]...) && !t.has("ItemList", "CollectionPage", "OfferCatalog")
}

// object is one JSON-LD object in the vocabulary of schema.org, reduced to the properties in propertyNames.
type object struct {
	isArticle  bool // it describes the text rather than the page
	properties map[string]string
}

// Limits of the JSON-LD of one page: bytes, objects, and levels of nesting.
const (
	maxJSONLD  = 512 << 10
	maxObjects = 50
	maxDepth   = 6
)

var propertyNames = [...]string{"datePublished", "dateCreated", "dateModified", "author", "publisher", "inLanguage"}

// readJSONLD reads the scripts with JSON-LD and skips invalid ones.
func (s *metaSource) readJSONLD() {
	size := 0
	for _, n := range s.elements.FilterMatcher(scripts).EachIter() {
		if !strings.EqualFold(strings.TrimSpace(n.AttrOr("type", "")), "application/ld+json") {
			continue
		}
		text := n.Text()
		if size += len(text); size > maxJSONLD || len(s.objects) >= maxObjects {
			return
		}
		var value any
		if json.Unmarshal([]byte(strings.TrimSpace(text)), &value) == nil {
			s.collectObjects(value, maxDepth)
		}
	}
}

func (s *metaSource) collectObjects(value any, depth int) {
	if depth == 0 || len(s.objects) >= maxObjects {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			s.collectObjects(one, depth-1)
		}
	case map[string]any:
		types := typeNames(v["@type"])
		for _, name := range types {
			s.types.add(name)
		}
		if s.product.Name == "" && isProductType(types) {
			s.product = readProduct(v)
		}
		if isArticle, ok := describesPage(types); ok {
			o := object{isArticle: isArticle, properties: map[string]string{}}
			for _, name := range propertyNames {
				o.properties[name] = dom.Line(propertyText(v[name]))
			}
			s.objects = append(s.objects, o)
		}
		for _, inside := range [...]string{"@graph", "mainEntity", "mainEntityOfPage"} {
			s.collectObjects(v[inside], depth-1)
		}
	}
}

// typeNames returns the first few types of an object, as written.
func typeNames(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var names []string
		for _, one := range v[:min(len(v), 5)] {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// describesPage reports whether an object of these types is about the page as a whole. isArticle says that it describes
// the text.
func describesPage(types []string) (isArticle, ok bool) {
	for _, t := range types {
		switch {
		case strings.HasSuffix(t, "Article"), strings.HasSuffix(t, "Posting"), t == "Report", t == "Recipe", t == "HowTo", t == "VideoObject", t == "QAPage", t == "Book", t == "Dataset", t == "Event":
			return true, true
		case strings.HasSuffix(t, "Page"), t == "CreativeWork":
			return false, true
		}
	}
	return false, false
}

// property returns a property from JSON-LD. It prefers objects that describe the text.
func (s *metaSource) property(name string) string {
	found := ""
	for _, o := range s.objects {
		value := o.properties[name]
		if value != "" && o.isArticle {
			return value
		}
		if found == "" {
			found = value
		}
	}
	return found
}

// propertyText returns the text of a property: its value, the name of its object, or several names joined by commas.
func propertyText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		return propertyText(v["name"])
	case []any:
		var names []string
		for _, one := range v {
			if name := propertyText(one); name != "" && len(names) < 5 {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
