package claim

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// The checks of P4 and three more, which close what P4 leaves open: a true quote under an invented text. A
// claim's Refused is one of these names.
const (
	checkQuote    = "quote"    // the quote stands on the page, white space aside
	checkLength   = "length"   // neither empty nor past the caps
	checkAddress  = "address"  // no URL, mention or mark-up in the text
	checkDate     = "date"     // every date of the text is on the page
	checkNumber   = "number"   // every number is
	checkName     = "name"     // every capitalised name is
	checkWords    = "words"    // most of its words are those of the page, and many those of the quote
	checkNegation = "negation" // it denies what the quote denies, and nothing else
)

const (
	minQuote = 12  // characters; less would stand on any page
	maxQuote = 600 // characters
)

// Check returns the checks that the claim passed, and the first one that it failed, or "". It trusts
// neither text nor quote.
func (x *Page) Check(s, quote string) (passed []string, failed string) {
	quote = text.OneLine(quote)
	found, rest := text.Dates(s)
	asQuoted := sync.OnceValue(func() bool {
		if x.verbatim(s, quote) {
			return true
		}
		x.ready()
		return false
	})
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{checkLength, func() bool { return lengthFits(s, quote) }},
		{checkAddress, func() bool { return !x.hasAddress(s) }},
		{checkQuote, func() bool { return strings.Contains(x.text, quote) }},
		{checkDate, func() bool { return asQuoted() || x.hasDates(found) }},
		{checkNumber, func() bool { return asQuoted() || x.hasNumbers(rest) }},
		{checkName, func() bool { return asQuoted() || x.hasNames(rest) }},
		{checkWords, func() bool { return asQuoted() || x.carries(rest, quote) }},
		{checkNegation, func() bool { return text.Denies(s) == text.Denies(quote) }},
	} {
		if !c.ok() {
			return passed, c.name
		}
		passed = append(passed, c.name)
	}
	return passed, ""
}

func lengthFits(s, quote string) bool {
	n, q := utf8.RuneCountInString(s), utf8.RuneCountInString(quote)
	return n > 0 && n <= MaxLength && (q >= minQuote || q >= 4 && text.Unspaced(quote)) && q <= maxQuote
}

var addressPattern = regexp.MustCompile(`(?i)://|\bwww\.|<[@#a-z/!]|\]\(|@everyone|@here|\b(?:javascript|data|mailto|file):|\bdiscord\.gg\b`)

// bareDomain is a host name without a scheme. "Amazon.com" is a name, if the page has it.
var bareDomain = regexp.MustCompile(`(?i)\b[\w-]+\.(?:com|net|org|io|gg|ru|xyz|top|app|dev|me|info)\b(/\S*)?`)

func (x *Page) hasAddress(text string) bool {
	for _, m := range bareDomain.FindAllString(text, -1) {
		if strings.Contains(m, "/") || !strings.Contains(x.text, m) {
			return true
		}
	}
	return addressPattern.MatchString(text)
}

// hasDates reports whether the page has all these dates. A date of which the claim tells less than the page is found too.
func (x *Page) hasDates(found []text.Date) bool {
	return !slices.ContainsFunc(found, func(d text.Date) bool { return !x.dates[d] })
}

func (x *Page) hasNumbers(s string) bool {
	for _, n := range text.Numbers(s) {
		if !x.numbers[n] {
			return false
		}
	}
	for _, w := range text.Words(s) {
		if text.SpelledNumbers[w.Key] && !x.words[w.Key] {
			return false
		}
	}
	return true
}

// hasNames reports whether every capitalised word of the text stands on the page. The first word of a sentence
// counts too, unless it is one that any sentence may begin with.
func (x *Page) hasNames(s string) bool {
	for _, w := range text.Words(s) {
		if w.Upper && !x.words[w.Key] && !text.StopWords[w.Key] {
			return false
		}
	}
	return true
}

// carries reports whether the text says what the page says: of its words of content, 7 in 10 must be on the page
// and 4 in 10 in the quote or right beside it.
func (x *Page) carries(s, quote string) bool {
	if text.Unspaced(s) {
		return text.Overlap(text.Pairs(s), text.Pairs(quote)) >= 0.4
	}
	near := text.Words(x.around(quote))
	written := text.Keys(near)
	stems := sync.OnceValue(func() map[string]bool { // stemming is slow, and most claims have the page's own words
		stems := make(map[string]bool, len(near))
		for _, w := range near {
			if text.Meaningful(w.Key) {
				stems[text.Stem(w.Key, "")] = true
			}
		}
		return stems
	})
	all, onPage, inQuote := 0, 0, 0
	for _, w := range text.Words(s) {
		if text.StopWords[w.Key] || text.Numeric(w.Key) {
			continue
		}
		all++
		if written[w.Key] || stems()[text.Stem(w.Key, "")] {
			inQuote++
			onPage++
		} else if x.words[w.Key] {
			onPage++
		}
	}
	// A claim of nothing but dates and numbers has been checked.
	return all == 0 || onPage*10 >= all*7 && inQuote*10 >= all*4
}

// around is the quote with a little of the page on both sides: where a pronoun's name is, as a rule.
func (x *Page) around(quote string) string {
	const beside = 120 // bytes
	i := strings.Index(x.text, quote)
	if i < 0 {
		return ""
	}
	return strings.ToValidUTF8(x.text[max(0, i-beside):min(len(x.text), i+len(quote)+beside)], "")
}

// MaxLength is how long a fact may be, in characters (P3).
const MaxLength = 300
