package claim

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Source is a page made ready for checking the sentences that cite it. It is never changed.
type Source struct {
	page   *Page
	values []float64 // of its numbers
	lang   string

	// The clauses of the page, made when they are first asked for: those of sentences with a denial, and all.
	denials, clauses func() []clause
}

// NewSource prepares the text of a page with what else is known of it: its title, its date, what was quoted.
func NewSource(texts ...string) *Source {
	s := strings.Join(texts, "\n")
	w := &Source{page: NewPage(s)}
	w.page.ready()
	w.denials = sync.OnceValue(func() []clause { return w.page.clauses(s, denialWords) })
	w.clauses = sync.OnceValue(func() []clause { return w.page.clauses(s, nil) })
	w.values = valuesOf(w.page.text)
	start := text.Truncate(s, 2000)
	w.lang = text.Language(start, text.Words(start))
	return w
}

// valuesOf are the numbers of a text, and what those with a word for millions behind them come to.
func valuesOf(s string) []float64 {
	seen := map[float64]bool{}
	for _, at := range text.NumberSpans(s) {
		v, err := strconv.ParseFloat(text.CanonicalNumber(s[at[0]:at[1]]), 64)
		if err != nil {
			continue
		}
		seen[v] = true
		if words := text.Words(s[at[1]:min(len(s), at[1]+24)]); len(words) > 0 && words[0].Start <= 1 && text.Scales[words[0].Key] > 0 {
			seen[v*text.Scales[words[0].Key]] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// Says reports whether the last sentence of a text says anything that a page can bear out: "according to" does not.
func Says(text string) bool { return says(lastSentence(text)) }

func says(sentence string) bool {
	sentence = bracketed.ReplaceAllString(sentence, "")
	told := func(w text.Word) bool { return !citingWords[w.Key] }
	return slices.ContainsFunc(text.ContentWords(sentence), told) || len(text.NumberSpans(sentence)) > 0
}

// citingWords stand beside a citation and claim nothing.
var citingWords = text.Set(lang.All().Claim.CitationWords)

// checkCited is beside the names of the other checks: nothing that a sentence says is on the page.
const checkCited = "nothing of it"

var (
	quotedWords = regexp.MustCompile(`"([^"\n]{8,300})"|“([^”\n]{8,300})”|«([^»\n]{8,300})»`)
	bracketed   = regexp.MustCompile(`\[[\d\s,;?–-]*\]`) // other citations, or intervals
	ordinal     = regexp.MustCompile(`^[\s>*-]*\d{1,2}[.)]\s+`)
)

// CheckCitation says of each page that the end of a text cites why it does not bear the last sentence out, or "". A
// quotation, a date or a number must stand on one of the pages that are cited together; beyond that, each must have
// one of these, a name, or half of the sentence's words, and must not say the opposite. Of a page in another language words are not asked for.
func CheckCitation(s string, cited []*Source) []string {
	sentence := bracketed.ReplaceAllString(ordinal.ReplaceAllString(lastSentence(s), ""), "")
	refused := ""
	shares := make([]bool, len(cited)) // has something exact
	if !says(sentence) {
		return make([]string, len(cited))
	}
	ask := func(check string, on func(*Source) bool) {
		any := false
		for i, w := range cited {
			if on(w) {
				shares[i], any = true, true
			}
		}
		if !any && refused == "" {
			refused = check
		}
	}
	for _, m := range quotedWords.FindAllStringSubmatch(sentence, -1) {
		if quote := text.OneLine(m[1] + m[2] + m[3]); len(text.Words(quote)) >= 3 {
			ask(checkQuote, func(w *Source) bool { return w.quotes(quote) })
		}
	}
	dates, rest := text.Dates(sentence)
	for _, d := range dates {
		ask(checkDate, func(w *Source) bool { return w.page.dates[d] })
	}
	for _, m := range text.NumberSpans(rest) {
		ask(checkNumber, func(w *Source) bool { return w.counts(rest[:m[0]], rest[m[0]:m[1]], rest[m[1]:]) })
	}
	var told []clause
	for _, x := range text.Words(rest) {
		if n := inWords[x.Key]; n > 10 && !compound(rest[x.End:]) { // "two" is as often no count: "the two of them"
			ask(checkNumber, func(w *Source) bool { return w.page.words[x.Key] || w.page.numbers[strconv.Itoa(n)] })
		}
	}
	out := make([]string, len(cited))
	for i, w := range cited {
		switch {
		case refused != "":
			out[i] = refused
		case !shares[i] && !w.shares(sentence):
			out[i] = checkCited
		default:
			if told == nil {
				told = statements(sentence)
			}
			if slices.ContainsFunc(told, w.opposes) {
				out[i] = checkNegation
			}
		}
	}
	return out
}

// lastSentence is the last that has a word in it.
func lastSentence(body string) string {
	all := text.Sentences(body)
	for _, s := range slices.Backward(all) {
		if len(text.Words(s)) > 0 {
			return s
		}
	}
	return body
}

// compound reports whether a number in words goes on: "eighty-five", "twenty thousand".
func compound(behind string) bool {
	words := text.Words(behind[:min(len(behind), 24)])
	return len(words) > 0 && words[0].Start <= 1 && (inWords[words[0].Key] > 0 || text.Scales[words[0].Key] > 0)
}

// quotes says whether the page has these words, whatever its apostrophes and what was left out of them.
func (w *Source) quotes(quote string) bool {
	on := strings.ToLower(straight.Replace(w.page.text))
	for part := range strings.SplitSeq(leftOut.ReplaceAllString(straight.Replace(quote), "\n"), "\n") {
		if !strings.Contains(on, strings.ToLower(strings.Trim(part, " .,;:!?"))) {
			return false
		}
	}
	return true
}

var (
	straight = strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'", "“", `"`, "”", `"`)
	leftOut  = regexp.MustCompile(`\[?(?:…|\.\.\.)\]?`)
	// aDecade and aCentury stand behind what is a span of years, ofDay behind an hour, and yearBefore before the rest of one.
	aDecade    = regexp.MustCompile(`^['’]?s\b`)
	aCentury   = regexp.MustCompile(`^(?:st|nd|rd|th)[- ]centur`)
	ofDay      = regexp.MustCompile(`(?i)^\s?([ap])\.?m\b`)
	yearBefore = regexp.MustCompile(`\b(\d{2})\d{2}[–-]$`)
)

// within says whether one of the page's numbers lies there.
func (w *Source) within(from, to float64) bool {
	return slices.ContainsFunc(w.values, func(v float64) bool { return from <= v && v <= to })
}

// spans says whether a number stands for more than itself, and the page has one of those: "the 1980s", "the 19th century",
// "1871–74", "5 pm".
func (w *Source) spans(before, raw, behind string) bool {
	n, err := strconv.Atoi(raw)
	switch {
	case err != nil:
		return false
	case aDecade.MatchString(behind) && n >= 1000:
		return w.within(float64(n), float64(n+9+90*b2i(n%100 == 0)))
	case aCentury.MatchString(behind):
		return w.within(float64(100*n-100), float64(100*n))
	case ofDay.MatchString(behind) && n <= 12:
		hour := n%12 + 12*b2i(strings.EqualFold(ofDay.FindStringSubmatch(behind)[1], "p"))
		return w.page.numbers[fmt.Sprintf("%d:00", hour)] || w.page.numbers[fmt.Sprintf("%02d:00", hour)] || w.page.numbers[strconv.Itoa(hour)]
	case len(raw) == 2 && yearBefore.MatchString(before):
		return w.page.numbers[yearBefore.FindStringSubmatch(before)[1]+raw]
	}
	return false
}

func b2i(is bool) int {
	if is {
		return 1
	}
	return 0
}

// counts says whether the page has the number, as it is, or one that it was rounded from.
func (w *Source) counts(before, raw, behind string) bool {
	if w.spans(before, raw, behind) {
		return true
	}
	all := text.Numbers(raw)
	scale := 0.0
	if words := text.Words(behind[:min(len(behind), 24)]); len(words) > 0 && words[0].Start <= 1 {
		scale = text.Scales[words[0].Key]
		if raw += behind[:words[0].End]; scale > 0 && strings.Contains(w.page.text, raw) {
			return true
		}
	}
	exact := scale == 0
	for _, n := range all {
		exact = exact && w.page.numbers[n]
	}
	if exact || len(all) != 1 {
		return exact
	}
	value, err := strconv.ParseFloat(all[0], 64)
	if err != nil || value == 0 {
		return false
	}
	if scale == 0 && slices.ContainsFunc(asWords[int(value)], func(word string) bool { return w.page.words[word] }) && value == math.Trunc(value) {
		return true
	}
	if scale == 0 {
		scale = kilos(behind)
	}
	digits := len(strings.Trim(strings.ReplaceAll(all[0], ".", ""), "0"))
	value *= max(scale, 1)
	q := text.Quantity{Value: value, Before: before[max(0, len(before)-24):]}
	if slices.ContainsFunc(w.values, func(v float64) bool { return v != 0 && math.Abs(v-value) <= value/4 && v != value && q.Admits(v) }) {
		return true
	}
	if slices.Contains(w.values, value) {
		return true
	}
	if scale == 0 && digits < 2 { // "3 million" is meant to be rounded, 3 is not
		return false
	}
	step := math.Pow(10, math.Floor(math.Log10(value))-float64(digits-1))
	return slices.ContainsFunc(w.values, func(v float64) bool { return math.Abs(v-value) <= step/2 })
}

// kilos is what a number is to be multiplied by for the unit that pages may use instead: 1.28 km is 1,280 metres.
func kilos(behind string) float64 {
	words := text.Words(behind[:min(len(behind), 24)])
	if len(words) > 0 && words[0].Start <= 1 && thousandfold[words[0].Key] {
		return 1000
	}
	return 0
}

var thousandfold = text.Set(lang.All().Number.Thousandfold)

// inWords are the values of numbers in words, and asWords the words of values.
var (
	inWords = func() map[string]int {
		all := map[string]int{}
		for i, forms := range lang.All().Number.Cardinals.Forms() {
			for _, w := range forms {
				all[w] = i + 1
			}
		}
		for i, forms := range lang.All().Number.Tens.Forms() {
			for _, w := range forms {
				all[w] = 10*i + 30
			}
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

// shares says whether the page has a name of the sentence, or half of its words.
func (w *Source) shares(sentence string) bool {
	words := text.ContentWords(sentence)
	if l := text.Language(sentence, text.Words(sentence)); l != "" && w.lang != "" && l != w.lang {
		return true
	}
	on := 0
	for _, x := range words {
		switch {
		case !w.page.words[x.Key] && !(text.Unspaced(x.Key) && strings.Contains(w.page.text, x.Key)) && !w.page.words[text.Stem(x.Key, "en")]:
		case x.Upper && x.Start > 0:
			return true
		default:
			on++
		}
	}
	if text.Unspaced(sentence) {
		return text.Overlap(text.Pairs(sentence), text.Pairs(w.page.text)) >= 0.4
	}
	return on*2 >= len(words)
}
