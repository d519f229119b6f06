package question

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// token is the smallest piece of a text that is replaced or kept. It is a word or, in scripts without spaces, a run of
// one kind or a single character.
type token struct {
	key        string
	start, end int // in bytes
	role       role
	kinds      kindSet
	glued      bool // no space precedes it
}

// role is what a token does in a question.
type role int

const (
	roleNew          role = iota // no table has it: usually the topic
	roleName                     // capitalised
	roleNumber                   //
	roleTime                     // a time
	roleQuestionWord             // it says what is asked: "who", "how many"
	roleKnown                    // in another table: "weather"
	roleFunctionWord             // it has no meaning of its own: "the"
	roleCount
)

// tokens divides a text. The words of context help to tell the language, which it also returns.
func tokens(s, context string) (all []token, language string) {
	if text.Unspaced(s) {
		return unspacedTokens(s, context)
	}
	words := text.Words(s)
	found, language := findKinds(s, words, true, context)
	for i, w := range words {
		if i > 0 && text.SameWord(words[i-1], w) {
			continue // the second half of a contraction
		}
		kinds := found[i]
		all = append(all, token{key: w.Key, start: w.Start, end: w.End, kinds: kinds, role: roleOf(w, i, kinds)})
	}
	for i := range words { // time expressions of several words
		if n := timeAt(words, i); n > 0 {
			for j := range all {
				if words[i].Start <= all[j].start && all[j].end <= words[i+n-1].End {
					all[j].role = roleTime
				}
			}
		}
	}
	return all, language
}

func roleOf(w text.Word, at int, kinds kindSet) role {
	switch {
	case kinds&timeKindSet() != 0, isWeekday(w.Key), len(w.Key) == 4 && text.YearPattern.MatchString(w.Key):
		return roleTime
	case text.Numeric(w.Key):
		return roleNumber
	case w.Upper && at > 0 && w.Key != "i":
		return roleName
	case kinds&questionKindSet() != 0:
		return roleQuestionWord
	case isFunctionWord(w):
		return roleFunctionWord
	case kinds&^thingKindSet() != 0:
		return roleKnown
	}
	return roleNew
}

// isFunctionWord reports whether a word has no meaning of its own.
func isFunctionWord(w text.Word) bool {
	return text.StopWords()[w.Key] || text.Prepositions()[w.Key] || articles()[w.Key] || len([]rune(w.Key)) <= 2 && !text.Numeric(w.Key)
}

// particles are function words of one character, which no table has.
const particles = "はがをにでとものへや的吗呢了是在"

// unspacedTokens divides a text without spaces where the kind of its characters changes. An ideograph that no table has
// is a token of its own.
func unspacedTokens(s, context string) (all []token, language string) {
	found, language := findKinds(s, nil, false, context)
	at, before, spaced := 0, rune(0), true
	for i, r := range s {
		kinds := found[at]
		at++
		if !text.InWord(r) && r != 'ー' {
			before, spaced = 0, true
			continue
		}
		end := i + len(string(r))
		if n := len(all); n > 0 && before != 0 && (joins(before, r, all[n-1].kinds, kinds) || language == "ja" && kinds == 0 && all[n-1].kinds == 0 && ideograph(before) && ideograph(r)) {
			all[n-1].end = end
			all[n-1].kinds |= kinds
		} else {
			all = append(all, token{start: i, end: end, kinds: kinds, glued: !spaced})
		}
		before, spaced = r, false
	}
	for i := range all {
		c := &all[i]
		c.key = strings.ToLower(s[c.start:c.end])
		switch runes := []rune(c.key); {
		case c.kinds&timeKindSet() != 0, text.YearPattern.MatchString(c.key):
			c.role = roleTime
		case unicode.IsDigit(runes[0]):
			c.role = roleNumber
		case c.kinds&questionKindSet() != 0:
			c.role = roleQuestionWord
		case c.kinds&^thingKindSet() != 0:
			c.role = roleKnown
		case len(runes) == 1 && strings.ContainsRune(particles, runes[0]):
			c.role = roleFunctionWord
		}
	}
	return all, language
}

