package factcheck

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// matcher compares a statement with the sentences of a page. Words are compared by their character n-grams, which
// survive most endings and misspellings, and by their semantic fields.
type matcher struct {
	text   string          // the statement with amounts in digits
	code   string          // of the language
	keys   map[string]bool // all its words
	terms  []term          // its words of content, except those of the page's title
	grams  map[string]int  // n-grams of its words of content, numbered
	fields map[int]int     // fields of its terms, numbered

	numbered bool // a term is a number

	title   string
	domain  string      // of the page, if it is known
	words   []text.Word // of text
	names   []text.Word // the names among them
	things  []text.Word // the same, the first word of the statement and numbers after names
	amounts []amount
	turning map[string]bool // words that a sentence must have: see [turning]
	bounds  map[string]bool // words that belong to its numbers: "about"
	turns   map[string]bool // and what it must say: see [turnsOf]

	unspaced bool
	subject  string // what the statement begins with, in a script without spaces

	page []passage // the sentences, in the order of the page
}

// term is one word of a statement.
type term struct {
	key           string
	name          bool
	grams, fields []int // sets of numbers
}

// newMatcher prepares a statement for a page with a title, in a language. The words of the title say nothing in sentences that are all about them. They
// count only if the statement has no others.
func newMatcher(statement, title, code string) *matcher {
	digits := text.WordsInDigits(statement, code)
	m := &matcher{text: text.InDigits(digits), code: code, amounts: amountsOf(digits, code), title: title, grams: map[string]int{}, fields: map[int]int{}}
	m.unspaced = text.Unspaced(statement)
	m.words = text.Words(m.text)
	m.keys = text.Keys(m.words)
	inTitle := map[string]bool{}
	for _, w := range text.ContentWords(title) {
		for _, g := range grams(w.Key) {
			inTitle[g] = true
		}
	}
	var titled []term
	seen := map[string]bool{}
	for _, w := range text.ContentWords(m.text) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		if w.Upper && w.Start > 0 {
			m.names = append(m.names, w)
		}
		t, shared := term{key: w.Key, name: w.Upper && w.Start > 0}, 0
		all := grams(w.Key)
		for _, g := range all {
			if inTitle[g] {
				shared++
			}
			t.grams = append(t.grams, number(m.grams, g))
		}
		t.grams = text.Unique(t.grams)
		if shared*10 >= len(all)*7 {
			titled = append(titled, t)
		} else {
			m.terms = append(m.terms, t)
		}
	}
	if len(m.terms) == 0 {
		m.terms = titled
	}
	m.findPoints()
	for i := range m.terms {
		t := &m.terms[i]
		m.numbered = m.numbered || !notNumber(*t)
		for _, f := range fieldsOf()[text.Stem(t.key, "en")] {
			t.fields = append(t.fields, number(m.fields, f))
		}
	}
	return m
}

// findPoints finds what the statement is about and turns on. The words of a bound belong to its number.
func (m *matcher) findPoints() {
	m.things = slices.DeleteFunc(thingsIn(m.words, m.text, m.code), func(w text.Word) bool {
		return w.Start == 0 && (turning(w.Key) || text.Negations()[w.Key] || text.Bounds()[w.Key]) || text.SpelledNumbers()[w.Key]
	})
	m.subject = subjectOf(m.text, m.code)
	unit := func(w text.Word) bool {
		return slices.ContainsFunc(m.amounts, func(a amount) bool { return a.Unit != "" && a.Unit == text.UnitOf(m.text[w.Start:w.End]) })
	}
	m.things, m.names = slices.DeleteFunc(m.things, unit), slices.DeleteFunc(m.names, unit)
	m.turns = turnsOf(m.text, m.code)
	m.bounds = map[string]bool{}
	for _, a := range m.amounts {
		words, _ := a.Bound()
		for _, w := range text.Words(words) {
			m.bounds[w.Key] = true
		}
	}
	m.turning = map[string]bool{}
	for _, w := range m.words {
		covered := slices.ContainsFunc(slices.Collect(maps.Keys(m.turns)), func(turn string) bool {
			return turnPatterns()[m.code][turn].MatchString(" " + m.text[w.Start:w.End] + " ")
		})
		if turning(w.Key) && !m.bounds[w.Key] && !covered && !text.Negations()[w.Key] {
			m.turning[w.Key] = true
		}
	}
	if slices.ContainsFunc(m.amounts, func(a amount) bool { return a.every }) {
		delete(m.turns, "all") // "every two hours" is in the amount
	}
	if m.turns["ended"] {
		for _, w := range text.Words(turnPatterns()[m.code]["ended"].FindString(m.text)) {
			delete(m.turning, w.Key)
		}
	}
}

// number returns the number of a key, and gives it a new one if it has none.
func number[K comparable](numbers map[K]int, k K) int {
	n, is := numbers[k]
	if !is {
		n = len(numbers)
		numbers[k] = n
	}
	return n
}

// gramLength is the length of an n-gram, in characters: short enough for most endings and misspellings to spare one.
const gramLength = 4

