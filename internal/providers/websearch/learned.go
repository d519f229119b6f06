package websearch

import (
	_ "embed"
	"math"
	"strings"
	"sync"

	"familiar/internal/linear"
)

// The rules know what somebody thought of; the models know what people say. They were trained on public rows by
// cmd/train, which lists them, and see the rules' verdict as one sign among the message's words. Both speak English:
// of a message in another language the rules alone judge. What ranks sentences (traits.go) sees no words and knows no language.

//go:embed need.model
var needFile []byte

//go:embed intent.model
var intentFile []byte

//go:embed evidence.model
var evidenceFile []byte

var (
	needModel   = sync.OnceValue(func() *linear.Model { return embedded(needFile) })
	intentModel = sync.OnceValue(func() *linear.Model { return embedded(intentFile) })
)

// embedded reads a model that was built in; one that is broken is a broken build.
func embedded(file []byte) *linear.Model {
	m, err := linear.Parse(file)
	if err != nil {
		panic(err)
	}
	return m
}

// The classes of the models. Media is image and video in one: few examples tell them apart, and a word does.
const (
	media = "media"
)

// Hints are what the models see of a message, for training them, and whether it has the form of a question or a
// request, for [Tempered].
func Hints(message string) (hints []linear.Feature, asks bool) {
	n := ruled(message, nil)
	return n.hints(message, split(message)), n.asks
}

// maxHeard is how many words of a message the models hear: what is longer than any example is no more telling.
const maxHeard = 200

// hints are the words of a text, their order, its length and what the rules made of it.
func (n need) hints(text string, words []word) []linear.Feature {
	words = words[:min(len(words), maxHeard)]
	keys := make([]string, 0, len(words)+1)
	for _, w := range words {
		keys = append(keys, digitsFolded(w.key))
	}
	if strings.ContainsAny(text, "?？") {
		keys = append(keys, "?")
	}
	if strings.Contains(text, "!") {
		keys = append(keys, "!")
	}
	var out []linear.Feature
	seen := make(map[string]bool, 4*len(keys))
	see := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, linear.Feature{Name: name, Value: 1})
		}
	}
	for i, k := range keys {
		see("word " + k)
		if i > 0 {
			see("words " + keys[i-1] + " " + k)
		}
		if i < 3 {
			see("begins " + strings.Join(keys[:i+1], " "))
		}
	}
	if len(keys) > 0 {
		see("ends " + keys[len(keys)-1])
	}
	for _, c := range n.cues {
		name, _, _ := strings.Cut(c, ":")
		see("rule " + name)
	}
	if n.barred {
		see("rule barred")
	}
	for _, t := range n.topics {
		see("rule topic " + t)
	}
	intent, _ := n.ruledIntent(text, words)
	see("rule intent " + intent)
	p := min(max(n.score, 0.001), 0.999)
	return append(out,
		linear.Feature{Name: "rules", Value: math.Log(p/(1-p)) / 2},
		linear.Feature{Name: "length", Value: math.Log1p(float64(len(words)))},
	)
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

// speaksEnglish reports whether a text is in the models' language, or so short that it could be.
func speaksEnglish(text string, words []word) bool {
	switch l := language(text, words); l {
	case "en":
		return true
	case "":
		known := 0
		for _, w := range words {
			if needModel().Knows("word " + digitsFolded(w.key)) {
				known++
			}
		}
		return ascii(text) && 2*known >= len(words)
	}
	return false
}

// learn replaces the rules' score by the model's, and puts its two strongest reasons before theirs.
func (n *need) learn(text string, names []string) {
	words, _ := dropNames(split(text), text, names)
	if len(words) == 0 || !speaksEnglish(text, words) {
		return
	}
	hints := n.hints(text, words)
	n.score = math.Round(1000*Tempered(needModel().Classify(hints)[1], n.asks)) / 1000
	n.cues = append(n.cues, spokenCues(needModel().Why(hints, 1, len(hints)))...)
}

// spokenCues are the strongest reasons of a model that a person can see in the message: `“tell me about” +1.3`.
func spokenCues(why []string) (cues []string) {
	shown := map[string]bool{}
	for _, reason := range why {
		kind, rest, _ := strings.Cut(reason, " ")
		switch kind {
		case "word", "words", "begins", "ends":
			at := strings.LastIndexByte(rest, ' ')
			if shown[rest[:at]] {
				continue
			}
			shown[rest[:at]] = true
			cues = append(cues, "“"+rest[:at]+"”"+rest[at:])
		}
		if len(cues) == 3 {
			break
		}
	}
	return cues
}

// The model was taught as many messages that need the web as others. Among people the others are far more, and most
// that are needed ask for it: log-odds that the one and the other cost.
const (
	rare   = 0.2
	unsaid = 0.9
)

// Tempered is the model's probability in the measure of a channel.
func Tempered(p float64, asks bool) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	odds := math.Log(p/(1-p)) - rare
	if !asks {
		odds -= unsaid
	}
	return logistic(odds)
}

// learnedIntent is the likeliest class of the intent model.
func (n need) learnedIntent(text string, words []word) (intent string, p float64) {
	odds := intentModel().Classify(n.hints(text, words))
	best := 0
	for i, p := range odds {
		if p > odds[best] {
			best = i
		}
	}
	return intentModel().Classes()[best], odds[best]
}
