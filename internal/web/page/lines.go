package page

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text"
	"familiar/visible/dom"
)

// articleExtras are class names of what accompanies an article, and of what Page has fields for.
var articleExtras = dom.WordSet(`author authors bio byline bylines dateline timestamp caption captions credit credits tags taglist comment comments commentform
	respond gallery slideshow pubdate publishdate postmeta entrymeta articlemeta metadata readmore moreon mostread mostpopular partner`)

// commentExtras describes readers' comments below an article, which may be longer than the article.
var commentExtras = extras{
	names:      dom.WordSet("comments commentlist commentslist commentform respond disqus"),
	headings:   text.NewLazyRegexp(`(?i)^\W*(?:\d+ (?:comments?|replies|responses|thoughts on)\b|comments?\W*\d*\W*$|(?:leave|post|add|write) a (?:reply|comment))`),
	maxPercent: 95,
	minRest:    longProse,
}

// Lines that accompany an article: credits of pictures, dates of publication, and offers of the site.
var (
	pictureCredit = text.LazyRegexpOf(func() string {
		return `(?i)^[(\[]?\s*(?:` + text.AllTables().Page.PictureCredits.String() + `)s?(?: (?:credits?|by|courtesy|source|\d+ (?:of )?\d+))?(?:\s*[:©]|$| of \d| courtesy)|^caption$|\((?:image|photo|picture)s?:[^)]*\)$|^.{0,60}/(?:AP|AFP|Reuters|Getty Images)\)?$`
	})
	dateLine = text.NewLazyRegexp(`(?i)^(?:(?:last )?(?:published|updated|posted|modified)(?: on| at)?\b.{0,60}\d|by [\p{L}.' -]{3,50}$)`)
	dateEnd  = text.NewLazyRegexp(`\d.*\b(?:19|20)\d\d\b[^.!?]*$|^(?:19|20)\d\d\D+\d`)
	offer    = text.NewLazyRegexp(`(?i)^\W*(?:follow (?:us|me|@\w+|\w+ \w+ on)|(?:sign up|subscribe) (?:for|to|now|here|today)|get (?:the latest|our|access to|.{1,40}delivered)|join (?:our|the conversation)|have a (?:tip|story|question)|like this (?:story|article)|click here|(?:you can )?(?:e-?mail|contact|reach) .{1,60}@|more (?:articles|stories|posts|from) |want more|tell us what|this slideshow requires|view comments|leave a (?:reply|comment)|don't miss\W*$|start your day with|download (?:our|the) app|enable notifications|send us )`)
)

// The first words of offers, and of picture credits without a colon.
var (
	offerWords   = dom.WordSet("follow sign subscribe get join have like click you e email contact reach more want tell this view leave don start download enable send")
	pictureWords = sync.OnceValue(func() map[string]bool { return dom.WordSet(string(text.AllTables().Page.PictureWords)) })
)

// command matches the label of a button, which asks for an action and says nothing.
var command = text.LazyRegexpOf(func() string { return `(?i)^\W*(?:` + text.AllTables().Page.Commands.String() + `)\W*$` })

// maxCommand is the greatest length of the label of a button, in bytes.
const maxCommand = 40

// dropCommands removes labels of buttons that are alone on their line.
func dropCommands(root *html.Node) {
	var labels []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.TextNode && len(n.Data) <= 3*maxCommand && isAlone(n) {
			if label := strings.TrimSpace(n.Data); label != "" && len(label) <= maxCommand && (command.MatchString(label) || isButton(n)) {
				labels = append(labels, n)
			}
		}
	}
	for _, n := range labels {
		n.Data = " "
	}
}

// isAlone reports whether there is no other text on the same line. Links don't count, because they may be a row of
// buttons.
func isAlone(n *html.Node) bool {
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

// buttonNames are class names of links that look like buttons.
var buttonNames = dom.WordSet("btn button cta")

// isButton reports whether a text is the label of a link with the name or role of a button.
func isButton(text *html.Node) bool {
	for n := text.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.A || !dom.IsInline(n.DataAtom) {
			role, _ := dom.Attr(n, "role")
			return role == "button" || hasName(n, buttonNames)
		}
	}
	return false
}

