package page

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// The last words of the classes and ids of a post and its parts. All forums use them.
var (
	postNames   = dom.WordSet("post message comment reply answer question")
	bodyNames   = dom.WordSet("content body text message prose markup entry postbody messagebody usertext richtext posttext")
	authorNames = dom.WordSet("author username user poster nick nickname creator authorname")
	dateNames   = dom.WordSet("date time timestamp datetime posted relativetime postdate")
	// profileNames are words in the addresses of users' profiles.
	profileNames = dom.WordSet("u user users member members memberlist profile profiles viewprofile")
)

// Limits of a thread. They are the least number of posts and their least share of the page's text in percent. The third is the greatest
// length of an author's name in characters.
const (
	minPosts         = 2
	minShare         = 50
	minDeclaredShare = 40 // if the page declares itself a conversation
	maxAuthor        = 40
)

// Limits of the search for posts: candidates that are tried, and elements that are visited.
const (
	maxPosts  = 1_000
	maxVisits = 50_000
)

// post is one contribution to a thread.
type post struct {
	root, body, author, date *html.Node
	profile                  *html.Node // the first link to a profile
}

// postSearch is the state of the search for posts.
type postSearch struct {
	posts  map[*html.Node]bool // roots of the posts found
	visits int
}

// rewriteThread reads a page as a conversation. It keeps the author, date and body of each post, and everything outside
// the posts. If the page is not a conversation, rewriteThread changes nothing and returns false. If the page declares
// itself one, less evidence is needed.
func rewriteThread(root *html.Node, declared bool) bool {
	var candidates []*html.Node
	for n := range root.Descendants() {
		if isPost(n) && len(candidates) < maxPosts {
			candidates = append(candidates, n)
		}
	}
	search := postSearch{posts: map[*html.Node]bool{}}
	var posts []post
	length := 0
	for _, n := range slices.Backward(candidates) { // replies are inside the post that they answer
		p := post{root: n}
		if search.parts(&p, n); p.author == nil && p.profile != nil && !isInside(p.profile, p.body) {
			p.author = p.profile
		}
		if p.body == nil || p.author == nil && (p.date == nil || !declared) {
			continue
		}
		search.posts[n] = true
		posts = append(posts, p)
		length += dom.Length(p.body)
	}
	share := minShare
	if declared {
		share = minDeclaredShare
	}
	whole := dom.Length(root)
	if len(posts) < minPosts || search.visits > maxVisits || length*100 < whole*share {
		return false
	}
	if first := posts[len(posts)-1].root; !declared && lengthBefore(root, first)*3 > whole {
		return false // they are comments below a text
	}
	dropRepeats(posts)
	for _, p := range posts {
		search.rewrite(p)
	}
	return true
}

// dropRepeats removes quotations of other posts from posts.
func dropRepeats(posts []post) {
	said := map[string]bool{}
	var quotes []*html.Node
	for _, p := range posts {
		for c := range p.body.ChildNodes() {
			quotes = append(quotes, quotations.MatchAll(c)...)
		}
		for line := range ownLines(p.body) {
			said[line] = true
		}
	}
	for _, quote := range quotes {
		for line := range ownLines(quote) {
			if said[line] && quote.Parent != nil {
				quote.Parent.RemoveChild(quote)
				break
			}
		}
	}
}

var quotations = dom.NewSelector("blockquote")

// ownLines yields the beginnings of the texts below n. It skips short texts, which many posts share, and quotations.
func ownLines(n *html.Node) iter.Seq[string] {
	return func(yield func(string) bool) { yieldLines(n, yield) }
}

func yieldLines(n *html.Node, yield func(string) bool) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.DataAtom == atom.Blockquote:
		case c.Type == html.TextNode && dom.Letters(c.Data) >= minQuoted:
			if !yield(beginningOf(c)) {
				return false
			}
		case c.Type == html.ElementNode:
			if !yieldLines(c, yield) {
				return false
			}
		}
	}
	return true
}

// minQuoted is the least length of a text that is recognised in a quotation, in characters.
const minQuoted = 20

// lengthBefore counts the characters below root that precede n.
func lengthBefore(root, n *html.Node) (total int) {
	for d := range root.Descendants() {
		if d == n {
			break
		}
		if d.Type == html.TextNode {
			total += dom.Letters(d.Data)
		}
	}
	return total
}

