package order

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// decide returns what the models make of a message, or doubt. What the tables find is one of the things that the model of orders sees. They give
// way where it is clearly against them.
func (s *sight) decide() ([]Order, Doubt) {
	odds := s.models.Orders.Classify(s.features)
	deed, sure, doubt := Decide(odds)
	sure = sure && !s.reported(Classes[deed]) && !s.elsewhere(Classes[deed]) && (odds[deed] >= surest || !s.strange(Classes[deed]))
	if s.unsure == Likely { // the tables doubt much else that is none
		doubt = Likely
	}
	o := Order{Deed: Deed(Classes[deed])}
	switch n := len(s.found); {
	case n > 0 && odds[readNone] > s.against(s.found[0]):
		return nil, Likely
	case n > 1, n == 1 && (s.found[0].All || s.found[0].Text == ""):
		return s.found, s.unsure
	case n == 1 && (!sure || s.found[0].Deed == o.Deed):
		if o = s.found[0]; o.Deed == Correct && s.foreign(o) {
			return nil, Likely
		}
	case doubt == NoDoubt, doubt == Perhaps && odds[readNone] > likelyNone && !slices.ContainsFunc(s.sentences, func(one glance) bool { return len(one.places) > 0 }):
		return nil, NoDoubt
	case !sure && slices.ContainsFunc(s.sentences, s.shown):
		return nil, s.unsure
	case !sure, deed == 1 && slices.ContainsFunc(s.sentences, func(one glance) bool { return Hollow(one.text) }):
		return nil, doubt
	case deed == readAll:
		return []Order{{Deed: Forget, All: true}}, NoDoubt
	}
	if o = s.worded(o); o.Text == "" {
		return nil, Likely
	}
	return []Order{o}, s.unsure
}

// against returns from which probability of none on an order of the tables is none. A text about the speaker is likelier an order. A correction of
// anything but names, numbers and days is less likely one.
func (s *sight) against(o Order) float64 {
	words := tokens(o.Text + " " + o.Wrong)
	about := slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.aboutSpeaker(o.Text, words) }) // a short message may be of any language
	switch {
	case o.Deed != Forget && about, o.Deed == Keep, o.All:
		return clearlyNone
	case o.Wrong != "" && !s.v.value(o.Wrong) && !s.v.days[key(lastWord(o.Wrong))] && !s.v.unspaced:
		return doubtfulOrder
	}
	return unlikelyOrder
}

// worded returns an order with the text that the model of spans finds. It has none if that is not sure. A text of the tables stays if the
// model's leaves out what changes it, or differs by little words only.
func (s *sight) worded(o Order) Order {
	said := s.span(o.Deed)
	if rest, is := s.v.clause(said); is && o.Deed == Forget && o.Text != "" {
		said = rest
	}
	cut := utf8.RuneCountInString(said) < shortestText || utf8.RuneCountInString(said) > MaxText || o.Deed == Keep && (s.cuts(said) || longest(s.v.leads, said) == len(said) || text.NewSaying(said).Has(s.v.grammar.qualifiers)) // "file this please" has no text
	if o.Text != "" && (cut || alike(said, o.Text) || !s.betters(said, o)) {
		said, cut = o.Text, false
	}
	switch {
	case cut, o.Deed == Keep && s.conditional(said):
		return Order{}
	case o.Field == "" && o.Deed == Keep:
		if o, _ = s.v.calling(said); o == (Order{}) && s.v.value(said) && !strings.ContainsFunc(said, unicode.IsDigit) && !s.v.days[key(lastWord(said))] {
			o = Order{Deed: Keep, Text: said, Own: true, Field: turn.CardName, Value: said} // "everybody says Kit, do that, too"
		} else if o == (Order{}) {
			o = s.v.kept(said)
		} else if s.v.grammar.small[key(o.Value)] { // "den, dem alle gehorchen"
			return Order{}
		}
		return o
	case o.Deed == Correct && o.Wrong == "":
		plain := o.Plain
		o = s.v.correction(said)
		o.Plain = plain
		return o
	}
	o.Text = said
	return o
}

// betters reports whether a text that the model of spans finds is better. It is compared with that of an order of the tables.
func (s *sight) betters(said string, o Order) bool {
	within := strings.Contains(o.Text, said)
	switch o.Deed {
	case Forget:
		around := strings.Contains(said, o.Text) && !strings.HasSuffix(said, o.Text)
		return !around && (!within || !s.v.unspaced && len(tokens(o.Text)) > maxThing) && !opens(said, s.called)
	case Correct:
		return within && o.Wrong == ""
	}
	behind, begins := strings.CutPrefix(o.Text, said)
	return !strings.Contains(said, o.Text) && strings.Contains(said, o.Value) && (!within || begins && (s.v.unspaced || punctuated(strings.TrimLeft(behind, " "))))
}

const (
	shortestText = 2 // characters of a text that the model of spans finds
	maxThing     = 6 // words that name a thing to forget
	fewBytes     = 9 // … by which two texts may differ and be alike
)

func alike(a, b string) bool {
	return (strings.Contains(a, b) || strings.Contains(b, a)) && (text.Unspaced(a) || isHangul(a)) && max(len(a)-len(b), len(b)-len(a)) <= fewBytes
}

