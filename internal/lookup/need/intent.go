package need

import (
	"cmp"
	"math"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// intentOrder has the intents that words stand for, surest first.
var intentOrder = []turn.Intent{turn.IntentForum, turn.IntentImage, turn.IntentVideo, turn.IntentDocs, turn.IntentHowTo, turn.IntentPerson}

// minConfidence is the confidence from which a message has an intent beside its likeliest.
const minConfidence = 0.2

// generalWeight is how much likelier a question has no kind of its own than the training has it, where all kinds count alike.
const generalWeight = 2.5

// Classify returns the intents of an utterance, the likeliest first, with confidences from 0 to 1. There is always one.
// The rules alone find some intents, from words that stand for them; between the others the model decides.
func (m Models) Classify(n Need, u utterance.Utterance) []turn.ScoredIntent {
	byRules := n.intentsByRules(u)
	var plain []turn.ScoredIntent // that the model does not know
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

// intentsByModel returns the likeliest intent, and those that reach minConfidence. Whether the message has any was
// decided before. media is what the class of images and videos stands for.
func (m Models) intentsByModel(n Need, u utterance.Utterance, media turn.Intent) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	model, features := m.Intent, n.features
	if m.english(u.Text) < 0.5 {
		model, features = m.Spoken, n.spoken
	}
	odds, some := model.Classify(features(u)), 0.0
	if general := slices.Index(model.Classes(), string(turn.IntentGeneral)); model == m.Spoken && general >= 0 {
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
		case isNone(class), model == m.Intent && name == turn.IntentWeather && !slices.Contains(n.Topics, "weather") && !u.Has(outdoors):
			continue // "is it ok to drink …" has but the form of a question about the weather
		case class == classMedia:
			name = media
		}
		all = append(all, turn.ScoredIntent{Name: name, Confidence: math.Round(100*odds[i]/some) / 100})
	}
	slices.SortStableFunc(all, func(a, b turn.ScoredIntent) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for len(all) > 1 && all[len(all)-1].Confidence < minConfidence {
		all = all[:len(all)-1]
	}
	return all
}

// intentsByRules returns the intents that words stand for, surest first; there is always one.
func (n Need) intentsByRules(u utterance.Utterance) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	add := func(name turn.Intent, confidence float64, found bool) {
		if found {
			all = append(all, turn.ScoredIntent{Name: name, Confidence: confidence})
		}
	}
	news := slices.Contains(n.Topics, "news")
	add(turn.IntentWeather, 0.95, slices.Contains(n.Topics, "weather"))
	add(turn.IntentFactCheck, 0.88, n.Check)
	found := u.Find(utterance.Intents)
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

// standsForIntent reports whether a phrase stands for an intent where it was found: no "who" far behind the beginning
// does, and no "docs" before another word, as in "google docs tables".
func standsForIntent(u utterance.Utterance, name turn.Intent, f text.Match) bool {
	if name == turn.IntentPerson && f.From > 3 && f.To-f.From <= 1 {
		return false
	}
	return f.To-f.From != 1 || f.To == len(u.Words) || u.Words[f.From].Key != "docs"
}
