package factcheck

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"familiar/internal/evidence"
	"familiar/internal/text"
)

// A statement turns on its points: its names, numbers, years, and the words that compare, rank or allow no exception. A
// sentence that has all words of a statement except one of them says something else.

// settles reports whether a sentence may be for or against a statement. It is about the same thing, and in earnest. A name of the statement
// may be another one there if other is set.
func (m *matcher) settles(p passage, other bool) bool {
	words := text.Words(p.text)
	if !m.inEarnest(p.text) || m.unspaced && (!m.aboutUnspaced(p) || m.lacking(p) > 1-minCoverage) {
		return false
	}
	around := text.Words(m.title + "\n" + m.before(p, p.index))
	missing, here := 0, false
	for _, w := range m.names {
		is := m.hasName(words, w)
		here = here || is
		if !is && !m.hasName(around, w) {
			missing++
		}
	}
	if missing > 0 && !(other && missing < len(m.names)) && !(other && len(m.names) == 1) {
		return false
	}
	return other || here || len(m.names) == 0 || !m.namesAnother(words, around)
}

// inEarnest reports whether a sentence says something, and not that it is asked, planned, possible or said. A refuted sentence may be only said.
func (m *matcher) inEarnest(s string) bool {
	return !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "？") && (!m.unreal(s) || len(evidence.Refutals().FindAll(s, text.Words(s))) > 0)
}

// before returns the last n sentences before a passage.
func (m *matcher) before(p passage, n int) string {
	var b strings.Builder
	for _, o := range m.page[max(0, p.index-n):p.index] {
		b.WriteString(o.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// hasName reports whether words have a name. In English it has one form.
func (m *matcher) hasName(words []text.Word, name text.Word) bool {
	if m.code == "en" {
		return hasWord(words, name)
	}
	return named(words, name)
}

// namesAnother reports whether words name another thing than those around them, whatever the page's title says. In German every noun has a
// capital: a longer noun with the same end is another thing of the kind.
func (m *matcher) namesAnother(words, around []text.Word) bool {
	return slices.ContainsFunc(words, func(w text.Word) bool {
		if m.code == "de" {
			return w.Upper && slices.ContainsFunc(m.names, func(n text.Word) bool { return len(w.Key) > len(n.Key) && strings.HasSuffix(w.Key, n.Key) })
		}
		return w.Upper && w.Start > 0 && !m.hasName(around, w) && !calendar(w.Key)
	})
}

// recent is how many sentences before one may name what it is about.
const recent = 2

// about reports whether a sentence is about what the statement is about. The sentence, the title or the sentences just before name it, and the
// sentence names nothing else in its place.
func (m *matcher) about(p passage) bool {
	if m.unspaced {
		return m.aboutUnspaced(p)
	}
	words, around := text.Words(p.text), text.Words(m.title+"\n"+m.before(p, recent))
	here := false
	for i, w := range m.things {
		numbered := text.Numeric(w.Key) && i > 0
		is := m.hasName(words, w)
		here = here || is && !numbered
		if numbered && !is && m.hasName(words, m.things[i-1]) && otherNumbered(words, m.things[i-1], p.text) || !is && !m.hasName(around, w) && !m.inDomain(w) {
			return false
		}
	}
	return here || len(m.things) == 0 || !m.namesAnother(words, around)
}

// lackingAround is [matcher.lacking] of all words of content, for a sentence with what is just before and the title.
func (m *matcher) lackingAround(p passage) float64 {
	around := m.read(m.title + " " + m.before(p, recent) + " " + p.text)
	return m.lacking(around)
}

// inDomain reports whether the name of the site has a name: a site may say "we".
func (m *matcher) inDomain(name text.Word) bool {
	return len(name.Key) >= 4 && strings.Contains(m.domain, name.Key)
}

// otherNumbered reports whether a name has a number after it: "Apollo 12".
func otherNumbered(words []text.Word, name text.Word, s string) bool {
	for i := 1; i < len(words); i++ {
		if text.Numeric(words[i].Key) && words[i-1].Key == name.Key && s[words[i-1].End:words[i].Start] == " " {
			return true
		}
	}
	return false
}

// subjectLength is how many characters of a statement in Chinese say what it is about.
const subjectLength = 3

// subjectOf returns what a statement in a script without spaces begins with. In Japanese a particle ends it, in Korean it is the first word.
func subjectOf(s, code string) string {
	switch code {
	case "ja":
		if end := strings.IndexFunc(s, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }); end > 0 {
			return s[:end]
		}
	case "ko":
		first, _, _ := strings.Cut(s, " ")
		if stem := strings.TrimRight(first, koreanParticles); stem != "" {
			return stem
		}
		return first
	}
	return text.Truncate(s, subjectLength)
}

// aboutUnspaced is [matcher.about] for scripts without spaces. What the statement begins with is in the sentence or the title.
func (m *matcher) aboutUnspaced(p passage) bool {
	return strings.Contains(p.text, m.subject) || strings.Contains(m.title, m.subject)
}

// unreal reports whether a text tells of what is planned, possible or only said. Words of the statement say nothing of that. "May" is a month.
func (m *matcher) unreal(s string) bool {
	table := text.TablesOf(m.code).FactCheck.Unreal
	if text.Unspaced(string(table)) {
		return slices.ContainsFunc(table.Fields(), func(w string) bool { return strings.Contains(s, w) && !strings.Contains(m.text, w) })
	}
	return slices.ContainsFunc(text.Words(s), func(w text.Word) bool {
		return unrealWords()[m.code][strings.ToLower(s[w.Start:w.End])] && (!w.Upper || w.Start == 0) && !m.keys[w.Key]
	})
}

// unrealWords are the words of [matcher.unreal] by language, with their accents: "würde" is no "wurde".
var unrealWords = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, code := range text.Languages() {
		all[code] = map[string]bool{}
		for _, w := range text.TablesOf(code).FactCheck.Unreal.Fields() {
			all[code][w] = true
		}
	}
	return all
})

