package ranking

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/text"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// Question is a message as the answer to it is looked for. It belongs to one goroutine.
type Question struct {
	Span    calendar.Span // of which it asks; zero: of any time
	Named   []string      // names of the people that it names, as they are given to Read
	ByAsker bool          // it is about who asks
	ByBot   bool          // … or about the bot

	asker  string // id of who asks
	lang   string
	unsure bool // it may be another language
	terms  []term
	keys   map[string]bool // all its words
	asks   asks
	stems  map[string]string  // of words met so far: stemming is slow
	matchs map[string][]match // of words met so far: which terms they are
}

// term is a word that is looked for.
type term struct {
	stem  string
	forms []string        // as it may stand in a message
	kin   map[string]bool // stems of words of its field
	words []string        // … as they are written

	ofTime bool // it says of which time is asked: few messages of that time say so
}

// asks is what kind of answer is wanted.
type asks struct{ when, many, where, lately bool }

const (
	mostTerms = 12
	// longest is how many words are read of a message.
	longest = 80
)

// Read reads a question. people are the names of those who may be named in it; asker is the id of who asks.
func Read(message, asker string, people []string, now time.Time) *Question {
	words := text.Words(message)
	if len(words) > longest {
		words = words[:longest]
	}
	q := &Question{asker: asker, keys: text.Keys(words), stems: map[string]string{}, matchs: map[string][]match{}}
	if q.lang = text.Language(message, words); q.lang == "" {
		q.lang, q.unsure = "en", true
	}
	var of []int
	q.Span, of, _ = calendar.Past(message, words, now)
	names := q.readNames(words, people)
	q.readAsks()
	for _, w := range words {
		written := message[w.Start:w.End]
		if text.Unspaced(written) {
			for _, pair := range text.Pairs(written) {
				q.add(pair, pair)
			}
		} else if text.Meaningful(w.Key) && !names[w.Key] {
			q.add(w.Key, written)
		}
	}
	for _, i := range of {
		for j := range q.terms {
			q.terms[j].ofTime = q.terms[j].ofTime || q.terms[j].stem == q.stem(words[i].Key)
		}
	}
	if len(q.terms) == 0 { // nothing but names
		for _, w := range words {
			if names[w.Key] {
				q.add(w.Key, message[w.Start:w.End])
			}
		}
	}
	return q
}

// readNames finds the people that are named, and returns the keys of their names.
func (q *Question) readNames(words []text.Word, people []string) map[string]bool {
	names := map[string]bool{}
	for _, name := range people {
		if !text.MayHold(words, name) {
			continue
		}
		keys := text.PhraseKeys(name)
		if len(keys) == 0 || !everyWord(keys) {
			continue
		}
		for i := range words {
			if text.HasPrefix(words[i:], keys) {
				q.Named = text.AddOnce(q.Named, name)
				for _, k := range keys {
					names[k] = true
				}
				break
			}
		}
	}
	q.ByAsker = q.keys["i"] || q.keys["my"] || q.keys["me"]
	q.ByBot = q.keys["you"] || q.keys["your"]
	return names
}

func everyWord(keys []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return !text.Meaningful(k) })
}

func (q *Question) readAsks() {
	has := func(words map[string]bool) bool { return text.Intersects(q.keys, words) }
	q.asks = asks{when: has(whenWords), many: has(manyWords), where: has(whereWords), lately: has(latelyWords)}
}

// The words of a question for a time, a number, a place, and for what is new.
var (
	whenWords   = text.Set("when date month year day long wann datum cuándo fecha quand quando")
	manyWords   = text.Set("many much often viele oft cuántos cuántas combien quantos quantas")
	whereWords  = text.Set("where city country place wo wohin stadt land dónde ciudad país où ville pays onde cidade país")
	latelyWords = text.Set("recently lately latest recent currently now neulich kürzlich zuletzt recientemente últimamente récemment dernièrement recentemente ultimamente")
)

// add adds a word to those that are looked for.
func (q *Question) add(key, written string) {
	stem := q.stem(key)
	if len(q.terms) == mostTerms || slices.ContainsFunc(q.terms, func(t term) bool { return t.stem == stem }) {
		return
	}
	written = strings.TrimSuffix(strings.TrimSuffix(written, "'s"), "’s")
	t := term{stem: stem, forms: []string{written}, kin: map[string]bool{}}
	if base, is := infinitives[key]; is {
		t.forms = text.AddOnce(t.forms, base)
		key = base
	}
	for _, form := range inflections[key] {
		t.forms = text.AddOnce(t.forms, form)
	}
	t.words = q.kinOf(key, stem)
	for _, w := range t.words {
		t.kin[q.stem(text.Fold(w))] = true
	}
	q.terms = append(q.terms, t)
}

// stem is the stem of a word, of an irregular verb that of its infinitive.
func (q *Question) stem(key string) string {
	s, known := q.stems[key]
	if !known {
		s = Stem(key, q.lang)
		q.stems[key] = s
	}
	return s
}

// Words are the words that are looked for, each in its forms.
func (q *Question) Words() (all [][]string) {
	for _, t := range q.terms {
		all = append(all, t.forms)
	}
	return all
}

// Kin are words of the fields of those that are looked for.
func (q *Question) Kin() (all []string) {
	for n := range longest {
		for _, t := range q.terms {
			if n < len(t.words) {
				all = text.AddOnce(all, t.words[n])
			}
		}
	}
	return all[:min(len(all), mostKin)]
}

const mostKin = 12

// Irregular verbs: the infinitive of each form, and the forms of each infinitive.
var infinitives, inflections = irregular()

func irregular() (of map[string]string, forms map[string][]string) {
	of, forms = map[string]string{}, map[string][]string{}
	for _, row := range lang.All().Grammar.Irregular {
		words := strings.Fields(row)
		for _, w := range words[1:] {
			of[w] = words[0]
		}
		forms[words[0]] = words
	}
	return of, forms
}
