package followup

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// What no rule completes leans on the question before it in one of three ways, which are the same in all languages: it asks for the same once
// more, since it doubts the answer or wants more of it; something in it takes the place of another thing in the question, "and in faro?"; or it
// asks something else of what the question was about, "how old is he?".

// leaning are the words of one language.
type leaning struct {
	openings text.Phrases
	endings  []string
}

var leanings = func() map[string]leaning {
	all := map[string]leaning{}
	for _, code := range lang.Codes() {
		l := lang.Of(code).Leaning
		all[code] = leaning{text.CompileOne(l.Openings), fields(l.Endings)}
	}
	return all
}()

// anyOpenings are those of all languages.
var anyOpenings = func() text.Phrases {
	var all []string
	for _, code := range lang.Codes() {
		all = append(all, string(lang.Of(code).Leaning.Openings))
	}
	return text.CompileOne(lang.Phrases(strings.Join(all, ",")))
}()

func fields(p lang.Phrases) (all []string) {
	for one := range strings.SplitSeq(string(p), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

//go:embed leaning.model
var leaningFile []byte

//go:embed slot.model
var slotFile []byte

// Models are the trained models. cmd/evaluate/train makes them of the project's own messages.
type Models struct {
	Leaning *linear.Model // how a message stands to the question before it: one of [Classes]
	Slot    *linear.Model // how good a way to complete it is: one class
}

// builtIn returns the models in the binary.
var builtIn = sync.OnceValue(func() Models { return Models{linear.MustParse(leaningFile), linear.MustParse(slotFile)} })

// How a message stands to the question before it: the classes of the model.
const (
	classAlone  = iota // it needs nothing of it
	classAgain         // it asks for the same once more: it doubts the answer, or wants more of it
	classOnward        // it asks something else with its help
)

// Classes are the names of how a message stands to the question before it.
var Classes = []string{"alone", "again", "onward"}

// Features returns the features of a message behind another, for training.
func Features(message, before string) []linear.Feature {
	return leaningFeatures(readPair(message, before))
}

func readPair(message, before string) *pair {
	u, p := utterance.Parse(afterSmallTalk(message, nil), nil), parsePrior(before)
	return newPair(u, p, text.Language(u.Text+" "+p.raw, slices.Concat(u.Words, p.Words)))
}

// Reading is one way to complete a message, for training.
type Reading struct {
	Query    string
	Features []linear.Feature
}

// Readings returns all ways to complete a message from the question before it, for training.
func Readings(message, before string) (all []Reading) {
	for _, r := range readPair(message, before).readings() {
		one := Reading{Query: r.query}
		add := emit(func(name string, value float64) {
			one.Features = append(one.Features, linear.Feature{Name: name, Value: value})
		})
		r.pair.seen(r.how, add)
		r.seen(add)
		all = append(all, one)
	}
	return all
}

// mostAlone is how likely a message that is completed may be to stand alone.
const mostAlone = 0.5

// Complete completes a message from the question before it, if it leans on that.
func (m Models) Complete(message, before string) (string, bool) {
	return m.complete(utterance.Parse(afterSmallTalk(message, nil), nil), parsePrior(before))
}

// lean completes a message by the models alone.
func (m Models) lean(r *pair) (string, bool) {
	if len(r.said) == 0 || len(r.before) == 0 {
		return "", false
	}
	if at := r.p.numberFor(text.Words(r.insert)); at > 0 && r.opened {
		return r.p.replace(at, at+1, r.insert[r.said[len(r.said)-1].start:]), true
	}
	odds := m.Leaning.Classify(leaningFeatures(r))
	switch {
	case odds[classAlone] >= mostAlone:
		return "", false
	case odds[classAgain] > odds[classOnward]:
		return r.p.raw, true
	}
	return m.best(r.readings())
}

// best returns the best reading, if there is one.
func (m Models) best(all []reading) (query string, ok bool) {
	sum, most, shared := 0.0, math.Inf(-1), map[how]float64{}
	add := emit(func(name string, value float64) { sum += m.Slot.Weight(name, 0) * value })
	for i := range all {
		one := &all[i]
		if _, known := shared[one.how]; !known {
			sum = 0
			one.pair.seen(one.how, add)
			shared[one.how] = sum
		}
		sum = shared[one.how]
		one.seen(add)
		if sum > most {
			query, most, ok = one.query, sum, true
		}
	}
	return query, ok
}

// leaningFeatures are what the message says, and how it stands to the question.
func leaningFeatures(r *pair) []linear.Feature {
	all := need.SpokenFeatures(r.u.Text)
	own := need.BuiltIn().Asked(all)
	if r.language == "en" {
		own = need.Weigh(r.u.Text, nil).Score
	}
	add := func(name string, value float64) {
		if value != 0 {
			all = append(all, linear.Feature{Name: "leans " + name, Value: value})
		}
	}
	r.seenSaid(add)
	r.seenShared(add)
	r.seenNeed(add, own)
	return all
}

// seenSaid gives what the message says.
func (r *pair) seenSaid(e emit) {
	e.given("opened", r.opened)
	e.given("ended", r.ended)
	e.given("pronoun", r.hasPronoun)
	e.given("any pronoun", slices.ContainsFunc(r.u.Words, func(w text.Word) bool { return text.Pronouns[w.Key] != "" }))
	e.given("question", r.u.HasQuestionMark())
	e.given("asks", count(r.said, inquires) > 0)
	for of := range roles {
		n := count(r.said, of)
		e(fmt.Sprint("has ", min(n, 3), " ", roleNames[of]), 1)
		e.given("all "+roleNames[of], n == len(r.said))
	}
}

// seenShared gives what the message and the question have in common.
func (r *pair) seenShared(e emit) {
	content, small, ofKind, kinds := 0, 0, 0, kindsIn(r.before)
	for _, c := range r.said {
		if c.kinds&kinds&^askingKinds != 0 {
			ofKind++
		}
		switch isShared := slices.ContainsFunc(r.before, func(b cell) bool { return b.key == c.key }); {
		case !isShared:
		case c.role == filler || c.role == inquires:
			small++
		default:
			content++
		}
	}
	alike := 0
	for alike < min(3, len(r.said), len(r.before)) && r.said[alike].key == r.before[alike].key {
		alike++
	}
	e(fmt.Sprint("begins alike ", alike), 1)
	e("shares", float64(min(content, 2)))
	e("shares small", float64(min(small, 3)))
	e("shares kind", float64(min(ofKind, 2)))
}

// seenNeed gives how long the message is, and how much it needs the web by itself.
func (r *pair) seenNeed(e emit, own float64) {
	content := len(r.said) - count(r.said, filler) - count(r.said, inquires)
	if r.unspaced && !strings.Contains(r.insert, " ") {
		content /= 2
	}
	words := r.words()
	e("words", float64(min(words, 12))/4)
	e(fmt.Sprint("words ", min(words, 12)/2*2), 1)
	e(fmt.Sprint("content ", min(content, 6)), 1)
	e("need", own)
	e(fmt.Sprint("need ", int(own*5)), 1)
	e(fmt.Sprint("need and words ", int(own*3), min(words, 9)/3), 1)
}