// calendar reports whether a word is a month or a weekday, which has a capital and names no thing.
func calendar(key string) bool {
	_, day := text.Weekday(key)
	return day || text.MonthNames()[key] > 0
}

// bearsOut reports whether a sentence has every point of a statement.
func (m *matcher) bearsOut(p passage) bool {
	words := text.Words(p.text)
	keys := text.Keys(words)
	for key := range m.turning {
		if !keys[key] {
			return false
		}
	}
	said := turnsOf(p.text, m.code)
	for turn := range m.turns {
		if !said[turn] {
			return false
		}
	}
	if said["only"] && !m.turns["only"] && m.turns["all"] {
		return false
	}
	return m.sameDates(p) && m.sameAmounts(p) && m.inOrder(words)
}

// sameAmounts reports whether a sentence has every amount of a statement. Another amount of its kind might be the one that is meant.
func (m *matcher) sameAmounts(p passage) bool {
	if len(m.amounts) == 0 {
		return true
	}
	said := amountsOf(text.WordsInDigits(p.text, m.code), m.code)
	for _, c := range m.amounts {
		agrees := func(a amount) bool { return m.sameKind(c, a) && c.bearsOut(a) }
		other := func(a amount) bool { return a.kind == c.kind && a.every == c.every && !c.agrees(a) }
		if !slices.ContainsFunc(said, agrees) || len(m.amounts) == 1 && slices.ContainsFunc(said, other) {
			return false
		}
	}
	return true
}

// sameKind reports whether an amount of a statement and another one may count the same.
func (m *matcher) sameKind(c, a amount) bool {
	_, measured := text.BaseUnit(c.kind)
	isBase := func(kind string) bool { return baseKinds[kind] }
	switch {
	case c.kind == a.kind:
		return true
	case isBase(c.kind) || isBase(a.kind) || measured != "":
		return false
	}
	return a.kind == "" || c.kind == "" || m.unspaced
}

