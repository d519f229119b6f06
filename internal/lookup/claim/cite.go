package claim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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
func CheckCitation(s string, cited []*Page) []string {
	sentence := bracketed.ReplaceAllString(ordinal.ReplaceAllString(lastSentence(s), ""), "")
	refused := make([]string, len(cited))
	if !checkable(sentence) {
		return refused
	}
	missing := ""                     // the check of the first exact thing that is on no page
	exact := make([]bool, len(cited)) // the page has an exact thing
	for _, thing := range exactThings(sentence) {
		found := false
		for i, p := range cited {
			if thing.on(p) {
				exact[i], found = true, true
			}
		}
		if !found && missing == "" {
			missing = thing.check
		}
	}
	statements := sync.OnceValue(func() []clause { return statementsOf(sentence) })
	for i, p := range cited {
		switch {
		case missing != "":
			refused[i] = missing
		case !exact[i] && !p.shares(sentence):
			refused[i] = checkCited
		case slices.ContainsFunc(statements(), p.opposes):
			refused[i] = checkNegation
		}
	}
	return refused
}

// exactThing is a part of a sentence that a page has as it is, or has not.
type exactThing struct {
	check string
	on    func(*Page) bool
}

// exactThings returns the quotations, dates and numbers of a sentence.
func exactThings(sentence string) (all []exactThing) {
	for _, m := range quotedWords.FindAllStringSubmatch(sentence, -1) {
		if quote := text.OneLine(m[1] + m[2] + m[3]); len(text.Words(quote)) >= 3 {
			all = append(all, exactThing{checkQuote, func(p *Page) bool { return p.quotes(quote) }})
		}
	}
	dates, rest := text.Dates(sentence)
	for _, d := range dates {
		all = append(all, exactThing{checkDate, func(p *Page) bool { return p.index().dates[d.Date] }})
	}
	for _, at := range text.NumberSpans(rest) {
		n := numeral{rest[:at.From], rest[at.From:at.To], rest[at.To:]}
		all = append(all, exactThing{checkNumber, func(p *Page) bool { return p.counts(n) }})
	}
	for _, w := range text.Words(rest) {
		if n := inWords[w.Key]; n > 10 && !compound(rest[w.End:]) { // "two" is as often no count: "the two of them"
			all = append(all, exactThing{checkNumber, func(p *Page) bool { return p.index().words[w.Key] || p.index().numbers[strconv.Itoa(n)] }})
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

// quotes reports whether the page has these words, whatever its apostrophes and what was left out of them.
func (p *Page) quotes(quote string) bool {
	page := strings.ToLower(straight.Replace(p.text))
	for part := range strings.SplitSeq(leftOut.ReplaceAllString(straight.Replace(quote), "\n"), "\n") {
		if !strings.Contains(page, strings.ToLower(strings.Trim(part, " .,;:!?"))) {
			return false
		}
	}
	return true
}

var (
	straight = strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'", "“", `"`, "”", `"`)
	leftOut  = regexp.MustCompile(`\[?(?:…|\.\.\.)\]?`)
)

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

var thousandfold = text.Set(lang.All().Number.Thousandfold)

// inWords are the values of numbers in words, and asWords the words of values.
var (
	inWords = func() map[string]int {
		all := map[string]int{}
		for i, w := range lang.All().Number.Cardinals.All() {
			all[w] = i + 1
		}
		for i, w := range lang.All().Number.Tens.All() {
			all[w] = 10*i + 30
		}
		return all
	}()
	asWords = func() map[int][]string {
		all := map[int][]string{}
		for w, n := range inWords {
			all[n] = append(all[n], w)
		}
		return all
	}()
)
