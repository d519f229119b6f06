package need

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

//go:embed need.model
var needFile []byte

//go:embed intent.model
var intentFile []byte

// Models are the trained models. Both know English only. cmd/evaluate/train makes them, from public rows that it lists.
type Models struct {
	Need   *linear.Model // whether a message is looked up: classes "stay" and "look"
	Intent *linear.Model // what for: the intents, "media" for images and videos, and "none"
}

// BuiltIn returns the models in the binary.
var BuiltIn = sync.OnceValue(func() Models { return Models{linear.MustParse(needFile), linear.MustParse(intentFile)} })

// Classes of the intent model that are no intents. Few examples tell an image from a video, and a word does.
const (
	classMedia = "media"
	classNone  = "none"
)

// speaksEnglish reports whether a text is in the models' language, or so short that it could be.
func (m Models) speaksEnglish(u utterance.Utterance) bool {
	switch text.Language(u.Text, u.Words) {
	case "en":
		return true
	case "":
		known := 0
		for _, w := range u.Words {
			if m.Need.Knows("word " + foldDigits(w.Key)) {
				known++
			}
		}
		return text.ASCII(u.Text) && 2*known >= len(u.Words)
	}
	return false
}

// rescore replaces the rules' score by the models', and adds the model's strongest reasons to the cues.
func (m Models) rescore(n *Need, u utterance.Utterance) {
	if len(u.Words) == 0 || !m.speaksEnglish(u) {
		return
	}
	features := n.features(u)
	n.Score = math.Round(1000*m.probability(features)) / 1000
	n.Cues = append(n.Cues, reasonCues(m.Need.Why(features, 1))...)
}

// reasonCues words the three strongest reasons that a person can see in the message: `“tell me about” +1.3`.
func reasonCues(reasons []linear.Reason) (cues []string) {
	shown := map[string]bool{}
	for _, reason := range reasons {
		kind, words, _ := strings.Cut(reason.Name, " ")
		switch kind {
		case "word", "words", "begins", "ends":
			if !shown[words] && len(cues) < 3 {
				shown[words] = true
				cues = append(cues, fmt.Sprintf("“%s” %+.1f", words, reason.Gain))
			}
		}
	}
	return cues
}

// priorShift is what a message loses, in log-odds, because fewer messages among people need the web than among the rows
// of the training, where about half do.
const priorShift = 1.5

// probability is how likely a message needs the web: the mean of two models' log-odds, which are wrong about different
// messages, less priorShift.
func (m Models) probability(features []linear.Feature) float64 {
	none := slices.Index(m.Intent.Classes(), classNone)
	return logistic(logOdds(m.Need.Classify(features)[1])/2 + logOdds(1-m.Intent.Classify(features)[none])/2 - priorShift)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logOdds(p float64) float64 { return math.Log(max(p, 1e-6) / max(1-p, 1e-6)) }
