package factcheck

import (
	"familiar/internal/text/lang"
	"regexp"
	"strings"
)

// asking to check something, which is no part of what is to be checked.
var (
	checkLead = regexp.MustCompile(`(?i)^.*?(?:^|[^\pL])(?:` + lang.All().FactCheck.Lead.String() + `)(?:$|[^\pL])[\s:,–-]*`)
	checkTail = regexp.MustCompile(`(?i)(?:[\s,–-]*\b(?:` + lang.All().FactCheck.Tail.String() + `)|[,–-]\s*(?:` + lang.All().FactCheck.Tag.String() + `))?[\s?!.]*$`)
	helper    = regexp.MustCompile(`(?i)^(?:` + lang.All().FactCheck.Auxiliaries.String() + `)\s+|\b(?:` + lang.All().FactCheck.Adverbs.String() + `)\s+`)
	hearsaid  = regexp.MustCompile(`(?i)^(?:` + lang.All().FactCheck.Hearsay.String() + `)\s+`)
)

// Statement returns the statement that a question asks about: X of "is it true that X?". A question that is nothing but
// such a phrase comes back as it is.
func Statement(question string) string {
	s := checkTail.ReplaceAllString(question, "")
	if rest := checkLead.ReplaceAllString(s, ""); rest != "" {
		s = rest
	}
	s = helper.ReplaceAllString(hearsaid.ReplaceAllString(s, ""), "")
	if s = strings.TrimSpace(s); s == "" {
		return question
	}
	return s
}
