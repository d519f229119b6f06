package question

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// completion is one way to complete a message from the question before it.
type completion struct {
	query    string
	method   method
	from, to int // tokens of the question that are replaced or kept
	pair     *pair
}

type method int

const (
	replaces method = iota // the message replaces something in the question, or is appended to all of it
	appends                // the message asks something else about the question's topic, and keeps a part of the question
)

// pair is a message and the question before it.
type pair struct {
	u            Utterance
	p            prior
	before, said []token // said is the message without its opening and ending
	opened       bool
	ended        bool
	insert       string // the text of said
	unspaced     bool
	hasPronoun   bool
	language     string
}

// newPair reads a message and the question before it. language is theirs, or "" if it is unclear.
func newPair(u Utterance, p prior, language string) *pair {
	r := &pair{u: u, p: p, unspaced: text.Unspaced(u.Text) || text.Unspaced(p.raw)}
	r.before, r.language = tokens(p.Text, u.Text)
	languages := []string{r.language}
	if language != "" && !r.unspaced {
		r.language, languages = language, []string{language, r.language}
	}
	s := u.Text
	if len(u.Words) > 0 {
		s = s[u.Words[0].Start:u.Words[len(u.Words)-1].End]
	}
	if r.unspaced {
		r.insert, r.opened, r.ended = cutUnspaced(strings.TrimSpace(s), fragmentWordsOf()[r.language])
	} else {
		r.insert, r.opened = cutOpening(s, languages)
	}
	r.said, _ = tokens(r.insert, p.Text)
	r.hasPronoun = hasPronoun(u)
	return r
}

// cutUnspaced cuts off the opening and the ending of a fragment.
func cutUnspaced(s string, l fragmentWords) (rest string, opened, ended bool) {
	rest = strings.TrimRight(s, "?？!！~ㅋㅎwｗ。.、 ")
	for _, o := range l.openings.Inside {
		if after, cut := strings.CutPrefix(rest, o.Words[0]); cut && after != "" {
			rest, opened = strings.TrimLeft(after, " 、,，"), true
			break
		}
	}
	for _, e := range l.endings {
		if before, cut := strings.CutSuffix(rest, e); cut && before != "" {
			return before, opened, true
		}
	}
	return rest, opened, false
}

// cutOpening cuts off the opening of a fragment in one of some languages. In Turkish it may be at the end.
func cutOpening(s string, languages []string) (rest string, opened bool) {
	words := text.Words(s)
	for _, code := range languages {
		l := fragmentWordsOf()[code]
		if n, _ := l.openings.Prefix(words); n > 0 && n < len(words) {
			return s[words[n].Start:], true
		}
		if last := len(words) - 1; last > 0 {
			if n, _ := l.openings.Prefix(words[last:]); n == 1 {
				return strings.TrimRight(s[:words[last].Start], " ,"), true
			}
		}
	}
	if n, _ := anyFragmentOpenings().Prefix(words); n > 0 && n < len(words) { // in another language
		if n == 1 && text.Prepositions()[words[0].Key] {
			return s, true
		}
		return s[words[n].Start:], true
	}
	return s, false
}

// Limits of completions, in tokens: how many are replaced, and how many are left out at either end.
const (
	maxReplaced = 5
	maxLeftOut  = 7
)

// completions returns all ways to complete a message.
func (r *pair) completions() (all []completion) {
	n := len(r.before)
	if n == 0 || len(r.said) == 0 {
		return nil
	}
	raw := r.p.Text
	space, things := " ", r.onlyThings()
	all = append(all, completion{raw + space + r.insert, replaces, n, n, r})
	for i := 0; i < n && ((r.opened || r.ended) && len(r.said) <= maxSwapped+1 || r.said[0].role != roleQuestionWord); i++ {
		for j := i + 1; j <= min(n, i+maxReplaced) && !r.splitsName(i); j++ {
			if !r.splitsName(j) && r.mayReplace(i, j) && !(things && r.asksIn(r.before[i:j])) {
				all = append(all, completion{raw[:r.before[i].start] + r.insert + raw[r.before[j-1].end:], replaces, i, j, r})
			}
		}
	}
	for i := 0; i < min(n, maxLeftOut) && !things; i++ {
		for j := n; j > i && j >= n-maxLeftOut; j-- {
			all = append(all, completion{r.insert + space + raw[r.before[i].start:r.before[j-1].end], appends, i, j, r})
		}
	}
	return all
}

