package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/dom"
)

// Lengths in characters that are no white space: a page with more is a page, whatever it says.
const (
	blankLength = 20
	shellLength = 50
	askLength   = 250
	frameLength = 150
	wallLength  = 1_200

	sentenceLength = 40
)

var (
	wallTitle = regexp.MustCompile(`(?i)^(?:just a moment|one moment,? please|attention required|access (?:to this page has been )?denied|are you (?:a )?(?:robot|human)|(?:security|robot|bot|human|browser) (?:check|verification|challenge)|verify(?:ing)? (?:that )?you are (?:a )?human|checking your browser|please wait|pardon our interruption|vercel security checkpoint|ddos-guard|before you continue|bevor sie (?:zu \S+ )?(?:weitergehen|fortfahren)|avant d(?:'|’)accéder à|antes de (?:continuar|ir a)|prima di continuare|robot or human|captcha|un moment|einen moment|un instant)\b`)
	wallWords = regexp.MustCompile(`(?i)verify(?:ing)? (?:that )?you are (?:a )?human|(?:prove|confirm) (?:that )?you(?:'|’)?(?: a)?re (?:a )?human|(?:are|am|you'?re) not a (?:ro)?bot|unusual traffic from your (?:computer )?network|complet(?:e|ing) (?:the|a) (?:security check|captcha)|checking (?:if the site connection is secure|your browser before)|enable javascript and cookies to continue|press (?:&|and) hold|performing security verification|needs to review the security of your connection|solve the captcha|enable js and disable any ad blocker|automated (?:access|requests) (?:has|have) been (?:detected|blocked)|before you continue to `)
	// consentAsk is what a notice asks for or promises, consentTerms what its sentences are about.
	consentAsk   = regexp.MustCompile(`(?i)we (?:value|care about|respect) your privacy|(?:accept|allow|reject|decline|agree to|manage) (?:all|our|the use of|these|non-essential)?\s*cookies|(?:we|site|website) (?:and our [\d., ]*(?:partners|vendors) )?(?:use|uses|store|process)[^.]{0,60}cookies|your (?:cookie|privacy|consent) (?:preferences|choices|settings)|wir (?:und unsere [\d. ]*partner )?(?:verwenden|nutzen|benötigen)[^.]{0,60}(?:cookies|zustimmung)|(?:nous|notre site)[^.]{0,60}cookies|(?:utilizamos|usamos|utilizziamo)[^.]{0,40}cookies?`)
	consentTerms = regexp.MustCompile(`(?i)cookie|consent|privacy|partners|vendors|personal data|advertis|preferences|your choices|legitimate interest|einwilligung|zustimm|datenschutz|vie privée|consentement|privacidad|privacidade|consentimiento`)
	askScript    = regexp.MustCompile(`(?i)(?:enable|activate|turn on|requires?|without|needs?|need to enable) (?:your browser'?s? )?java ?script|java ?script (?:is|must be|to be) (?:disabled|enabled|required|turned off|not enabled|needed)`)
	// checkMarks name what stands in a challenge's form, not where it is served from.
	checkMarks = regexp.MustCompile(`(?i)^(?:challenge-(?:form|running|stage|error-title)|cf-(?:challenge|please-wait|wrapper|error-details)|px-captcha|g-recaptcha|h-captcha|cf-turnstile|captcha-(?:container|box|form))$`)
)

// wall says why a page is none: the code of an Error, or "". seen is the number of visible characters.
func wall(doc *html.Node, title string, scripts, seen int) turn.Code {
	if seen >= wallLength {
		return ""
	}
	visible := strings.Join(strings.Fields(dom.Text(doc)), " ")
	switch {
	case seen == 0 && scripts == 0:
		return turn.CodeEmpty
	case wallTitle.MatchString(title), wallWords.MatchString(visible), consents(visible), seen < askLength && hasCheckMark(doc):
		return turn.CodeChallenge
	case seen < shellLength && scripts > 0:
		return turn.CodeJavaScriptRequired
	case seen < askLength && scripts > 0 && askScript.MatchString(visible):
		return turn.CodeJavaScriptRequired
	}
	return ""
}

// consents says that a text asks whether the reader may be followed, and of hardly anything else: a page with such a
// notice below its text says more.
func consents(visible string) bool {
	if !consentAsk.MatchString(visible) {
		return false
	}
	asked, all := 0, 0
	for sentence := range strings.FieldsFuncSeq(visible, func(c rune) bool { return strings.ContainsRune(".!?。", c) }) {
		size := dom.Letters(sentence)
		all += size
		if consentTerms.MatchString(sentence) {
			asked += size
		}
	}
	return asked*3 >= all*2
}

func hasCheckMark(doc *html.Node) bool {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom == atom.Html {
			continue
		}
		id, _ := dom.Attr(n, "id")
		class, _ := dom.Attr(n, "class")
		for name := range strings.FieldsSeq(id + " " + class) {
			if checkMarks.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// framed says that a page is only the frame that a script would have put its matter into: next to its menus and its
// footer there are a few labels, but no heading and no sentence, and nothing in them is prose.
func framed(doc *html.Node, seen int) bool {
	return seen >= 4*frameLength && outside(doc) < frameLength && proseOf(doc) < lowLength
}

// frameNames is that of what stands below the matter of every page of a site.
var frameNames = dom.WordSet("footer")

// outside counts the characters below n that are in no menu and no footer. It is frameLength as soon as there is a
// heading or a sentence.
func outside(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil && total < frameLength; c = c.NextSibling {
		role, _ := dom.Attr(c, "role")
		switch {
		case c.Type == html.TextNode:
			if own := dom.Letters(c.Data); own < sentenceLength {
				total += own
			} else {
				return frameLength
			}
		case c.DataAtom == atom.Head, c.DataAtom == atom.Nav, c.DataAtom == atom.Footer, role == "navigation", role == "contentinfo",
			c.DataAtom != atom.Body && dom.NameEndsIn(c, frameNames):
		case dom.HeadingLevel(c) > 0 && dom.Length(c) > 0:
			return frameLength
		default:
			total += outside(c)
		}
	}
	return total
}

// ownScript is how long a script has to be, in bytes, to be able to build a page.
const ownScript = 200

// countScripts counts the scripts of a page, and those among them that could build it.
func countScripts(doc *html.Node) (all, builders int) {
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Script {
			continue
		}
		if kind, _ := dom.Attr(n, "type"); strings.Contains(kind, "json") {
			continue
		}
		all++
		if _, elsewhere := dom.Attr(n, "src"); elsewhere || n.FirstChild != nil && len(n.FirstChild.Data) > ownScript {
			builders++
		}
	}
	return all, builders
}
