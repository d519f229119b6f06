package need

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/linear"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// SpokenFeatures returns the features of a message for the model of all languages, for training.
func SpokenFeatures(message string) []linear.Feature {
	spoken, _, _ := SpokenText(message)
	return byRules(spoken, nil).spoken(utterance.Parse(spoken, nil))
}

// Asked is how likely a message needs the web, by the features that [SpokenFeatures] found, whatever its language.
func (m Models) Asked(features []linear.Feature) float64 {
	return 1 - m.noneOf(m.Spoken.Classify(features))
}

// spoken are the features of a message in any language: its words, the characters in them, their kinds, and what the rules found.
func (n Need) spoken(u utterance.Utterance) []linear.Feature {
	s := &featureSet{seen: make(map[string]bool, 512)}
	all := tokens(u.Text)
	s.addSpelling(all)
	words := unmarked(all)
	s.addLength(words)
	s.addKinds(words)
	s.addFound(n, u)
	return s.list
}

// token is a word as it is spelled, a run of characters of a script without spaces, or a mark.
type token struct {
	runes []rune
	mark  bool
	group group
}

// group is what neighbouring characters have to share to be of one word.
type group int

const (
	none group = iota
	letters
	ideographs
	marks
)

// maxTokens and maxRun are how much of a message is looked at: more than any has that the model was trained on.
const (
	maxTokens = 60
	maxRun    = 40
)

// tokens are the words and marks of a text in lower case, without accents; every digit is a 0, every picture the same.
func tokens(s string) (all []token) {
	before := none
	for _, r := range text.Unaccented(strings.ToLower(s)) {
		r, g := folded(r)
		last := len(all) - 1
		switch {
		case g == none:
		case g == marks:
			if last < 0 || !all[last].mark || all[last].runes[0] != r {
				all = append(all, token{runes: []rune{r}, mark: true, group: g})
			}
		case g != before:
			all = append(all, token{runes: []rune{r}, group: g})
		case len(all[last].runes) < maxRun:
			all[last].runes = append(all[last].runes, r)
		}
		before = g
	}
	return all[:min(len(all), maxTokens)]
}

// folded returns the character that stands for one, and its group.
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

func unmarked(all []token) (words []string) {
	for _, t := range all {
		if !t.mark {
			words = append(words, string(t.runes))
		}
	}
	return words
}

// addSpelling adds words, pairs of words, what stands at both ends, and runs of characters.
func (s *featureSet) addSpelling(all []token) {
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
	words := unmarked(all)
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

// runWeight is the value of a run of letters, where that of a word is 1.
const runWeight = 0.5

// addRuns adds the runs of characters of a word.
func (s *featureSet) addRuns(t token) {
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

// addLength adds how long a message is, in words.
func (s *featureSet) addLength(words []string) {
	n := len(words)
	if joined := strings.Join(words, ""); text.Unspaced(joined) {
		n = len([]rune(joined)) / 2
	}
	s.add(fmt.Sprint("about as long as ", min(n, 20)/2*2), 1)
	s.add("length", math.Log1p(float64(n)))
}

// addKinds adds the kinds of the words in the language that knows most of them, each alone and with each other one, and those in English,
// which is mixed into all.
func (s *featureSet) addKinds(words []string) {
	found := kindsOf().find(words)
	language, most := mostFound(found)
	if language == "" {
		s.add("kind none", 1)
		return
	}
	for _, k := range kinds(found["en"]) {
		s.add("english "+k, 1)
	}
	all, last := kinds(found[language]), 0
	for i, k := range all {
		s.add("kind "+k, 1)
		for _, other := range all[i+1:] {
			s.add("kinds "+k+" "+other, 1)
		}
	}
	counts := map[string]int{}
	for _, f := range found[language] {
		counts[f.kind]++
		last = max(last, f.at)
	}
	for _, f := range found[language] {
		if counts[f.kind] > 1 {
			s.add("kind again "+f.kind, 1)
		}
		if f.at < 2 {
			s.add(fmt.Sprint("kind at ", f.at, " ", f.kind), 1)
		}
		if f.at == last {
			s.add("kind last "+f.kind, 1)
		}
	}
	s.add(fmt.Sprint("of no kind ", min(4, len(words)-most)), 1)
}

// mostFound returns the language in which most words have kinds, and how many.
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

// kinds are those that were found, each once.
func kinds(found []foundKind) (all []string) {
	for _, f := range found {
		all = append(all, f.kind)
	}
	return text.Unique(all)
}

// addFound adds what the rules found.
func (s *featureSet) addFound(n Need, u utterance.Utterance) {
	form := "form " + cmp.Or(string(u.Form()), "none")
	s.add(form, 1)
	for _, c := range n.Cues {
		s.add(form+" rule "+cueName(c), 1)
	}
	s.addRules(n, u)
}
