package meta

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/language"

	"familiar/internal/web/page/dom"
)

// Metadata is what a page says about itself.
type Metadata struct {
	Title, Author, Site, Language string
	Published, Modified           time.Time
	Types                         Types
	Product                       Product
}

// testimony is what a page says of itself in places where no reader looks.
type testimony struct {
	meta    map[string]string // name, property or itemprop of <meta>, in lower case → content, the first one
	title   string
	h1      string
	lang    string
	byline  string      // the text of an element that is marked as the author
	linked  []linked    // JSON-LD, in order
	times   []timeStamp // <time datetime> and the like, in order
	heard   int         // bytes of JSON-LD
	types   Types
	product Product
	asked   int // elements whose text was looked at
}

// Most pages have one heading, one byline and a few dates; the rest of many is not listened to.
const (
	maxAsked = 32
	maxTimes = 200
)

// timeStamp is one machine-readable date in the body.
type timeStamp struct{ value, role string }

// Read gathers a page's facts. Where the witnesses are attributes, which nobody sees, they are believed only
// about what they are asked for; a title has to agree with one that can be seen.
func Read(doc *html.Node, base *url.URL) Metadata {
	t := testimony{meta: map[string]string{}}
	t.hear(doc)
	p := Metadata{
		Title:    t.bestTitle(),
		Author:   personal(firstOf(t.fact("author"), t.meta["author"], t.meta["article:author"], t.meta["parsely-author"], t.meta["dc.creator"], t.meta["sailthru.author"], t.byline)),
		Site:     dom.Line(firstOf(t.meta["og:site_name"], t.fact("publisher"), t.meta["application-name"])),
		Language: t.languageTag(),
	}
	p.Title = withoutSite(p.Title, p.Site)
	p.Published, p.Modified = t.dates(base)
	if p.Author == "" || p.Published.IsZero() {
		author, day := shown(doc)
		p.Author = firstOf(p.Author, author)
		if p.Published.IsZero() && (p.Modified.IsZero() || day.Before(p.Modified)) {
			p.Published = day
		}
	}
	p.Types, p.Product = t.types, t.product
	p.Types.OpenGraph = strings.ToLower(t.meta["og:type"])
	return p
}

// withoutSite takes the site's name from the end of a title, where it stands behind a dash or a bar.
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

func (t *testimony) hear(n *html.Node) {
	if n.Type == html.ElementNode && n.Namespace == "" {
		t.element(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.hear(c)
	}
}

func (t *testimony) element(n *html.Node) {
	prop, _ := dom.Attr(n, "itemprop")
	t.types.hear(n)
	switch n.DataAtom {
	case atom.Html:
		t.lang, _ = dom.Attr(n, "lang")
		if t.lang == "" {
			t.lang, _ = dom.Attr(n, "xml:lang")
		}
	case atom.Title:
		if t.title == "" && n.Parent.DataAtom == atom.Head {
			t.title = dom.Line(dom.Text(n))
		}
	case atom.H1:
		if t.h1 == "" {
			t.h1 = t.ask(n)
		}
	case atom.Meta:
		t.metaElement(n, prop)
		return
	case atom.Script:
		if kind, _ := dom.Attr(n, "type"); strings.EqualFold(strings.TrimSpace(kind), "application/ld+json") && n.FirstChild != nil && len(t.linked) < 50 {
			if t.heard += len(n.FirstChild.Data); t.heard <= linkedLimit {
				t.linked = append(t.linked, t.readLinked(n.FirstChild.Data)...)
			}
		}
	case atom.Time:
		class, _ := dom.Attr(n, "class")
		_, pubdate := dom.Attr(n, "pubdate")
		if value, ok := dom.Attr(n, "datetime"); ok && len(t.times) < maxTimes {
			role := strings.ToLower(prop + " " + class)
			if pubdate {
				role += " published"
			}
			t.times = append(t.times, timeStamp{value, role})
		}
	}
	if content, ok := dom.Attr(n, "content"); ok && strings.HasPrefix(prop, "date") && len(t.times) < maxTimes {
		t.times = append(t.times, timeStamp{content, strings.ToLower(prop)})
	}
	rel, _ := dom.Attr(n, "rel")
	if t.byline == "" && (rel == "author" || prop == "author") {
		t.byline = t.ask(n)
	}
}

// ask returns the text of n in one line, or nothing to who asks too often.
func (t *testimony) ask(n *html.Node) string {
	if t.asked++; t.asked > maxAsked {
		return ""
	}
	return dom.Line(dom.Text(n))
}

func (t *testimony) metaElement(n *html.Node, prop string) {
	content, _ := dom.Attr(n, "content")
	if content = dom.Line(content); content == "" {
		return
	}
	for _, key := range [...]string{"name", "property", "http-equiv"} {
		if value, ok := dom.Attr(n, key); ok {
			prop = value
			break
		}
	}
	prop = strings.ToLower(strings.TrimSpace(prop))
	if _, heard := t.meta[prop]; !heard {
		t.meta[prop] = content
	}
}

// bestTitle prefers the title made for sharing, which has no site name in it, if a visible one bears it out.
func (t *testimony) bestTitle() string {
	shared := firstOf(t.meta["og:title"], t.meta["twitter:title"])
	switch {
	case shared != "" && (t.title == "" && t.h1 == "" || Akin(shared, t.title) || Akin(shared, t.h1)):
		return shared
	case t.title == "":
		return t.h1
	case t.h1 != "" && len(t.h1) >= len(t.title)/3 && strings.HasPrefix(t.title, t.h1):
		return t.h1
	}
	return t.title
}

// Akin says that at least half of the words of one title are in the other.
func Akin(a, b string) bool {
	if b == "" {
		return false
	}
	known := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(b), dom.NotWord) {
		known[word] = true
	}
	words, shared := 0, 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(a), dom.NotWord) {
		words++
		if known[word] {
			shared++
		}
	}
	return words > 0 && shared*2 >= words
}

// fact is what JSON-LD says, an article's object before a page's.
func (t *testimony) fact(name string) string {
	for _, l := range t.linked {
		if l.rank == articleRank && l.facts[name] != "" {
			return l.facts[name]
		}
	}
	for _, l := range t.linked {
		if l.facts[name] != "" {
			return l.facts[name]
		}
	}
	return ""
}

func (t *testimony) languageTag() string {
	for _, tag := range [...]string{t.lang, t.meta["content-language"], t.meta["og:locale"], t.fact("inLanguage")} {
		tag, _, _ = strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), ",")
		if parsed, err := language.Parse(tag); tag != "" && err == nil && parsed != language.Und {
			return parsed.String()
		}
	}
	return ""
}

// personal makes a name of a byline: no address, no "by", nothing as long as a sentence.
func personal(name string) string {
	name = dom.Line(name)
	if len(name) > 3 && strings.EqualFold(name[:3], "by ") {
		name = strings.TrimSpace(name[3:])
	}
	if strings.Contains(name, "://") || utf8.RuneCountInString(name) > 120 {
		return ""
	}
	return name
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
