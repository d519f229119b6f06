package page

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

// articleWords name, in an article, what it carries beside its text and what Page has fields for.
var articleWords = dom.WordSet(`author authors bio byline bylines dateline timestamp caption captions credit credits tags taglist comment comments commentform
	respond gallery slideshow pubdate publishdate postmeta entrymeta articlemeta metadata readmore moreon mostread mostpopular partner`)

// Lines that articles carry: who made a picture, where to find more of the site, what to write to whom.
var (
	pictureCredit = regexp.MustCompile(`(?i)^[(\[]?\s*(?:image|photo|picture|photograph|illustration|video|foto|bild|crédit|credit|source)s?(?: (?:credits?|by|courtesy|source|\d+ (?:of )?\d+))?(?:\s*[:©]|$| of \d| courtesy)|^caption$|\((?:image|photo|picture)s?:[^)]*\)$|^.{0,60}/(?:AP|AFP|Reuters|Getty Images)\)?$`)
	dateLine      = regexp.MustCompile(`(?i)^(?:(?:last )?(?:published|updated|posted|modified)(?: on| at)?\b.{0,60}\d|by [\p{L}.' -]{3,50}$)`)
	dated         = regexp.MustCompile(`\d.*\b(?:19|20)\d\d\b[^.!?]*$|^(?:19|20)\d\d\D+\d`)
	offer         = regexp.MustCompile(`(?i)^\W*(?:follow (?:us|me|@\w+|\w+ \w+ on)|(?:sign up|subscribe) (?:for|to|now|here|today)|get (?:the latest|our|access to|.{1,40}delivered)|join (?:our|the conversation)|have a (?:tip|story|question)|like this (?:story|article)|click here|(?:you can )?(?:e-?mail|contact|reach) .{1,60}@|more (?:articles|stories|posts|from) |want more|tell us what|this slideshow requires|view comments|leave a (?:reply|comment)|don't miss\W*$|start your day with|download (?:our|the) app|enable notifications|send us )`)
)

// What an offer begins with, and what the credit of a picture without a colon.
var (
	offerWords   = dom.WordSet("follow sign subscribe get join have like click you e email contact reach more want tell this view leave don start download enable send")
	pictureWords = dom.WordSet("image images photo photos picture photograph illustration video foto bild caption")
)

// command is what a button says: something to do, nothing to know.
var command = regexp.MustCompile(`(?i)^\W*(?:add to (?:cart|bag|basket|wish ?list|compare|favou?rites)|(?:quick|fast) (?:view|shop|buy|add|look)|buy(?: it)? now|shop now|order now|choose options|select options|(?:view|see|show|read|load|learn|discover|find out) (?:all|more|less|details|product|full \w+)|more info|sort(?: by)?:?|filters?(?: by)?:?|clear(?: all)?(?: filters)?|reset|apply|showing .{0,12}\d.{0,20}|\d+ (?:results?|items?|products?)|items \d.{0,20}|skip to .{1,30}|share|save|report|reply|quote|upvote|downvote|like|follow|copy link|permalink|print|back to top|next|prev(?:ious)?|close|cancel|submit|send|search|toggle \w+|log ?in|sign ?(?:in|up)|register|create (?:an )?account|expand|collapse|compare|wish ?list|in den warenkorb|ajouter au panier|añadir al carrito)\W*$`)

// maxCommand is how long the label of a button is at most, in bytes.
const maxCommand = 40

// dropCommands removes the labels of buttons, each of which is the only text of its element.
func dropCommands(root *html.Node) {
	var labels []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.TextNode && len(n.Data) <= 3*maxCommand && alone(n) {
			if own := strings.TrimSpace(n.Data); own != "" && len(own) <= maxCommand && (command.MatchString(own) || button(n)) {
				labels = append(labels, n)
			}
		}
	}
	for _, n := range labels {
		n.Data = " "
	}
}

// alone says that no other text is read in one line with this one. Links in a row are not: they may be buttons.
func alone(n *html.Node) bool {
	for {
		for _, next := range [...]*html.Node{n.PrevSibling, n.NextSibling} {
			if next != nil && (next.Type == html.TextNode || dom.IsInline(next.DataAtom) && next.DataAtom != atom.A) && dom.Length(next) > 0 {
				return false
			}
		}
		if n = n.Parent; n == nil || dom.HeadingLevel(n) > 0 {
			return false
		}
		if !dom.IsInline(n.DataAtom) {
			return true
		}
	}
}

// buttonNames are those of links that are drawn as buttons.
var buttonNames = dom.WordSet("btn button cta")

// button says that a text is the label of a link that calls itself a button.
func button(text *html.Node) bool {
	for n := text.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.A || !dom.IsInline(n.DataAtom) {
			role, _ := dom.Attr(n, "role")
			return role == "button" || anyName(n, buttonNames)
		}
	}
	return false
}

// anyName says that one of the words of a class or of the id of n is one of names.
func anyName(n *html.Node, names map[string]bool) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" || len(a.Val) > dom.MaxClass {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			for word := range dom.NameWords(name) {
				if names[word] {
					return true
				}
			}
		}
	}
	return false
}

