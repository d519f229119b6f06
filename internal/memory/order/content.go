package order

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// readOrder returns the order that the model sees in the sentences of a message, or doubt.
func readOrder(sentences []string, called [][]string) (Order, Doubt) {
	if len(sentences) == 0 {
		return Order{}, NoDoubt
	}
	s := newSight(sentences, called)
	deed, sure, doubt := Decide(ordersModel().Classify(s.features))
	switch {
	case doubt == NoDoubt || doubt == Perhaps && !slices.ContainsFunc(s.sentences, func(one glance) bool { return len(one.places) > 0 }):
		return Order{}, NoDoubt
	case !sure || s.reported() || s.elsewhere(Classes[deed]):
		return Order{}, doubt
	case deed == readAll:
		return Order{Deed: Forget, All: true}, NoDoubt
	}
	o := Order{Deed: Deed(Classes[deed]), Text: s.span(Deed(Classes[deed]))}
	switch n := utf8.RuneCountInString(o.Text); {
	case n < 3 || n > MaxText:
		return Order{}, Likely
	case o.Deed == Keep:
		if s.conditional(o.Text) {
			return Order{}, Likely
		}
		o = s.v.kept(o.Text)
		if o.Field != "" && s.v.grammar.small[key(o.Value)] { // "den, dem alle gehorchen"
			return Order{}, Likely
		}
		return o, NoDoubt
	case o.Deed == Correct:
		return s.v.correction(o.Text), NoDoubt
	}
	return o, NoDoubt
}

// reported reports whether words stand in front of a colon that do not speak of the memory, whether the message calls somebody else, or
// whether it asks something. Then it is never sure who orders what.
func (s *sight) reported() bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		head, colon := BeforeColon(one.text)
		speaks := slices.ContainsFunc(one.places, func(p place) bool { return p.to <= len(head) && signKinds[p.kind] != "correct" })
		return colon && !speaks || strings.Contains(one.text, "@") || isQuestion(one.text) && len(one.places) > 0 && !s.requests(one)
	})
}

// elsewhere reports whether what would be an order of a kind is about something else than the memory, or denied: it deletes a message, or
// corrects what is neither about the speaker nor about the memory.
func (s *sight) elsewhere(deed string) bool {
	switch deed {
	case string(Keep):
		return s.denied()
	case string(Forget):
		return !s.signs("memory") && slices.ContainsFunc(s.sentences, func(one glance) bool { return s.v.has(one.text, s.v.elsewhere) })
	case string(Correct):
		return !s.signs("memory") && !slices.ContainsFunc(s.sentences, func(one glance) bool { return s.v.aboutSpeaker(one.text, one.words) })
	}
	return slices.ContainsFunc(s.sentences, func(one glance) bool { return clean.Orders(one.text) || text.NewSaying(one.text).Has(reports().frames) })
}

func (s *sight) signs(kind string) bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		return slices.ContainsFunc(one.places, func(p place) bool { return signKinds[p.kind] == kind })
	})
}

// denied reports whether a word denies what would be an order to remember, a condition stands before it, or it tells what "you" are to do.
func (s *sight) denied() bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		return slices.ContainsFunc(one.places, func(p place) bool {
			if signKinds[p.kind] != string(Keep) {
				return false
			}
			head := one.text[:p.from]
			mark := strings.LastIndexAny(head, ",;:–—.!，、。")
			rest, _ := s.v.clause(strings.TrimLeft(one.text[p.to:], between))
			said := tokens(rest)
			return len(said) > 0 && text.SecondPerson(s.v.code)[said[0].key] || slices.ContainsFunc(tokens(head[mark+1:]), func(w token) bool { return s.v.negations[w.key] }) || text.NewSaying(head).Has(s.v.grammar.qualifiers)
		})
	})
}

// conditional reports whether a text that is not about the speaker stands before a colon, or another clause behind "remember that" does. Then
// it is a condition of what is asked behind the colon: "keep in mind that it's for children: write a poem".
func (s *sight) conditional(said string) bool {
	condition := func(clause string) bool {
		words := tokens(clause)
		return (s.v.unspaced || len(words) > 2) && !(len(words) > 0 && s.v.is.has(words[len(words)-1].key)) && !s.v.aboutSpeaker(clause, words)
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

// foreign reports whether a correction is about neither the speaker nor the memory, and tells more than a name or a day in three words: "wrong, the capital
// is Ottawa".
func (s *sight) foreign(o Order) bool {
	if o.Plain || s.signs("memory") || s.v.days[key(lastWord(o.Wrong))] || s.v.aboutSpeaker(o.Text, tokens(o.Text+" "+o.Wrong)) {
		return false
	}
	if o.Wrong == "" {
		_, leans := s.v.leaning(o.Text)
		return !leans
	}
	return s.v.value(o.Wrong) && len(tokens(o.Text)) > 3
}

// requests reports whether a question is put as a request, or has a word behind its order: "ok?".
func (s *sight) requests(one glance) bool {
	return s.v.tagged(one.text) || slices.ContainsFunc(s.v.asks, func(p phrase) bool {
		if p.keys == nil {
			return strings.Contains(one.text, p.text)
		}
		for i := range one.words {
			if prefix(one.words[i:], p.keys) > 0 {
				return true
			}
		}
		return false
	})
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