// hasName reports whether a name of n contains one of words.
func hasName(n *html.Node, words map[string]bool) bool {
	return dom.AnyName(n, func(name string) bool {
		for word := range dom.NameWords(name) {
			if words[word] {
				return true
			}
		}
		return false
	})
}

// maxDate is the greatest length of a line that is a date in any language, in characters.
const maxDate = 48

// dropLines removes lines that are not part of the text: credits, offers, and links in capitals. From an article, which
// has a title, it also removes the title and the date at the top.
func dropLines(root *html.Node, title string) {
	begun := false
	for _, line := range textLines(root) {
		text, length, heading := dom.Label(line), dom.Length(line), dom.HeadingLevel(line) > 0
		isTitle := !begun && heading && sharesWords(text, title) && sharesWords(title, text)
		if isTitle {
			dropBefore(root, line)
		}
		begun = begun || length >= minParagraph && !heading
		if text == "" || begun && line.DataAtom == atom.Li {
			continue
		}
		switch {
		case isTitle,
			!begun && (dateLine.MatchString(text) || title != "" && !heading && length <= maxDate && dateEnd.MatchString(text)),
			isPictureCredit(text), offerWords[firstWord(text)] && offer.MatchString(text),
			!strings.ContainsAny(text, " \n") && strings.HasPrefix(text, "http"),
			isCapitalLink(line, text, length):
			line.Parent.RemoveChild(line)
		}
	}
	if title != "" {
		dropTail(root)
		dropLastHeadings(root)
	}
}

// dropTail removes links and labels of buttons at the end of an article. They lead to other pages.
func dropTail(root *html.Node) {
	for _, line := range slices.Backward(textLines(root)) {
		length := dom.Length(line)
		if length == 0 {
			continue
		}
		if label := dom.Label(line); length >= minParagraph || linkLength(line)*10 < length*8 && !command.MatchString(label) {
			return
		}
		line.Parent.RemoveChild(line)
	}
}

// dropBefore removes what precedes n below root, if that is at most a third.
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

// maxAbove is the greatest share of a page above its headline, in percent, that is not part of the text.
const maxAbove = 20

// dropAbove removes the lines above the headline of a page: notices and menus of the site. If there is prose among them, they
// stay.
func dropAbove(root *html.Node) {
	var above []*html.Node
	length := 0
	for _, line := range textLines(root) {
		size := dom.Length(line)
		switch {
		case dom.HeadingLevel(line) == 1:
			if length*100 <= dom.Length(root)*maxAbove {
				for _, n := range above {
					n.Parent.RemoveChild(n)
				}
			}
			return
		case size-linkLength(line) >= minParagraph:
			return
		}
		above, length = append(above, line), length+size
	}
}

// dropLastHeadings removes headings at the end of a text, because nothing follows them.
func dropLastHeadings(n *html.Node) (done bool) {
	for c, previous := n.LastChild, (*html.Node)(nil); c != nil; c = previous {
		previous = c.PrevSibling
		switch {
		case c.Type == html.TextNode:
			if dom.Letters(c.Data) > 0 {
				return true
			}
		case dom.HeadingLevel(c) > 0:
			n.RemoveChild(c)
		case dropLastHeadings(c):
			return true
		}
	}
	return false
}

// isPictureCredit reports whether a line credits a picture.
func isPictureCredit(text string) bool {
	return (strings.ContainsAny(text, ":©/") || pictureWords()[firstWord(text)]) && pictureCredit.MatchString(text)
}

// isCapitalLink reports whether a paragraph with this text and length is only a link in capitals.
func isCapitalLink(line *html.Node, text string, length int) bool {
	return (line.DataAtom == atom.P || line.DataAtom == atom.Div) && linkLength(line)*20 >= length*19 &&
		text == strings.ToUpper(text) && strings.IndexFunc(text, unicode.IsLower) < 0 && strings.IndexFunc(text, unicode.IsUpper) >= 0
}

