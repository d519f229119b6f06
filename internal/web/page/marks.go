package page

import (
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text"
	"familiar/visible/dom"
)

var (
	citation   = text.NewLazyRegexp(`^\s*[\[(（]\s*(?:\d{1,4}|[a-z]{1,2}|[ivx]{1,5}|(?:note|nb|n|web|r|anm\.?|lower-alpha)\s*\d{1,3})\s*[\])）]\s*$|^\s*\d{1,3}\s*$`)
	anchorMark = text.NewLazyRegexp(`^\s*(?:[¶#§🔗\x{F0C1}]|\[?\s*edit(?:\s*source)?\s*\]?|permalink|link to this (?:heading|section))\s*$`)
	// editMark matches marks beside the headings of wikis, doubtMark marks after their sentences.
	editMark  = text.LazyRegexpOf(func() string { return `(?i)^\[\s*(?:` + text.AllTables().Page.EditMarks.String() + `)[^\]]{0,40}\]$` })
	doubtMark = text.NewLazyRegexp(`(?i)^\[\s*(?:(?:citation|clarification|verification|page|year|date|better source|non-primary source)(?: is)? needed|when|who|which|by whom|according to whom|dubious[^\]]{0,20}|original research|failed verification)\??\s*\]$`)
)

// maxHeadingText is the greatest length of the text of a heading, in characters.
const maxHeadingText = 300

// dropMarks removes marks between the words that are not meant for reading: citation marks, anchors of headings, labels of advertisements.
// If a heading or a quotation is then alone in its wrapper, it replaces the wrapper. So readability sees what it belongs to. heading means
// that n is in a heading.
func dropMarks(n *html.Node, heading bool) {
	for c := range dom.Children(n) {
		if c.Type != html.ElementNode {
			continue
		}
		if isMark(c, heading) {
			n.RemoveChild(c)
			continue
		}
		if dom.HeadingLevel(c) > 0 && dom.Length(c) > maxHeadingText {
			dom.Rename(c, atom.P)
		}
		dropMarks(c, heading || dom.HeadingLevel(c) > 0)
		if sole := soleBlock(c); sole != nil {
			c.RemoveChild(sole)
			n.InsertBefore(sole, c)
			n.RemoveChild(c)
		}
	}
}

// anchors matches links to places in a page.
var anchors = dom.NewSelector(`a[href*="#"]`)

func isMark(n *html.Node, heading bool) bool {
	switch n.DataAtom {
	case atom.Figcaption: // its picture is gone
		return true
	case atom.Sup:
		label := dom.Label(n)
		return citation.MatchString(label) && anchors.MatchFirst(n) != nil || doubtMark.MatchString(label)
	case atom.Span:
		label := dom.Label(n)
		return editMark.MatchString(label) || heading && anchorMark.MatchString(label)
	case atom.A:
		return heading && anchorMark.MatchString(dom.Label(n))
	case atom.P, atom.Li, atom.Div, atom.Section:
		return isPointer(n) && !isSponsor(n)
	}
	return dom.HeadingLevel(n) > 0 && isPointer(n) && !commentWords()[firstWord(dom.Label(n))]
}

var (
	// commentWords are words in headings above users' comments, by which comments are recognised.
	commentWords = sync.OnceValue(func() map[string]bool { return dom.WordSet(string(text.AllTables().Framing.Comments)) })
	sponsorWords = sync.OnceValue(func() map[string]bool { return dom.WordSet(string(text.AllTables().Framing.Sponsors)) })
)

// isSponsor reports whether the label of an advertisement is directly below a heading. Then it describes the text that
// follows and does not interrupt it.
func isSponsor(n *html.Node) bool {
	if !sponsorWords()[text.Unaccented(firstWord(dom.Label(n)))] {
		return false
	}
	for c := n.PrevSibling; c != nil; c = c.PrevSibling {
		if dom.Length(c) > 0 {
			return dom.HeadingLevel(c) > 0
		}
	}
	return false
}

// soleBlock returns the heading or quotation that is the only content of a wrapper, or nil.
func soleBlock(n *html.Node) (sole *html.Node) {
	if n.DataAtom != atom.Div {
		return nil
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && dom.Letters(c.Data) == 0:
		case sole == nil && (dom.HeadingLevel(c) > 0 || c.DataAtom == atom.Blockquote):
			sole = c
		default:
			return nil
		}
	}
	return sole
}

var (
	interruption = text.LazyRegexpOf(func() string { return `(?i)^\W*(?:` + text.AllTables().Page.Interruptions.String() + `)\W*$` })
	reference    = text.LazyRegexpOf(func() string {
		return `(?i)^\W*(?:` + text.AllTables().Page.Pointers.String() + `)\b[^:：]{0,24}[:：]`
	})
)

// pointerWords are the first words that interruption, except for advertisements, and reference can match.
var pointerWords = sync.OnceValue(func() map[string]bool { return dom.WordSet(string(text.AllTables().Page.PointerWords)) })

// isPointer reports whether a block interrupts the text: the label of an advertisement, or "Read more:" and a link.
func isPointer(n *html.Node) bool {
	if !mayBePointer(n) {
		return false
	}
	label := dom.Label(n)
	return beginsPointer(firstWord(label)) &&
		(interruption.MatchString(label) || reference.MatchString(label) && linkLength(n)*10 >= dom.Letters(label)*6)
}

func beginsPointer(word string) bool {
	return pointerWords()[word] || strings.HasPrefix(word, "advert")
}

// mayBePointer is a cheap check: could a block begin with the first word of a pointer? Hardly any can, and the others
// need not be read in full.
func mayBePointer(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type != html.TextNode {
			continue
		}
		if text := strings.TrimLeftFunc(d.Data, dom.NotWord); text != "" {
			end := strings.IndexFunc(text, dom.NotWord)
			return end < 0 || beginsPointer(strings.ToLower(text[:end])) // the next text may continue the word
		}
	}
	return false
}
