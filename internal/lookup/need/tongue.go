package need

import (
	"familiar/internal/linear"
	"familiar/internal/text"
)

// TongueFeatures returns the features by which English is told from other languages, for training.
func TongueFeatures(message string) []linear.Feature {
	spoken, _, _ := SpokenText(message)
	return tongue(spoken)
}

// tongue are the words of a text and the runs of characters in them.
func tongue(s string) []linear.Feature {
	set := &featureSet{seen: map[string]bool{}}
	for _, t := range tokens(s) {
		if !t.mark {
			set.add("word "+string(t.runes), 1)
			set.addRuns(t)
		}
	}
	return set.list
}

// Classes of the model of tongues.
const (
	classEnglish = iota
	classOther
)

// Most messages that could be in any language, such as "ok 10-4", are in English: it has englishShift more, in log-odds. From sureOfTongue on
// one language alone is thought of.
const (
	englishShift = 2
	sureOfTongue = 0.9
)

// english is how likely a text is in English.
func (m Models) english(s string) float64 {
	if !text.MostlyLatin(s) {
		return 0
	}
	p := logistic(logOdds(m.Tongue.Classify(tongue(s))[classEnglish]) + englishShift)
	switch {
	case p >= sureOfTongue:
		return 1
	case p <= 1-sureOfTongue:
		return 0
	}
	return p
}
