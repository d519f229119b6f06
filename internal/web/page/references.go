package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

var (
	citation   = regexp.MustCompile(`^\s*[\[(（]\s*(?:\d{1,4}|[a-z]{1,2}|[ivx]{1,5}|(?:note|nb|n|web|r|anm\.?|lower-alpha)\s*\d{1,3})\s*[\])）]\s*$|^\s*\d{1,3}\s*$`)
	anchorMark = regexp.MustCompile(`^\s*(?:[¶#§🔗\x{F0C1}]|\[?\s*edit(?:\s*source)?\s*\]?|permalink|link to this (?:heading|section))\s*$`)
	// editMark is what wikis print beside headings, doubtMark what they print behind sentences.
	editMark  = regexp.MustCompile(`(?i)^\[\s*(?:edit|bearbeiten|modifier|editar|modifica|bewerken|redigera|edytuj|править|编辑|編輯|編集|편집)[^\]]{0,40}\]$`)
	doubtMark = regexp.MustCompile(`(?i)^\[\s*(?:(?:citation|clarification|verification|page|year|date|better source|non-primary source)(?: is)? needed|when|who|which|by whom|according to whom|dubious[^\]]{0,20}|original research|failed verification)\??\s*\]$`)
	// apparatus are the headings of sections that list sources and other pages.
	apparatus = regexp.MustCompile(`(?i)^\W*(?:references?(?: and notes)?|notes?(?: and references| and citations)?|footnotes?|citations?|bibliography|works cited|sources?|external links?|further reading|see also|related (?:articles?|posts?|stories|content|links)|einzelnachweise|weblinks|literatur|siehe auch|références|notes et références|liens externes|voir aussi|bibliographie|referencias|notas|enlaces externos|véase también|bibliografía|note|voci correlate|collegamenti esterni|referências|ligações externas|ver também|примечания|литература|ссылки|см\. также|脚注|出典|参考文献|関連項目|外部リンク|参考资料|参见|外部链接)\W*$`)
)

// quiet removes the lists of sources and of other pages that stand at the end of a text.
func quiet(root *html.Node) {
	total, before, tried := dom.Length(root), 0, 0
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			before += dom.Letters(n.Data)
			continue
		}
		level := dom.HeadingLevel(n)
		if level == 0 || before*5 < total*2 || !apparatus.MatchString(dom.Label(n)) {
			continue
		}
		if tried++; tried > maxSections {
			return
		}
		if nodes := section(n, level, root); listed(nodes) {
			for _, one := range nodes {
				one.Parent.RemoveChild(one)
			}
			return
		}
	}
}

// longHeading is how much text, in characters, a heading may have.
const longHeading = 300

// dropMarks removes what is printed between the words for other uses than reading: marks of citations, anchors of
// headings, labels of advertisements. A heading or a quotation that is then alone in its wrapper takes the
// wrapper's place, where the extraction will see what it belongs to.
func dropMarks(n *html.Node, heading bool) {
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		if c.Type != html.ElementNode {
			continue
		}
		switch {
		case c.DataAtom == atom.Figcaption, // of a picture that is not there
			block(c) && pointsAway(c),
			c.DataAtom == atom.Sup && (citation.MatchString(dom.Label(c)) && linksInside(c) || doubtMark.MatchString(dom.Label(c))),
			c.DataAtom == atom.Span && editMark.MatchString(dom.Label(c)),
			(c.DataAtom == atom.A || c.DataAtom == atom.Span) && heading && anchorMark.MatchString(dom.Label(c)):
			n.RemoveChild(c)
		default:
			if dom.HeadingLevel(c) > 0 && dom.Length(c) > longHeading {
				dom.Rename(c, atom.P)
			}
			dropMarks(c, heading || dom.HeadingLevel(c) > 0)
			if h := only(c); h != nil {
				c.RemoveChild(h)
				n.InsertBefore(h, c)
				n.RemoveChild(c)
			}
		}
	}
}

// only is the heading or the quotation that is all a block has in it, nil if there is more or none.
func only(n *html.Node) (h *html.Node) {
	if n.DataAtom != atom.Div {
		return nil
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && dom.Letters(c.Data) == 0:
		case h == nil && (dom.HeadingLevel(c) > 0 || c.DataAtom == atom.Blockquote):
			h = c
		default:
			return nil
		}
	}
	return h
}

