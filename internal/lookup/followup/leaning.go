package followup

import (
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// What no other rule completes leans on the question before it in one of four ways, which are the same in all languages: it doubts the answer,
// it asks for more of the same, it has something that takes the place of another thing in the question, "and in faro?", or it asks something
// else about what the question was about, "how old is he?".

// leaning are the words of one language.
type leaning struct {
	openings, doubts, failures, changes text.Phrases
	endings                             []string
}

var leanings = func() map[string]leaning {
	all := map[string]leaning{}
	for _, code := range lang.Codes() {
		l := lang.Of(code).Leaning
		all[code] = leaning{text.CompileOne(l.Openings), text.CompileOne(l.Doubts), text.CompileOne(l.Failures), text.CompileOne(l.Changes), fields(l.Endings)}
	}
	return all
}()

func fields(p lang.Phrases) (all []string) {
	for one := range strings.SplitSeq(string(p), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// The longest messages that lean, in words: one that opens like a fragment, one that doubts, and one that asks something else.
const (
	longestFragment  = 6
	longestDoubt     = 10
	longestAttribute = 8
)

// leansIn returns the words of the language of a message and the question before it, which must need the web, and the kinds of its words.
func leansIn(u utterance.Utterance, p prior) (l leaning, known need.Known, ok bool) {
	if text.Unspaced(u.Text) != text.Unspaced(p.raw) || len(p.Words) == 0 || need.Weigh(p.raw, nil).Score < need.Threshold {
		return l, known, false
	}
	known = need.KindsIn(u.Text, u.Words, true, p.raw)
	language := known.Language
	if isEnglish(u, p) {
		language = "en"
	}
	l, ok = leanings[language]
	return l, known, ok
}

// askAgain has the question asked again, where a message doubts its answer or says that it did not help.
func askAgain(u utterance.Utterance, p prior) (string, bool) {
	if text.Unspaced(u.Text) || len(u.Words) > longestDoubt {
		return "", false
	}
	l, known, ok := leansIn(u, p)
	if !ok {
		return "", false
	}
	said := map[int]bool{}
	for _, table := range [...]text.Phrases{l.doubts, l.failures} {
		for _, f := range u.Find(table) {
			for i := f.From; i < f.To; i++ {
				said[i] = true
			}
		}
	}
	if len(said) == 0 || isNew(u, p, known, said, 2) {
		return "", false
	}
	return p.raw, true
}

// lean completes a message from the question before it, where it leans on that.
func lean(u utterance.Utterance, p prior) (string, bool) {
	if text.Unspaced(u.Text) && text.Unspaced(p.raw) {
		return leanUnspaced(u, p)
	}
	l, known, ok := leansIn(u, p)
	if !ok || u.Has(l.changes) {
		return "", false
	}
	n, _ := l.openings.Prefix(u.Words)
	rest := u.Words[n:]
	if last := len(rest) - 1; n == 0 && last > 0 {
		if m, _ := l.openings.Prefix(rest[last:]); m == 1 {
			n, rest = 1, rest[:last]
		}
	}
	if _, owned := possessives[u.Words[min(n, len(u.Words)-1)].Key]; owned || len(rest) == 0 || reactions[rest[0].Key] || isNeighbour(rest) {
		return "", false // other rules know more of them
	}
	asks := asksItself(known, n*min(n, 1), len(u.Words))
	said := u.Text[rest[0].Start:rest[len(rest)-1].End]
	switch {
	case !asks && (n > 0 && len(rest) <= longestFragment || len(rest) <= 2 && u.HasQuestionMark()) && !isTalk(known, len(u.Words)):
		if isAttribute(known, u, rest) && p.alike(known.Kinds[len(u.Words)-len(rest)]) < 0 {
			return said + " " + p.subject(), true
		}
		return p.put(said, rest), true
	case len(rest) <= longestAttribute && !isNew(u, p, known, nil, 2) && need.Weigh(u.Text, nil).Score >= leastNeed:
		return said + " " + p.subject(), true
	}
	return "", false
}

// leastNeed is how much a question that names nothing must need the web, where half of all messages need less than 0.5.
const leastNeed = 0.3

// isTalk reports whether there is small talk, a feeling or an opinion in a fragment: "and thanks".
func isTalk(k need.Known, to int) bool {
	for i := range to {
		if k.Kinds[i]["talk"] || k.Kinds[i]["feel"] || k.Kinds[i]["opinion"] || k.Kinds[i]["i"] || k.Kinds[i]["you"] || k.Kinds[i]["order"] {
			return true
		}
	}
	return false
}

// isAttribute reports whether a fragment is what is asked for, and not what it is asked of: "its price?"
func isAttribute(k need.Known, u utterance.Utterance, rest []text.Word) bool {
	at := len(u.Words) - len(rest)
	return len(rest) == 1 && len(k.Kinds[at]) > 0 && !k.Kinds[at]["time"] && !rest[0].Upper
}

// asksItself reports whether words have a question of their own.
func asksItself(k need.Known, from, to int) bool {
	for i := from; i < to; i++ {
		for _, kind := range [...]string{"who", "what", "when", "where", "which", "why", "how", "many", "aux", "fetch"} {
			if k.Kinds[i][kind] {
				return true
			}
		}
	}
	return false
}

// isNew reports whether a message has a subject of its own: a name of two words, or as many words as that which no table knows, and which the
// question has not. One behind an article or a preposition, as in "the nile", counts twice; those that were understood do not count.
func isNew(u utterance.Utterance, p prior, known need.Known, understood map[int]bool, least int) bool {
	fresh := 0
	for i, w := range u.Words {
		if i > 1 && w.Upper && u.Words[i-1].Upper {
			return true
		}
		if isFresh(w, known.Kinds[i]) && !understood[i] && !slices.ContainsFunc(p.Words, func(v text.Word) bool { return v.Key == w.Key }) {
			fresh++
			if i > 0 && (articles[u.Words[i-1].Key] || text.Prepositions[u.Words[i-1].Key]) || w.Upper && i > 0 {
				fresh++
			}
		}
	}
	return fresh >= least
}

// small reports whether a word says nothing by itself.
func small(w text.Word) bool {
	return text.StopWords[w.Key] || text.Prepositions[w.Key] || len([]rune(w.Key)) <= 2 && !text.Numeric(w.Key)
}

// put puts a fragment into the question: in the place of a time, of what stands behind the same preposition, of a number, or of what no table
// knows. Where none of it is there, it follows the question.
func (p prior) put(rest string, added []text.Word) string {
	known := need.KindsIn(p.Text, p.Words, true, rest)
	fragment := need.KindsIn(rest, text.Words(rest), true, p.Text)
	if fragment.Kinds[len(added)-1]["time"] || isTime(added) {
		return p.putTime(rest, known)
	}
	if fragment.Kinds[0]["time"] && len(added) == 2 {
		return p.putTime(rest, known)
	}
	for i := len(p.Words) - 2; i > 0 && len(added) > 1; i-- {
		if plainPreposition(p.Words[i].Key) == plainPreposition(added[0].Key) && small(added[0]) && !known.Kinds[i+1]["time"] {
			return p.replace(i, p.freshEnd(i+1, known), rest)
		}
	}
	if at := p.numberFor(added); at > 0 {
		return p.replace(at, at+1, added[len(added)-1].Key)
	}
	if at := p.alike(fragment.Kinds[len(added)-1]); at >= 0 {
		return p.replace(at, at+1, rest)
	}
	if from, to := p.fresh(known); to > from {
		if !p.Words[from].Upper { // no more words than take their place: "petrol price italy"
			named := 0
			for _, w := range added {
				if !small(w) {
					named++
				}
			}
			from = max(from, to-max(named, 1))
		}
		return p.replace(from, to, rest)
	}
	return p.Text + " " + rest
}

// alike returns the first word of the question that is of the kind of a thing, one team for another, or -1.
func (p prior) alike(kinds map[string]bool) int {
	known := need.KindsIn(p.Text, p.Words, true, "")
	for i := range p.Words {
		for _, kind := range [...]string{"sport", "price", "home", "person", "place", "travel"} {
			if kinds[kind] && known.Kinds[i][kind] && len(known.Kinds[i]) == 1 && !(i > 0 && text.Prepositions[p.Words[i].Key]) {
				return i
			}
		}
	}
	return -1
}

// putTime puts a time in the place of another.
func (p prior) putTime(rest string, known need.Known) string {
	if p.timeTo > 0 {
		return p.replace(p.timeFrom, p.timeTo, rest)
	}
	for i := range p.Words {
		if known.Kinds[i]["time"] {
			from := i
			if i > 0 && small(p.Words[i-1]) {
				from--
			}
			return p.replace(from, i+1, rest)
		}
	}
	return p.Text + " " + rest
}

// fresh returns the range of the last words in a row that no table knows, which is what a question was asked about.
func (p prior) fresh(known need.Known) (from, to int) {
	for i := len(p.Words) - 1; i >= 0; i-- {
		if isFresh(p.Words[i], known.Kinds[i]) {
			to = i + 1
			for i > 0 && isFresh(p.Words[i-1], known.Kinds[i-1]) {
				i--
			}
			return i, to
		}
	}
	return 0, 0
}

// freshEnd returns where what stands behind a preposition ends.
func (p prior) freshEnd(from int, known need.Known) int {
	to := from + 1
	if small(p.Words[from]) && to < len(p.Words) {
		to++ // behind an article
	}
	for to < len(p.Words) && len(known.Kinds[to]) == 0 && !small(p.Words[to]) {
		to++
	}
	return to
}

func isFresh(w text.Word, kinds map[string]bool) bool { return len(kinds) == 0 && !small(w) }

// askingKinds are the kinds of words that say what is asked, and not of what.
var askingKinds = []string{"who", "what", "when", "where", "which", "why", "how", "many", "aux", "fetch", "talk", "you", "work", "release", "price", "life", "define", "stat"}

// subject returns what a question is about: all of it, without the words at both ends that ask.
func (p prior) subject() string {
	known := need.KindsIn(p.Text, p.Words, true, "")
	asks := func(i int) bool {
		return !(p.Words[i].Upper && i > 0) && (small(p.Words[i]) || slices.ContainsFunc(askingKinds, func(kind string) bool { return known.Kinds[i][kind] }))
	}
	from, to := 0, len(p.Words)
	for from < to && asks(from) {
		if known.Kinds[from]["many"] && from+2 < to && !small(p.Words[from+1]) {
			from++ // "how many seasons does …"
		}
		from++
	}
	for to > from && asks(to-1) {
		to--
	}
	if from >= to {
		return p.Text
	}
	return p.Text[p.Words[from].Start:p.Words[to-1].End]
}

// leanUnspaced is lean for scripts without spaces between words, or with particles glued to them.
func leanUnspaced(u utterance.Utterance, p prior) (string, bool) {
	s := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(u.Text), "?？!！~ㅋㅎwｗ。. "))
	runes := []rune(s)
	known := need.KindsIn(strings.Join(strings.Fields(s), " "), nil, false, p.raw)
	l, ok := leanings[known.Language]
	if !ok || u.Has(l.changes) || len(runes) > 3*longestAttribute {
		return "", false
	}
	rest := s
	for _, o := range l.openings.Inside {
		if after, cut := strings.CutPrefix(rest, o.Words[0]); cut && after != "" {
			rest = strings.TrimLeft(after, " 、,，")
			break
		}
	}
	ended := false
	for _, e := range l.endings {
		if before, cut := strings.CutSuffix(rest, e); cut && before != "" {
			rest, ended = before, true
			break
		}
	}
	asks := false
	for i := range runes {
		asks = asks || asksItself(known, i, i+1)
	}
	switch {
	case u.Has(l.doubts) && len(runes) <= 14, u.Has(l.failures):
		return p.raw, true
	case !asks && (ended || rest != s) && len([]rune(rest)) <= 10:
		if says := need.KindsIn(rest, nil, false, p.raw); len(says.Kinds) == len([]rune(rest)) && !says.Kinds[0]["time"] {
			return p.subjectUnspaced(s) + " " + rest, true
		}
		return p.putUnspaced(rest), true
	case asks || u.HasQuestionMark():
		if len(freshRun([]rune(s), known)) > 2 && !strings.Contains(p.raw, string(freshRun([]rune(s), known))) && !ended {
			return "", false
		}
		return p.subjectUnspaced(s) + " " + s, true
	}
	return "", false
}

// subjectUnspaced returns what a question is about: what no table knows.
func (p prior) subjectUnspaced(context string) string {
	if subject := freshRun([]rune(p.raw), need.KindsIn(p.raw, nil, false, context)); len(subject) > 1 {
		return string(subject)
	}
	return strings.TrimRight(p.raw, "?？ ")
}

// putUnspaced puts a fragment in the place of a time, or of what no table knows.
func (p prior) putUnspaced(rest string) string {
	raw := strings.TrimRight(strings.TrimSpace(p.raw), "?？ ")
	runes := []rune(raw)
	known := need.KindsIn(raw, nil, false, rest)
	if need.KindsIn(rest, nil, false, raw).Kinds[0]["time"] {
		for i := range runes {
			if known.Kinds[i]["time"] {
				to := i
				for to < len(runes) && known.Kinds[to]["time"] {
					to++
				}
				return string(runes[:i]) + rest + string(runes[to:])
			}
		}
		if known.Language == "ja" {
			return rest + japanese.Of + raw
		}
		return rest + " " + raw
	}
	if old := string(freshRun(runes, known)); old != "" {
		return strings.Replace(raw, old, rest, 1)
	}
	return rest + " " + raw
}

// particles stand between what a text says, and no table has them.
const particles = "はがをにでとのも的吗呢了是在。？、?!！"

// freshRun returns the longest run of characters that no table knows.
func freshRun(runes []rune, known need.Known) (longest []rune) {
	for i := 0; i < len(runes); {
		to := i
		for to < len(runes) && len(known.Kinds[to]) == 0 && !strings.ContainsRune(particles, runes[to]) {
			to++
		}
		if run := []rune(strings.TrimSpace(string(runes[i:to]))); len(run) > len(longest) {
			longest = run
		}
		i = to + 1
	}
	return longest
}
