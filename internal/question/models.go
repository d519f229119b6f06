package question

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// The trained models, as cmd/evaluate/train wrote them.
var (
	//go:embed need.model
	needFile []byte
	//go:embed intent.model
	intentFile []byte
	//go:embed multilingual.model
	multilingualFile []byte
	//go:embed english.model
	englishFile []byte
	//go:embed followup.model
	followUpFile []byte
	//go:embed slot.model
	slotFile []byte
)

// Models are the trained models. cmd/evaluate/train makes them from public rows and from the project's own messages.
type Models struct {
	Need         *text.Model // whether an English message is looked up: classes "stay" and "look"
	Intent       *text.Model // the intent of an English message; "media" is images and videos, "none" is not a lookup
	Multilingual *text.Model // the intent of a message in another language, or one of the kinds of "none"
	English      *text.Model // whether a message is in English: classes "english" and "other"
	FollowUp     *text.Model // how a message relates to the question before it: one of [FollowUpKinds]
	Slot         *text.Model // how good a completion of a follow-up is: one class
}

// builtIn returns the models in the binary.
var builtIn = sync.OnceValue(func() Models {
	return Models{
		Need: text.MustParseModel(needFile), Intent: text.MustParseModel(intentFile),
		Multilingual: text.MustParseModel(multilingualFile), English: text.MustParseModel(englishFile),
		FollowUp: text.MustParseModel(followUpFile), Slot: text.MustParseModel(slotFile),
	}
})

// Classes that are not intents. A word tells images from videos better than the few examples do. The multilingual model
// has kinds of "none", such as "none-talk".
const (
	classMedia = "media"
	classNone  = "none"
)

func isNone(class string) bool { return strings.HasPrefix(class, classNone) }

// rescore replaces the rules' score by the models', and adds the models' strongest reasons to the cues.
func (m Models) rescore(n *Need, u Utterance) {
	if len(u.Words) == 0 {
		return
	}
	english, score := m.english(u.Text), 0.0
	if english > 0 {
		features := n.features(u)
		score += english * m.probability(features, isSearchString(u) && (len(n.Topics)+len(n.Times) > 0 || hasPlace(u)))
		n.Cues = append(n.Cues, reasonCues(m.Need.Why(features, 1))...)
	}
	if english < 1 {
		score += (1 - english) * m.needsWeb(n.multilingualFeatures(u))
	}
	n.Score = math.Round(1000*score) / 1000
}

// noneOf sums the probabilities of all kinds of "none".
func (m Models) noneOf(odds []float64) (sum float64) {
	for i, class := range m.Multilingual.Classes() {
		if isNone(class) {
			sum += odds[i]
		}
	}
	return sum
}