var (
	interruption = regexp.MustCompile(`(?i)^\W*(?:adverti[sz]e?ments?|advert|sponsored(?: content)?|promoted|continue reading(?: below)?|(?:story|article) continues below(?: advertisement)?|(?:scroll|read) (?:down )?(?:to|for) (?:continue|more)|sign up|subscribe(?: now)?|log in|share(?: this)?(?: (?:article|story|page|post))?|comments?|publicidade|publicidad|anzeige|werbung|publicité|pubblicità|реклама|広告)\W*$`)
	reference    = regexp.MustCompile(`(?i)^\W*(?:related|read (?:more|also|next)|also read|see also|more|watch|recommended|don(?:'|’)t miss|must read|lesen sie auch|mehr zum thema|lire aussi|à lire aussi|lea también|leia (?:também|mais)|leggi anche|lees ook|читайте также)\b[^:：]{0,24}[:：]`)
)

// pointerWords are what interruption, adverts apart, and reference begin with.
var pointerWords = dom.WordSet(`sponsored promoted continue continued story article scroll read sign subscribe log share comment comments publicidade publicidad anzeige werbung
	publicité pubblicità реклама 広告 related also see more watch recommended don must lesen mehr lire à lea leia leggi lees читайте`)

// block says that c is a paragraph, a heading or an item.
func block(c *html.Node) bool {
	switch c.DataAtom {
	case atom.P, atom.Li, atom.Div, atom.Section:
		return true
	}
	return dom.HeadingLevel(c) > 0
}

// pointsAway says that a block is no part of the text that it interrupts: a label of an advertisement, or "Read
// more:" and a link.
func pointsAway(c *html.Node) bool {
	if !mayPoint(c) {
		return false
	}
	own := dom.Label(c)
	word := firstWord(own)
	switch {
	case !pointerWords[word] && !strings.HasPrefix(word, "advert"):
		return false
	case interruption.MatchString(own):
		return true
	}
	return reference.MatchString(own) && linkLength(c)*10 >= dom.Letters(own)*6
}

// mayPoint says whether the first word of a block can be one that pointers and labels begin with. Nearly none can, and
// then the block is not read on.
func mayPoint(c *html.Node) bool {
	for n := range c.Descendants() {
		if n.Type != html.TextNode {
			continue
		}
		if text := strings.TrimLeftFunc(n.Data, dom.NotWord); text != "" {
			end := strings.IndexFunc(text, dom.NotWord)
			if end < 0 {
				return true // the word may go on in the next text
			}
			word := strings.ToLower(text[:end])
			return pointerWords[word] || strings.HasPrefix(word, "advert")
		}
	}
	return false
}

// linkLength counts the characters of n that belong to links.
func linkLength(n *html.Node) (total int) {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			total += dom.Length(d)
		}
	}
	return total
}

// linksInside says that n holds a link to a place in the same page.
func linksInside(n *html.Node) bool {
	for d := range n.Descendants() {
		if href, ok := dom.Attr(d, "href"); ok && d.DataAtom == atom.A && strings.Contains(href, "#") {
			return true
		}
	}
	return false
}

// How many headings are tried as the beginning of an apparatus, and how many blocks it may have.
const (
	maxSections = 8
	maxBlocks   = 500
)

// section is a heading and all that follows it, up to a heading of its rank that begins another matter.
func section(heading *html.Node, level int, root *html.Node) (nodes []*html.Node) {
	// The heading may have a wrapper of its own, with the section as the wrapper's sibling.
	for range 4 {
		if heading.Parent == root || heading.Parent == nil || dom.Length(heading.Parent) != dom.Length(heading) {
			break
		}
		heading = heading.Parent
	}
	for n := heading; n != nil && len(nodes) < maxBlocks && (n == heading || !beginsOther(n, level)); n = n.NextSibling {
		nodes = append(nodes, n)
	}
	return nodes
}

// listed says that a section is a list, not prose under a heading that could be of either.
func listed(nodes []*html.Node) bool {
	items, all := 0, 0
	for _, n := range nodes[1:] {
		all += dom.Length(n)
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			items += dom.Length(n)
			continue
		}
		for d := range n.Descendants() {
			if d.DataAtom == atom.Li && d.Parent.Parent.DataAtom != atom.Li {
				items += dom.Length(d)
			}
		}
	}
	return items*10 >= all*6
}

func beginsOther(n *html.Node, level int) bool {
	if own := dom.HeadingLevel(n); own > 0 {
		return own <= level && !apparatus.MatchString(dom.Label(n))
	}
	for d := range n.Descendants() {
		if own := dom.HeadingLevel(d); own > 0 {
			return own <= level && !apparatus.MatchString(dom.Label(d))
		}
	}
	return false
}
