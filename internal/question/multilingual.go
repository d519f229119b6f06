package question

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// MultilingualFeatures returns the features of a message for the multilingual model, for training.
func MultilingualFeatures(message string) []text.Feature {
	spoken, _, _ := spokenText(message)
	return byRules(spoken, nil).multilingualFeatures(Parse(spoken, nil))
}

// needsWeb returns how likely a message in any language needs the web, by its [MultilingualFeatures].
func (m Models) needsWeb(features []text.Feature) float64 {
	return 1 - m.noneOf(m.Multilingual.Classify(features))
}

// multilingualFeatures returns the words of a message, the characters and kinds of its words, and the findings of the
// rules.
func (n Need) multilingualFeatures(u Utterance) []text.Feature {
	s := newFeatureSet(4 * len(u.Text))
	all := spell(u.Text)
	s.addSpelling(all)
	words := withoutMarks(all)
	s.addLength(words)
	s.addKinds(SpeechKinds(), "", words)
	s.addFound(n, u)
	return s.list
}

// SpellingFeatures returns the spelling of a text as features: its words, pairs of them, its two ends, and character
// runs.
func SpellingFeatures(s string) []text.Feature {
	set := newFeatureSet(3 * len(s))
	set.addSpelling(spell(s))
	return set.list
}

// spelledToken is a word, a run of characters of a script without spaces, or a punctuation mark.
type spelledToken struct {
	runes []rune
	mark  bool
	group group
}

// group is what neighbouring characters share within one word.
type group int

const (
	none group = iota
	letters
	ideographs
	marks
)

// maxTokens and maxRun limit how much of a message is read. No message of the training is as long.
const (
	maxTokens = 60
	maxRun    = 40
)

// spell returns the words and marks of a text in lower case, without accents. All digits become 0, all pictures the same
// one.
func spell(s string) (all []spelledToken) {
	before := none
	for _, r := range text.Unaccented(strings.ToLower(s)) {
		r, g := folded(r)
		last := len(all) - 1
		switch {
		case g == none:
		case g == marks:
			if last < 0 || !all[last].mark || all[last].runes[0] != r {
				all = append(all, spelledToken{runes: []rune{r}, mark: true, group: g})
			}
		case g != before:
			all = append(all, spelledToken{runes: []rune{r}, group: g})
		case len(all[last].runes) < maxRun:
			all[last].runes = append(all[last].runes, r)
		}
		before = g
	}
	return all[:min(len(all), maxTokens)]
}

// folded returns the character that represents r, and its group.
func folded(r rune) (rune, group) {
	switch {
	case unicode.IsDigit(r):
		return '0', letters
	case r == 'ı':
		return 'i', letters
	case r == 'ł':
		return 'l', letters
	case r == 'ー', unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return r, ideographs
	case unicode.IsLetter(r), unicode.IsMark(r):
		return r, letters
	case r == '?', r == '？', r == '¿':
		return '?', marks
	case r == '!', r == '！', r == '¡':
		return '!', marks
	case unicode.In(r, unicode.So, unicode.Sk):
		return '☺', marks
	}
	return 0, none
}

func withoutMarks(all []spelledToken) (words []string) {
	for _, t := range all {
		if !t.mark {
			words = append(words, string(t.runes))
		}
	}
	return words
}

// addSpelling adds words, pairs of words, the words at both ends, and character runs.
func (s *featureSet) addSpelling(all []spelledToken) {
	var keys []string
	for _, t := range all {
		keys = append(keys, string(t.runes))
		s.addRuns(t)
	}
	for i, k := range keys {
		s.add("word "+k, 1)
		if i > 0 {
			s.add("words "+keys[i-1]+" "+k, 1)
		}
	}
	s.addPrefixes("begins ", keys)
	words := withoutMarks(all)
	for i := range min(2, len(words)) {
		s.add("ends "+strings.Join(words[len(words)-1-i:], " "), 1)
	}
	if joined := strings.Join(words, ""); text.Unspaced(joined) {
		runes := []rune(joined)
		for i := 1; i <= min(5, len(runes)); i++ {
			s.add("begins "+string(runes[:i]), 1)
			s.add("ends "+string(runes[len(runes)-i:]), 1)
		}
	}
}

// runWeight is the value of a run of letters. A whole word has the value 1.
const runWeight = 0.5