// baseKinds are the kinds of the units of measure.
var baseKinds = map[string]bool{"length": true, "mass": true, "volume": true, "temperature": true, "speed": true, "time": true, "data": true}

// sameDates reports whether a sentence has the years and the dates of a statement. The year of a date may be just before, or in the title.
func (m *matcher) sameDates(p passage) bool {
	claimed, rest := text.Dates(m.text)
	said, _ := text.Dates(p.text)
	around := p.text
	for _, c := range claimed {
		if !slices.ContainsFunc(said, func(d text.DateSpan) bool { return d.Month == c.Month && d.Day == c.Day && !d.Clashes(c.Date) }) {
			return false
		}
		around = m.title + "\n" + m.before(p, recent) + p.text
	}
	for _, at := range text.YearPattern.FindAllStringIndex(rest, -1) {
		if !text.Measured(rest[at[1]:]) && !strings.Contains(p.text, rest[at[0]:at[1]]) {
			return false
		}
	}
	return !slices.ContainsFunc(claimed, func(c text.DateSpan) bool {
		return c.Year > 0 && !strings.Contains(around, strconv.Itoa(c.Year))
	})
}

// opposed reports whether a sentence has the opposite of a word of the statement, and not the word itself.
func (m *matcher) opposed(p passage) bool {
	keys := text.Keys(text.Words(p.text))
	has := func(keys map[string]bool, s string, side map[string]bool) bool {
		return text.Intersects(keys, side) || m.unspaced && containsOne(s, side)
	}
	for _, pair := range opposites() {
		for i, own := range pair {
			other := pair[1-i]
			if has(m.keys, m.text, own) && !has(m.keys, m.text, other) && has(keys, p.text, other) && !has(keys, p.text, own) {
				return true
			}
		}
	}
	return false
}

// hasOpposite reports whether a term is one of [opposites].
func hasOpposite(t term) bool {
	return slices.ContainsFunc(opposites(), func(pair [2]map[string]bool) bool { return pair[0][t.key] || pair[1][t.key] })
}

