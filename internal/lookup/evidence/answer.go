package evidence

import (
	"familiar/internal/text"
)

// setAnswer sets the features of whether a sentence has an answer of the type that the question asks for.
func (q *Question) setAnswer(s *Sentence) {
	f, c := &s.features, q.candidates(s.words)
	f.set(featureNegated, c.roles&negation != 0)
	f.set(featureAssociation, c.associated)
	f[featureNews] = min(float64(c.names+c.numbers), 12) / 6
	if c.distance < far {
		f[featureNear] = 1 / (1 + float64(c.distance)/4)
	}
	switch q.kind {
	case someone:
		f.set(featureWho, c.names > 1)
		f.set(featureLacks, c.names == 0)
	case someTime:
		f.set(featureWhen, c.times > 0)
		f.set(featureLacks, c.times == 0)
	case someSpot:
		f.set(featureWhere, c.places > 0)
		f.set(featureLacks, c.places+c.names == 0)
	case amount:
		f.set(featureCount, c.numbers > 0)
		f.set(featureLacks, c.numbers == 0)
	case reason:
		f.set(featureWhy, c.roles&ofReason != 0)
		f.set(featureLacks, c.roles&ofReason == 0)
	case manner:
		f.set(featureHow, c.roles&ofManner != 0)
	case meaning:
		f.set(featureWhat, c.roles&ofBeing != 0)
		f.set(featureWhatLead, c.roles&ofBeing != 0 && s.index == 0)
	default:
		f.set(featureName, c.names > 1)
		f.set(featureNumber, c.numbers > 0)
	}
}

// far is a distance, in words, at which nothing is near.
const far = 100

// candidates are what a sentence has, and the question has not, that may answer it.
type candidates struct {
	names, times, places, numbers int
	associated                    bool // it has a word that answers to the question tend to have
	distance                      int  // in words, of the nearest candidate of the right type to a term of the question
	roles                         role // of all its words
}

func (q *Question) candidates(words []text.Word) candidates {
	c := candidates{distance: far}
	lastTerm, lastFit := -far, -far // where the last term of the question stands, and the last candidate of the right type
	for i, w := range words {
		is := roles[w.Key]
		c.roles |= is
		if q.bit(w.Key) != none {
			lastTerm = i
			c.distance = min(c.distance, i-lastFit)
		}
		if q.has(w.Key) {
			continue
		}
		c.associated = c.associated || q.associations[w.Key]
		if found := c.count(words, i, is); found != anything && q.accepts(found) {
			lastFit = i
			c.distance = min(c.distance, i-lastTerm)
		}
	}
	return c
}

// count counts the candidate that the word at i is, and returns its kind, or anything.
func (c *candidates) count(words []text.Word, i int, is role) kind {
	w := words[i]
	switch {
	case text.Numeric(w.Key) && len(w.Key) == 4 && w.Key >= "1000" && w.Key < "2100": // a year
		c.numbers++
		c.times++
		return someTime
	case text.Numeric(w.Key), is&spelledOut != 0:
		c.numbers++
		return amount
	case is&namedDay != 0:
		c.times++
		return someTime
	case w.Upper && i > 0 && is&stopWord == 0:
		c.names++
		if roles[words[i-1].Key]&ofSpot != 0 || i > 1 && words[i-1].Key == "the" && roles[words[i-2].Key]&ofSpot != 0 {
			c.places++
		}
		return someone
	}
	return anything
}

// accepts reports whether a candidate may answer the question by its kind. Any name may be one of a place, and a year
// a number.
func (q *Question) accepts(found kind) bool {
	return found == q.kind || q.kind == someSpot && found == someone || q.kind == amount && found == someTime
}

// role is what a word is beside its meaning; it may be several.
type role uint8

const (
	stopWord role = 1 << iota
	spelledOut
	negation
	namedDay
	ofSpot
	ofReason
	ofManner
	ofBeing
)

// roles are of all such words: one look for each of a page's many.
var roles = func() map[string]role {
	all := map[string]role{}
	for of, words := range map[role]map[string]bool{
		stopWord: text.StopWords, spelledOut: text.SpelledNumbers, negation: text.Negations,
		namedDay: text.Set("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday century januar februar marz mai juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
		ofSpot:   text.Set("in at near from to of located im en au nel na no a within across throughout"),
		ofReason: text.Set("because due since owing caused cause reason result order so that weil wegen parce car porque perche"),
		ofManner: text.Set("by using first then through via with step durch mit"),
		ofBeing:  text.Set("is are was were means refer refers defined known called ist sind est sont es son"),
	} {
		for w := range words {
			all[w] |= of
		}
	}
	return all
}()
