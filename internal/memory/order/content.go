package order

import (
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
	case doubt == NoDoubt:
		return Order{}, NoDoubt
	case !sure || s.reported() || s.elsewhere(Classes[deed]):
		return Order{}, doubt
	case deed == readAll:
		return Order{Deed: Forget, All: true}, NoDoubt
	}
	o := Order{Deed: Deed(Classes[deed]), Text: s.content(deed)}
	switch n := utf8.RuneCountInString(o.Text); {
	case n < 3 || n > MaxText:
		return Order{}, Likely
	case o.Deed == Keep:
		return s.v.kept(o.Text), NoDoubt
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

// elsewhere reports whether what would be an order of a kind is about something else than the memory, or denied: it deletes a message, or says
// nothing of the memory, of correcting or to the bot.
func (s *sight) elsewhere(deed string) bool {
	switch deed {
	case string(Keep):
		return s.denied()
	case string(Forget):
		return !s.signs("memory") && slices.ContainsFunc(s.sentences, func(one glance) bool { return s.v.has(one.text, s.v.elsewhere) })
	case string(Correct):
		return !s.signs("memory") && !s.signs("correct") && !slices.ContainsFunc(s.sentences, func(one glance) bool {
			return text.NewSaying(one.text).SpeaksTo() || longestIn(s.v.no, one.text, one.words) > 0
		})
	}
	return slices.ContainsFunc(s.sentences, func(one glance) bool { return clean.Orders(one.text) || text.NewSaying(one.text).Has(reports().frames) })
}

func (s *sight) signs(kind string) bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		return slices.ContainsFunc(one.places, func(p place) bool { return signKinds[p.kind] == kind })
	})
}

// denied reports whether a word denies what would be an order to remember, or a condition stands before it.
func (s *sight) denied() bool {
	return slices.ContainsFunc(s.sentences, func(one glance) bool {
		return slices.ContainsFunc(one.places, func(p place) bool {
			if signKinds[p.kind] != string(Keep) {
				return false
			}
			head := one.text[:p.from]
			mark := strings.LastIndexAny(head, ",;:–—.!，、。")
			return slices.ContainsFunc(tokens(head[mark+1:]), func(w token) bool { return s.v.negations[w.key] }) || text.NewSaying(head).Has(s.v.grammar.qualifiers)
		})
	})
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

// frameKinds are the kinds of signs that frame what is ordered, by deed. The first is its own.
var frameKinds = map[int][]string{1: {"keep", "memory", "onward"}, 2: {"forget", "memory"}, 4: {"correct", "memory", "wrong"}}

// piece is a part of a sentence between marks.
type piece struct{ from, to int }

// part is a piece with what it says beside the words of an order.
type part struct {
	piece
	in      int // sentence
	strange int // words of its own
	framed  bool
	points  bool // it points at what is said elsewhere, or speaks of the bot
}

// content returns what a message says beside the words that order it: of the sentence that says most, from its first piece with words of its
// own to its last. A sentence that only points at another is passed over.
func (s *sight) content(deed int) string {
	if said := s.opposed(); deed == 4 && said != "" {
		return said
	}
	all := s.parts(deed)
	if plain := slices.DeleteFunc(slices.Clone(all), func(p part) bool { return p.strange == 0 || p.points }); deed != 2 && len(plain) > 0 && plain[0].in != all[len(all)-1].in {
		all = plain
	}
	sums := make([]int, len(s.sentences))
	for _, p := range all {
		sums[p.in] += p.strange
	}
	most, from, to := 0, -1, 0
	for i, sum := range sums {
		if sum > sums[most] {
			most = i
		}
	}
	for _, p := range all {
		if p.in == most && p.strange > 0 {
			if from < 0 {
				from = p.from
			}
			to = p.to
		}
	}
	if from < 0 {
		return ""
	}
	return s.v.bare(s.sentences[most].text[from:to])
}

// parts returns the pieces of all sentences but questions.
func (s *sight) parts(deed int) (all []part) {
	kinds := frameKinds[deed]
	for i, one := range s.sentences {
		if isQuestion(one.text) && len(s.sentences) > 1 && !s.requests(one) {
			continue
		}
		for _, p := range clausesOf(one.text) {
			framed := slices.ContainsFunc(one.places, func(at place) bool {
				return at.from >= p.from && at.to <= p.to && slices.Contains(kinds, signKinds[at.kind])
			})
			points := false
			for _, w := range one.words {
				if w.from >= p.from && w.to <= p.to {
					points = points || deed == 4 && text.SecondPerson(s.v.code)[w.key] || framed && s.v.this.has(w.key) && !s.v.that.has(w.key)
				}
			}
			cut := s.stripped(one, p, kinds, deed == 2)
			all = append(all, part{cut, i, s.strange(one, cut, kinds), framed, points || deed == 4 && framed})
		}
	}
	return all
}

// opposed returns the piece, or two neighbours, that say what is right and what is not.
func (s *sight) opposed() string {
	for _, one := range s.sentences {
		all := clausesOf(one.text)
		for n := 1; n <= 2; n++ {
			for i := range len(all) - n + 1 {
				said := s.v.bare(one.text[all[i].from:all[i+n-1].to])
				for _, c := range s.v.contrasts {
					if right, wrong, _ := c.split(said); right != "" && wrong != "" && len(tokens(wrong)) <= 5 {
						return said
					}
				}
			}
		}
	}
	return ""
}

// Clauses returns the parts of a text between marks.
func Clauses(s string) (all []string) {
	for _, p := range clausesOf(s) {
		all = append(all, s[p.from:p.to])
	}
	return all
}

func clausesOf(s string) (all []piece) {
	from := 0
	for i, r := range s {
		if strings.ContainsRune(",;:!–—…，；：。！、\n", r) || r == '.' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '.') {
			all, from = append(all, piece{from, i}), i+utf8.RuneLen(r)
		}
	}
	return append(all, piece{from, len(s)})
}

