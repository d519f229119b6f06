package factcheck

import (
	"regexp"
	"strings"
)

// asking to check something, which is no part of what is to be checked.
var (
	checkLead = regexp.MustCompile(`(?i)^.*?(?:^|[^\pL])(?:(?:is|was) (?:it|that|this) (?:really |actually |even )?(?:true|real|correct|right|confirmed|a fact|a myth|false)(?: that| when)?|true or false|real or fake|fact[- ]?check|(?:can you |please )*(?:verify|confirm|check)(?: that| whether| if)?|is there (?:any )?evidence (?:that|for)|stimmt (?:es|das)(?:,? dass|:)|ist es wahr,? dass|est-ce (?:vrai )?qu[e’']|est-il vrai qu[e’']|c[’']est vrai qu[e’']|es (?:cierto|verdad) que|é verdade que|è vero che|is het waar dat|правда ли,? что|debunk)(?:$|[^\pL])[\s:,–-]*`)
	checkTail = regexp.MustCompile(`(?i)(?:[\s,–-]*\b(?:is (?:it|that|this) (?:really |actually )?(?:true|real|correct|right)|true or false|stimmt das|is that a fact)|[,–-]\s*(?:right|really|oder|no|n'est-ce pas|verdad|vero))?[\s?!.]*$`)
	helper    = regexp.MustCompile(`(?i)^(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|hat|ist|sind|war)\s+|\b(?:really|actually|wirklich|tatsächlich|vraiment|realmente|davvero)\s+`)
	hearsaid  = regexp.MustCompile(`(?i)^(?:so )?(?:i(?: have|'ve)? (?:heard|read|was told|think)|they say|people say|someone (?:said|told me))(?: somewhere)?(?: that)?\s+`)
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