// onlyThings reports whether the message only names something: "Bayern?". It then asks what the question asks.
func (r *pair) onlyThings() bool {
	if r.unspaced || len(r.said) > maxSwapped {
		return false
	}
	named := false
	for _, t := range r.said {
		switch {
		case t.role == roleName || t.role == roleNumber || t.role == roleNew && !proForms()[t.key]:
			named = true
		case t.role != roleFunctionWord || !articles()[t.key]:
			return false
		}
	}
	return named
}

// asksIn reports whether tokens of the question have a word that asks, or one for the speakers.
func (r *pair) asksIn(span []token) bool {
	return rolesIn(span)&(1<<roleQuestionWord) != 0 || slices.ContainsFunc(span, func(t token) bool { return t.key == "i" || t.key == "you" || text.Pronouns()[t.key] != "" })
}

// mayReplace reports whether the message may replace tokens of the question. A phrase with a preposition replaces one with the same
// preposition, or a place another place. "for children" does not replace "in Munich", and no common noun replaces a name.
func (r *pair) mayReplace(from, to int) bool {
	by, old, has, said := r.said[0].key, r.before[from].key, rolesIn(r.before[from:to]), rolesIn(r.said)
	if said&has&(1<<roleTime) != 0 || r.unspaced {
		return true
	}
	if said&(1<<roleTime) != 0 && has&(1<<roleName) != 0 {
		return false // a day does not take the place of a town
	}
	if startsSlot(by, r.language) {
		if !startsSlot(old, r.language) || plainPreposition(by) != plainPreposition(old) && !(swappablePrepositions()[by] && swappablePrepositions()[old]) {
			return false
		}
		return has&(1<<roleName) == 0 || said&(1<<roleName|1<<roleNumber) != 0
	}
	return true
}

// countRole counts the tokens with a role.
func countRole(tokens []token, of role) (n int) {
	for _, c := range tokens {
		if c.role == of {
			n++
		}
	}
	return n
}

// wordCount returns the number of words in the message, or an estimate.
func (r *pair) wordCount() int {
	if r.unspaced && !strings.Contains(r.insert, " ") {
		return (len([]rune(r.insert)) + 1) / 2
	}
	return len(r.said)
}

// splitsName reports whether an index is within a name. A name is replaced as a whole or not at all.
func (r *pair) splitsName(at int) bool {
	if at <= 0 || at >= len(r.before) {
		return false
	}
	from, to := at-1, at
	for from > 0 && at-from < 3 && nameParticles()[r.before[from].key] {
		from--
	}
	for to < len(r.before)-1 && to-at < 2 && from == at-1 && nameParticles()[r.before[to].key] {
		to++
	}
	if r.language == "de" && from > 0 && articles()[r.before[from-1].key] && to == from+1 {
		return false // "ein Kaninchen Spinat": two nouns
	}
	return r.before[from].role == roleName && r.before[to].role == roleName
}

// cutRuns returns how many runs, such as the words of a name, a completion cuts in two.
func (r *completion) cutRuns() (n float64) {
	all := r.pair.before
	together := func(i int) bool {
		if i <= 0 || i >= len(all) {
			return false
		}
		a, b := all[i-1].role, all[i].role
		if all[i].glued {
			return a == b && all[i].kinds == 0
		}
		return a == roleName && b == roleName || a == roleNew && b == roleNew || a == roleTime && b == roleTime
	}
	if r.from == r.to {
		return 0
	}
	return text.Indicator(together(r.from)) + text.Indicator(together(r.to))
}

// sameEnding reports whether two words have the same ending.
func sameEnding(a, b string) bool {
	x, y := []rune(a), []rune(b)
	return len(x) > 3 && len(y) > 3 && x[len(x)-1] == y[len(y)-1] && x[len(x)-2] == y[len(y)-2]
}

// repeated returns how many words of the message also stay in the question.
func (r *completion) repeated() (n float64) {
	for _, c := range r.pair.said {
		if c.role == roleFunctionWord {
			continue
		}
		for i, b := range r.pair.before {
			if (i < r.from || i >= r.to) && b.key == c.key {
				n++
				break
			}
		}
	}
	return min(n, 2)
}