func containsOne(s string, words map[string]bool) bool {
	for w := range words {
		if text.Unspaced(w) && strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// denies reports whether a text in a language says that something is not so, or is so no more.
func denies(s, code string) bool {
	ended := false
	if p := turnPatterns()[code]["ended"]; p != nil && p.MatchString(s) {
		ended, s = true, p.ReplaceAllString(s, " ")
	}
	return negatesIn(s, code) != ended
}

// negatesIn is [evidence.Negates] by the negations of a language: "mai" denies in Italian, and is a month in German.
func negatesIn(s, code string) bool {
	p := denialForms()[code]
	if code == "en" || p == nil {
		return evidence.Negates(s)
	}
	words := text.Words(s)
	refutals := evidence.Refutals().FindAll(s, words)
	for _, m := range slices.Backward(refutals) {
		if m.To > m.From {
			s = s[:words[m.From].Start] + s[words[m.To-1].End:]
		}
	}
	return p.MatchString(s) != (len(refutals) > 0)
}

// turnsOf returns what a text in a language turns on: "only", "no longer".
func turnsOf(s, code string) map[string]bool {
	all := map[string]bool{}
	for turn, p := range turnPatterns()[code] {
		if p.MatchString(s) {
			all[turn] = true
		}
	}
	return all
}

var (
	turnPatterns = sync.OnceValue(func() map[string]map[string]*regexp.Regexp {
		all := map[string]map[string]*regexp.Regexp{}
		for _, code := range text.Languages() {
			all[code] = map[string]*regexp.Regexp{}
			for turn, words := range text.TablesOf(code).FactCheck.Turns {
				all[code][turn] = wholeWords(words)
			}
		}
		return all
	})
	denialForms = sync.OnceValue(func() map[string]*regexp.Regexp {
		all := map[string]*regexp.Regexp{}
		for _, code := range text.Languages() {
			words := append(text.Pattern(text.TablesOf(code).Grammar.Negations.Fields()), text.TablesOf(code).FactCheck.Denials...)
			if code != "en" && len(words) > 0 {
				all[code] = wholeWords(words)
			}
		}
		return all
	})
)

// wholeWords matches one of some words. In scripts without spaces it may be a part of a word.
func wholeWords(words text.Pattern) *regexp.Regexp {
	if len(words) == 0 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	if text.Unspaced(words[0]) {
		return regexp.MustCompile(words.String())
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL\d])(?:` + words.String() + `)(?:$|[^\pL\d])`)
}

// lacking returns the share of the statement's words of content that a sentence does not have. Its points do not count: they are checked.
func (m *matcher) lacking(p passage) float64 {
	if m.unspaced {
		return m.lackingUnspaced(p)
	}
	var lacks []float64
	held := m.heldForms(p)
	m.holdUnits(held, p)
	exact, opposed := len(m.amounts) > 0 && m.sameAmounts(p), m.opposed(p)
	for i, t := range m.terms {
		isUnit := slices.ContainsFunc(m.amounts, func(a amount) bool { return a.Unit == text.UnitOf(t.key) })
		if !t.name && notNumber(t) && !isUnit && !turning(t.key) && !m.bounds[t.key] && !auxiliaries()[t.key] && !(opposed && hasOpposite(t)) && !(exact && measuringIn(m.code)[t.key]) {
			lacks = append(lacks, text.Indicator(held[i] < heldFrom))
		}
	}
	return mean(lacks, 0)
}

// heldForms returns how much of each term a sentence has, in another form or a synonym at most.
func (m *matcher) heldForms(p passage) []float64 {
	p.fields = nil
	held := m.held([]passage{p})
	forms := map[string]bool{}
	for _, w := range text.Words(p.text) {
		forms[text.Stem(w.Key, m.code)] = true
		for _, row := range synonymsIn(m.code)[text.Stem(w.Key, m.code)] {
			forms[row] = true
		}
	}
	for i, t := range m.terms {
		stem := text.Stem(t.key, m.code)
		if forms[stem] || slices.ContainsFunc(synonymsIn(m.code)[stem], func(row string) bool { return forms[row] }) {
			held[i] = 1
		}
	}
	return held
}

// synonymsIn maps the stems of a language to the names of their rows of synonyms.
func synonymsIn(code string) map[string][]string { return allSynonyms()[code] }

var allSynonyms = sync.OnceValue(func() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, code := range text.Languages() {
		all[code] = map[string][]string{}
		for i, row := range text.TablesOf(code).FactCheck.Synonyms {
			for w := range text.Set(text.WordList(row)) {
				stem := text.Stem(w, code)
				all[code][stem] = append(all[code][stem], "#"+strconv.Itoa(i))
			}
		}
	}
	return all
})

// measuringIn are the verbs of a language that only join a thing and its amount.
func measuringIn(code string) map[string]bool { return allMeasuring()[code] }

var allMeasuring = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, code := range text.Languages() {
		all[code] = text.Set(text.TablesOf(code).FactCheck.Measuring)
	}
	return all
})

// lackingUnspaced is [matcher.lacking] for scripts without spaces: the share of the words after the subject.
func (m *matcher) lackingUnspaced(p passage) float64 {
	var lacks []float64
	for _, chunk := range chunksOf(strings.Replace(m.text, m.subject, " ", 1), m.code) {
		if _, kind := text.BaseUnit(chunk); kind != "" {
			continue
		}
		held, pairs := 0, text.Pairs(chunk)
		for _, pair := range pairs {
			if strings.Contains(p.text, pair) {
				held++
			}
		}
		lacks = append(lacks, text.Indicator(3*held < 2*len(pairs)))
	}
	return mean(lacks, 0)
}

// emptyChinese are characters between the words of a Chinese sentence.
const emptyChinese = "的是在有了和与也都就还不没再被把从到于个"

// chunksOf returns the words of content of a text in a script without spaces, as far as it shows them. In Japanese they are not in Hiragana.
// In Chinese small words are between them, and in Korean particles are after them.
func chunksOf(s, code string) []string {
	chunks := strings.FieldsFunc(s, func(r rune) bool {
		switch {
		case !unicode.IsLetter(r) && r != 'ー', code == "ja" && unicode.Is(unicode.Hiragana, r), code == "zh" && strings.ContainsRune(emptyChinese, r):
			return true
		}
		return false
	})
	for i, c := range chunks {
		if code == "ko" {
			chunks[i] = cmp.Or(strings.TrimRight(c, koreanParticles), c)
		}
	}
	return chunks
}

// koreanParticles are written to the ends of words.
const koreanParticles = "은는이가의에서도을를다"

// heldAround returns how much of each term a sentence has. The sentence before it counts if it names nothing else. A unit, and the
// dimension that it measures, may be worded in another way. An example is "34 m high" for "41 metres tall".
func (m *matcher) heldAround(p passage) []float64 {
	all, words := []passage{p}, text.Words(p.text)
	another := func(w text.Word) bool { return w.Upper && w.Start > 0 && !m.keys[w.Key] && !calendar(w.Key) }
	if p.index > 0 && !slices.ContainsFunc(words, another) {
		all = append(all, m.page[p.index-1])
	}
	held, forms := m.held(all), m.heldForms(p)
	for i := range held {
		held[i] = max(held[i], forms[i])
	}
	m.holdUnits(held, p)
	return held
}

// holdUnits marks a unit as held if a sentence has another one of the same kind. So it does with the dimension that a unit measures.
func (m *matcher) holdUnits(held []float64, p passage) {
	if len(m.amounts) == 0 {
		return
	}
	digits := text.WordsInDigits(p.text, m.code)
	words, said := text.Words(p.text), amountsOf(digits, m.code)
	apposed := apposition.MatchString(digits)
	for i, t := range m.terms {
		dimension := dimensions()[t.key]
		measured := dimension != "" && (apposed || slices.ContainsFunc(words, func(w text.Word) bool { return dimensions()[w.Key] == dimension }))
		for _, c := range m.amounts {
			sameKind := c.kind != "" && slices.ContainsFunc(said, func(a amount) bool { return a.kind == c.kind })
			if sameKind && (measured || c.Unit == text.UnitOf(t.key)) {
				held[i] = 1
			}
		}
	}
}

// apposition matches a measure that is said of a name without a verb. Examples are "the tunnel, 9 km of single bore," and "the summit (1909 m)".
var apposition = text.NewLazyRegexp(`[\pL][,(–—]? ?[(]?[\d.,]+ ?\pL+(?:[),;]|$| of | über )|[,(–—] ?[\d.,]+ ?\pL+(?:[),;]|$| of | über )`)

// turning reports whether a word compares, ranks or allows no exception.
func turning(key string) bool {
	return absolutes()[key] || comparisons()[key] || strings.HasSuffix(key, "est") && len(key) > 5 || quantifiers()[key]
}

// inOrder reports whether the names around the "than" of a statement are in the same order in a sentence. "Di" is one after a comparative.
func (m *matcher) inOrder(words []text.Word) bool {
	compares := slices.ContainsFunc(m.words, func(w text.Word) bool {
		return comparisons()[w.Key] || comparedIn(m.code)[w.Key] == "up" || comparedIn(m.code)[w.Key] == "down"
	})
	than := slices.IndexFunc(m.words, func(w text.Word) bool {
		return thanWords()[w.Key] && (compares || !text.TablesOf(m.code).Grammar.FunctionWords.Has(w.Key))
	})
	if than < 0 {
		return true
	}
	other := slices.IndexFunc(words, func(w text.Word) bool { return thanWords()[w.Key] })
	return other >= 0 && !slices.ContainsFunc(m.words[than+1:], func(w text.Word) bool { return w.Upper && !hasWord(words[other+1:], w) })
}

// amount is a quantity in the base unit of its kind.
type amount struct {
	text.Quantity
	kind  string  // of unit
	every bool    // it is the time between two of something
	also  float64 // the value in another reading: 1.909 km is 1909 km or 1.909 km; 0 if there is none
}

// thousandOrFraction matches a number that may be read in two ways.
var thousandOrFraction = text.NewLazyRegexp(`^[^\d.,]*\d{1,3}[.,]\d{3}(?:$|[^\d.,])`)

// amountsOf returns the quantities of a text in a language whose numbers are in digits. Lengths, times and so on are in the base unit of
// their kind.
func amountsOf(s, code string) (all []amount) {
	every := everyIn(code)
	s = every.unit.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.LastIndexByte(m, ' ')
		if _, kind := text.BaseUnit(m[at+1:]); kind == "time" {
			return m[:at] + " 1" + m[at:]
		}
		return m
	})
	for _, q := range text.Quantities(s) {
		a := amount{Quantity: q, kind: q.Unit}
		if text.StopWords()[a.kind] {
			a.kind = ""
		}
		written := text.UnitBehind(s[q.To:])
		factor, kind := text.BaseUnit(written)
		if kind != "" {
			a.kind, a.Value = kind, q.Value*factor
		}
		if thousandOrFraction.MatchString(s[q.Span.From:q.To]) {
			a.also = a.Value / 1000
		}
		rest := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s[q.To:], " -"), written), " -")
		a.every = every.before.MatchString(s[:q.Span.From]) || every.behind.MatchString(rest)
		all = append(all, a)
	}
	return all
}

// agrees reports whether two amounts may be the same, in one of their readings.
func (a amount) agrees(o amount) bool {
	return a.anyReading(o, func(x, y text.Quantity) bool { return x.Agrees(y) })
}

// bearsOut reports whether an amount is so if the other one is, in one of their readings.
func (a amount) bearsOut(o amount) bool {
	return a.every == o.every && a.anyReading(o, func(x, y text.Quantity) bool { return x.BearsOut(y) })
}

func (a amount) anyReading(o amount, same func(x, y text.Quantity) bool) bool {
	x, y := a.Quantity, o.Quantity
	if same(x, y) {
		return true
	}
	if x.Value = a.also; a.also > 0 && same(x, y) {
		return true
	}
	x.Value, y.Value = a.Value, o.also
	return o.also > 0 && same(x, y)
}

// everyWords match what says that a time is between two of something.
type everyWords struct {
	unit   *regexp.Regexp // "every" and the word after it
	before *regexp.Regexp // before a number: "every"
	behind *regexp.Regexp // behind a unit: "intervals"
}

// everyIn returns the words of a language.
func everyIn(code string) everyWords {
	if e, is := everies()[code]; is {
		return e
	}
	return everies()["en"]
}

var everies = sync.OnceValue(func() map[string]everyWords {
	all := map[string]everyWords{}
	for _, code := range text.Languages() {
		table := text.TablesOf(code).FactCheck
		if len(table.Every)+len(table.Intervals) > 0 {
			every := `(?:^|\P{L})(?:` + cmp.Or(table.Every.String(), `[^\s\S]`) + `)`
			all[code] = everyWords{regexp.MustCompile(`(?i)` + every + ` \pL+`), regexp.MustCompile(`(?i)` + every + `\s*$`),
				regexp.MustCompile(`(?i)^(?:` + cmp.Or(table.Intervals.String(), `[^\s\S]`) + `)`)}
		}
	}
	return all
})

var (
	comparisons = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Comparisons })
	thanWords   = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Than })
)
