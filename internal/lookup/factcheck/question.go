package factcheck

import (
	"strings"

	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
)

// What asks for a check and is no part of what is to be checked: before and behind the statement, in doubt of it, and
// where it was heard.
var (
	leadPattern    = lazyregexp.New(`(?i)^.*?(?:^|[^\pL])(?:` + lang.All().FactCheck.Lead.String() + `)(?:$|[^\pL])[\s:,–-]*`)
	tailPattern    = lazyregexp.New(`(?i)(?:[\s,–-]*\b(?:` + lang.All().FactCheck.Tail.String() + `)|[,–-]\s*(?:` + lang.All().FactCheck.Tag.String() + `))?[\s?!.]*$`)
	doubtPattern   = lazyregexp.New(`(?i)^(?:` + lang.All().FactCheck.Auxiliaries.String() + `)\s+|\b(?:` + lang.All().FactCheck.Adverbs.String() + `)\s+`)
	hearsayPattern = lazyregexp.New(`(?i)^(?:` + lang.All().FactCheck.Hearsay.String() + `)\s+`)
)

// Statement returns the statement that a question asks about: X of "is it true that X?". A question that is nothing but
// such a phrase comes back as it is.
func Statement(question string) string {
	s := tailPattern.ReplaceAllString(question, "")
	if rest := leadPattern.ReplaceAllString(s, ""); rest != "" {
		s = rest
	}
	s = doubtPattern.ReplaceAllString(hearsayPattern.ReplaceAllString(s, ""), "")
	if s = strings.TrimSpace(s); s == "" {
		return question
	}
	return s
}
