package need

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"familiar/internal/linear"
	"familiar/internal/text"
)

// maxHeard is how many words of a message the models hear: what is longer than any example is no more telling.
const maxHeard = 200

// partly is what a piece of a word counts, beside the word itself.
const partly = 0.3

// sight is what the models see of a message, each thing once.
type sight struct {
	hints []linear.Feature
	seen  map[string]bool
}

func (s *sight) see(name string, value float64) {
	if !s.seen[name] {
		s.seen[name] = true
		s.hints = append(s.hints, linear.Feature{Name: name, Value: value})
	}
}

// hints are the words of a text, their pieces, their order, its form and length, and what the rules made of it.
func (n Need) hints(body string, words []text.Word) []linear.Feature {
	words = words[:min(len(words), maxHeard)]
	s := &sight{seen: make(map[string]bool, 16*len(words))}
	from, _ := Lead(words)
	s.words(body, words, from)
	s.form(n, words, from)
	s.rules(n, body, words)
	s.see(fmt.Sprint("about as long as ", min(len(words), 20)/2*2), 1)
	s.see("length", math.Log1p(float64(len(words))))
	return s.hints
}

// words sees which words there are, which follow each other, what stands at both ends, and what the question itself,
// from behind the courtesies, begins with.
func (s *sight) words(str string, words []text.Word, from int) {
	var keys []string
	for _, w := range words {
		keys = append(keys, digitsFolded(w.Key))
	}
	body := slices.Clip(keys[from:])
	if strings.ContainsAny(str, "?？") {
		keys = append(keys, "?")
	}
	if strings.Contains(str, "!") {
		keys = append(keys, "!")
	}
	for i, k := range keys {
		s.see("word "+k, 1)
		if i > 0 {
			s.see("words "+keys[i-1]+" "+k, 1)
		}
		s.pieces(k)
	}
	for i := range min(3, len(keys)) {
		s.see("begins "+strings.Join(keys[:i+1], " "), 1)
	}
	for i := range min(3, len(body)) {
		s.see("opens "+strings.Join(body[:i+1], " "), 1)
	}
	if len(keys) > 0 {
		s.see("ends "+keys[len(keys)-1], 1)
	}
}

// pieces sees the runs of three and four letters of a word: of one that is misspelt or in another form than the
// examples have, most are known.
func (s *sight) pieces(key string) {
	key = "<" + key + ">"
	for n := 3; n <= 4; n++ {
		for i := 0; i+n <= len(key); i++ {
			s.see("part "+key[i:i+n], partly)
		}
	}
}

// form sees what the rules hear together with the form of the sentence: "you" in a question is another sign than in a
// request.
func (s *sight) form(n Need, words []text.Word, from int) {
	_, form := Openings["en"].Prefix(words[from:])
	if form == "" {
		form = "none"
	}
	for _, w := range words[from:] {
		if p := Persons.ByFirst[w.Key]; p != nil {
			s.see("form "+form+" "+p[0].Cue, 1)
		}
	}
	for _, w := range words[min(1, len(words)):] {
		if w.Upper && w.Key != "i" {
			s.see("form "+form+" name", 1)
		}
	}
	for _, c := range n.Cues {
		s.see("form "+form+" rule "+cueName(c), 1)
	}
}

// rules sees what the rules made of the message.
func (s *sight) rules(n Need, body string, words []text.Word) {
	for _, c := range n.Cues {
		s.see("rule "+cueName(c), 1)
	}
	if n.Barred {
		s.see("rule barred", 1)
	}
	if n.Asks {
		s.see("rule asks", 1)
	}
	for _, t := range n.Topics {
		s.see("rule topic "+t, 1)
	}
	s.see("rule intent "+string(n.ruledIntents(body, words)[0].Name), 1)
	s.see("rules", logOdds(min(max(n.ruled, 0.001), 0.999))/2)
}

// cueName is a cue without what it was heard in.
func cueName(cue string) string {
	name, _, _ := strings.Cut(cue, ":")
	return name
}

// digitsFolded makes all numbers of a length one word.
func digitsFolded(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, key)
}

// What cmd/train, which makes the models, is to know of how they are asked.

// Hints are what the models see of a message.
func Hints(message string) []linear.Feature {
	spoken, _, _ := spokenPart(message)
	return ruled(spoken, nil).hints(spoken, text.Words(spoken))
}