// cuts reports whether a text leaves out a denial of its clause, or "you" after the order.
func (s *sight) cuts(said string) bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		from := strings.Index(one.text, said)
		if from < 0 {
			return false
		}
		to := len(one.text)
		if i := strings.IndexAny(one.text[from+len(said):], clauseEnds); i >= 0 {
			to = from + len(said) + i
		}
		begins := strings.LastIndexAny(one.text[:from], clauseEnds) + 1
		return slices.ContainsFunc(one.words, func(w token) bool {
			if w.from < begins || w.to > to || w.from >= from && w.to <= from+len(said) {
				return false
			}
			ordered, signed := false, false
			for _, p := range one.places {
				signed = signed || p.from <= w.from && w.to <= p.to
				ordered = ordered || (signKinds[p.kind] == string(Keep) || signKinds[p.kind] == "memory") && p.to <= w.from && w.to <= from
			}
			return !signed && s.v.negations[w.key] || ordered && text.SecondPerson(s.v.code)[w.key]
		})
	})
}

const clauseEnds = ",;:–—.!?，、。：？"

// reported reports whether words that do not speak of the memory are before a colon. It also reports whether the message calls
// somebody else. Then it is never sure who orders what.
func (s *sight) reported(deed string) bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		head, colon := BeforeColon(one.text)
		speaks := slices.ContainsFunc(one.places, func(p place) bool {
			return p.to <= len(head) && (signKinds[p.kind] != string(Correct) || deed == string(Correct))
		})
		to := passage{s: one.text, called: s.called}
		short := !speaks && len(tokens(head)) < leastHeading
		return colon && short || s.shown(one) || deed != string(Correct) && to.addresses("") || strings.Contains(one.text, "@")
	})
}

// elsewhere reports whether what would be an order of a kind is about something else than the memory, or denied. It deletes a message, or
// corrects what is neither about the speaker nor about the memory.
func (s *sight) elsewhere(deed string) bool {
	switch deed {
	case string(Keep):
		return slices.ContainsFunc(s.sentences, func(one glance) bool {
			return slices.ContainsFunc(one.places, func(p place) bool {
				return signKinds[p.kind] == string(Keep) && text.NewSaying(one.text[:p.from]).Has(s.v.grammar.qualifiers)
			})
		})
	case string(Forget):
		return !s.signs("memory") && slices.ContainsFunc(s.sentences, func(one glance) bool { return s.v.has(one.text, s.v.elsewhere) }) ||
			!s.signs(deed) && slices.ContainsFunc(s.sentences, func(one glance) bool { _, colon := BeforeColon(one.text); return colon })
	case string(Correct):
		return false
	}
	return slices.ContainsFunc(s.sentences, func(one glance) bool { return text.Orders(one.text) || text.NewSaying(one.text).Has(reports().frames) })
}

// shown reports whether words that tell of somebody are before a sentence's colon.
func (s *sight) shown(one glance) bool {
	head, colon := BeforeColon(one.text)
	return colon && s.v.tells(text.NewSaying(head))
}

// strange reports whether what would be an order of a kind needs a surer model. That is so if words in front of a
// colon do not speak of the memory. It is so, too, if a correction is about neither that nor the speaker.
func (s *sight) strange(deed string) bool {
	about := s.signs("memory") || slices.ContainsFunc(s.sentences, func(one glance) bool { return s.v.aboutSpeaker(one.text, one.words) })
	return deed == string(Correct) && !about || slices.ContainsFunc(s.sentences, func(one glance) bool {
		head, colon := BeforeColon(one.text)
		return colon && !slices.ContainsFunc(one.places, func(p place) bool {
			return p.to <= len(head) && (signKinds[p.kind] != string(Correct) || deed == string(Correct))
		})
	})
}

const leastHeading = 3 // words before a colon that may be an order which no table has

func (s *sight) signs(kind string) bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		return slices.ContainsFunc(one.places, func(p place) bool { return signKinds[p.kind] == kind })
	})
}

// conditional reports whether a text that is not about the speaker is before a colon. It also looks at another clause after "remember
// that". Then it is a condition of what is asked after the colon. An example is "keep in mind that it's for children: write a poem".
func (s *sight) conditional(said string) bool {
	condition := func(clause string) bool {
		words := tokens(clause)
		return (s.v.unspaced || len(words) > 2) && !(len(words) > 0 && s.v.is.has(words[len(words)-1].key)) && !s.v.aboutSpeaker(clause, words)
	}
	if head, colon := BeforeColon(said); colon && s.v.has(head, s.v.memory) {
		return true
	}
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		head, colon := BeforeColon(one.text)
		if part, _ := BeforeColon(said); colon && strings.HasSuffix(head, cmp.Or(part, said)) && condition(cmp.Or(part, said)) {
			return true
		}
		return colon && slices.ContainsFunc(one.places, func(p place) bool {
			if signKinds[p.kind] != string(Keep) || p.to > len(head) {
				return false
			}
			clause, is := s.v.clause(strings.TrimLeft(head[p.to:], between))
			return is && condition(clause)
		})
	})
}

// foreign reports whether a correction is about neither the speaker nor the memory. It tells more than a name or a day in three words:
// "wrong, the capital is Ottawa".
func (s *sight) foreign(o Order) bool {
	if o.Plain || s.signs("memory") || s.v.days[key(lastWord(o.Wrong))] || s.v.aboutSpeaker(o.Text, tokens(o.Text+" "+o.Wrong)) {
		return false
	}
	if o.Wrong == "" {
		_, leans := WithoutSubject(o.Text)
		return !leans
	}
	_, leans := WithoutSubject(o.Text)
	return !leans && len(tokens(o.Text)) > 3
}

// Clauses returns the parts of a text between marks.
func Clauses(s string) (all []string) {
	from := 0
	for i, r := range s {
		if strings.ContainsRune(",;:!–—…，；：。！、\n", r) || r == '.' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '.') {
			all, from = append(all, s[from:i]), i+utf8.RuneLen(r)
		}
	}
	return append(all, s[from:])
}