func isPost(n *html.Node) bool {
	if n.Type != html.ElementNode || n.DataAtom == atom.A || n.DataAtom == atom.Span || dom.HeadingLevel(n) > 0 {
		return false
	}
	if kind, ok := dom.Attr(n, "itemtype"); ok {
		switch kind[strings.LastIndexByte(kind, '/')+1:] {
		case "Comment", "Answer", "Question", "DiscussionForumPosting":
			return true
		}
	}
	return dom.NameEndsIn(n, postNames)
}

// parts finds the parts of a post below n, outside of nested posts.
func (s *postSearch) parts(p *post, n *html.Node) {
	for c := n.FirstChild; c != nil && s.visits <= maxVisits; c = c.NextSibling {
		if c.Type != html.ElementNode || s.posts[c] {
			continue
		}
		s.visits++
		property, _ := dom.Attr(c, "itemprop")
		rel, _ := dom.Attr(c, "rel")
		switch {
		case property == "text", property == "articleBody":
			p.body = c
			continue
		case p.author == nil && (property == "author" || rel == "author" || dom.NameEndsIn(c, authorNames)) && isShort(c):
			p.author = c
			continue
		case p.date == nil && (c.DataAtom == atom.Time || dom.NameEndsIn(c, dateNames)) && isShort(c):
			p.date = c
			continue
		case p.profile == nil && c.DataAtom == atom.A && isProfile(c) && isShort(c):
			p.profile = c
		case dom.NameEndsIn(c, bodyNames) && p.isBetterBody(c):
			p.body = c
		}
		s.parts(p, c)
	}
}

// isProfile reports whether a link leads to a user's profile.
func isProfile(link *html.Node) bool {
	href, _ := dom.Attr(link, "href")
	if at := strings.Index(href, "://"); at >= 0 { // ignore the host
		href = href[at+len("://"):]
		href = href[max(strings.IndexByte(href, '/'), 0):]
	}
	for word := range dom.NameWords(href) {
		if profileNames[word] {
			return true
		}
	}
	return strings.Contains(href, "/~")
}

// isInside reports whether n is around or lies below it.
func isInside(n, around *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == around {
			return true
		}
	}
	return false
}

// isBetterBody reports whether c is a better body than the one found before. It is the core of that one, or has more text.
func (p *post) isBetterBody(c *html.Node) bool {
	if p.body == nil {
		return dom.Length(c) > 0
	}
	property, _ := dom.Attr(p.body, "itemprop")
	before, length := dom.Length(p.body), dom.Length(c)
	for up := c.Parent; up != nil && up != p.root; up = up.Parent {
		if up == p.body {
			return length*10 >= before*6
		}
	}
	return property == "" && length > before
}

// isShort reports whether n is as short as a name or a date.
func isShort(n *html.Node) bool {
	length := dom.Length(n)
	return length > 1 && length <= maxAuthor
}

// rewrite reduces a post to a line with its author and date, its body, and the posts inside it.
func (s *postSearch) rewrite(p post) {
	line := ""
	if p.author != nil {
		line = dom.Line(firstText(p.author))
	}
	if p.date != nil {
		line = strings.TrimPrefix(line+", "+dom.Line(dom.Text(p.date)), ", ")
	}
	parts := s.inside(p.root, p.body, []*html.Node{p.body})
	for _, n := range parts {
		n.Parent.RemoveChild(n)
	}
	for p.root.FirstChild != nil {
		p.root.RemoveChild(p.root.FirstChild)
	}
	about := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
	about.AppendChild(&html.Node{Type: html.TextNode, Data: line})
	for _, n := range append([]*html.Node{about}, parts...) {
		p.root.AppendChild(n)
	}
	p.root.Attr = nil
}

// firstText returns the first text below n. An author's name comes first, and what follows describes the author.
func firstText(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && dom.Letters(d.Data) > 1 {
			return d.Data
		}
	}
	return dom.Text(n)
}

// inside adds to posts the posts below n that are neither inside another one nor in the body.
func (s *postSearch) inside(n, body *html.Node, posts []*html.Node) []*html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c == body:
		case s.posts[c]:
			posts = append(posts, c)
		default:
			posts = s.inside(c, body, posts)
		}
	}
	return posts
}
