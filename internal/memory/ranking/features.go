package ranking

import (
	"math"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// features are what is looked at. Their weights are those under which the messages that answer a question are the likeliest to be
// chosen (Luce's model), fitted on conversations of people and rounded; doc/evaluation.md says what each of them earns on
// conversations that it was not fitted on. None knows a word of its own but for those of times, numbers and persons.
var features = []struct {
	name   string
	weight float64
	value  func(*view) float64
}{
	{"own words", 2.6, func(v *view) float64 { return v.own }},
	{"words around", 2.7, (*view).around},
	{"words of the session", 2, func(v *view) float64 { return v.of.bm25 }},
	{"session holds all", 2.1, func(v *view) float64 { return v.of.held }},
	{"session holds the field", 3.5, func(v *view) float64 { return v.of.akin }},
	{"session's best", 1.8, func(v *view) float64 { return v.of.best }},
	{"words of a question before", 2, (*view).answers},
	{"with the one before", 1.8, func(v *view) float64 { return v.cover }},
	{"words of the field", 2.3, func(v *view) float64 { return v.kinShare }},
	{"words that begin alike", 3.2, func(v *view) float64 { return v.famShare }},
	{"by whom is named", 1, is((*view).byNamed)},
	{"speaks of oneself", 0.8, is((*view).ofOneself)},
	{"asks", -1, is((*view).asksBack)},
	{"time", 1.8, is(func(v *view) bool { return v.c.q.asks.when && v.tellsTime() })},
	{"number", 1.3, is(func(v *view) bool { return v.c.q.asks.many && len(text.Numbers(text.InDigits(v.message.Text))) > 0 })},
	{"name where a place is asked", 1, is(func(v *view) bool { return v.c.q.asks.where && v.names() > 0 })},
	{"names", 0.5, func(v *view) float64 { return min(float64(v.names()), 3) }},
	{"near the time", 5.2, func(v *view) float64 {
		if v.c.q.Span == (calendar.Span{}) {
			return 0
		}
		return v.c.q.nearness(v.message.At)
	}},
	{"speaks of the time", 0.9, is(func(v *view) bool { return v.c.q.Span != (calendar.Span{}) && v.speaksOf(v.c.q.Span) })},
	{"old", -0.3, (*view).age},
}

// is makes a feature of a condition.
func is(so func(*view) bool) func(*view) float64 {
	return func(v *view) float64 {
		if so(v) {
			return 1
		}
		return 0
	}
}

func (v *view) features() []float64 {
	all := make([]float64, len(features))
	for i, f := range features {
		all[i] = f.value(v)
	}
	return all
}

// fading is what a word counts that stands so many messages away.
var fading = [...]float64{1, 0.7, 0.5, 0.3, 0.2}

// around counts the words of a message and of those around it.
func (v *view) around() (score float64) {
	for j, weight := range v.c.weights {
		tf := 0.0
		for away, share := range fading {
			for _, n := range []*view{v.at(away), v.at(-away)} {
				if n != nil && (away > 0 || n.place == v.place) {
					tf += share * n.tf[j]
				}
			}
		}
		tf -= v.tf[j] // both ways
		score += weight * bm25(tf, 1, 1)
	}
	return score
}

// answers is how much of the words stands in the message before, where that asks something.
func (v *view) answers() float64 {
	if before := v.at(-1); before != nil && strings.Contains(before.message.Text, "?") {
		return before.own
	}
	return 0
}

// byNamed reports whether its writer alone is named in the question: by name, as "I", or as "you".
func (v *view) byNamed() bool {
	q := v.c.q
	switch {
	case v.message.Own:
		return q.ByBot
	case len(q.Named) > 0:
		return len(q.Named) == 1 && text.Fold(q.Named[0]) == text.Fold(v.message.Author.Name)
	}
	return q.ByAsker && q.asker != "" && v.message.Author.ID == q.asker
}

var oneself = text.Set("i my we me ich mein meine wir mir yo mi nosotros je mon ma nous eu meu minha nós")

func (v *view) ofOneself() bool { return text.ContainsAny(v.words, oneself) }

var timeWords = text.Set("ago last yesterday next recently today tomorrow week year month weekend gestern morgen woche jahr monat ayer mañana semana año mes hier demain semaine mois ontem amanhã ano mês")

func (v *view) tellsTime() bool {
	if text.ContainsAny(v.words, timeWords) {
		return true
	}
	if dates, _ := text.Dates(v.message.Text); len(dates) > 0 {
		return true
	}
	_, _, past := calendar.Past(v.message.Text, v.words, v.message.At)
	return past
}

// names counts the capitalized words within sentences that are not in the question.
func (v *view) names() (n int) {
	for i, w := range v.words {
		if i > 0 && w.Upper && w.Key != "i" && w.Start == v.words[i-1].End+1 && text.Meaningful(w.Key) && !v.c.q.keys[w.Key] {
			n++
		}
	}
	return n
}

// age grows with the time from a message to the last one, where something recent is asked for.
func (v *view) age() float64 {
	if !v.c.q.asks.lately {
		return 0
	}
	newest := slices.MaxFunc(v.c.sessions, func(a, b Session) int { return a.To.Compare(b.To) }).To
	return math.Log1p(newest.Sub(v.message.At).Hours() / 24 / 7)
}