// isNewRun reports whether the completion replaces exactly the last, or the first, run of words that no table has.
func (r *completion) isNewRun(last bool) bool {
	if r.from == r.to {
		return false
	}
	all := r.pair.before
	about := func(c token) bool { return c.role == roleNew || c.role == roleName }
	for _, c := range all[r.from:r.to] {
		if !about(c) {
			return false
		}
	}
	rest := all[r.to:]
	if !last {
		rest = all[:r.from]
	}
	return !slices.ContainsFunc(rest, about)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// A message that the rules cannot complete depends on the question before it in one of three ways. They are the same in all languages. It
// asks the same again, since it doubts the answer or wants more. It replaces something in the question: "and in faro?". Or it asks
// something else about the topic: "how old is he?".

// fragmentWords are the openings and endings of fragments in one language.
type fragmentWords struct {
	openings text.Phrases
	endings  []string
}

var fragmentWordsOf = sync.OnceValue(func() map[string]fragmentWords {
	all := map[string]fragmentWords{}
	for _, code := range text.Languages() {
		l := text.TablesOf(code).Dependent
		all[code] = fragmentWords{text.CompileOne(l.Openings), fields(l.Endings)}
	}
	return all
})

// anyFragmentOpenings are the openings of all languages.
var anyFragmentOpenings = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Dependent.Openings) })

