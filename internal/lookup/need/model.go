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
)

//go:embed need.model
var needFile []byte

//go:embed intent.model
var intentFile []byte

//go:embed spoken.model
var spokenFile []byte

//go:embed tongue.model
var tongueFile []byte

// Models are the trained models. cmd/evaluate/train makes them, from public rows that it lists and from the project's own messages.
type Models struct {
	Need   *linear.Model // whether a message in English is looked up: classes "stay" and "look"
	Intent *linear.Model // what for: the intents, "media" for images and videos, and "none"
	Spoken *linear.Model // both, of messages in other languages: the intents, and the kinds of "none"
	Tongue *linear.Model // whether a message is in English: classes "english" and "other"
}

// BuiltIn returns the models in the binary.
var BuiltIn = sync.OnceValue(func() Models {
	return Models{linear.MustParse(needFile), linear.MustParse(intentFile), linear.MustParse(spokenFile), linear.MustParse(tongueFile)}
})

// Classes that are no intents. Few examples tell an image from a video, and a word does. Of what is none of the bot's business there are kinds
// in one of the models, such as "none-talk".
const (
	classMedia = "media"
	classNone  = "none"
)

func isNone(class string) bool { return strings.HasPrefix(class, classNone) }

// rescore replaces the rules' score by the models', and adds their strongest reasons to the cues.
func (m Models) rescore(n *Need, u utterance.Utterance) {
	if len(u.Words) == 0 {
		return
	}
	english, score := m.english(u.Text), 0.0
	if english > 0 {
		features := n.features(u)
		score += english * m.probability(features)
		n.Cues = append(n.Cues, reasonCues(m.Need.Why(features, 1))...)
	}
	if english < 1 {
		score += (1 - english) * (1 - m.noneOf(m.Spoken.Classify(n.spoken(u))))
	}
	n.Score = math.Round(1000*score) / 1000
}

// noneOf sums what the model of all languages gives to the kinds of none.
func (m Models) noneOf(odds []float64) (sum float64) {
	for i, class := range m.Spoken.Classes() {
		if isNone(class) {
			sum += odds[i]
		}
	}
	return sum
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
const priorShift = 1.55

// probability is how likely a message needs the web: the mean of two models' log-odds, which are wrong about different
// messages, less priorShift.
func (m Models) probability(features []linear.Feature) float64 {
	none := slices.Index(m.Intent.Classes(), classNone)
	return logistic(logOdds(m.Need.Classify(features)[1])/2 + logOdds(1-m.Intent.Classify(features)[none])/2 - priorShift)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logOdds(p float64) float64 { return math.Log(max(p, 1e-6) / max(1-p, 1e-6)) }
