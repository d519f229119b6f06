package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// The last word of the class or id of a post, and of what is in it. They are the same wherever people talk.
var (
	postNames   = dom.WordSet("post message comment reply answer question")
	bodyNames   = dom.WordSet("content body text message prose markup entry postbody messagebody usertext richtext posttext")
	authorNames = dom.WordSet("author username user poster nick nickname creator authorname")
	dateNames   = dom.WordSet("date time timestamp datetime posted relativetime postdate")
)

// How many posts make a thread, how much of the page's text they have, in percent, and how long an author's name is
// at most, in characters.
const (
	fewPosts   = 2
	postsShare = 50
	toldShare  = 40 // if the page calls itself a conversation
	longName   = 40
)

// What looking for posts may cost: how many candidates there are, and how many elements are looked at.
const (
	maxPosts  = 1_000
	maxVisits = 50_000
)

// post is one contribution to a thread.
type post struct{ root, body, author, date *html.Node }

// conversation is what is known of a page's posts while they are looked for.
type conversation struct {
	known  map[*html.Node]bool
	visits int
}

// thread reads a page as a conversation: of each post, it leaves who wrote it, when, and what, and of the rest of
// the page all that is there. It returns false, and leaves the page as it is, if it is none. It needs less to be one
// if the page says so, which told means.
func thread(root *html.Node, told bool) bool {
	var candidates []*html.Node
	for n := range root.Descendants() {
		if isPost(n) && len(candidates) < maxPosts {
			candidates = append(candidates, n)
		}
	}
	talk := conversation{known: map[*html.Node]bool{}}
	var posts []post
	said := 0
	for _, n := range slices.Backward(candidates) { // replies lie inside of what they reply to
		p := post{root: n}
		if talk.search(&p, n); p.author == nil || p.body == nil {
			continue
		}
		talk.known[n] = true
		posts = append(posts, p)
		said += dom.Length(p.body)
	}
	share := postsShare
	if told {
		share = toldShare
	}
	whole := dom.Length(root)
	if len(posts) < fewPosts || talk.visits > maxVisits || said*100 < whole*share {
		return false
	}
	if first := posts[len(posts)-1].root; !told && lengthBefore(root, first)*3 > whole {
		return false // comments on a text
	}
	for _, p := range posts {
		talk.rewrite(p)
	}
	return true
}

// lengthBefore counts the characters below root that stand before n.
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

// search finds the parts of a post below n, outside of the posts inside it.
func (talk *conversation) search(p *post, n *html.Node) {
	for c := n.FirstChild; c != nil && talk.visits <= maxVisits; c = c.NextSibling {
		if c.Type != html.ElementNode || talk.known[c] {
			continue
		}
		talk.visits++
		prop, _ := dom.Attr(c, "itemprop")
		rel, _ := dom.Attr(c, "rel")
		switch {
		case prop == "text", prop == "articleBody":
			p.body = c
			continue
		case p.author == nil && (prop == "author" || rel == "author" || dom.NameEndsIn(c, authorNames)) && short(c):
			p.author = c
			continue
		case p.date == nil && (c.DataAtom == atom.Time || dom.NameEndsIn(c, dateNames)) && short(c):
			p.date = c
			continue
		case dom.NameEndsIn(c, bodyNames) && p.longer(c):
			p.body = c
		}
		talk.search(p, c)
	}
}

// longer says that c is to be the body rather than the one that was found before: it is the core of that, or has
// more text.
func (p *post) longer(c *html.Node) bool {
	if p.body == nil {
		return dom.Length(c) > 0
	}
	prop, _ := dom.Attr(p.body, "itemprop")
	before, own := dom.Length(p.body), dom.Length(c)
	for up := c.Parent; up != nil && up != p.root; up = up.Parent {
		if up == p.body {
			return own*10 >= before*6
		}
	}
	return prop == "" && own > before
}

// short says that n is as short as a name or a date.
func short(n *html.Node) bool {
	size := dom.Length(n)
	return size > 1 && size <= longName
}

// rewrite leaves of a post a line about it, what it says, and the posts inside it.
func (talk *conversation) rewrite(p post) {
	line := dom.Line(dom.Text(p.author))
	if p.date != nil {
		line += ", " + dom.Line(dom.Text(p.date))
	}
	parts := talk.inside(p.root, p.body, []*html.Node{p.body})
	for _, n := range parts {
		n.Parent.RemoveChild(n)
	}
	for c := p.root.FirstChild; c != nil; c = p.root.FirstChild {
		p.root.RemoveChild(c)
	}
	about := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
	about.AppendChild(&html.Node{Type: html.TextNode, Data: line})
	p.root.AppendChild(about)
	for _, n := range parts {
		p.root.AppendChild(n)
	}
}

// inside adds to posts those below n that are in no other and not in the body.
func (talk *conversation) inside(n, body *html.Node, posts []*html.Node) []*html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c == body:
		case talk.known[c]:
			posts = append(posts, c)
		default:
			posts = talk.inside(c, body, posts)
		}
	}
	return posts
}
