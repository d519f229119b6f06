package evidence

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"familiar/internal/text"
)

// Checkable reports whether the last sentence of a text claims anything that a page can support: "according to" does
// not.
func Checkable(s string) bool { return checkable(lastSentence(s)) }

func checkable(sentence string) bool {
	sentence = bracketed.ReplaceAllString(sentence, "")
	content := func(w text.Word) bool { return !citationWords()[w.Key] }
	return slices.ContainsFunc(text.ContentWords(sentence), content) || len(text.NumberSpans(sentence)) > 0
}

// citationWords are words beside a citation that claim nothing.
var citationWords = text.LazySet(func() text.WordList { return text.AllTables().Claim.CitationWords })

// The checks of a citation.
const (
	checkQuote    = "quote"         // every quotation is on a cited page
	checkDate     = "date"          // every date is
	checkNumber   = "number"        // every number is
	checkNegation = "negation"      // no page says the opposite
	checkRelated  = "nothing of it" // the page has something of the sentence
)

var (
	quotedWords = text.NewLazyRegexp(`"([^"\n]{8,300})"|“([^”\n]{8,300})”|«([^»\n]{8,300})»`)
	bracketed   = text.NewLazyRegexp(`\[[\d\s,;?–-]*\]`) // other citations, or intervals
	ordinal     = text.NewLazyRegexp(`^[\s>*-]*\d{1,2}[.)]\s+`)
)

// CheckCitation checks the last sentence of a text against each page that it cites. It returns, by page, the check that
// failed, or "". Every quotation, date and number must be on one of the pages. Each page must have one of these, a name,
// or half of the words, and must not say the opposite. A page in another language need not share words.
//
// A model decides about the rest: whether the pages have enough of the sentence in one place.
func CheckCitation(s string, cited []*Page) []string {
	return CheckCitationBy(CitationModel(), s, cited)
}

// CheckCitationBy is [CheckCitation] with another model.
func CheckCitationBy(m *text.Model, s string, cited []*Page) []string {
	sentence := CitedSentence(s)
	refused := make([]string, len(cited))
	if !checkable(sentence) {
		return refused
	}
	missing, exact := missingThings(sentence, cited)
	statements := sync.OnceValue(func() []clause { return statementsOf(sentence) })
	little := sync.OnceValue(func() bool {
		features := citationFeatures(sentence, cited, missing)
		return len(features) > 0 && m.Classify(features)[1] < 0.5
	})
	for i, p := range cited {
		switch {
		case len(missing) > 0:
			refused[i] = missing[0]
		case !exact[i] && !p.sharesWords(sentence):
			refused[i] = checkRelated
		case slices.ContainsFunc(statements(), p.opposes):
			refused[i] = checkNegation
		case little():
			refused[i] = checkCoverage
		}
	}
	return refused
}

// CitedSentence returns the sentence that a citation at the end of a text refers to. It is the last one, without list number and citations.
func CitedSentence(s string) string {
	return bracketed.ReplaceAllString(ordinal.ReplaceAllString(lastSentence(s), ""), "")
}

// missingThings returns the checks of exact things that no page has. exact reports for each page whether it has one.
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

// IsExact reports whether a check is about an exact thing: a quotation, date or number.
func IsExact(check string) bool {
	return check == checkQuote || check == checkDate || check == checkNumber
}

// exactThing is a part of a sentence that a page has or has not.
type exactThing struct {
	check string
	on    func(*Page) bool
}

// exactThings returns the quotations, dates and numbers of a sentence.
func exactThings(sentence string) (all []exactThing) {
	for _, m := range quotedWords.FindAllStringSubmatch(sentence, -1) {
		if quote := m[1] + m[2] + m[3]; len(text.Words(quote)) >= 3 && !isTitle(quote) {
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
	for _, n := range spelledNumbers(rest) {
		if n.Value > 10 { // "two" is often no count: "the two of them"
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

// quotes reports whether the page has the quoted words, whatever the punctuation and the omissions.
func (p *Page) quotes(quote string) bool {
	for part := range strings.SplitSeq(leftOut.ReplaceAllString(quote, "\n"), "\n") {
		if !strings.Contains(p.spoken(), wordsOnly(part)) {
			return false
		}
	}
	return true
}

var leftOut = text.NewLazyRegexp(`\[?(?:…|\.\.\.)\]?`)

// wordsOnly returns the words of s in lower case, with single spaces between them.
func wordsOnly(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !text.InWord(r) }), " ")
}

// isTitle reports whether a quotation is a name: all its words of content are capitalised. Nobody said it, and it may be
// written in several ways.
func isTitle(quote string) bool {
	return !slices.ContainsFunc(text.ContentWords(quote), func(w text.Word) bool { return !w.Upper && !text.Numeric(w.Key) })
}

// sharesWords reports whether the page has a name of the sentence or half of its words.
func (p *Page) sharesWords(sentence string) bool {
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

// sharesPairs reports whether another text has at least 4 in 10 of the character pairs of s. It replaces the comparison
// of words in scripts without spaces.
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

// hasWord reports whether the page has a word or its English stem. In scripts without spaces, its characters are enough.
func (p *Page) hasWord(key string) bool {
	words := p.index().words
	return words[key] || text.Unspaced(key) && strings.Contains(p.text, key) || words[text.Stem(key, "en")]
}

//go:embed citation.model
var citationFile []byte

// CitationModel returns the built-in model.
var CitationModel = sync.OnceValue(func() *text.Model { return text.MustParseModel(citationFile) })

// checkCoverage is the model's check: enough of the sentence is in one place of the pages.
const checkCoverage = "too little of it"

// maxMissingNames limits the count of missing names.
const maxMissingNames = 3

// CitationFeatures returns what the model sees of the last sentence of a text and the pages that it cites. It tells how much of the
// sentence is in one place of a page. It also tells how many names are missing, and which exact things are. No feature is a word. It
// returns nothing if there is nothing to judge: the sentence claims nothing, or a text is not in English.
func CitationFeatures(s string, cited []*Page) []text.Feature {
	sentence := CitedSentence(s)
	if !checkable(sentence) {
		return nil
	}
	missing, _ := missingThings(sentence, cited)
	return citationFeatures(sentence, cited, missing)
}

func citationFeatures(sentence string, cited []*Page, missing []string) []text.Feature {
	l := text.Language(sentence, text.Words(sentence))
	if l != "" && l != "en" || slices.ContainsFunc(cited, func(p *Page) bool { return p.language() != "en" }) {
		return nil
	}
	terms := termsOf(sentence)
	covered := make([]bool, len(terms))
	for _, p := range cited {
		p.markNearby(terms, covered)
	}
	near, names := 0, 0
	for i, t := range terms {
		if covered[i] {
			near++
		} else if t.name && !slices.ContainsFunc(cited, func(p *Page) bool { return len(p.places()[t.stem]) > 0 }) {
			names++
		}
	}
	features := []text.Feature{
		{Name: "words together", Value: float64(near+1) / float64(len(terms)+1)},
		{Name: "names missing", Value: float64(min(names, maxMissingNames)) / maxMissingNames},
	}
	for _, check := range []string{checkQuote, checkDate, checkNumber} {
		if slices.Contains(missing, check) {
			features = append(features, text.Feature{Name: check + " missing", Value: 1})
		}
	}
	return features
}