// frame reports whether a place in a sentence has a sign of one of some kinds.
func frame(one glance, from, to int, kinds []string) bool {
	return slices.ContainsFunc(one.places, func(p place) bool {
		return p.from <= from && to <= p.to && slices.Contains(kinds, signKinds[p.kind])
	})
}

// wordLetters is how many characters count as a word in a script without spaces.
const wordLetters = 2

// strange returns how many words of a piece have a meaning of their own. In a script without spaces, all that is no sign counts.
func (s *sight) strange(one glance, p piece, kinds []string) (n int) {
	if s.v.unspaced {
		rest := one.text[p.from:p.to]
		for _, at := range one.places {
			if at.from >= p.from && at.to <= p.to && slices.Contains(kinds, signKinds[at.kind]) {
				rest = strings.Replace(rest, one.text[at.from:at.to], " ", 1)
			}
		}
		if s.v.only(rest, s.v.this, s.v.that, s.v.known, s.v.me) {
			return 0
		}
		return utf8.RuneCountInString(strings.Trim(rest, between)) / wordLetters
	}
	for i, w := range one.words {
		if w.from >= p.from && w.to <= p.to && !s.light(one, i, kinds) {
			n++
		}
	}
	return n
}

// light reports whether a word has no meaning of its own: it is small, polite, the bot's name, or part of a sign.
func (s *sight) light(one glance, i int, kinds []string) bool {
	w := one.words[i]
	return s.v.grammar.small[w.key] || s.v.this.has(w.key) || s.v.that.has(w.key) || s.v.known.has(w.key) || s.v.own.has(w.key) || s.v.me.has(w.key) || text.SecondPerson(s.v.code)[w.key] ||
		s.v.negations[w.key] || frame(one, w.from, w.to, kinds) || longestOf(s.v.leads, one.words[i:]) > 0 || longestOf(s.v.asks, one.words[i:]) > 0 || s.names(one.words[i:]) > 0
}

// maxBefore is how many strange words may stand before a sign that begins a piece: "I'd appreciate it if you stored".
const maxBefore = 1

// stripped cuts the words of an order from the beginning or the end of a piece.
func (s *sight) stripped(one glance, p piece, kinds []string, topic bool) piece {
	for _, at := range one.places {
		if at.from < p.from || at.to > p.to || !slices.Contains(kinds, signKinds[at.kind]) {
			continue
		}
		head, tail := piece{p.from, at.from}, piece{at.to, p.to}
		before, behind := s.strange(one, head, kinds), s.strange(one, tail, kinds)
		switch {
		case behind == 0 && before > 0:
			return s.trimmed(one, head)
		case topic && before > 0 && s.owned(one, head):
			return s.trimmed(one, head)
		case before <= maxBefore && behind > 0 && !s.v.unspaced:
			p = s.opened(one, tail, kinds, topic)
		case before == 0 && behind > 0:
			p.from = at.to
		}
	}
	return p
}

// owned reports whether a piece begins with something of the speaker's or with an article, as a topic does.
func (s *sight) owned(one glance, p piece) bool {
	for _, w := range one.words {
		if w.from >= p.from {
			return s.v.own.has(w.key) || s.v.grammar.determiners[w.key] || s.v.this.has(w.key)
		}
	}
	return false
}

// opened cuts what joins a clause to a verb: "that", "about". In front of a topic all words without a meaning go, except the speaker's.
func (s *sight) opened(one glance, p piece, kinds []string, topic bool) piece {
	for i, w := range one.words {
		if w.from < p.from {
			continue
		}
		joins := s.v.that.has(w.key) || s.v.about.has(w.key) || s.v.this.has(w.key) || topic && s.light(one, i, kinds)
		if w.to >= p.to || !joins || s.v.own.has(w.key) {
			break
		}
		p.from = w.to
	}
	return p
}

// trimmed cuts the polite and small words between a text and the order behind it: "… so please".
func (s *sight) trimmed(one glance, p piece) piece {
	for i := len(one.words) - 1; i > 0; i-- {
		w := one.words[i]
		if w.to > p.to {
			continue
		}
		if w.from <= p.from || !s.v.and.has(w.key) && !s.v.so.has(w.key) && !s.v.this.has(w.key) && !s.v.that.has(w.key) && !text.SecondPerson(s.v.code)[w.key] &&
			longestOf(s.v.leads, one.words[i:i+1]) == 0 && longestOf(s.v.asks, one.words[i:]) == 0 {
			break
		}
		p.to = w.from
	}
	return p
}