// grams returns the n-grams of a word, with marks for its ends.
func grams(key string) []string {
	if text.Unspaced(key) {
		return text.Pairs(key)
	}
	key = "#" + key + "#"
	out := make([]string, 0, len(key))
	from := 0
	for end, n := 0, 0; end < len(key); {
		_, size := utf8.DecodeRuneInString(key[end:])
		end += size
		if n++; n < gramLength {
			continue
		}
		out = append(out, key[from:end])
		_, size = utf8.DecodeRuneInString(key[from:])
		from += size
	}
	if len(out) == 0 {
		return append(out, key)
	}
	return out
}

// passage is a sentence with what it shares with the statement.
type passage struct {
	index         int // index of the sentence in its page
	text          string
	grams, fields []int // sets of the numbers of the statement's that it has
	score         float64
}

// fieldWeight is the weight of a shared field; a shared n-gram weighs up to 1.
const fieldWeight = 0.15

// passages returns the sentences, best first, by what they share with the statement. Rare n-grams weigh more.
func (m *matcher) passages(sentences []string) []passage {
	out := make([]passage, len(sentences))
	for i, s := range sentences {
		out[i] = m.read(s)
		out[i].index = i
	}
	m.page = slices.Clone(out)
	gramsIn, fieldsIn := m.count(out)
	weights, whole := make([]float64, len(m.grams)), 0.0
	for _, t := range m.terms {
		for _, g := range t.grams {
			weights[g] = text.IDF(gramsIn[g], len(out))
		}
	}
	for _, w := range weights {
		whole += w
	}
	for i := range out {
		p, held := &out[i], 0.0
		for _, g := range p.grams {
			held += weights[g]
		}
		p.score += held / max(whole, 1e-9)
		for _, f := range p.fields {
			p.score += fieldWeight * text.IDF(fieldsIn[f], len(out))
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Compare(b.score, a.score) < 0
	})
	return out
}

// read finds the statement's n-grams and fields in a sentence. Long sentences and those with a number score a little
// more.
func (m *matcher) read(sentence string) passage {
	p := passage{text: sentence}
	numbers := false
	seen := map[string]bool{}
	for _, w := range text.ContentWords(text.InDigits(text.WordsInDigits(sentence, m.code))) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		numbers = numbers || text.Numeric(w.Key) || text.SpelledNumbers()[w.Key]
		for _, g := range grams(w.Key) {
			if n, is := m.grams[g]; is {
				p.grams = append(p.grams, n)
			}
		}
		if len(m.fields) > 0 && utf8.RuneCountInString(w.Key) > 1 {
			for _, f := range fieldsOf()[text.Stem(w.Key, "en")] {
				if n, is := m.fields[f]; is {
					p.fields = append(p.fields, n)
				}
			}
		}
	}
	p.grams, p.fields = text.Unique(p.grams), text.Unique(p.fields)
	p.score = 0.1*math.Log1p(float64(len(seen))) + 0.05*text.Indicator(numbers)
	return p
}

// count counts the passages with each n-gram and each field.
func (m *matcher) count(passages []passage) (grams, fields []int) {
	grams, fields = make([]int, len(m.grams)), make([]int, len(m.fields))
	for _, p := range passages {
		for _, g := range p.grams {
			grams[g]++
		}
		for _, f := range p.fields {
			fields[f]++
		}
	}
	return grams, fields
}

const (
	heldFrom  = 0.5 // share of a word's n-grams from which the word counts as present
	sameField = 0.7 // the share that a word of the same field counts as
)

// held returns how much of each term the passages have together, from 0 to 1.
func (m *matcher) held(passages []passage) []float64 {
	grams, fields := m.count(passages)
	out := make([]float64, len(m.terms))
	for i, t := range m.terms {
		n := 0
		for _, g := range t.grams {
			n += min(1, grams[g])
		}
		out[i] = float64(n) / float64(max(1, len(t.grams)))
		if slices.ContainsFunc(t.fields, func(f int) bool { return fields[f] > 0 }) {
			out[i] = max(out[i], sameField)
		}
	}
	return out
}

// fieldsOf maps the stems of words to the numbers of their semantic fields: "born" and "birthplace" share one.
var fieldsOf = sync.OnceValue(func() map[string][]int {
	fields := map[string][]int{}
	for i, row := range text.AllTables().FactCheck.SemanticFields {
		for _, w := range strings.Fields(row) {
			stem := text.Stem(text.Fold(w), "en")
			fields[stem] = append(fields[stem], i)
		}
	}
	return fields
})

//go:embed ranking.model
var orderFile []byte

// builtIn is the trained model that ranks the sentences of a page.
var builtIn = sync.OnceValue(func() *text.Model { return text.MustParseModel(orderFile) })

// maxOrdered is how many of the best passages are ranked by the model.
const maxOrdered = 12

// rankedPassage is a passage with what the model sees of it.
type rankedPassage struct {
	*passage
	m     *matcher
	words []text.Word
	keys  map[string]bool
	held  []float64 // by term of the statement
	below float64   // how much less its score is than the best one's
	worth float64
}