// textLines returns the blocks below n that contain no other block.
func textLines(n *html.Node) (found []*html.Node) {
	collectLines(n, &found)
	return found
}

// collectLines adds the blocks below n that contain no other block. It reports whether there is no block below n.
func collectLines(n *html.Node, lines *[]*html.Node) (leaf bool) {
	leaf = true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if !collectLines(c, lines) {
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

// pictureNames are class names of blocks with a picture and its caption.
var pictureNames = dom.WordSet("image photo picture")

// maxCaption is the greatest length of the text below a picture, in characters.
const maxCaption = 400

var (
	pictures = dom.NewSelector("div, figure")
	images   = dom.NewSelector("img")
)

// dropCaptions removes blocks that are named for their pictures, with their captions.
func dropCaptions(root *html.Node) {
	for _, n := range pictures.MatchAll(root) {
		if n != root && hasName(n, pictureNames) && images.MatchFirst(n) != nil && dom.Length(n) <= maxCaption {
			n.Parent.RemoveChild(n)
		}
	}
}

// maxPointers is the greatest number of items in a list of links between the paragraphs of an article.
const maxPointers = 8

var linkLists = dom.NewSelector("ul, ol")

// dropPointerLists removes short lists that contain only links. They lead from an article to others.
func dropPointerLists(root *html.Node) {
	for _, list := range linkLists.MatchAll(root) {
		items := 0
		for c := range list.ChildNodes() {
			if c.DataAtom == atom.Li {
				items++
			}
		}
		if items <= maxPointers && linkLength(list)*20 >= dom.Length(list)*19 && list.Parent != nil {
			list.Parent.RemoveChild(list)
		}
	}
}

// referenceHeading matches the headings of sections that list sources and other pages.
var referenceHeading = text.LazyRegexpOf(func() string { return `(?i)^\W*(?:` + text.AllTables().Page.ReferenceHeadings.String() + `)\W*$` })

// Limits: the headings that are tried as the beginning of the references, and the blocks of one section.
const (
	maxSections = 8
	maxBlocks   = 500
)

// dropReferences removes lists of sources and other pages at the end of a text.
func dropReferences(root *html.Node) {
	total, before, tried := dom.Length(root), 0, 0
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			before += dom.Letters(n.Data)
			continue
		}
		level := dom.HeadingLevel(n)
		if level == 0 || before*5 < total*2 || !referenceHeading.MatchString(dom.Label(n)) {
			continue
		}
		if tried++; tried > maxSections {
			return
		}
		if nodes := section(n, level, root); isListed(nodes) {
			for _, one := range nodes {
				one.Parent.RemoveChild(one)
			}
			return
		}
	}
}

// section returns a heading and what follows it, up to the next section that is not references.
func section(heading *html.Node, level int, root *html.Node) (nodes []*html.Node) {
	// The heading may have its own wrapper. Then the section is the wrapper's sibling.
	for range 4 {
		if heading.Parent == root || heading.Parent == nil || dom.Length(heading.Parent) != dom.Length(heading) {
			break
		}
		heading = heading.Parent
	}
	for n := heading; n != nil && len(nodes) < maxBlocks && (n == heading || !endsSection(n, level)); n = n.NextSibling {
		nodes = append(nodes, n)
	}
	return nodes
}

// endsSection reports whether the first heading in n begins another section.
func endsSection(n *html.Node, level int) bool {
	heading := headings.MatchFirst(n)
	return heading != nil && dom.HeadingLevel(heading) <= level && !referenceHeading.MatchString(dom.Label(heading))
}

// isListed reports whether a section is mostly a list. A heading such as "Notes" may also be above prose.
func isListed(nodes []*html.Node) bool {
	listed, all := 0, 0
	for _, n := range nodes[1:] {
		all += dom.Length(n)
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			listed += dom.Length(n)
			continue
		}
		for d := range n.Descendants() {
			if d.DataAtom == atom.Li && d.Parent.Parent.DataAtom != atom.Li {
				listed += dom.Length(d)
			}
		}
	}
	return listed*10 >= all*6
}