// reasonCues words the three strongest reasons that are visible in the message: `“tell me about” +1.3`.
func reasonCues(reasons []text.Reason) (cues []string) {
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

// priorShift is subtracted from the log-odds. Fewer real messages need the web than rows of the training set, where half do.
const priorShift = 1.55

// probability returns how likely a message needs the web. It is the mean log-odds of two models, which err on different messages, less
// priorShift. That does not hold for a search string.
func (m Models) probability(features []text.Feature, searchString bool) float64 {
	none := slices.Index(m.Intent.Classes(), classNone)
	shift := priorShift
	if searchString {
		shift = 0
	}
	return logistic(logOdds(m.Need.Classify(features)[1])/2 + logOdds(1-m.Intent.Classify(features)[none])/2 - shift)
}

// isSearchString reports whether an utterance is not a sentence but a few words as people type them into a search. An example is "average rent
// in Cork".
func isSearchString(u Utterance) bool {
	_, converts := text.Conversion(u.Text)
	return len(u.Words) > 2 && !converts && !u.HasQuestionMark() && !text.ContainsAny(u.Words, sentenceWords()) && !strings.ContainsAny(u.Text, ",;:!")
}

var sentenceWords = text.LazySet(func() text.WordList { return tables().Need.SentenceWords })

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logOdds(p float64) float64 { return math.Log(max(p, 1e-6) / max(1-p, 1e-6)) }

// EnglishFeatures returns the features that tell English from other languages, for training.
func EnglishFeatures(message string) []text.Feature {
	spoken, _, _ := spokenText(message)
	return languageFeatures(spoken)
}

// languageFeatures are the words of a text and the character runs in them.
func languageFeatures(s string) []text.Feature {
	set := newFeatureSet(3 * len(s))
	for _, t := range spell(s) {
		if !t.mark {
			set.add("word "+string(t.runes), 1)
			set.addRuns(t)
		}
	}
	return set.list
}

// Classes of the language model.
const (
	classEnglish = iota
	classOther
)

// A message that could be in any language, such as "ok 10-4", is most often English. So englishShift is added to its
// log-odds. From sureOfLanguage on, the other languages are not considered.
const (
	englishShift   = 2
	sureOfLanguage = 0.9
)

// english returns how likely a text is in English.
func (m Models) english(s string) float64 {
	if !text.MostlyLatin(s) {
		return 0
	}
	p := logistic(logOdds(m.English.Classify(languageFeatures(s))[classEnglish]) + englishShift)
	switch {
	case p >= sureOfLanguage:
		return 1
	case p <= 1-sureOfLanguage:
		return 0
	}
	return p
}

// intentOrder has the intents that phrases imply, surest first.
var intentOrder = []turn.Intent{turn.IntentForum, turn.IntentImage, turn.IntentVideo, turn.IntentDocs, turn.IntentHowTo, turn.IntentPerson}

// minConfidence is the least confidence of an intent that is listed beside the likeliest.
const minConfidence = 0.2

// generalWeight corrects the training, where all intents are equally frequent: a real question more often has no special
// intent.
const generalWeight = 2.5

// Classify returns the intents of an utterance, likeliest first, with confidences from 0 to 1. There is always one. The
// rules find the intents that phrases imply; the model decides between the others.
func (m Models) Classify(n Need, u Utterance) []turn.ScoredIntent {
	byRules := n.intentsByRules(u)
	var plain []turn.ScoredIntent // unknown to the model
	media := turn.IntentImage
	for _, in := range byRules {
		switch in.Name {
		case turn.IntentFactCheck, turn.IntentForum, turn.IntentDocs:
			plain = append(plain, in)
		case turn.IntentVideo:
			media = turn.IntentVideo
		}
	}
	byModel := m.intentsByModel(n, u, media)
	if len(plain) > 0 && plain[0] == byRules[0] {
		return append(plain, byModel...)
	}
	return append(byModel, plain...)
}

// intentsByModel returns the likeliest intent and all that reach minConfidence, given that the message has one. media is
// the intent that the class of images and videos means here.
func (m Models) intentsByModel(n Need, u Utterance, media turn.Intent) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	model, features := m.Intent, n.features
	if m.english(u.Text) < 0.5 {
		model, features = m.Multilingual, n.multilingualFeatures
	}
	odds, some := model.Classify(features(u)), 0.0
	if general := slices.Index(model.Classes(), string(turn.IntentGeneral)); model == m.Multilingual && general >= 0 {
		odds[general] *= generalWeight
	}
	for i, class := range model.Classes() {
		if !isNone(class) {
			some += odds[i]
		}
	}
	for i, class := range model.Classes() {
		name := turn.Intent(class)
		switch {
		case isNone(class), model == m.Intent && name == turn.IntentWeather && !slices.Contains(n.Topics, "weather") && !u.has(outdoors()):
			continue // "is it ok to drink …" only has the form of a weather question
		case class == classMedia:
			name = media
		}
		all = append(all, turn.ScoredIntent{Name: name, Confidence: math.Round(100*odds[i]/some) / 100})
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(b.Confidence, a.Confidence) < 0
	})
	for len(all) > 1 && all[len(all)-1].Confidence < minConfidence {
		all = all[:len(all)-1]
	}
	return all
}

// intentsByRules returns the intents that phrases imply, surest first. There is always one.
func (n Need) intentsByRules(u Utterance) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	add := func(name turn.Intent, confidence float64, found bool) {
		if found {
			all = append(all, turn.ScoredIntent{Name: name, Confidence: confidence})
		}
	}
	news := slices.Contains(n.Topics, "news")
	add(turn.IntentWeather, 0.95, slices.Contains(n.Topics, "weather"))
	add(turn.IntentFactCheck, 0.88, n.Check)
	found := u.find(intentPhrases())
	for _, name := range intentOrder {
		add(name, 0.9, !(name == turn.IntentPerson && news) && slices.ContainsFunc(found, func(f text.Match) bool {
			return f.Cue == string(name) && standsForIntent(u, name, f)
		}))
	}
	add(turn.IntentNews, 0.9, news)
	docs := slices.ContainsFunc(all, func(in turn.ScoredIntent) bool { return in.Name == turn.IntentDocs })
	add(turn.IntentDocs, 0.7, !docs && slices.Contains(n.Topics, "version"))
	add(turn.IntentGeneral, 0.5, len(all) == 0)
	return all
}

// standsForIntent reports whether a phrase implies an intent at its position. A "who" far behind the beginning does not,
// nor does "docs" before another word, as in "google docs tables".
func standsForIntent(u Utterance, name turn.Intent, f text.Match) bool {
	if name == turn.IntentPerson && f.From > 3 && f.To-f.From <= 1 {
		return false
	}
	return f.To-f.From != 1 || f.To == len(u.Words) || u.Words[f.From].Key != "docs"
}
