// Package privacy takes out of a query what may not leave the machine.
//
// [Scrub] removes invites, addresses, tokens and ids (scrub.go), telephone numbers (phone.go), and the names of people
// and channels (names.go). [NamesIn] gathers those of a turn (gather.go), and [Earlier] the messages that a query may be
// made of.
package privacy

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/clean"
)

// private are the things that never leave in a query, in the order in which they are looked for: what may be a part of
// something else comes after it. Telephone numbers come last (phone.go).
var private = []struct {
	kind    string
	mark    string // characters of which each has one: looking for them is quicker than the pattern
	pattern *lazyregexp.Regexp
}{
	{"invite", "/", lazyregexp.New(`(?i)(?:https?://)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com/invite|dsc\.gg|discord\.me|invite\.gg)/\S*`)},
	{"url", ":.", lazyregexp.New(`(?i)[a-z][a-z0-9+.\-]*://\S+|https?:[/\\]\S*|www\.\S+`)}, // whatever stands before: readers look for the address
	{"email", "@([{", lazyregexp.New(`(?i)[\pL\pN\pM._%+\-"']+ ?(?:[(\[{] ?(?:at|@) ?[)\]}]|@) ?[\pL\pN\pM\-]+(?: ?(?:\.|[(\[{] ?(?:dot|\.) ?[)\]}]) ?[\pL\pN\pM\-]+)+`)},
	{"email", "dD", lazyregexp.New(`(?i)\b[\pL\pN_\-]+(?: dot [\pL\pN_\-]+)+ at [\pL\pN\-]+(?: dot [\pL\pN\-]+)+|\b[\pL\pN._\-]+ at [\pL\pN\-]+ dot (?:com|net|org|info|io|de|uk|eu)\b`)},
	{"token", "", lazyregexp.New(`[A-Za-z0-9_\-]{24,}(?:\.[A-Za-z0-9_\-]+)*`)},
	{"snowflake", "0123456789", lazyregexp.New(`\d{17,20}`)},
}

// mention is one as Discord writes it, or as people type it. It is removed after the names, since it may be the beginning
// of one.
var mention = lazyregexp.New(`<(?:@[!&]?|#|/[^:>]*:|a?:\w+:|t:|id:)[^>]*>|@[\pL\pN\pM_.\-]+|@`)

// Scrub takes out of s what may not leave the machine, and returns which kinds of things that were. Compatibility
// forms are resolved and invisible characters dropped first, so that neither hides anything.
//
// It is idempotent: what is taken out may put something else together, so it is looked through until nothing changes.
func Scrub(s string, names Names) (scrubbed string, kinds []string) {
	for range scrubRounds {
		before := s
		if s = scrub(s, names, &kinds); s == before {
			return s, kinds
		}
	}
	return "", kinds
}

// scrubRounds limits how often a text may still change before it is taken for hostile. Honest text needs two.
const scrubRounds = 16

// scrub goes over s once.
func scrub(s string, names Names, kinds *[]string) string {
	s = normalize(s)
	replace := func(kind, with string) {
		if with != s {
			s, *kinds = with, text.AddOnce(*kinds, kind)
		}
	}
	for _, m := range names.mentions {
		replace("mention", strings.ReplaceAll(s, m, " "))
	}
	for _, p := range private {
		if p.mark == "" && len(s) >= 24 || strings.ContainsAny(s, p.mark) {
			replace(p.kind, p.pattern.ReplaceAllStringFunc(s, func(found string) string {
				if p.kind == "token" && isLongWord(found) {
					return found
				}
				return " "
			}))
		}
	}
	replace("phone", removePhones(s))
	replace("member", names.remove(s))
	if strings.ContainsAny(s, "@<") {
		replace("mention", mention.ReplaceAllString(s, " "))
	}
	return text.OneLine(s)
}

// normalize resolves compatibility forms (NFKC), drops invisible characters, and writes digits of any script in ASCII.
func normalize(s string) string {
	s, _ = clean.Text(norm.NFKC.String(s))
	if !text.ASCII(s) {
		s = strings.Map(text.ASCIIDigit, s)
	}
	return s
}

// operators are what search services obey rather than look for: SearXNG's bangs, language prefixes and time limits.
var operators = lazyregexp.New(`(?:^|\s)[!:?]+|<\d*>?|[<>]`)

// StripOperators removes the signs of operators and leaves their words.
func StripOperators(s string) string {
	for operators.MatchString(s) {
		s = text.OneLine(operators.ReplaceAllString(s, " "))
	}
	return s
}
