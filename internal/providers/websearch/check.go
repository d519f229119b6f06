package websearch

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
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

// checkClaim returns the checks that the claim passed, and the first one that it failed, or "". It trusts
// neither text nor quote.
func (x *index) checkClaim(text, quote string) (passed []string, failed string) {
	quote = oneLine(quote)
	found, rest := datesIn(text)
	asQuoted := sync.OnceValue(func() bool {
		if x.verbatim(text, quote) {
			return true
		}
		x.ready()
		return false
	})
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{checkLength, func() bool { return lengthFits(text, quote) }},
		{checkAddress, func() bool { return !x.hasAddress(text) }},
		{checkQuote, func() bool { return strings.Contains(x.text, quote) }},
		{checkDate, func() bool { return asQuoted() || x.hasDates(found) }},
		{checkNumber, func() bool { return asQuoted() || x.hasNumbers(rest) }},
		{checkName, func() bool { return asQuoted() || x.hasNames(rest) }},
		{checkWords, func() bool { return asQuoted() || x.carries(rest, quote) }},
		{checkNegation, func() bool { return denies(text) == denies(quote) }},
	} {
		if !c.ok() {
			return passed, c.name
		}
		passed = append(passed, c.name)
	}
	return passed, ""
}

func lengthFits(text, quote string) bool {
	n, q := utf8.RuneCountInString(text), utf8.RuneCountInString(quote)
	return n > 0 && n <= maxFact && (q >= minQuote || q >= 4 && unspaced(quote)) && q <= maxQuote
}

var addressPattern = regexp.MustCompile(`(?i)://|\bwww\.|<[@#a-z/!]|\]\(|@everyone|@here|\b(?:javascript|data|mailto|file):|\bdiscord\.gg\b`)

// bareDomain is a host name without a scheme. "Amazon.com" is a name, if the page has it.
var bareDomain = regexp.MustCompile(`(?i)\b[\w-]+\.(?:com|net|org|io|gg|ru|xyz|top|app|dev|me|info)\b(/\S*)?`)

func (x *index) hasAddress(text string) bool {
	for _, m := range bareDomain.FindAllString(text, -1) {
		if strings.Contains(m, "/") || !strings.Contains(x.text, m) {
			return true
		}
	}
	return addressPattern.MatchString(text)
}

// hasDates reports whether the page has all these dates. A date of which the claim tells less than the page is found too.
func (x *index) hasDates(found []date) bool {
	return !slices.ContainsFunc(found, func(d date) bool { return !x.dates[d] })
}

func (x *index) hasNumbers(text string) bool {
	for _, n := range numbersIn(text) {
		if !x.numbers[n] {
			return false
		}
	}
	for _, w := range split(text) {
		if spelledNumbers[w.key] && !x.words[w.key] {
			return false
		}
	}
	return true
}

var spelledNumbers = set("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half quarter double triple")

// hasNames reports whether every capitalised word of the text stands on the page. The first word of a sentence
// counts too, unless it is one that any sentence may begin with.
func (x *index) hasNames(text string) bool {
	for _, w := range split(text) {
		if w.upper && !x.words[w.key] && !stopWords[w.key] {
			return false
		}
	}
	return true
}

// carries reports whether the text says what the page says: of its words of content, 7 in 10 must be on the page
// and 4 in 10 in the quote or right beside it.
func (x *index) carries(text, quote string) bool {
	if unspaced(text) {
		return overlap(pairs(text), pairs(quote)) >= 0.4
	}
	near := split(x.around(quote))
	written := keySet(near)
	stems := sync.OnceValue(func() map[string]bool { // stemming is slow, and most claims have the page's own words
		stems := make(map[string]bool, len(near))
		for _, w := range near {
			if meaningful(w.key) {
				stems[stem(w.key, "")] = true
			}
		}
		return stems
	})
	all, onPage, inQuote := 0, 0, 0
	for _, w := range split(text) {
		if stopWords[w.key] || numeric(w.key) {
			continue
		}
		all++
		if written[w.key] || stems()[stem(w.key, "")] {
			inQuote++
			onPage++
		} else if x.words[w.key] {
			onPage++
		}
	}
	// A claim of nothing but dates and numbers has been checked.
	return all == 0 || onPage*10 >= all*7 && inQuote*10 >= all*4
}

// around is the quote with a little of the page on both sides: where a pronoun's name is, as a rule.
func (x *index) around(quote string) string {
	const beside = 120 // bytes
	i := strings.Index(x.text, quote)
	if i < 0 {
		return ""
	}
	return strings.ToValidUTF8(x.text[max(0, i-beside):min(len(x.text), i+len(quote)+beside)], "")
}

func overlap(of, with []string) float64 {
	have := map[string]bool{}
	for _, s := range with {
		have[s] = true
	}
	n := 0
	for _, s := range of {
		if have[s] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(of)))
}

var negations = set("not never no none nobody nothing neither nor without cannot nicht kein keine keinen nie niemals ne pas jamais aucun ningun ninguna nunca jamas nao nenhum non mai nessun niet geen не нет никогда")

func denies(s string) bool {
	for _, w := range split(s) {
		if negations[w.key] {
			return true
		}
	}
	return false
}