// addRuns adds the character runs of a word.
func (s *featureSet) addRuns(t spelledToken) {
	if t.mark {
		return
	}
	runes, shortest, longest, weight := t.runes, 1, 4, 1.0
	if t.group == letters {
		runes, weight = slices.Concat([]rune{'<'}, t.runes, []rune{'>'}), runWeight
		if !unicode.Is(unicode.Hangul, t.runes[0]) {
			shortest, longest = 2, 5
		}
	}
	for n := shortest; n <= longest; n++ {
		for i := 0; i+n <= len(runes); i++ {
			s.add("run "+string(runes[i:i+n]), weight)
		}
	}
}

// addLength adds the length of a message, in words.
func (s *featureSet) addLength(words []string) {
	n := len(words)
	if joined := strings.Join(words, ""); text.Unspaced(joined) {
		n = len([]rune(joined)) / 2
	}
	s.add(fmt.Sprint("about as long as ", min(n, 20)/2*2), 1)
	s.add("length", math.Log1p(float64(n)))
}

// Features returns the kinds of the words of a text as features. Their names begin with of.
func (t KindTable) Features(of, s string) []text.Feature {
	set := newFeatureSet(32)
	set.addKinds(t, of, spelledWords(s))
	return set.list
}

// In returns the kinds of the words of a text, each once, in the language that knows most of them.
func (t KindTable) In(s string) []string {
	found := t.find(spelledWords(s))
	language, _ := mostFound(found)
	return kinds(found[language])
}

// addKinds adds the kinds of the words in the language that knows most of them, alone and in pairs. It also adds the
// kinds in English, which people mix into all languages.
func (s *featureSet) addKinds(table KindTable, of string, words []string) {
	found := table.find(words)
	language, most := mostFound(found)
	if language == "" {
		s.add(of+"kind none", 1)
		return
	}
	for _, k := range kinds(found["en"]) {
		s.add(of+"english "+k, 1)
	}
	all, last := kinds(found[language]), 0
	for i, k := range all {
		s.add(of+"kind "+k, 1)
		for _, other := range all[i+1:] {
			s.add(of+"kinds "+k+" "+other, 1)
		}
	}
	counts := map[string]int{}
	for _, f := range found[language] {
		counts[f.kind]++
		last = max(last, f.at)
	}
	for _, f := range found[language] {
		if counts[f.kind] > 1 {
			s.add(of+"kind again "+f.kind, 1)
		}
		if f.at < 2 {
			s.add(fmt.Sprint(of, "kind at ", f.at, " ", f.kind), 1)
		}
		if f.at == last {
			s.add(of+"kind last "+f.kind, 1)
		}
	}
	s.add(fmt.Sprint(of, "of no kind ", min(4, len(words)-most)), 1)
}

// mostFound returns the language that knows most words, and how many.
func mostFound(found map[string][]foundKind) (language string, most int) {
	for _, code := range slices.Sorted(maps.Keys(found)) {
		at := map[int]bool{}
		for _, f := range found[code] {
			at[f.at] = true
		}
		if len(at) > most {
			language, most = code, len(at)
		}
	}
	return language, most
}

// kinds returns the kinds that were found, each once.
func kinds(found []foundKind) (all []string) {
	for _, f := range found {
		all = append(all, f.kind)
	}
	return text.Unique(all)
}

// addFound adds the findings of the rules.
func (s *featureSet) addFound(n Need, u Utterance) {
	form := "form " + cmp.Or(string(u.Form()), "none")
	s.add(form, 1)
	for _, c := range n.Cues {
		s.add(form+" rule "+cueName(c), 1)
	}
	s.addRules(n, u)
}

// The kinds of words are the same in all languages: "who", "you", "weather", "device". What the model learns of a kind in one language
// helps in all others. It helps even with words that no message of the training has.

// wordKind is a kind of word in a language.
type wordKind struct{ language, kind string }

// KindTable has the kinds of words and phrases. In the language files, "regen*" matches a beginning and "*sin" an
// ending. Words of scripts without spaces match anywhere.
type KindTable struct {
	whole, beginning, ending, inside map[string]uint16 // indices of sets
	sets                             [][]wordKind      // a few hundred, for thousands of phrases; the first is empty
	longest                          int               // key of inside, in characters
}

