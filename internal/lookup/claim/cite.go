package claim

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Checkable reports whether the last sentence of a text says anything that a page can bear out: "according to" does not.
func Checkable(s string) bool { return checkable(lastSentence(s)) }

func checkable(sentence string) bool {
	sentence = bracketed.ReplaceAllString(sentence, "")
	content := func(w text.Word) bool { return !citationWords[w.Key] }
	return slices.ContainsFunc(text.ContentWords(sentence), content) || len(text.NumberSpans(sentence)) > 0
}

// citationWords stand beside a citation and claim nothing.
var citationWords = text.Set(lang.All().Claim.CitationWords)

// The checks of a citation.
const (
	checkQuote    = "quote"         // every quotation is on a page that is cited
	checkDate     = "date"          // every date is
	checkNumber   = "number"        // every number is
	checkNegation = "negation"      // no page says the opposite
	checkCited    = "nothing of it" // something that the sentence says is on the page
)

var (
	quotedWords = regexp.MustCompile(`"([^"\n]{8,300})"|“([^”\n]{8,300})”|«([^»\n]{8,300})»`)
	bracketed   = regexp.MustCompile(`\[[\d\s,;?–-]*\]`) // other citations, or intervals
	ordinal     = regexp.MustCompile(`^[\s>*-]*\d{1,2}[.)]\s+`)
)

// CheckCitation returns, for each page that the end of a text cites, the check by which it does not bear out the last
// sentence, or "". A quotation, a date or a number must stand on one of the pages that are cited together. Beyond that,
// each page must have one of these, a name, or half of the sentence's words, and must not say the opposite. Of a page in
// another language, words are not asked for.
//
// What passes all that is left to a model, which asks whether the pages have enough of the sentence together.
func CheckCitation(s string, cited []*Page) []string { return CheckCitationBy(CiteModel(), s, cited) }

// CheckCitationBy is [CheckCitation] by another model.
func CheckCitationBy(m *linear.Model, s string, cited []*Page) []string {
	sentence := Cited(s)
	refused := make([]string, len(cited))
	if !checkable(sentence) {
		return refused
	}
	missing, exact := missingThings(sentence, cited)
	statements := sync.OnceValue(func() []clause { return statementsOf(sentence) })
	little := sync.OnceValue(func() bool {
		features := supportFeatures(sentence, cited, missing)
		return len(features) > 0 && m.Classify(features)[1] < 0.5
	})
	for i, p := range cited {
		switch {
		case len(missing) > 0:
			refused[i] = missing[0]
		case !exact[i] && !p.shares(sentence):
			refused[i] = checkCited
		case slices.ContainsFunc(statements(), p.opposes):
			refused[i] = checkNegation
		case little():
			refused[i] = checkLittle
		}
	}
	return refused
}

// Cited returns the sentence that a citation at the end of a text stands for: the last one, without its number in a list and other citations.
func Cited(s string) string {
	return bracketed.ReplaceAllString(ordinal.ReplaceAllString(lastSentence(s), ""), "")
}

// missingThings returns the checks of the exact things of a sentence that no page has, and which pages have one.
func missingThings(sentence string, cited []*Page) (missing []string, exact []bool) {
	exact = make([]bool, len(cited))
	for _, thing := range exactThings(sentence) {
		found := false
		for i, p := range cited {
			if thing.on(p) {
				exact[i], found = true, true
			}
		}
		if !found {
			missing = append(missing, thing.check)
		}
	}
	return missing, exact
}

// Exact reports whether a check is about something exact, a quotation, a date or a number, that is on none of the pages.
func Exact(check string) bool {
	return check == checkQuote || check == checkDate || check == checkNumber
}

// exactThing is a part of a sentence that a page has as it is, or has not.
type exactThing struct {
	check string
	on    func(*Page) bool
}

// exactThings returns the quotations, dates and numbers of a sentence.
func exactThings(sentence string) (all []exactThing) {
	for _, m := range quotedWords.FindAllStringSubmatch(sentence, -1) {
		if quote := m[1] + m[2] + m[3]; len(text.Words(quote)) >= 3 && !title(quote) {
			all = append(all, exactThing{checkQuote, func(p *Page) bool { return p.quotes(quote) }})
		}
	}
	dates, rest := text.Dates(sentence)
	for _, d := range dates {
		all = append(all, exactThing{checkDate, func(p *Page) bool { return p.dated(d.Date) }})
	}
	for _, at := range text.NumberSpans(rest) {
		n := numeral{rest[:at.From], rest[at.From:at.To], rest[at.To:]}
		all = append(all, exactThing{checkNumber, func(p *Page) bool { return p.counts(n) }})
	}
	for _, n := range spelledNumbers(rest, text.Words(rest)) {
		if n.value > 10 { // "two" is as often no count: "the two of them"
			all = append(all, exactThing{checkNumber, func(p *Page) bool { return p.countsInWords(rest, n) }})
		}
	}
	return all
}

// lastSentence returns the last sentence that has a word in it.
func lastSentence(s string) string {
	for _, sentence := range slices.Backward(text.Sentences(s)) {
		if len(text.Words(sentence)) > 0 {
			return sentence
		}
	}
	return s
}

// quotes reports whether the page has these words, whatever stands between them and what was left out of them.
func (p *Page) quotes(quote string) bool {
	for part := range strings.SplitSeq(leftOut.ReplaceAllString(quote, "\n"), "\n") {
		if !strings.Contains(p.spoken(), spoken(part)) {
			return false
		}
	}
	return true
}

var leftOut = regexp.MustCompile(`\[?(?:…|\.\.\.)\]?`)

// spoken returns the words of s in small letters, with a blank between them.
func spoken(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !text.InWord(r) }), " ")
}

// title reports whether quotation marks stand around a name: all of its words of content have capitals. It is not what
// somebody said, and may be written in more than one way.
func title(quote string) bool {
	return !slices.ContainsFunc(text.ContentWords(quote), func(w text.Word) bool { return !w.Upper && !text.Numeric(w.Key) })
}

// shares reports whether the page has a name of the sentence, or half of its words.
func (p *Page) shares(sentence string) bool {
	if l := text.Language(sentence, text.Words(sentence)); l != "" && p.language() != "" && l != p.language() {
		return true
	}
	words := text.ContentWords(sentence)
	shared := 0
	for _, w := range words {
		if p.hasWord(w.Key) {
			if w.Upper && w.Start > 0 {
				return true
			}
			shared++
		}
	}
	if text.Unspaced(sentence) {
		return sharesPairs(sentence, p.text)
	}
	return shared*2 >= len(words)
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

// hasWord reports whether the page has a word or its English stem or, in a script without spaces, its characters.
func (p *Page) hasWord(key string) bool {
	words := p.index().words
	return words[key] || text.Unspaced(key) && strings.Contains(p.text, key) || words[text.Stem(key, "en")]
}
