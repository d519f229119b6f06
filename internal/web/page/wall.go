package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/visible/dom"
)

// Lengths in characters without white space. A page with more text is not a wall or a shell, whatever it says.
const (
	blankLength = 20
	shellLength = 50
	askLength   = 250
	frameLength = 150
	wallLength  = 1_200

	sentenceLength = 40
)

var (
	wallTitle = text.LazyRegexpOf(func() string { return `(?i)^(?:` + text.AllTables().Page.WallTitles.String() + `)\b` })
	wallWords = text.NewLazyRegexp(`(?i)verify(?:ing)? (?:that )?you are (?:a )?human|(?:prove|confirm) (?:that )?you(?:'|’)?(?: a)?re (?:a )?human|(?:are|am|you'?re) not a (?:ro)?bot|unusual traffic from your (?:computer )?network|complet(?:e|ing) (?:the|a) (?:security check|captcha)|checking (?:if the site connection is secure|your browser before)|enable javascript and cookies to continue|press (?:&|and) hold|performing security verification|needs to review the security of your connection|solve the captcha|enable js and disable any ad blocker|automated (?:access|requests) (?:has|have) been (?:detected|blocked)|before you continue to `)
	// consentAsk matches what a notice asks for or promises, consentTerms the subjects of its sentences.
	consentAsk   = text.LazyRegexpOf(func() string { return `(?i)` + text.AllTables().Page.ConsentAsks.String() })
	consentTerms = text.LazyRegexpOf(func() string { return `(?i)` + text.AllTables().Page.ConsentTerms.String() })
	askScript    = text.NewLazyRegexp(`(?i)(?:enable|activate|turn on|requires?|without|needs?|need to enable) (?:your browser'?s? )?java ?script|java ?script (?:is|must be|to be) (?:disabled|enabled|required|turned off|not enabled|needed)`)
	// checkMarks matches the ids and classes in the form of a challenge.
	checkMarks = text.NewLazyRegexp(`(?i)^(?:challenge-(?:form|running|stage|error-title)|cf-(?:challenge|please-wait|wrapper|error-details)|px-captcha|g-recaptcha|h-captcha|cf-turnstile|captcha-(?:container|box|form))$`)
)

// wall returns why doc is not a readable page, as the code of an Error, or "". scripts is the number of scripts that
// could build the page, seen the number of visible characters.
func wall(doc *html.Node, title string, scripts, seen int) turn.Code {
	text := ""
	if seen < wallLength {
		text = strings.Join(strings.Fields(dom.Text(doc)), " ")
	}
	switch {
	case seen == 0 && scripts == 0:
		return turn.CodeEmpty
	case seen < wallLength && (wallTitle.MatchString(title) || wallWords.MatchString(text) || asksConsent(text)), seen < askLength && hasCheckMark(doc):
		return turn.CodeChallenge
	case scripts > 0 && (seen < shellLength || seen < askLength && askScript.MatchString(text)):
		return turn.CodeJavaScriptRequired
	case !isFrame(doc, seen):
		return ""
	case scripts > 0:
		return turn.CodeJavaScriptRequired
	}
	return turn.CodeExtractionFailed
}

// asksConsent reports whether a text asks for consent to tracking and says hardly anything else. A page with such a
// notice below its text says more.
func asksConsent(text string) bool {
	if !consentAsk.MatchString(text) {
		return false
	}
	notice, all := 0, 0
	for sentence := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(".!?。", c) }) {
		size := dom.Letters(sentence)
		all += size
		if consentTerms.MatchString(sentence) {
			notice += size
		}
	}
	return notice*3 >= all*2
}

func hasCheckMark(doc *html.Node) bool {
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Html && dom.AnyName(n, checkMarks.MatchString) {
			return true
		}
	}
	return false
}

// isFrame reports whether a page is only a frame that a script would have filled. Besides its menus and its footer it
// has a few labels, but no heading, no sentence and no prose.
func isFrame(doc *html.Node, seen int) bool {
	return seen >= 4*frameLength && lengthBetween(doc) < frameLength && proseLength(doc) < lowLength
}

var footerNames = dom.WordSet("footer")

// lengthBetween counts the characters below n outside of menus and footers. It returns frameLength if it finds a heading
// or a sentence.
func lengthBetween(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil && total < frameLength; c = c.NextSibling {
		role, _ := dom.Attr(c, "role")
		switch {
		case c.Type == html.TextNode:
			size := dom.Letters(c.Data)
			if size >= sentenceLength {
				return frameLength
			}
			total += size
		case c.DataAtom == atom.Head, c.DataAtom == atom.Nav, c.DataAtom == atom.Footer, role == "navigation", role == "contentinfo",
			c.DataAtom != atom.Body && dom.NameEndsIn(c, footerNames):
		case dom.HeadingLevel(c) > 0 && dom.Length(c) > 0:
			return frameLength
		default:
			total += lengthBetween(c)
		}
	}
	return total
}

// minBuilder is the least length of a script that could build a page, in bytes.
const minBuilder = 200

var pageScripts = dom.NewSelector("script:not([type*=json])")

// countScripts counts the scripts of a page, and those that could build it.
func countScripts(doc *html.Node) (all, builders int) {
	scripts := pageScripts.MatchAll(doc)
	for _, n := range scripts {
		if _, external := dom.Attr(n, "src"); external || n.FirstChild != nil && len(n.FirstChild.Data) > minBuilder {
			builders++
		}
	}
	return len(scripts), builders
}
