package read

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/web/page"
	"familiar/visible/dom"
)

// findWikipedia recognises articles of the large Wikipedias, also on their mobile hosts.
func findWikipedia(u *url.URL, anchor string) *request {
	labels := strings.Split(u.Hostname(), ".")
	if len(labels) == 4 && labels[1] == "m" {
		labels = slices.Delete(labels, 1, 2)
	}
	if len(labels) != 3 || labels[1] != "wikipedia" || labels[2] != "org" || !api.HasWikipedia(labels[0]) {
		return nil
	}
	title, isArticle := strings.CutPrefix(u.Path, "/wiki/")
	switch {
	case isArticle && u.RawQuery == "":
	case u.Path == "/w/index.php" && hasOnlyParam(u, "title"):
		title = u.Query().Get("title")
	default:
		return nil
	}
	title = strings.Trim(strings.ReplaceAll(title, "_", " "), " ")
	if !wikiTitle(title) {
		return nil
	}
	req := &request{language: labels[0]}
	req.final = articleURL(req.language, title)
	req.read = func(ctx context.Context, s *session) (page.Page, error) { return readWikipedia(ctx, s, title, anchor) }
	return req
}

// wikiTitle reports whether a title is valid by https://www.mediawiki.org/wiki/Manual:Page_title. Titles of special
// pages are refused, because these pages have no text.
func wikiTitle(title string) bool {
	return title != "" && len(title) <= 255 && utf8.ValidString(title) && !strings.ContainsAny(title, "#<>[]|{}") &&
		!strings.ContainsFunc(title, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) &&
		title[0] != ':' && !strings.HasPrefix(strings.ToLower(title), "special:")
}

func articleURL(language, title string) string {
	return address(language+".wikipedia.org", "/wiki/"+strings.ReplaceAll(title, " ", "_"))
}

// explainWikipedia distinguishes a page that does not exist from other errors of the Action API.
func explainWikipedia(r api.Reply) api.Failure {
	f := api.ExplainMediaWiki(r)
	for _, word := range []string{"missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"} {
		if strings.HasSuffix(f.Detail, " "+word) {
			return api.Failure{Code: turn.CodeMissing, Detail: f.Detail}
		}
	}
	return f
}

// parseReply is the reply of action=parse, https://www.mediawiki.org/wiki/API:Parsing_wikitext, formatversion 2.
type parseReply struct {
	Parse struct {
		Title, Text string
		Properties  json.RawMessage
		Redirects   []struct{ ToFragment string }
	}
}

func readWikipedia(ctx context.Context, s *session, title, anchor string) (page.Page, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lastEdit := make(chan time.Time, 1)
	go func() { lastEdit <- lastChange(ctx, s, title) }()
	var reply parseReply
	err := s.json(ctx, api.Request{Path: "/w/api.php", Params: url.Values{
		"action": {"parse"}, "page": {title}, "redirects": {"1"}, "prop": {"text|properties"},
		"disableeditsection": {"1"}, "disabletoc": {"1"}, "disablelimitreport": {"1"},
		"format": {"json"}, "formatversion": {"2"}, "maxlag": {"5"},
	}}, &reply)
	article := reply.Parse
	if article.Text == "" {
		cancel()
	}
	defer time.AfterFunc(extrasTimeout/4, cancel).Stop() // the date is not worth a longer wait
	modified := <-lastEdit
	if article.Text == "" {
		return page.Page{}, cmp.Or(err, malformed("the reply is not one of the Action API"))
	}
	if len(article.Redirects) > 0 {
		anchor = cmp.Or(anchor, article.Redirects[len(article.Redirects)-1].ToFragment)
	}
	language := s.request.language
	if wikiTitle(article.Title) {
		s.final = articleURL(language, article.Title)
	}
	base, err := url.Parse(cmp.Or(s.final, s.request.final))
	if err != nil {
		return page.Page{}, malformed("the title is invalid")
	}
	p, err := page.Part(article.Text, base, func(root *html.Node) {
		removeBoilerplate(root)
		moveSectionToFront(root, strings.ReplaceAll(anchor, " ", "_"))
	})
	if err != nil {
		return page.Page{}, err
	}
	p.Title, p.Site, p.Language, p.Type, p.Modified = plainText(cmp.Or(article.Title, title)), "Wikipedia", language, "article", modified
	if bytes.Contains(article.Properties, []byte(`"disambiguation"`)) {
		p.Type = "list"
	}
	return p, nil
}

