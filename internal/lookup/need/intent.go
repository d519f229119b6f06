package need

import (
	"cmp"
	"math"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// intents are the cues that stand for an intent by themselves, surest first where a question has several.
var (
	intentOrder = []turn.Intent{turn.IntentForum, turn.IntentImage, turn.IntentVideo, turn.IntentDocs, turn.IntentHowTo, turn.IntentPerson}
	intents     = text.Compile(lang.All().Need.Intents)
)

// alsoFrom is the confidence from which a message is also of a kind that is not its likeliest.
const alsoFrom = 0.2

// Classify names what kinds of question it is, the one that decides first, with how sure that is, from 0 to 1. What a
// word says outright is not weighed; between the kinds that the examples know, the model decides.
func (m Models) Classify(n Need, s string, words []text.Word) []turn.ScoredIntent {
	heard := n.ruledIntents(s, words)
	if !m.speaksEnglish(s, words) {
		return heard
	}
	var plain, learned []turn.ScoredIntent // what words say that the model does not know, and what it says
	pictures := turn.IntentImage
	for _, in := range heard {
		switch in.Name {
		case turn.IntentFactCheck, turn.IntentForum, turn.IntentDocs:
			plain = append(plain, in)
		case turn.IntentVideo:
			pictures = turn.IntentVideo
		}
	}
	odds := m.Intent.Classify(n.hints(s, words))
	none := slices.Index(m.Intent.Classes(), nothing)
	ofSkies := skyward(n, s, words)
	for i, class := range m.Intent.Classes() {
		name := turn.Intent(class)
		switch {
		case name == turn.IntentWeather && !ofSkies: // "is it ok to drink …" has its form alone
			continue
		case i == none: // whether it is anything at all was asked before
			continue
		case class == media:
			name = pictures
		}
		learned = append(learned, turn.ScoredIntent{Name: name, Confidence: math.Round(100*odds[i]/(1-odds[none])) / 100})
	}
	slices.SortStableFunc(learned, func(a, b turn.ScoredIntent) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for i := 1; i < len(learned); i++ {
		if learned[i].Confidence < alsoFrom {
			learned = learned[:i]
		}
	}
	if len(plain) > 0 && plain[0] == heard[0] {
		return append(plain, learned...)
	}
	return append(learned, plain...)
}

// skyward reports whether something in a text can be about the weather.
func skyward(n Need, s string, words []text.Word) bool {
	return slices.Contains(n.Topics, "weather") || len(outdoors.FindAll(s, words)) > 0
}

// ruledIntents goes by words that stand for an intent, surest first; there is always one.
func (n Need) ruledIntents(s string, words []text.Word) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	add := func(name turn.Intent, confidence float64) {
		if !slices.ContainsFunc(all, func(in turn.ScoredIntent) bool { return in.Name == name }) {
			all = append(all, turn.ScoredIntent{Name: name, Confidence: confidence})
		}
	}
	if slices.Contains(n.Topics, "weather") {
		add(turn.IntentWeather, 0.95)
	}
	if n.Check {
		add(turn.IntentFactCheck, 0.88)
	}
	heard := intents.FindAll(s, words)
	for _, name := range intentOrder {
		if name == turn.IntentPerson && slices.Contains(n.Topics, "news") {
			break
		}
		for _, f := range heard {
			if f.Cue == string(name) && (name != turn.IntentPerson || f.From <= 3 || f.To-f.From > 1) && !(f.To-f.From == 1 && f.To < len(words) && words[f.From].Key == "docs") { // "google docs tables" is no reference
				add(name, 0.9)
			}
		}
	}
	if slices.Contains(n.Topics, "news") {
		add(turn.IntentNews, 0.9)
	}
	if slices.Contains(n.Topics, "version") {
		add(turn.IntentDocs, 0.7)
	}
	if len(all) == 0 {
		add(turn.IntentGeneral, 0.5)
	}
	return all
}