// longDate is how much text, in characters, a line has at most that is a date in whatever language.
const longDate = 48

// dropEdges removes from an article the lines beside its text: its title and date at the top, credits, offers, and
// pointers that are nothing but a link.
func dropEdges(root *html.Node, title string) {
	var lines []*html.Node
	collectLines(root, &lines)
	begun := false
	for _, line := range lines {
		own := dom.Label(line)
		size := dom.Length(line)
		if title != "" && !begun && dom.HeadingLevel(line) > 0 && meta.SharesWords(own, title) && meta.SharesWords(title, own) {
			dropBefore(root, line)
		}
		begun = begun || size >= paragraph && dom.HeadingLevel(line) == 0
		if own == "" || begun && line.DataAtom == atom.Li {
			continue
		}
		switch {
		case !begun && dom.HeadingLevel(line) > 0 && meta.SharesWords(own, title) && meta.SharesWords(title, own),
			!begun && (dateLine.MatchString(own) || title != "" && dom.HeadingLevel(line) == 0 && size <= longDate && dated.MatchString(own)),
			creditsPicture(own), offerWords[firstWord(own)] && offer.MatchString(own),
			!strings.ContainsAny(own, " \n") && strings.HasPrefix(own, "http"),
			points(line, own, size):
			line.Parent.RemoveChild(line)
		}
	}
	if title != "" {
		dropEnd(root)
	}
}

// dropBefore removes what stands in root before n, if it is little.
func dropBefore(root, n *html.Node) {
	if lengthBefore(root, n)*3 > dom.Length(root) {
		return
	}
	for ; n != root && n.Parent != nil; n = n.Parent {
		for n.PrevSibling != nil {
			n.Parent.RemoveChild(n.PrevSibling)
		}
	}
}

// dropEnd removes the headings at the end of a text, under which there is nothing.
func dropEnd(n *html.Node) (done bool) {
	for c, previous := n.LastChild, (*html.Node)(nil); c != nil; c = previous {
		previous = c.PrevSibling
		switch {
		case c.Type == html.TextNode:
			if dom.Letters(c.Data) > 0 {
				return true
			}
		case dom.HeadingLevel(c) > 0:
			n.RemoveChild(c)
		case dropEnd(c):
			return true
		}
	}
	return false
}

// creditsPicture says that a line names who made a picture.
func creditsPicture(own string) bool {
	return (strings.ContainsAny(own, ":©/") || pictureWords[firstWord(own)]) && pictureCredit.MatchString(own)
}

// points says that a paragraph is nothing but a link, and no sentence.
func points(line *html.Node, own string, size int) bool {
	if line.DataAtom != atom.P && line.DataAtom != atom.Div || linkLength(line)*20 < size*19 {
		return false
	}
	return own == strings.ToUpper(own) && strings.IndexFunc(own, unicode.IsLower) < 0 && strings.IndexFunc(own, unicode.IsUpper) >= 0
}

// collectLines finds the blocks that have no other block inside.
func collectLines(n *html.Node, lines *[]*html.Node) (leaf bool) {
	leaf = true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		inline := collectLines(c, lines)
		if !inline {
			leaf = false
			continue
		}
		switch c.DataAtom {
		case atom.P, atom.Div, atom.Section, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			*lines = append(*lines, c)
			leaf = false
		case atom.Ul, atom.Ol, atom.Table, atom.Td, atom.Tr, atom.Pre, atom.Blockquote, atom.Figure:
			leaf = false
		}
	}
	return leaf
}

// pictureNames are those of a block that is a picture and what is said of it.
var pictureNames = dom.WordSet("image photo picture")

// longCaption is how much text, in characters, stands below a picture at most.
const longCaption = 400

// dropCaptions removes what is said of pictures in blocks that are named for them.
func dropCaptions(root *html.Node) {
	var pictures []*html.Node
	for n := range root.Descendants() {
		if (n.DataAtom == atom.Div || n.DataAtom == atom.Figure) && anyName(n, pictureNames) && holdsPicture(n) && dom.Length(n) <= longCaption {
			pictures = append(pictures, n)
		}
	}
	for _, n := range pictures {
		n.Parent.RemoveChild(n)
	}
}

func holdsPicture(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom == atom.Img {
			return true
		}
	}
	return false
}

// maxPointers is how many items a list between the paragraphs of an article has at most that points elsewhere.
const maxPointers = 8

// dropPointers removes short lists of links alone: in an article they lead to others.
func dropPointers(root *html.Node) {
	var lists []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			lists = append(lists, n)
		}
	}
	for _, list := range lists {
		items := 0
		for c := list.FirstChild; c != nil && items <= maxPointers; c = c.NextSibling {
			if c.DataAtom == atom.Li {
				items++
			}
		}
		if items <= maxPointers && linkLength(list)*20 >= dom.Length(list)*19 && list.Parent != nil {
			list.Parent.RemoveChild(list)
		}
	}
}