const maxPhrase = 4 // words

// SpeechKinds returns the kinds that tell what a message is about.
var SpeechKinds = sync.OnceValue(func() KindTable {
	return ReadKinds(func(t *text.Tables) map[string]text.PhraseList { return t.Speech })
})

// ReadKinds reads a table of kinds in the files of all languages.
func ReadKinds(of func(*text.Tables) map[string]text.PhraseList) KindTable {
	t := KindTable{whole: map[string]uint16{}, beginning: map[string]uint16{}, ending: map[string]uint16{}, inside: map[string]uint16{}, sets: [][]wordKind{nil}}
	known := map[widened]uint16{}
	for _, code := range text.Languages() {
		table := of(text.TablesOf(code))
		for _, kind := range slices.Sorted(maps.Keys(table)) {
			for phrase := range strings.SplitSeq(string(table[kind]), ",") {
				t.add(phrase, wordKind{code, kind}, known)
			}
		}
	}
	return t
}

// widened is a set and a kind that is added to it.
type widened struct {
	set  uint16
	kind wordKind
}

// add adds a phrase of a kind. known are the sets that were made so far.
func (t *KindTable) add(phrase string, kind wordKind, known map[widened]uint16) {
	part, any := strings.CutSuffix(strings.TrimSpace(phrase), "*")
	tail, ends := strings.CutPrefix(part, "*")
	words := spelledWords(tail)
	key, in := strings.Join(words, " "), t.whole
	switch {
	case key == "":
		return
	case text.Unspaced(key):
		in = t.inside
		t.longest = max(t.longest, utf8.RuneCountInString(key))
	case any:
		in = t.beginning
	case ends:
		in = t.ending
	}
	old := widened{in[key], kind}
	if slices.Contains(t.sets[old.set], kind) {
		return
	}
	if known[old] == 0 {
		known[old] = uint16(len(t.sets))
		t.sets = append(t.sets, append(slices.Clip(t.sets[old.set]), kind))
	}
	in[key] = known[old]
}

// spelledWords returns the words of a text in the form that is compared.
func spelledWords(s string) []string { return withoutMarks(spell(s)) }

// foundKind is a kind and the range of words that has it. In scripts without spaces the range is in characters.
type foundKind struct {
	kind   string
	at, to int
}

// find returns the kinds of words, by language.
func (t KindTable) find(words []string) map[string][]foundKind {
	found := map[string][]foundKind{}
	add := func(set uint16, at, n int) {
		for _, k := range t.sets[set] {
			found[k.language] = append(found[k.language], foundKind{k.kind, at, at + n})
		}
	}
	for i, w := range words {
		for n := 1; n <= maxPhrase && i+n <= len(words); n++ {
			add(t.whole[strings.Join(words[i:i+n], " ")], i, n)
		}
		for at := range w {
			if at > 1 {
				add(t.beginning[w[:at]], i, 1)
			}
			if at > 0 {
				add(t.ending[w[at:]], i, 1)
			}
		}
		add(t.beginning[w], i, 1)
	}
	if all := strings.Join(words, " "); text.Unspaced(all) {
		runes := []rune(all)
		for i := range runes {
			for n := 1; n <= t.longest && i+n <= len(runes); n++ {
				add(t.inside[string(runes[i:i+n])], i, n)
			}
		}
	}
	return found
}

// findKinds returns the kinds of the words of s by index, or of its characters if spaced is false. It also returns the language that knows
// most of them. The words of context help to tell the language.
func findKinds(s string, words []text.Word, spaced bool, context string) (kinds map[int]kindSet, language string) {
	spelling := []string{strings.ToLower(s)}
	if spaced {
		spelling = nil
		for _, w := range words {
			spelling = append(spelling, strings.Join(spelledWords(s[w.Start:w.End]), " "))
		}
	}
	language, _ = mostFound(SpeechKinds().find(append(spelledWords(context), spelling...)))
	kinds = map[int]kindSet{}
	for _, f := range append(SpeechKinds().find(spelling)[language], thingKinds().find(spelling)[language]...) {
		if !spaced && f.to-f.at < 2 {
			continue // part of a name
		}
		for i := f.at; i < f.to; i++ {
			kinds[i] |= kindSetOf(f.kind)
		}
	}
	return kinds, language
}
