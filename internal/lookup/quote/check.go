package quote

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// The checks of a quote. A claim's Refused is one of these names.
const (
	checkPage    = "quote"   // it stands on the page, white space aside
	checkLength  = "length"  // it is neither too short nor too long
	checkAddress = "address" // it has no URL, mention or mark-up
	checkOrder   = "order"   // it does not speak to a machine
)

const (
	minLength         = 12 // characters; less says nothing
	minUnspacedLength = 4
)

// Check checks a quote, on one line, against its page, whose white space is folded. It returns the names of the checks that it
// passes, and of the first that it fails, or "".
func Check(page, quote string) (passed []string, failed string) {
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{checkLength, func() bool { return lengthFits(quote) }},
		{checkAddress, func() bool { return !addressPattern.MatchString(quote) }},
		{checkOrder, func() bool { return !clean.Orders(quote) }},
		{checkPage, func() bool { return strings.Contains(page, quote) }},
	} {
		if !c.ok() {
			return passed, c.name
		}
		passed = append(passed, c.name)
	}
	return passed, ""
}

func lengthFits(s string) bool {
	n := utf8.RuneCountInString(s)
	return n <= MaxLength && (n >= minLength || n >= minUnspacedLength && text.Unspaced(s))
}

// addressPattern finds addresses, mentions and mark-up. A host name by itself may be a name: "Amazon.com".
var addressPattern = regexp.MustCompile(`(?i)://|\bwww\.|<[@#a-z/!]|\]\(|@everyone|@here|\b(?:javascript|data|mailto|file):|\bdiscord\.gg\b|` +
	`\b[\w-]+\.(?:com|net|org|io|gg|ru|xyz|top|app|dev|me|info)/`)
