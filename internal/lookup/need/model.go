package need

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/text"
)

// The rules know what somebody thought of; the models know what people say. They were trained on public rows by
// cmd/evaluate/train, which lists them, and see the rules' verdict as one sign among the message's words. Both speak English:
// of a message in another language the rules alone judge. What ranks sentences (traits.go) sees no words and knows no language.

//go:embed need.model
var needFile []byte

//go:embed intent.model
var intentFile []byte

// Models are what was learned: Need of whether a message is looked up (classes "stay" and "look"), Intent of what for
// (the intents and "none").
type Models struct{ Need, Intent *linear.Model }

var BuiltIn = sync.OnceValue(func() Models { return Models{linear.MustParse(needFile), linear.MustParse(intentFile)} })

// Classes of the model of intents that are no intent. Media is image and video in one: few examples tell them apart, and
// a word does.
const (
	media   = "media"
	nothing = "none"
)

// speaksEnglish reports whether a text is in the models' language, or so short that it could be.
func (m Models) speaksEnglish(s string, words []text.Word) bool {
	switch l := text.Language(s, words); l {
	case "en":
		return true
	case "":
		known := 0
		for _, w := range words {
			if m.Need.Knows("word " + digitsFolded(w.Key)) {
				known++
			}
		}
		return text.ASCII(s) && 2*known >= len(words)
	}
	return false
}

// learn replaces the rules' score by the model's, and puts its strongest reasons after theirs.
func (m Models) learn(n *Need, s string, names []string) {
	words, _ := DropNames(text.Words(s), s, names)
	if len(words) == 0 || !m.speaksEnglish(s, words) {
		return
	}
	hints := n.hints(s, words)
	n.Score = math.Round(1000*m.looks(hints)) / 1000
	n.Cues = append(n.Cues, spokenCues(m.Need.Why(hints, 1))...)
}

// spokenCues are the strongest reasons of a model that a person can see in the message: `“tell me about” +1.3`.
func spokenCues(why []linear.Reason) (cues []string) {
	shown := map[string]bool{}
	for _, reason := range why {
		kind, words, _ := strings.Cut(reason.Name, " ")
		switch kind {
		case "word", "words", "begins", "ends":
			if shown[words] {
				continue
			}
			shown[words] = true
			cues = append(cues, fmt.Sprintf("“%s” %+.1f", words, reason.Gain))
		}
		if len(cues) == 3 {
			break
		}
	}
	return cues
}

// The models were taught about as many messages that need the web as others. Among people the others are far more:
// log-odds that this costs.
const rare = 1.5

// looks is the probability that a message needs the web, in the measure of a channel: of the models that say whether
// and what for, each of which is wrong about other messages, the mean.
func (m Models) looks(hints []linear.Feature) float64 {
	none := slices.Index(m.Intent.Classes(), nothing)
	return logistic(logOdds(m.Need.Classify(hints)[1])/2 + logOdds(1-m.Intent.Classify(hints)[none])/2 - rare)
}

func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}
