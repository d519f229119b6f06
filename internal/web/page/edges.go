package page

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// articleWords name, in an article, what it carries beside its text and what Page has fields for.
var articleWords = words(`author authors bio byline bylines dateline timestamp caption captions credit credits tags taglist comment comments commentform
	respond gallery slideshow pubdate publishdate postmeta entrymeta articlemeta metadata readmore moreon mostread mostpopular partner`)

// Lines that articles carry: who made a picture, where to find more of the site, what to write to whom.
var (
	pictureCredit = regexp.MustCompile(`(?i)^[(\[]?\s*(?:image|photo|picture|photograph|illustration|video|foto|bild|crédit|credit|source)s?(?: (?:credits?|by|courtesy|source|\d+ (?:of )?\d+))?(?:\s*[:©]|$| of \d| courtesy)|^caption$|\((?:image|photo|picture)s?:[^)]*\)$|^.{0,60}/(?:AP|AFP|Reuters|Getty Images)\)?$`)
	dateLine      = regexp.MustCompile(`(?i)^(?:(?:last )?(?:published|updated|posted|modified)(?: on| at)?\b.{0,60}\d|by [\p{L}.' -]{3,50}$)`)
	offer         = regexp.MustCompile(`(?i)^\W*(?:follow (?:us|me|@\w+|\w+ \w+ on)|(?:sign up|subscribe) (?:for|to|now|here|today)|get (?:the latest|our|access to|.{1,40}delivered)|join (?:our|the conversation)|have a (?:tip|story|question)|like this (?:story|article)|click here|(?:you can )?(?:e-?mail|contact|reach) .{1,60}@|more (?:articles|stories|posts|from) |want more|tell us what|this slideshow requires|view comments|leave a (?:reply|comment)|don't miss\W*$|start your day with|download (?:our|the) app|enable notifications|send us )`)
)

// dropEdges removes from an article the lines beside its text: its title and date at the top, credits, offers, and
// pointers that are nothing but a link.
func dropEdges(root *html.Node, title string) {
	var lines []*html.Node
	collectLines(root, &lines)
	begun := false
	for _, line := range lines {
		own := labelText(line)
		size := textLength(line)
		begun = begun || size >= paragraph && headingLevel(line) == 0
		if own == "" {
			continue
		}
		switch {
		case !begun && headingLevel(line) > 0 && akin(own, title) && akin(title, own),
			!begun && dateLine.MatchString(own),
			size <= labelLength && (pictureCredit.MatchString(own) || offer.MatchString(own)),
			!strings.ContainsAny(own, " \n") && strings.HasPrefix(own, "http"),
			points(line, own, size):
			line.Parent.RemoveChild(line)
		}
	}
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
		case atom.P, atom.Div, atom.Section, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			*lines = append(*lines, c)
			leaf = false
		case atom.Li, atom.Ul, atom.Ol, atom.Table, atom.Td, atom.Tr, atom.Pre, atom.Blockquote, atom.Figure:
			leaf = false
		}
	}
	return leaf
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
		if items <= maxPointers && linkLength(list)*20 >= textLength(list)*19 && list.Parent != nil {
			list.Parent.RemoveChild(list)
		}
	}
}
