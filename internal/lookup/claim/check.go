package claim

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// The checks of rule P4 and three more, which refuse an invented text above a true quote. A claim's Refused is one of
// these names.
const (
	checkQuote    = "quote"    // the quote stands on the page, white space aside
	checkLength   = "length"   // neither is empty or too long
	checkAddress  = "address"  // no URL, mention or mark-up is in the text
	checkDate     = "date"     // every date of the text is on the page
	checkNumber   = "number"   // every number is
	checkName     = "name"     // every capitalised name is
	checkWords    = "words"    // most of its words are on the page, and many in the quote
	checkNegation = "negation" // it denies what the quote denies, and nothing else
)

const (
	// MaxLength is how long a fact may be, in characters (rule P3).
	MaxLength = 300

	minQuote = 12  // characters; less would stand on any page
	maxQuote = 600 // characters
)

// Check checks a fact and its quote against the page, and trusts neither. It returns the names of the checks that they
// pass, and of the first that they fail, or "".
func (p *Page) Check(s, quote string) (passed []string, failed string) {
	quote = text.OneLine(quote)
	dates, rest := text.Dates(s)
	asQuoted := sync.OnceValue(func() bool { return p.verbatim(s, quote) })
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{checkLength, func() bool { return lengthFits(s, quote) }},
		{checkAddress, func() bool { return !p.hasAddress(s) }},
		{checkQuote, func() bool { return strings.Contains(p.text, quote) }},
		{checkDate, func() bool { return asQuoted() || p.hasDates(dates) }},
		{checkNumber, func() bool { return asQuoted() || p.hasNumbers(rest) }},
		{checkName, func() bool { return asQuoted() || p.hasNames(rest) }},
		{checkWords, func() bool { return asQuoted() || p.hasWords(rest, quote) }},
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

func (p *Page) hasAddress(s string) bool {
	for _, m := range bareDomain.FindAllString(s, -1) {
		if strings.Contains(m, "/") || !strings.Contains(p.text, m) {
			return true
		}
	}
	return addressPattern.MatchString(s)
}

// hasDates reports whether the page has all these dates, or more exact ones.
func (p *Page) hasDates(dates []text.DateSpan) bool {
	return !slices.ContainsFunc(dates, func(d text.DateSpan) bool { return !p.index().dates[d.Date] })
}

// hasNumbers reports whether the page has every number of a text, in digits or words as it is there.
func (p *Page) hasNumbers(s string) bool {
	return !slices.ContainsFunc(text.Numbers(s), func(n string) bool { return !p.index().numbers[n] }) &&
		!slices.ContainsFunc(text.Words(s), func(w text.Word) bool { return text.SpelledNumbers[w.Key] && !p.index().words[w.Key] })
}

// hasNames reports whether the page has every capitalised word of a text but those that any sentence may begin with.
func (p *Page) hasNames(s string) bool {
	return !slices.ContainsFunc(text.Words(s), func(w text.Word) bool { return w.Upper && !p.index().words[w.Key] && !text.StopWords[w.Key] })
}

// hasWords reports whether a text says what the page says: of its words of content, 7 in 10 must be on the page and 4
// in 10 in the quote or right beside it.
func (p *Page) hasWords(s, quote string) bool {
	if text.Unspaced(s) {
		return sharesPairs(s, quote)
	}
	near := text.Words(p.around(quote))
	keys := text.Keys(near)
	stems := sync.OnceValue(func() map[string]bool { // stemming is slow, and most facts have the page's own words
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
		if keys[w.Key] || stems()[text.Stem(w.Key, "")] {
			inQuote++
			onPage++
		} else if p.index().words[w.Key] {
			onPage++
		}
	}
	return onPage*10 >= all*7 && inQuote*10 >= all*4 // also if there are only dates and numbers, which were checked
}

// sharesPairs reports whether at least 4 in 10 of the pairs of characters of s stand in another text: where a script has
// no spaces there are no words to compare.
func sharesPairs(s, other string) bool {
	pairs := text.Pairs(s)
	shared := 0
	for _, pair := range pairs {
		if strings.Contains(other, pair) {
			shared++
		}
	}
	return shared*10 >= len(pairs)*4
}

// around returns the quote with a little of the page on both sides, where the name behind a pronoun is as a rule.
func (p *Page) around(quote string) string {
	const beside = 120 // bytes
	i := strings.Index(p.text, quote)
	if i < 0 {
		return ""
	}
	return strings.ToValidUTF8(p.text[max(0, i-beside):min(len(p.text), i+len(quote)+beside)], "")
}