// lastChange returns the time of the article's last edit, or zero if it is not available. It ends with ctx.
func lastChange(ctx context.Context, s *session, title string) time.Time {
	var reply struct {
		Query struct {
			Pages []struct{ Revisions []struct{ Timestamp string } }
		}
	}
	err := s.json(ctx, api.Request{Path: "/w/api.php", Params: url.Values{
		"action": {"query"}, "titles": {title}, "redirects": {"1"}, "prop": {"revisions"}, "rvprop": {"timestamp"},
		"format": {"json"}, "formatversion": {"2"}, "maxlag": {"5"},
	}}, &reply)
	if err != nil || len(reply.Query.Pages) == 0 || len(reply.Query.Pages[0].Revisions) == 0 {
		return time.Time{}
	}
	return parseTime(reply.Query.Pages[0].Revisions[0].Timestamp)
}

// boilerplate selects what surrounds the text of an article: links to other articles, sources, notices of editors,
// pictures.
var boilerplate = dom.NewSelector("figure, .navbox, .vertical-navbox, .navbar, .sidebar, .metadata, .ambox, .mw-editsection, .toc, .noprint, .hatnote, .dablink, " +
	".reference, .reflist, .references, .mw-references-wrap, .refbegin, .sistersitebox, .side-box, .portalbox, .authority-control, .catlinks, .printfooter, " +
	".mw-empty-elt, .mw-cite-backlink, .mwe-math-mathml-inline, .mwe-math-mathml-display, .shortdescription, .navigation-not-searchable, .homonymie, .bandeau-container")

var (
	headings = dom.NewSelector("h1, h2, h3, h4, h5, h6")
	// wrapped is the block that MediaWiki puts around a heading.
	wrapped  = dom.NewSelector("div.mw-heading:has(h1, h2, h3, h4, h5, h6)")
	sections = dom.NewSelector("h1, h2, h3, h4, h5, h6, div.mw-heading")
)

// removeBoilerplate reduces an article to its text.
func removeBoilerplate(root *html.Node) {
	for _, n := range boilerplate.MatchAll(root) {
		n.Parent.RemoveChild(n)
	}
	for _, n := range sections.MatchAll(root) {
		if at := headingLevel(n); at > 0 && headingLevel(n.Parent) == 0 && isEmptySection(n, at) {
			n.Parent.RemoveChild(n)
		}
	}
}

// isEmptySection reports whether there is no text below a heading, up to the next heading of its level.
func isEmptySection(heading *html.Node, rank int) bool {
	for n := heading.NextSibling; n != nil; n = n.NextSibling {
		switch at := headingLevel(n); {
		case at > 0 && at <= rank:
			return true
		case at == 0 && n.DataAtom != atom.Style && n.DataAtom != atom.Script && dom.Length(n) > 0:
			return false
		}
	}
	return true
}

// moveSectionToFront moves the section with this id to the front.
func moveSectionToFront(root *html.Node, id string) {
	if id == "" {
		return
	}
	for n := range root.Descendants() {
		if own, _ := dom.Attr(n, "id"); own != id {
			continue
		}
		// The id belongs to a heading, to a mark in it, or to the block around it.
		for n.Parent != nil && n.Parent != root && headingLevel(n) == 0 {
			n = n.Parent
		}
		if at := headingLevel(n); at > 0 {
			if up := n.Parent; up != root && headingLevel(up) == at {
				n = up
			}
			moveToFront(n, at)
		}
		return
	}
}

// moveToFront moves a heading and its section to the front of its parent.
func moveToFront(heading *html.Node, rank int) {
	parent := heading.Parent
	section := []*html.Node{heading}
	for n := heading.NextSibling; n != nil && (headingLevel(n) == 0 || headingLevel(n) > rank); n = n.NextSibling {
		section = append(section, n)
	}
	for _, n := range section {
		parent.RemoveChild(n)
	}
	front := parent.FirstChild
	for _, n := range section {
		parent.InsertBefore(n, front)
	}
}

// headingLevel returns the level of a heading, or of the block that MediaWiki puts around one. It returns 0 for anything
// else.
func headingLevel(n *html.Node) int {
	if wrapped.Match(n) {
		n = headings.MatchFirst(n)
	}
	if !headings.Match(n) {
		return 0
	}
	return int(n.Data[1] - '0')
}