// rankingTraits are what the model sees. The number of shared words is not among them, since a paraphrase avoids the page's words. The
// sentence with most of them is often about something else.
var rankingTraits = []text.Trait[rankedPassage]{
	{Name: "holds", Value: func(s *rankedPassage) float64 { return s.score }},
	{Name: "holds less than the best", Value: func(s *rankedPassage) float64 { return s.below }},
	{Name: "share of terms", Value: (*rankedPassage).terms},
	{Name: "share of what is no name", Value: (*rankedPassage).nameless},
	{Name: "number where one is claimed", Value: text.If(func(s *rankedPassage) bool { return s.m.numbered && s.numbered() })},
	{Name: "other names", Value: (*rankedPassage).otherNames},
	{Name: "says what something is", Value: text.If(func(s *rankedPassage) bool { return text.Intersects(s.keys, copulas()) })},
	{Name: "begins with pronoun", Value: text.If(func(s *rankedPassage) bool { return len(s.words) > 0 && anaphors()[s.words[0].Key] })},
	{Name: "in brackets", Value: text.If(func(s *rankedPassage) bool { return strings.Contains(s.text, "(") })},
	{Name: "in quotation marks", Value: text.If(func(s *rankedPassage) bool { return strings.ContainsAny(s.text, `"“”„«»`) })},
	{Name: "one denies", Value: text.If(func(s *rankedPassage) bool { return text.Denies(s.text) != text.Denies(s.m.text) })},
}

var (
	anaphors = text.LazySet(func() text.WordList { return text.AllTables().Evidence.Anaphors })
	copulas  = text.LazySet(func() text.WordList { return text.AllTables().Evidence.Definition })
)

// ranked returns the passages, the best of them in the model's order.
func (m *matcher) ranked(all []passage, model *text.Model) []passage {
	best := m.view(all[:min(maxOrdered, len(all))])
	for t, weight := range text.WeightsOf(rankingTraits, model) {
		for i := range best {
			best[i].worth += weight * rankingTraits[t].Value(&best[i])
		}
	}
	sort.SliceStable(best, func(i, j int) bool {
		a, b := best[i], best[j]
		return cmp.Compare(b.worth, a.worth) < 0
	})
	out := slices.Clone(all)
	for i, s := range best {
		out[i] = *s.passage
	}
	return out
}

func (m *matcher) view(best []passage) []rankedPassage {
	all := make([]rankedPassage, len(best))
	for i := range best {
		words := text.Words(best[i].text)
		all[i] = rankedPassage{passage: &best[i], m: m, words: words, keys: text.Keys(words), held: m.held(best[i : i+1]), below: best[0].score - best[i].score}
	}
	return all
}

func (s *rankedPassage) terms() float64 {
	var all []float64
	for _, held := range s.held {
		all = append(all, text.Indicator(held >= heldFrom))
	}
	return mean(all, 0)
}

func (s *rankedPassage) nameless() float64 {
	var all []float64
	for i, held := range s.held {
		if notName(s.m.terms[i]) {
			all = append(all, held)
		}
	}
	return mean(all, 0)
}

func (s *rankedPassage) numbered() bool {
	return slices.ContainsFunc(s.words, func(w text.Word) bool { return text.Numeric(w.Key) })
}

// otherNames counts the names within the sentence that are not in the statement.
func (s *rankedPassage) otherNames() float64 {
	n := 0
	for i, w := range s.words {
		if i > 0 && w.Upper && !s.m.keys[w.Key] {
			n++
		}
	}
	return math.Log1p(float64(n))
}

// withCapitals gives the names of a statement without capitals theirs, as most of the sentences write them.
func withCapitals(statement string, sentences []string) string {
	if statement != strings.ToLower(statement) {
		return statement
	}
	capitals := map[string]int{}
	for _, w := range text.Words(statement) {
		capitals[w.Key] = 0
	}
	for _, s := range sentences {
		for _, w := range text.Words(s) {
			if n, is := capitals[w.Key]; is && w.Start > 0 {
				capitals[w.Key] = n + 2*int(text.Indicator(w.Upper)) - 1
			}
		}
	}
	for _, w := range slices.Backward(text.Words(statement)) {
		if capitals[w.Key] > 0 {
			first, n := utf8.DecodeRuneInString(statement[w.Start:])
			statement = statement[:w.Start] + string(unicode.ToUpper(first)) + statement[w.Start+n:]
		}
	}
	return statement
}

// languageSample is how much of a page tells its language, in bytes.
const languageSample = 800

// languageOf returns the language of a statement and a page.
func languageOf(statement string, sentences []string) string {
	sample := statement
	for _, s := range sentences {
		if len(sample) > languageSample {
			break
		}
		sample += " " + s
	}
	return cmp.Or(text.MessageLanguage(sample), "en")
}

// RankingFeatures returns the indexes of the ranked sentences and their features, for training.
func RankingFeatures(statement, title string, sentences []string) (indexes []int, values [][]text.Feature) {
	m := newMatcher(statement, title, languageOf(statement, sentences))
	all := m.passages(sentences)
	for _, seen := range m.view(all[:min(maxOrdered, len(all))]) {
		indexes, values = append(indexes, seen.index), append(values, text.FeaturesOf(rankingTraits, &seen))
	}
	return indexes, values
}
