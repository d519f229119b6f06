package page

import (
	"slices"
	"strings"
	"unicode"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

// articleExtras are the class names of what an article carries beside its text, and of what Page has fields for.
var articleExtras = dom.WordSet(`author authors bio byline bylines dateline timestamp caption captions credit credits tags taglist comment comments commentform
	respond gallery slideshow pubdate publishdate postmeta entrymeta articlemeta metadata readmore moreon mostread mostpopular partner`)

// commentExtras are what readers say below an article, which may be longer than the article.
var commentExtras = extras{
	names:      dom.WordSet("comments commentlist commentslist commentform respond disqus"),
	headings:   lazyregexp.New(`(?i)^\W*(?:\d+ (?:comments?|replies|responses|thoughts on)\b|comments?\W*\d*\W*$|(?:leave|post|add|write) a (?:reply|comment))`),
	maxPercent: 95,
	minRest:    longProse,
}

// Lines that articles carry beside their text: who made a picture, when it was published, what else the site offers.
var (
	pictureCredit = lazyregexp.New(`(?i)^[(\[]?\s*(?:` + lang.All().Page.PictureCredits.String() + `)s?(?: (?:credits?|by|courtesy|source|\d+ (?:of )?\d+))?(?:\s*[:©]|$| of \d| courtesy)|^caption$|\((?:image|photo|picture)s?:[^)]*\)$|^.{0,60}/(?:AP|AFP|Reuters|Getty Images)\)?$`)
	dateLine      = lazyregexp.New(`(?i)^(?:(?:last )?(?:published|updated|posted|modified)(?: on| at)?\b.{0,60}\d|by [\p{L}.' -]{3,50}$)`)
	dateEnd       = lazyregexp.New(`\d.*\b(?:19|20)\d\d\b[^.!?]*$|^(?:19|20)\d\d\D+\d`)
	offer         = lazyregexp.New(`(?i)^\W*(?:follow (?:us|me|@\w+|\w+ \w+ on)|(?:sign up|subscribe) (?:for|to|now|here|today)|get (?:the latest|our|access to|.{1,40}delivered)|join (?:our|the conversation)|have a (?:tip|story|question)|like this (?:story|article)|click here|(?:you can )?(?:e-?mail|contact|reach) .{1,60}@|more (?:articles|stories|posts|from) |want more|tell us what|this slideshow requires|view comments|leave a (?:reply|comment)|don't miss\W*$|start your day with|download (?:our|the) app|enable notifications|send us )`)
)

// The first words of an offer, and of the credit of a picture that has no colon.
var (
	offerWords   = dom.WordSet("follow sign subscribe get join have like click you e email contact reach more want tell this view leave don start download enable send")
	pictureWords = dom.WordSet(string(lang.All().Page.PictureWords))
)

// command matches the label of a button: something to do, nothing to know.
var command = lazyregexp.New(`(?i)^\W*(?:` + lang.All().Page.Commands.String() + `)\W*$`)

// maxCommand is how long the label of a button is at most, in bytes.
const maxCommand = 40

// dropCommands removes the labels of buttons that stand alone in their line.
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

// isAlone reports whether no other text stands in the same line. Links do not count: they may be buttons in a row.
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

// buttonNames are the class names of links that are drawn as buttons.
var buttonNames = dom.WordSet("btn button cta")

// isButton reports whether a text is the label of a link that is named a button.
func isButton(text *html.Node) bool {
	for n := text.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.A || !dom.IsInline(n.DataAtom) {
			role, _ := dom.Attr(n, "role")
			return role == "button" || hasName(n, buttonNames)
		}
	}
	return false
}

// hasName reports whether one of words is among the words of the names of n.
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

// maxDate is how long a line is at most, in characters, that is a date in any language.
const maxDate = 48

// dropLines removes from a text the lines beside it: of an article, which has a title, the title and the date at the top;
// of any text credits, offers, and links in capitals.
func dropLines(root *html.Node, title string) {
	begun := false
	for _, line := range textLines(root) {
		text, length, heading := dom.Label(line), dom.Length(line), dom.HeadingLevel(line) > 0
		isTitle := !begun && heading && meta.SharesWords(text, title) && meta.SharesWords(title, text)
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

// dropTail removes the links and the labels of buttons at the end of an article, which lead on to something else.
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

// dropBefore removes what stands before n below root, if it is at most a third.
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

// dropLastHeadings removes the headings at the end of a text, which nothing follows.
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

// isPictureCredit reports whether a line names who made a picture.
func isPictureCredit(text string) bool {
	return (strings.ContainsAny(text, ":©/") || pictureWords[firstWord(text)]) && pictureCredit.MatchString(text)
}

// isCapitalLink reports whether a paragraph of this text and length is nothing but a link in capitals.
func isCapitalLink(line *html.Node, text string, length int) bool {
	return (line.DataAtom == atom.P || line.DataAtom == atom.Div) && linkLength(line)*20 >= length*19 &&
		text == strings.ToUpper(text) && strings.IndexFunc(text, unicode.IsLower) < 0 && strings.IndexFunc(text, unicode.IsUpper) >= 0
}

// textLines returns the blocks below n that hold no other block.
func textLines(n *html.Node) (found []*html.Node) {
	collectLines(n, &found)
	return found
}

// collectLines adds the blocks below n that hold no other block, and reports whether there is no block below n at all.
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

// pictureNames are the class names of a block that holds a picture and its caption.
var pictureNames = dom.WordSet("image photo picture")

// maxCaption is how long the text below a picture is at most, in characters.
const maxCaption = 400

var (
	pictures = cascadia.MustCompile("div, figure")
	images   = cascadia.MustCompile("img")
)

// dropCaptions removes the captions in blocks that are named for their pictures.
func dropCaptions(root *html.Node) {
	for _, n := range pictures.MatchAll(root) {
		if n != root && hasName(n, pictureNames) && images.MatchFirst(n) != nil && dom.Length(n) <= maxCaption {
			n.Parent.RemoveChild(n)
		}
	}
}

// maxPointers is how many items a list between the paragraphs of an article has at most that points elsewhere.
const maxPointers = 8

var linkLists = cascadia.MustCompile("ul, ol")

// dropPointerLists removes short lists of links alone, which lead from an article to others.
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
