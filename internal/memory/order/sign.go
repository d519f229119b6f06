package order

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

// The kinds of signs.
var signKinds = []string{"keep", "forget", "correct", "memory", "wrong", "whole", "onward"}

// signSet are the signs of a language.
type signSet struct {
	byStart map[string][]sign // by the first bytes of their first word
	parts   []sign            // of a script without spaces
}

// sign is a phrase that a message about the memory may have.
type sign struct {
	kind int // index into signKinds
	text string
	keys []string
	open bool // the last word may go on
}

const startBytes = 2

func startOf(key string) string { return key[:min(startBytes, len(key))] }

func newSigns(tables map[string]text.PhraseList) signSet {
	s := signSet{byStart: map[string][]sign{}}
	for kind, name := range signKinds {
		for phrase := range strings.SplitSeq(string(tables[name]), ",") {
			phrase, open := strings.CutSuffix(text.OneLine(strings.TrimSpace(phrase)), "*")
			one := sign{kind: kind, text: strings.ToLower(phrase), open: open}
			switch {
			case phrase == "":
			case text.Unspaced(phrase) || isHangul(phrase):
				s.parts = append(s.parts, one)
			default:
				if one.keys = keysOf(phrase); len(one.keys) > 0 {
					s.byStart[startOf(one.keys[0])] = append(s.byStart[startOf(one.keys[0])], one)
				}
			}
		}
	}
	return s
}

// at returns the last word of the sign in words from i on, or -1.
func (s sign) at(words []token, i int) int {
	last := i + len(s.keys) - 1
	if last >= len(words) {
		return -1
	}
	for j, k := range s.keys {
		if w := words[i+j].key; w != k && !(s.open && j == len(s.keys)-1 && strings.HasPrefix(w, k)) {
			return -1
		}
	}
	return last
}

// place is where a sign is in a sentence.
type place struct{ kind, from, to int } // bytes

// find returns the signs in a sentence. words are its words, small is the sentence in lower case.
func (s signSet) find(sentence, small string, words []token) (all []place) {
	for i, w := range words {
		for _, one := range s.byStart[startOf(w.key)] {
			if last := one.at(words, i); last >= 0 {
				all = append(all, place{one.kind, w.from, words[last].to})
			}
		}
	}
	if len(small) == len(sentence) {
		for _, one := range s.parts {
			if i := strings.Index(small, one.text); i >= 0 {
				all = append(all, place{one.kind, i, i + len(one.text)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(a.from-b.from, b.to-a.to) }) // the longest first
	return all
}

const nearEnd = 8 // characters after a sign at the end of a sentence

// addSigns adds what the tables say of the whole message, and of each sign. Each feature counts once.
func (s *sight) addSigns(said text.Saying, words []token) {
	v, seen := s.v, make(map[string]bool, 64)
	flag := func(is bool, name string) {
		if is && !seen[name] {
			seen[name] = true
			s.add(name, 1)
		}
	}
	own, you, question := v.aboutSpeaker(said.Text, words), text.ContainsAny(said.Words, text.SecondPerson(v.code)), isQuestion(said.Text)
	flag(own, "=own")
	flag(you, "=you")
	flag(question, "=question")
	flag(question && !own, "=question not own")
	flag(question && you, "=question you")
	flag(strings.ContainsFunc(said.Text, isQuote), "=quote")
	flag(len(s.sentences) > 1, "=sentences")
	flag(v.tells(said), "=tells")
	flag(said.Has(reports().people), "=people")
	flag(said.Has(reports().frames), "=frames")
	flag(longestIn(v.idioms, said.Text, words) > 0, "=idiom")
	bare := v.bare(said.Text)
	for _, c := range v.contrasts {
		right, wrong, separate := c.split(bare)
		flag(right != "" && wrong != "", "=contrast")
		flag(right != "" && wrong != "" && separate, "=contrast separate")
	}
	flag(slices.ContainsFunc(v.wrong, func(w slot) bool { return w.begins(said.Text, words) > 0 }), "=wrong")
	var kinds [len(kindSymbols)]bool
	for i, one := range s.sentences {
		n := v.opening(one, s.called)
		for _, p := range one.places {
			kinds[p.kind] = true
			names := &signNames[p.kind]
			at := signAt{one: one, place: p, first: p.from <= n, last: utf8.RuneCountInString(one.text[p.to:]) < nearEnd, opens: i == 0, ends: i == len(s.sentences)-1}
			for j, is := range v.around(at, own, you, question) {
				flag(is, names[j])
			}
		}
	}
	some := false
	for a := range kinds {
		some = some || kinds[a]
		for b := range a {
			flag(kinds[a] && kinds[b], signPairs[a][b])
		}
	}
	flag(!some, "=no signs")
}

// opening returns the length in bytes of the polite words and names at the beginning of a sentence.
func (v *vocabulary) opening(one glance, called [][]string) (at int) {
	for at < len(one.text) {
		rest := one.text[at:]
		n, _ := v.lead(rest, tokens(rest), called)
		if n == 0 {
			break
		}
		at = len(one.text) - len(strings.TrimLeft(rest[n:], between))
	}
	return at
}

// signAt is a sign in a sentence.
type signAt struct {
	one                      glance
	place                    place
	first, last, opens, ends bool
}

// signTraits names what around returns.
var signTraits = [...]string{"", " own", " not own", " you", " question", " first", " opens", " last", " ends", " after mark", " I", " I before", " you before", " not before",
	" others", " that before", " this", " that", " mine", " all", " colon"}

// around tells what is around a sign.
func (v *vocabulary) around(s signAt, own, you, question bool) [len(signTraits)]bool {
	head, tail := s.one.text[:s.place.from], s.one.text[s.place.to:]
	mark := strings.LastIndexAny(head, ",;:–—-，、：。!.")
	from := 0
	for from < len(s.one.words) && s.one.words[from].from <= mark {
		from++
	}
	to := from
	for to < len(s.one.words) && s.one.words[to].to <= s.place.from {
		to++
	}
	clause, behind := s.one.words[from:to], s.one.words[to:]
	for len(behind) > 0 && behind[0].from < s.place.to {
		behind = behind[1:]
	}
	var first, last, next string
	if len(clause) > 0 {
		first, last = clause[0].key, clause[len(clause)-1].key
	}
	if len(behind) > 0 {
		next = behind[0].key
	}
	return [...]bool{true, own, !own, you, question, s.first, s.first && s.opens, s.last, s.last && s.ends, mark >= 0 && len(clause) == 0, len(clause) < 4 && v.own.has(first), v.own.has(last),
		text.SecondPerson(v.code)[last], v.negations[last], v.others.has(first) || v.told.has(first), v.that.has(last), v.this.has(next), v.that.has(next), v.own.has(next), v.all.has(next),
		strings.HasPrefix(strings.TrimSpace(tail), ":")}
}

// The names of features, made once.
var signNames, signPairs = func() (names [len(kindSymbols)][len(signTraits)]string, pairs [len(kindSymbols)][len(kindSymbols)]string) {
	for a, kind := range signKinds {
		for j, trait := range signTraits {
			names[a][j] = "=" + kind + trait
		}
		for b := range a {
			pairs[a][b] = "=" + kind + " & " + signKinds[b]
		}
	}
	return names, pairs
}()
