package question

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"familiar/internal/text"
)

// maxWords limits the words that have features. No message of the training has as many.
const maxWords = 200

// partWeight is the value of a part of a word. A whole word has the value 1.
const partWeight = 0.3

// NeedFeatures returns the features of an English message, for training.
func NeedFeatures(message string) []text.Feature {
	spoken, _, _ := spokenText(message)
	return byRules(spoken, nil).features(Parse(spoken, nil))
}

// featureSet holds each feature once, in the order of adding.
type featureSet struct {
	list []text.Feature
	seen map[string]bool
}

// newFeatureSet has room for about n features; few messages have 512.
func newFeatureSet(n int) *featureSet {
	n = min(n, 512)
	return &featureSet{list: make([]text.Feature, 0, n), seen: make(map[string]bool, n)}
}

func (s *featureSet) add(name string, value float64) {
	if !s.seen[name] {
		s.seen[name] = true
		s.list = append(s.list, text.Feature{Name: name, Value: value})
	}
}

// features returns the words of a message, their parts and order, and its form and length. It adds the findings of the rules.
func (n Need) features(u Utterance) []text.Feature {
	u.Words = u.Words[:min(len(u.Words), maxWords)]
	polite, _ := politePrefix(u.Words)
	u.Body = u.Words[polite:]
	s := newFeatureSet(10 * len(u.Words))
	s.addWords(u)
	s.addForm(n, u)
	s.addRules(n, u)
	s.add(fmt.Sprint("about as long as ", min(len(u.Words), 20)/2*2), 1)
	s.add("length", math.Log1p(float64(len(u.Words))))
	return s.list
}

// addWords adds words, pairs of words, parts of words, and the words at both ends and after the polite opening.
func (s *featureSet) addWords(u Utterance) {
	var keys []string
	for _, w := range u.Words {
		keys = append(keys, foldDigits(w.Key))
	}
	body := slices.Clip(keys[len(u.Words)-len(u.Body):])
	if strings.ContainsAny(u.Text, "?？") {
		keys = append(keys, "?")
	}
	if strings.Contains(u.Text, "!") {
		keys = append(keys, "!")
	}
	for i, k := range keys {
		s.add("word "+k, 1)
		if i > 0 {
			s.add("words "+keys[i-1]+" "+k, 1)
		}
		s.addParts(k)
	}
	s.addPrefixes("begins ", keys)
	s.addPrefixes("opens ", body)
	if len(keys) > 0 {
		s.add("ends "+keys[len(keys)-1], 1)
	}
}

// addParts adds the runs of three and four bytes of a word. A misspelt word shares most of them.
func (s *featureSet) addParts(key string) {
	key = "<" + key + ">"
	for n := 3; n <= 4; n++ {
		for i := 0; i+n <= len(key); i++ {
			s.add("part "+key[i:i+n], partWeight)
		}
	}
}

// addPrefixes adds the first word, the first two and the first three.
func (s *featureSet) addPrefixes(kind string, keys []string) {
	for i := range min(3, len(keys)) {
		s.add(kind+strings.Join(keys[:i+1], " "), 1)
	}
}

// addForm adds cues combined with the form of the sentence. "you" means something else in a question than in a request.
func (s *featureSet) addForm(n Need, u Utterance) {
	_, form := questionOpenings()["en"].Prefix(u.Body)
	form = "form " + cmp.Or(form, "none") + " "
	for _, w := range u.Body {
		if p := speakerPhrases().ByFirst[w.Key]; p != nil {
			s.add(form+p[0].Cue, 1)
		}
	}
	for i, w := range u.Words {
		if i > 0 && w.Upper && w.Key != "i" {
			s.add(form+"name", 1)
		}
	}
	for _, c := range n.Cues {
		s.add(form+"rule "+cueName(c), 1)
	}
}

// addRules adds the findings of the rules.
func (s *featureSet) addRules(n Need, u Utterance) {
	for _, c := range n.Cues {
		s.add("rule "+cueName(c), 1)
	}
	if n.Barred {
		s.add("rule barred", 1)
	}
	if n.Asks {
		s.add("rule asks", 1)
	}
	for _, t := range n.Topics {
		s.add("rule topic "+t, 1)
	}
	s.add("rule intent "+string(n.intentsByRules(u)[0].Name), 1)
	s.add("rules", logOdds(min(max(n.ruleScore, 0.001), 0.999))/2)
}

// cueName returns a cue without the details after the colon.
func cueName(cue string) string {
	name, _, _ := strings.Cut(cue, ":")
	return name
}

// foldDigits makes all numbers of one length the same word.
func foldDigits(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, key)
}