// joins reports whether a character continues the token before it.
func joins(before, r rune, left, right kindSet) bool {
	switch {
	case unicode.Is(unicode.Hangul, r) || unicode.Is(unicode.Hangul, before):
		return unicode.IsLetter(before) == unicode.IsLetter(r) || unicode.IsDigit(before) // a word, even if the tables have its parts
	case left != 0 || right != 0:
		return left == right
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return false
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return unicode.Is(unicode.Katakana, before) || before == 'ー'
	}
	return r < 0x3000 && before < 0x3000 // Latin letters and digits
}

// ideograph reports whether r is one of the letters that most Japanese nouns are made of.
func ideograph(r rune) bool { return unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' }

// roleSet is a set of roles and kindSet a set of kinds of words, with a bit for each.
type (
	roleSet uint16
	kindSet uint64
)

var roleNames = []string{"fresh", "name", "number", "moment", "asks", "known", "small"}

// kindNames are the kinds of words in the language files, with a bit for each.
var kindNames = sync.OnceValue(func() []string {
	all := text.AllTables()
	return slices.Concat(slices.Sorted(maps.Keys(all.Speech)), slices.Sorted(maps.Keys(all.Things)))
})

// thingKinds returns the kinds of things that may take each other's place.
var thingKinds = sync.OnceValue(func() KindTable {
	return ReadKinds(func(t *text.Tables) map[string]text.PhraseList { return t.Things })
})

// thingKindSet has the kinds of things. They tell no role.
var thingKindSet = sync.OnceValue(func() kindSet { return kindSetOf(slices.Sorted(maps.Keys(text.AllTables().Things))...) })

func kindSetOf(names ...string) (all kindSet) {
	for _, name := range names {
		all |= 1 << slices.Index(kindNames(), name)
	}
	return all
}

// The kinds of question words and of times.
var (
	questionKindSet = sync.OnceValue(func() kindSet {
		return kindSetOf("who", "what", "when", "where", "which", "why", "how", "many", "aux", "fetch")
	})
	timeKindSet = sync.OnceValue(func() kindSet { return kindSetOf("time") })
	whoKindSet  = sync.OnceValue(func() kindSet { return kindSetOf("who") })
)

func rolesIn(all []token) (of roleSet) {
	for i := range all {
		of |= 1 << all[i].role
	}
	return of
}

func kindsIn(all []token) (of kindSet) {
	for i := range all {
		of |= all[i].kinds
	}
	return of
}

// emit receives a trait by the two parts of its name, and its value. Joining them would cost more than the model does.
type emit func(of, name string, value float64)

// given emits a trait that is present.
func (e emit) given(name string, seen bool) {
	if seen {
		e(name, "", 1)
	}
}

// roles emits a trait for each role in a set.
func (e emit) roles(of string, all roleSet) {
	for ; all != 0; all &= all - 1 {
		e(of, roleNames[bits.TrailingZeros16(uint16(all))], 1)
	}
}

// kinds emits a trait for each kind in a set.
func (e emit) kinds(of string, all kindSet) {
	for ; all != 0; all &= all - 1 {
		e(of, kindNames()[bits.TrailingZeros64(uint64(all))], 1)
	}
}

// traits emits the traits of a message that are the same for all completions by one method.
func (r *pair) traits(of method, e emit) {
	prefix := [...]string{replaces: "swap ", appends: "add "}[of]
	first, last, has := r.said[0], r.said[len(r.said)-1], rolesIn(r.said)
	one := func(name string, seen bool) {
		if seen {
			e(prefix, name, 1)
		}
	}
	e(prefix, "at all", 1)
	e.roles(prefix+"said has ", has)
	if has&(has-1) == 0 {
		e.roles(prefix+"said all ", has)
	}
	e(prefix+"said first ", roleNames[first.role], 1)
	e(prefix+"said last ", roleNames[last.role], 1)
	e.kinds(prefix+"said kind ", kindsIn(r.said))
	one("opened", r.opened)
	one("ended", r.ended)
	one("opened and asks", (r.opened || r.ended) && has&(1<<roleQuestionWord) != 0)
	one("one", len(r.said) == 1)
	one("two, one known", len(r.said) == 2 && has&(1<<roleKnown) != 0)
	one("article", articles()[first.key])
	one("preposition", text.Prepositions()[first.key])
	one("question", r.u.HasQuestionMark())
	one("pronoun", r.hasPronoun)
	e(prefix, "words", float64(min(r.wordCount(), 6))/3)
}

// rolePairs has the names of two roles on both sides of a sign. The last role is the end of the question.
type rolePairs = [roleCount + 1][roleCount + 1]string

var (
	edges    = sync.OnceValue(func() *rolePairs { return pairsOf("|") })
	swapsFor = sync.OnceValue(func() *rolePairs { return pairsOf(" for ") })
)

func pairsOf(sign string) *rolePairs {
	var all rolePairs
	names := append(slices.Clone(roleNames), "end")
	for i, left := range names {
		for j, right := range names {
			all[i][j] = left + sign + right
		}
	}
	return &all
}

// edge returns the name of the roles on both sides of an index in the question.
func (r *pair) edge(at int) string {
	left, right := roleCount, roleCount
	if at > 0 {
		left = r.before[at-1].role
	}
	if at < len(r.before) {
		right = r.before[at].role
	}
	return edges()[left][right]
}

// traits emits the traits of a completion.
func (r *completion) traits(e emit) {
	switch {
	case r.method == replaces && r.from == r.to:
		e("swap nothing", "", 1)
		e.roles("swap nothing for ", rolesIn(r.pair.said))
	case r.method == replaces:
		r.replaceTraits(e)
		r.wordTraits(e)
	case r.method == appends:
		r.appendTraits(e)
	}
}

func (r *completion) replaceTraits(e emit) {
	p := r.pair
	span := p.before[r.from:r.to]
	first, last := span[0], span[len(span)-1]
	has, said := rolesIn(span), rolesIn(p.said)
	e.roles("swap has ", has)
	e("swap first ", roleNames[first.role], 1)
	e("swap last ", roleNames[last.role], 1)
	e.roles("swap leaves ", rolesIn(p.before[:r.from])|rolesIn(p.before[r.to:]))
	for of := has; of != 0; of &= of - 1 {
		i := bits.TrailingZeros16(uint16(of))
		for with := said; with != 0; with &= with - 1 {
			e("swap ", swapsFor()[bits.TrailingZeros16(uint16(with))][i], 1)
		}
	}
	if only := said &^ (1<<roleFunctionWord | 1<<roleQuestionWord); only&(only-1) == 0 && only != 0 {
		of := bits.TrailingZeros16(uint16(only))
		for old := has &^ only; old != 0; old &= old - 1 {
			e("swap only ", swapsFor()[of][bits.TrailingZeros16(uint16(old))], 1)
		}
		e.given("swap only "+roleNames[of]+" for none", has&only == 0)
	}
	if things, mine := kindsIn(span)&thingKindSet(), kindsIn(p.said)&thingKindSet(); things == 0 {
		e.kinds("swap for no thing ", mine)
	}
	const distinct roleSet = 1<<roleTime | 1<<roleNumber | 1<<roleName
	e.roles("swap misses ", distinct&said&rolesIn(p.before)&^has)
	const content roleSet = 1<<roleFunctionWord - 1
	e.given("swap same roles", has&content == said&content)
	e.kinds("swap kind ", kindsIn(span))
	things, mine := kindsIn(span)&thingKindSet(), kindsIn(p.said)&thingKindSet()
	e.given("swap same thing", things&mine != 0)
	e.given("swap other thing", things != 0 && mine != 0 && things&mine == 0)
	e.given("swap misses thing", mine&kindsIn(p.before)&^things != 0)
	e.given("swap thing for none", things != 0 && mine == 0)
	same := kindsIn(span)&kindsIn(p.said) != 0
	e.given("swap same kind", same)
	e.given("swap misses kind", !same && kindsIn(p.before)&kindsIn(p.said) != 0)
	e("swap from ", p.edge(r.from), 1)
	e("swap to ", p.edge(r.to), 1)
	e.given("swap all", r.from == 0 && r.to == len(p.before))
	e.given("swap at end", r.to == len(p.before))
	e.given("swap at start", r.from == 0)
	e.given("swap one for one", len(span) == 1 && len(p.said) == 1)
	longer := len(span) - len(p.said)
	if p.unspaced {
		longer = utf8.RuneCountInString(p.p.Text[first.start:last.end]) - utf8.RuneCountInString(p.insert)
	}
	e("swap length", "", float64(min(max(longer, -longer), 4)))
	e("swap longer", "", float64(max(0, len(span)-len(p.said))))
	if cuts := r.cutRuns(); cuts > 0 {
		e("swap cuts", "", cuts)
		if p.unspaced {
			e("swap cuts unspaced", "", cuts)
		}
	}
	e.given("swap last fresh", r.isNewRun(true))
	e.given("swap first fresh", r.isNewRun(false))
}

// wordTraits emits how the words of a fragment resemble the words that it replaces.
func (r *completion) wordTraits(e emit) {
	p := r.pair
	span := p.before[r.from:r.to]
	first, last, by, end := span[0].key, span[len(span)-1].key, p.said[0].key, p.said[len(p.said)-1].key
	behind := ""
	if r.from > 0 {
		behind = p.before[r.from-1].key
	}
	opens, opened := text.Prepositions()[by], text.Prepositions()[first]
	samePreposition := opens && plainPreposition(first) == plainPreposition(by)
	e.given("swap same preposition", samePreposition && len(span) > 1)
	if opens && rolesIn(p.said)&(1<<roleName|1<<roleNumber) == 0 {
		e.roles("swap for a condition ", rolesIn(span))
	}
	e.given("swap preposition for none", opened && !opens)
	e.given("swap none for preposition", !opened && opens)
	e.given("swap behind preposition", !opens && text.Prepositions()[behind])
	e.given("swap doubles preposition", opens && text.Prepositions()[behind])
	e.given("swap misses preposition", opens && !samePreposition && slices.ContainsFunc(p.before, func(c token) bool { return plainPreposition(c.key) == plainPreposition(by) }))
	e.given("swap article for article", articles()[by] && articles()[first])
	e.given("swap none for article", articles()[by] && !articles()[first])
	e.given("swap article for none", !articles()[by] && articles()[first])
	e.given("swap doubles article", articles()[by] && articles()[behind])
	e.given("swap same ending", sameEnding(last, end))
	e.given("swap same last letter", lastRune(last) == lastRune(end))
	e.given("swap same last", last == end)
	e.given("swap same first", first == by)
	if n := r.repeated(); n > 0 {
		e("swap says twice", "", n)
	}
}

func (r *completion) appendTraits(e emit) {
	p := r.pair
	span, left, right := p.before[r.from:r.to], p.before[:r.from], p.before[r.to:]
	out, has := rolesIn(left)|rolesIn(right), rolesIn(span)
	e.roles("add leaves out ", out)
	e.roles("add leaves out right ", rolesIn(right))
	e.roles("add leaves out all ", out&^has)
	if asks := rolesIn(p.said)&(1<<roleQuestionWord) != 0; asks {
		e.roles("add asks and leaves out ", out)
	} else {
		e.roles("add tells and leaves out ", out)
	}
	things, mine := (kindsIn(left)|kindsIn(right))&thingKindSet(), kindsIn(p.said)&thingKindSet()
	e.given("add leaves out thing", things != 0)
	e.given("add leaves out same thing", things&mine != 0)
	e.given("add keeps same thing", kindsIn(span)&mine != 0)
	e("add first ", roleNames[span[0].role], 1)
	e("add last ", roleNames[span[len(span)-1].role], 1)
	e("add from ", p.edge(r.from), 1)
	e("add to ", p.edge(r.to), 1)
	e.kinds("add keeps kind ", kindsIn(span))
	e.kinds("add leaves out kind ", kindsIn(left)|kindsIn(right))
	e.given("add first article", articles()[span[0].key])
	e.given("add first preposition", text.Prepositions()[span[0].key])
	if len(left) > 0 {
		e.given("add behind article", articles()[left[len(left)-1].key])
		e.given("add behind preposition", text.Prepositions()[left[len(left)-1].key])
	}
	if n := len(left); n < 3 {
		e("add cuts ", "012"[n:n+1], 1)
	}
	if n := len(right); n < 3 {
		e([...]string{"add cuts 0", "add cuts 1", "add cuts 2"}[n], " at end", 1)
	}
	if len(left)+len(right) == 0 {
		e("add whole", "", 1)
		e.given("add whole of who", span[0].kinds&whoKindSet() != 0)
		e.given("add whole and pronoun", r.pair.hasPronoun)
	}
	if cuts := r.cutRuns(); cuts > 0 {
		e("add cuts", "", cuts)
	}
	e("add length", "", float64(min(len(span), 8))/4)
}
