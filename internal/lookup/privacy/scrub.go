package privacy

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// private are the things that never leave in a query (P10), in the order in which they are looked for: what is
// part of something greater comes after it. Telephone numbers, of which nothing here is a part, come last (phone.go).
var private = []struct {
	kind    string
	mark    string // of which each has one, for a look before the pattern's
	pattern *regexp.Regexp
}{
	{"invite", "/", regexp.MustCompile(`(?i)(?:https?://)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com/invite|dsc\.gg|discord\.me|invite\.gg)/\S*`)},
	{"url", ":.", regexp.MustCompile(`(?i)\b(?:https?|ftp|file|steam|discord)://\S+|\bwww\.\S+`)},
	{"email", "@([", regexp.MustCompile(`(?i)[\pL\d._%+\-]+(?: ?[(\[]at[)\]] ?| ?@ ?)[\pL\d\-]+(?:\.[\pL\d\-]+)+`)},
	{"token", "", regexp.MustCompile(`[A-Za-z0-9_\-]{24,}(?:\.[A-Za-z0-9_\-]+)*`)},
	{"snowflake", "0123456789", regexp.MustCompile(`\d{17,20}`)},
}

// mention is one as the services write it, or as people type it. It goes after the names, of which it may be the
// beginning.
var mention = regexp.MustCompile(`<(?:@[!&]?|#|/[^:>]*:|a?:\w+:|t:|id:)[^>]*>|@[\pL\pN\pM_.\-]+|@`)

// Scrub takes out of s what may not leave the machine, and says which kinds of things that were. Compatibility
// forms are resolved and invisible characters dropped first, so that neither hides anything.
func Scrub(s string, k Names) (string, []string) {
	s = settled(s)
	var kinds []string
	for _, m := range k.mentions {
		if strings.Contains(s, m) {
			s, kinds = strings.ReplaceAll(s, m, " "), text.AddOnce(kinds, "mention")
		}
	}
	for _, p := range private {
		if p.mark != "" && !strings.ContainsAny(s, p.mark) || p.mark == "" && len(s) < 24 {
			continue
		}
		s = p.pattern.ReplaceAllStringFunc(s, func(string) string {
			kinds = text.AddOnce(kinds, p.kind)
			return " "
		})
	}
	if without := withoutPhones(s); without != s {
		s, kinds = without, text.AddOnce(kinds, "phone")
	}
	if without := k.Remove(s); without != s {
		s, kinds = without, text.AddOnce(kinds, "member")
	}
	if strings.ContainsAny(s, "@<") {
		if without := mention.ReplaceAllString(s, " "); without != s {
			s, kinds = without, text.AddOnce(kinds, "mention")
		}
	}
	return text.OneLine(s), kinds
}

func settled(s string) string {
	s, _ = clean.Text(norm.NFKC.String(s))
	if !text.ASCII(s) {
		s = strings.Map(text.ASCIIDigit, s) // a number is one in any digits
	}
	return s
}

// operators are what search services obey rather than look for: SearXNG's bangs, language prefixes and time
// limits.
var operators = regexp.MustCompile(`(?:^|\s)[!:?]+|<\d*>?|[<>]`)

// StripOperators takes the operators' signs and leaves the words.
func StripOperators(s string) string {
	for operators.MatchString(s) {
		s = operators.ReplaceAllString(s, " ")
		s = strings.Join(strings.Fields(s), " ")
	}
	return s
}
