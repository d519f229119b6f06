// Package order reads what a message orders of the memory: to remember, to forget or to correct something. It is pure. It keeps nothing and
// judges nothing: package memory decides what becomes of an order.
//
// [Parse] returns the orders in a message. It reads a message in three steps:
//
//   - voice.go leaves out what is not in the author's own voice: quotations, code, letters, texts that are only shown.
//   - sentence.go looks for an order in each sentence that is left. verb.go finds the verbs of orders, and object.go what is to be remembered
//     or forgotten. correction.go tells what is right from what is wrong, and card.go finds "call me Captain".
//   - A model reads the whole message. reader.go collects the features that it sees. They are words, the outline of each sentence
//     (outline.go), and what is around signs of an order (sign.go). What the tables found is one, too. content.go decides which order there
//     is, if that is sure. A second model finds the text of an order (span.go). cmd/evaluate trains both.
//
// vocabulary.go has the words and phrases of each language, from the tables of package text, and phrase.go finds them. card.go says whom and
// what a text is about.
package order

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Deed is the kind of an order.
type Deed string

// The kinds of orders.
const (
	Keep    Deed = "keep"
	Forget  Deed = "forget"
	Correct Deed = "correct" // the bot's last answer or memory about the speaker is wrong
)

// Order is an order to remember, forget or correct something. The zero value is not an order.
type Order struct {
	Deed  Deed
	Text  string // what to remember, what to forget, or what is right, in the person's words; empty: what the message refers to
	Own   bool   // the text is about the speaker, in the first person
	Other bool   // the text is about an unnamed person: "she is …"
	All   bool   // with Forget: everything about the speaker
	Wrong string // with Correct: what is not right, if the person says so
	Plain bool   // with Correct: a verb orders it; "no, it's …" may be about anything
	Field string // with Keep: the field of the speaker's card that the text fills …
	Value string // … and with what: "Captain" of "call me Captain"
}

// Shown returns what is to be remembered, forgotten or right, as it is shown: "Captain" of "call me Captain".
func (o Order) Shown() string { return cmp.Or(o.Value, o.Text) }

// Doubt says how much a message without an order seems to hold one.
type Doubt int

// The degrees of doubt.
const (
	NoDoubt Doubt = iota
	Perhaps       // it has the words of an order
	Likely        // a sentence begins as an order does, or speaks of it to somebody
)

// MaxText is the largest number of characters of a text to remember.
const MaxText = 500

const (
	maxSentence     = 600  // characters of a sentence; a longer one is pasted
	maxMessageBytes = 4000 // longer messages are not read
	maxTopicWords   = 12   // of what is to be forgotten
)

// Parse returns the orders in a message, at most one for each sentence. It also returns whether a sentence without one may hold one. names
// are the bot's names. The words of orders are in the tables of package text.
//
// It prefers to miss an order over finding a false one. People often speak of memory without an order ("do you remember that film?"). An
// order is a verb and what it is about. That is a statement, or something of the speaker's or of the memory. It begins a sentence after the
// bot's name and polite words, or ends one. It is not a question, unless it is a request ("can you remember that …?"). It is in the
// author's own voice, see [ownVoice]. Its text is taken as written.
func Parse(message string, names []string) (all []Order, doubt Doubt) {
	return embedded().parse(message, names)
}

// parse is [Parse] by other models.
func (m Models) parse(message string, names []string) (all []Order, doubt Doubt) {
	own, called := heard(message, names)
	if len(own.sentences) == 0 {
		return nil, NoDoubt
	}
	s := newSight(own.sentences, called)
	s.models = m
	all, doubt = s.decide()
	for i, o := range all {
		all[i] = own.quoted(o)
	}
	return all, doubt
}

// heard returns what a message says in its author's own voice, and the bot's names in words.
func heard(message string, names []string) (own voice, called [][]string) {
	called = calledBy(names)
	if message = respelled(message); len(message) > maxMessageBytes {
		return voice{}, called
	}
	return ownVoice(message, called), called
}

func calledBy(names []string) (called [][]string) {
	for _, name := range names {
		called = append(called, keysOf(name))
	}
	return called
}

// parse returns the orders that the tables find, and the doubt that they leave.
func parse(sentences []string, called [][]string) (all []Order, doubt Doubt) {
	before := ""
	sentences = divided(sentences, called)
	for i := 0; i < len(sentences); i++ {
		p := passage{s: strings.TrimRightFunc(strings.TrimSpace(sentences[i]), decoration), before: before, called: called}
		if i+1 < len(sentences) {
			p.next = sentences[i+1]
		}
		o := p.read()
		doubt = max(doubt, p.doubt)
		before = ""
		if o == (Order{}) {
			if !isQuestion(p.s) {
				before = p.s
			}
			continue
		}
		if o.Deed == Keep && o.Field == "" && p.addresses(o.Text) {
			doubt = Likely
			continue
		}
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
		if p.both {
			i++
		}
	}
	return all, doubt
}

// opens reports whether a text begins with an order in any language.
func opens(s string, called [][]string) bool {
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.opens(s, called) })
}

// quoted puts the quotations of a message back into an order.
func (own *voice) quoted(o Order) Order {
	o.Text, o.Wrong, o.Value = own.written(o.Text), own.written(o.Wrong), strings.Trim(own.written(o.Value), quoteMarks)
	return o
}

const quoteMarks = "\"“”„«»‹›「」『』‘’'`"

// decoration reports whether a character at the end of a sentence says nothing: an emoji, a tear.
func decoration(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsSymbol(r) || unicode.In(r, unicode.Variation_Selector) || 'ㄱ' <= r && r <= 'ㅣ'
}

// MayHold reports whether a message has a word of an order in the tables.
func MayHold(message string) bool {
	words, small := tokens(message), strings.ToLower(message)
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.hasOrder(words, small) })
}

// MayForget reports whether a sentence has a verb of forgetting or changing, or a denial.
func MayForget(sentence string) bool {
	words := tokens(sentence)
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool {
		return slices.ContainsFunc(words, func(w token) bool { return v.negations[w.key] }) || slices.ContainsFunc(v.verbs, func(p phrase) bool {
			return p.cue != string(Keep) && p.in(sentence, words)
		})
	})
}

// BeginsThat reports whether a sentence begins with a verb of an order and "that", and is not a question.
func BeginsThat(sentence string) bool {
	return !isQuestion(sentence) && slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool {
		s := v.statement(sentence)
		return slices.ContainsFunc(v.beginning(s, tokens(s)), func(f found) bool {
			_, clause := v.clause(f.rest)
			return clause
		})
	})
}

// Hollow reports whether a sentence begins with an order and says nothing to remember. Examples are "remember everything", "delete the old
// files" and "call me the boss of all of you".
func Hollow(sentence string) bool {
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool {
		s := v.statement(sentence)
		if _, doubt := v.calling(s); doubt > NoDoubt {
			return true
		}
		return !v.unspaced && slices.ContainsFunc(v.beginning(s, tokens(s)), func(f found) bool {
			if v.affirmed(f).cue != string(Keep) {
				return true
			}
			said := 0
			for _, w := range tokens(f.rest) {
				if !v.grammar.small[w.key] && !v.this.has(w.key) && !v.memory.has(w.key) && !v.known.has(w.key) && !v.about.has(w.key) && !v.own.has(w.key) {
					said++
				}
			}
			return said < 2
		})
	})
}

// IsYes reports whether a message is a plain yes.
func IsYes(message string) bool {
	said := key(strings.ToLower(Trim(message)))
	return slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.yes.has(said) })
}
