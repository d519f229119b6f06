package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// kinds sees the kinds of things that a sentence has and the question has not, and whether one of them was asked for.
func (q *Question) kinds(t *Features, words []text.Word, lead bool) {
	names, times, spots, numbers := 0, 0, 0, 0
	kinWord, all := false, role(0)
	last, near := -100, 100 // where the question's last word stood, and how near a candidate came to one
	candidate := -100
	for i, w := range words {
		hit := q.bit(w.Key) != none
		fresh := !q.has(w.Key)
		is := roles[w.Key]
		found := kind("")
		switch {
		case fresh && text.Numeric(w.Key):
			numbers++
			found = amount
			if len(w.Key) == 4 && w.Key >= "1000" && w.Key < "2100" {
				times++
				found = someTime
			}
		case fresh && is&spelledOut != 0:
			numbers++
			found = amount
		case fresh && is&namedDay != 0:
			times++
			found = someTime
		case fresh && w.Upper && i > 0 && is&stopWord == 0:
			names++
			found = someone
			if roles[words[i-1].Key]&ofSpot != 0 || i > 1 && words[i-1].Key == "the" && roles[words[i-2].Key]&ofSpot != 0 {
				spots++
			}
		}
		if hit {
			last = i
			near = min(near, i-candidate)
		}
		wanted := found != "" && (found == q.kind || q.kind == someSpot && found == someone || q.kind == amount && found == someTime)
		if wanted {
			candidate = i
			near = min(near, i-last)
		}
		kinWord = kinWord || fresh && q.associations[w.Key]
		all |= is
	}
	t.set(traitNegated, all&negation != 0)
	t.set(traitKin, kinWord)
	t[traitNews] = min(float64(names+numbers), 12) / 6
	lacks := false
	switch q.kind {
	case someone:
		t.set(traitWho, names > 1)
		lacks = names == 0
	case someTime:
		t.set(traitWhen, times > 0)
		lacks = times == 0
	case someSpot:
		t.set(traitWhere, spots > 0)
		lacks = spots == 0 && names == 0
	case amount:
		t.set(traitCount, numbers > 0)
		lacks = numbers == 0
	case reason:
		t.set(traitWhy, all&ofReason != 0)
		lacks = all&ofReason == 0
	case manner:
		t.set(traitHow, all&ofManner != 0)
	case meaning:
		t.set(traitWhat, all&ofBeing != 0)
		t.set(traitWhatLead, all&ofBeing != 0 && lead)
	default:
		t.set(traitName, names > 1)
		t.set(traitNumber, numbers > 0)
	}
	t.set(traitLacks, lacks)
	if near < 100 {
		t[traitNear] = 1 / (1 + float64(near)/4)
	}
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
		namedDay: text.Set(lang.All().Evidence.Time),
		ofSpot:   text.Set(lang.All().Evidence.Place),
		ofReason: text.Set(lang.All().Evidence.Reason),
		ofManner: text.Set(lang.All().Evidence.Manner),
		ofBeing:  text.Set(lang.All().Evidence.Definition),
	} {
		for w := range words {
			all[w] |= of
		}
	}
	return all
}()
