package websearch

// kinds sees the kinds of things that a sentence has and the question has not, and whether one of them was asked for.
func (q *asked) kinds(t *seen, words []word, lead bool) {
	names, times, spots, numbers := 0, 0, 0, 0
	kinWord, why, how, is := false, false, false, false
	last, near := -100, 100 // where the question's last word stood, and how near a candidate came to one
	candidate := -100
	for i, w := range words {
		hit := q.bit(w.key) != none
		fresh := !q.keys[w.key]
		found := kind("")
		switch {
		case fresh && numeric(w.key):
			numbers++
			found = amount
			if len(w.key) == 4 && w.key >= "1000" && w.key < "2100" {
				times++
				found = someTime
			}
		case fresh && spelledNumbers[w.key]:
			numbers++
			found = amount
		case fresh && namedDays[w.key]:
			times++
			found = someTime
		case fresh && w.upper && i > 0 && !stopWords[w.key]:
			names++
			found = someone
			if spotWords[words[i-1].key] || i > 1 && words[i-1].key == "the" && spotWords[words[i-2].key] {
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
		kinWord = kinWord || q.kin[w.key] && fresh
		why = why || reasonWords[w.key]
		how = how || mannerWords[w.key]
		is = is || beWords[w.key]
		if negations[w.key] {
			t[traitNegated] = 1
		}
	}
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
		t.set(traitWhy, why)
		lacks = !why
	case manner:
		t.set(traitHow, how)
	case meaning:
		t.set(traitWhat, is)
		t.set(traitWhatLead, is && lead)
	default:
		t.set(traitName, names > 1)
		t.set(traitNumber, numbers > 0)
	}
	t.set(traitLacks, lacks)
	if near < 100 {
		t[traitNear] = 1 / (1 + float64(near)/4)
	}
}

var (
	namedDays   = set("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday century januar februar marz mai juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
	spotWords   = set("in at near from to of located im en au nel na no a within across throughout")
	reasonWords = set("because due since owing caused cause reason result order so that weil wegen parce car porque perche")
	mannerWords = set("by using first then through via with step durch mit")
	beWords     = set("is are was were means refer refers defined known called ist sind est sont es son")
)