func fields(p text.PhraseList) (all []string) {
	for one := range strings.SplitSeq(string(p), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// How a message relates to the question before it: the classes of the model.
const (
	kindAlone  = iota // it does not depend on it
	kindAgain         // it asks the same again: it doubts the answer, or wants more
	kindOnward        // it asks something else that depends on it
)

// FollowUpKinds are the names of the ways in which a message relates to the question before it.
var FollowUpKinds = []string{"alone", "again", "onward"}

// FollowUpFeatures returns the features of a message and the question before it, for training.
func FollowUpFeatures(message, before string) []text.Feature {
	return pairFeatures(readPair(message, before))
}

func readPair(message, before string) *pair {
	u, p := Parse(afterSmallTalk(message, nil), nil), parsePrior(before)
	return newPair(u, p, text.MessageLanguage(u.Text+" "+p.raw))
}

// Completion is one way to complete a message, for training.
type Completion struct {
	Query    string
	Features []text.Feature
}

// Completions returns all ways to complete a message from the question before it, for training.
func Completions(message, before string) (all []Completion) {
	for _, r := range readPair(message, before).completions() {
		one := Completion{Query: r.query}
		add := emit(func(of, name string, value float64) {
			one.Features = append(one.Features, text.Feature{Name: of + name, Value: value})
		})
		r.pair.traits(r.method, add)
		r.traits(add)
		all = append(all, one)
	}
	return all
}

// maxAlone is the probability of needing no completion from which a message is left alone.
const maxAlone = 0.5

// A message is alone for sure from sureAlone on. Below, it is asked with the words of both messages.
const sureAlone = 0.96

// sureAgain is the probability from which a message asks the same again though it has words of its own.
const sureAgain = 0.9

// Complete completes a message from the question before it, if it depends on it.
func (m Models) Complete(message, before string) (string, bool) {
	return m.complete(Parse(afterSmallTalk(message, nil), nil), parsePrior(before))
}

// completeByModel completes a message by the models alone.
func (m Models) completeByModel(r *pair) (string, bool) {
	if len(r.said) == 0 || len(r.before) == 0 {
		return "", false
	}
	if at := r.p.numberFor(text.Words(r.insert)); at > 0 && r.opened {
		return r.p.replace(at, at+1, r.insert[r.said[len(r.said)-1].start:]), true
	}
	if s, ok := r.p.otherModel(r.insert[r.said[len(r.said)-1].start:]); ok && r.opened && (len(r.said) == 1 || len(r.said) == 2 && r.said[0].role == roleFunctionWord) {
		return s, true
	}
	if s, ok := r.swap(); ok {
		return s, true
	}
	if s, ok := r.otherNumber(); ok {
		return s, true
	}
	odds := m.FollowUp.Classify(pairFeatures(r))
	switch {
	case odds[kindAlone] >= maxAlone && !(wantsMore(r.p.raw) && r.leans()):
		return "", false
	case odds[kindAlone] >= maxAlone && (!r.opened || countRole(r.said, roleQuestionWord) > 0):
		return r.both(), true
	case odds[kindAgain] > odds[kindOnward] && (r.lost(r.p.raw) == 0 || odds[kindAgain] > sureAgain || r.u.Form() != NoForm):
		if r.lost(r.p.raw) > 2 {
			return r.both(), true
		}
		return r.p.raw, true
	}
	s, ok := m.best(r.completions())
	if ok && r.lost(s) > 1 {
		return r.both(), true
	}
	return s, ok
}

// best returns the best completion, if there is one.
func (m Models) best(all []completion) (query string, ok bool) {
	sum, most, shared := 0.0, math.Inf(-1), map[method]float64{}
	add := emit(func(of, name string, value float64) { sum += m.Slot.Weight(0, of, name) * value })
	for i := range all {
		one := &all[i]
		if _, known := shared[one.method]; !known {
			sum = 0
			one.pair.traits(one.method, add)
			shared[one.method] = sum
		}
		sum = shared[one.method]
		one.traits(add)
		if sum > most {
			query, most, ok = one.query, sum, true
		}
	}
	return query, ok
}

// pairFeatures returns what the message says, and how it relates to the question.
func pairFeatures(r *pair) []text.Feature {
	all := MultilingualFeatures(r.u.Text)
	own := builtIn().needsWeb(all)
	if r.language == "en" {
		own = Assess(r.u.Text, nil).Score
	}
	add := func(of, name string, value float64) {
		if value != 0 {
			all = append(all, text.Feature{Name: "leans " + of + name, Value: value})
		}
	}
	r.messageTraits(add)
	r.sharedTraits(add)
	r.needTraits(add, own)
	return all
}

// messageTraits emits what the message says.
func (r *pair) messageTraits(e emit) {
	e.given("opened", r.opened)
	e.given("ended", r.ended)
	e.given("pronoun", r.hasPronoun)
	e.given("any pronoun", slices.ContainsFunc(r.u.Words, func(w text.Word) bool { return text.Pronouns()[w.Key] != "" }))
	e.given("question", r.u.HasQuestionMark())
	e.given("asks", countRole(r.said, roleQuestionWord) > 0)
	for of := range roleCount {
		n := countRole(r.said, of)
		e(fmt.Sprint("has ", min(n, 3), " "), roleNames[of], 1)
		e.given("all "+roleNames[of], n == len(r.said))
	}
}

// sharedTraits emits what the message and the question share.
func (r *pair) sharedTraits(e emit) {
	content, small, ofKind, kinds := 0, 0, 0, kindsIn(r.before)
	for _, c := range r.said {
		if c.kinds&kinds&^questionKindSet() != 0 {
			ofKind++
		}
		switch isShared := slices.ContainsFunc(r.before, func(b token) bool { return b.key == c.key }); {
		case !isShared:
		case c.role == roleFunctionWord || c.role == roleQuestionWord:
			small++
		default:
			content++
		}
	}
	e(fmt.Sprint("begins alike ", r.beginsAlike()), "", 1)
	e("shares", "", float64(min(content, 2)))
	e("shares small", "", float64(min(small, 3)))
	e("shares kind", "", float64(min(ofKind, 2)))
}

// needTraits emits the length of the message and how much it needs the web by itself.
func (r *pair) needTraits(e emit, own float64) {
	content := len(r.said) - countRole(r.said, roleFunctionWord) - countRole(r.said, roleQuestionWord)
	if r.unspaced && !strings.Contains(r.insert, " ") {
		content /= 2
	}
	words := r.wordCount()
	e("words", "", float64(min(words, 12))/4)
	e(fmt.Sprint("words ", min(words, 12)/2*2), "", 1)
	e(fmt.Sprint("content ", min(content, 6)), "", 1)
	e("need", "", own)
	e(fmt.Sprint("need ", int(own*5)), "", 1)
	e(fmt.Sprint("need and words ", int(own*3), min(words, 9)/3), "", 1)
}
