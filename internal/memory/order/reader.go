package order

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// Classes are the classes of the model of orders.
var Classes = []string{"none", string(Keep), string(Forget), "all", string(Correct)}

// The classes that are not deeds.
const (
	readNone = 0
	readAll  = 3
)

// An order is sure from these probabilities on. What is kept in error can be taken back at once. From perhapsOrder on a message may hold
// one. From likelyOrder on its writer is told if nothing came of it. cmd/evaluate/train prints what becomes of messages of writers that the
// model has not seen.
var sureOrder = []float64{1, 0.8, 0.87, 0.87, 0.87} // by class

const (
	likelyOrder  = 0.7
	perhapsOrder = 0.2
	likelyNone   = 0.5 // where no table knows a sign of one

	// That a message orders nothing though the tables find an order. What the speaker says of themselves is likelier to be one.
	surest        = 0.95 // where no table knows an order
	doubtfulOrder = 0.2
	unlikelyOrder = 0.8
	clearlyNone   = 0.999
)

//go:embed orders.model
var ordersFile []byte

//go:embed spans.model
var spansFile []byte

// Models are what is trained of the reading of orders.
type Models struct {
	Orders *text.Model // finds what a message orders
	Spans  *text.Model // finds the text of that
}

var embedded = sync.OnceValue(func() Models { return Models{text.MustParseModel(ordersFile), text.MustParseModel(spansFile)} })

// Decide returns what a message orders by the probabilities of [Classes]. It returns the likeliest deed, whether that is sure, and how much
// doubt there is.
func Decide(odds []float64) (deed int, sure bool, doubt Doubt) {
	deed = 1
	for i := range odds {
		if i > readNone && odds[i] > odds[deed] {
			deed = i
		}
	}
	switch any := 1 - odds[readNone]; {
	case any >= likelyOrder:
		doubt = Likely
	case any >= perhapsOrder:
		doubt = Perhaps
	}
	return deed, odds[deed] >= sureOrder[deed], doubt
}

// Likeliest returns the deed that a message orders if it orders one, or "" if none is likely. names are the bot's.
func Likeliest(message string, names []string) Deed {
	odds := embedded().Orders.Classify(Features(message, names))
	switch deed, _, _ := Decide(odds); {
	case odds[deed] < perhapsOrder, odds[deed] < likelyOrder*(1-odds[readNone]): // it may be another
		return ""
	case deed == readAll:
		return Forget
	default:
		return Deed(Classes[deed])
	}
}

// Features returns what the model of orders sees of a message, for training. names are the bot's. It sees nothing of what is not in the
// author's own voice.
func Features(message string, names []string) []text.Feature {
	own, called := heard(message, names)
	if len(own.sentences) == 0 {
		return nil
	}
	return newSight(own.sentences, called).features
}

// sight collects the features of a message. Their names are parts of two texts, so that they need no memory of their own.
type sight struct {
	models    Models
	v         *vocabulary
	called    [][]string
	sentences []glance
	features  []text.Feature

	found  []Order // by the tables
	unsure Doubt   // of the tables
}

// glance is a sentence while it is looked at.
type glance struct {
	text   string
	words  []token
	places []place
}

func newSight(sentences []string, called [][]string) *sight {
	said := text.NewSaying(strings.Join(sentences, " "))
	words := tokens(said.Text)
	s := &sight{v: speech(said, words), called: called, features: make([]text.Feature, 0, 16*len(said.Text)/2)}
	if MayHold(said.Text) {
		s.found, s.unsure = parse(sentences, called)
	}
	for _, one := range sentences {
		words := tokens(one)
		s.sentences = append(s.sentences, glance{one, words, s.v.signs.find(one, strings.ToLower(one), words)})
	}
	s.addWords()
	s.addOutline()
	s.addSigns(said, words)
	s.addTables()
	return s
}

func (s *sight) add(name string, value float64) {
	s.features = append(s.features, text.Feature{Name: name, Value: value})
}

// Values of features. A word has the value 1.
const (
	partWorth = 0.5
	pairWorth = 0.7
)

const (
	leastPart, mostPart       = 3, 5 // characters of parts of words
	leastUnspaced, mostGlyphs = 1, 4 // … in scripts with short words
	leastOutline, mostOutline = 2, 5 // symbols of parts of an outline
)

// addWords adds the words and marks, pairs and threes of them, and the parts of words. A number becomes zeros, and the bot's name "@@".
func (s *sight) addWords() {
	var b strings.Builder
	var starts []int
	write := func(word string) {
		starts = append(starts, b.Len())
		b.WriteString(word)
		b.WriteByte(' ')
	}
	b.WriteByte(' ')
	for _, one := range s.sentences {
		write("^")
		at := 0
		for i := 0; i < len(one.words); i++ {
			w := one.words[i]
			marksIn(one.text[at:w.from], write)
			if n := s.names(one.words[i:]); n > 0 {
				write("@@")
				i += n - 1
			} else {
				write(strings.Map(noDigit, w.key))
			}
			at = one.words[i].to
		}
		marksIn(one.text[at:], write)
		write("$")
	}
	flat, n := b.String(), len(starts)
	starts = append(starts, b.Len())
	for i := range n {
		from := starts[i]
		word := flat[from-1 : starts[i+1]]
		s.add(word, 1)
		for more := 2; more <= 3 && i+more <= n; more++ {
			s.add(flat[from-1:starts[i+more]], pairWorth)
		}
		if text.Unspaced(word) || isHangul(word) {
			s.addParts(word, leastUnspaced, mostGlyphs, pairWorth)
		} else if len(word) > leastPart+1 {
			s.addParts(word, leastPart, mostPart, partWorth)
		}
	}
}

// names returns how many of the first words name the bot.
func (s *sight) names(words []token) (n int) {
	for _, name := range s.called {
		if len(name) > n && prefix(words, name) > 0 {
			n = len(name)
		}
	}
	return n
}

func noDigit(r rune) rune {
	if unicode.IsDigit(r) {
		return '0'
	}
	return r
}

func isHangul(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Hangul, r) })
}

// marksIn writes the marks between words.
func marksIn(s string, write func(string)) {
	for _, r := range s {
		if m := markOf(r); m != "" {
			write(m)
		}
	}
}

func markOf(r rune) string {
	switch r {
	case ',', '，', '、', ';', '–', '—', '…':
		return ","
	case ':', '：':
		return ":"
	case '?', '？':
		return "?"
	case '!', '！':
		return "!"
	case '@':
		return "@"
	case '=':
		return "="
	case '(', ')', '\n':
		return "("
	}
	if isQuote(r) {
		return "\""
	}
	return ""
}

// addParts adds the runs of so many characters of a word.
func (s *sight) addParts(word string, least, most int, worth float64) {
	for from := range word {
		n := 0
		for to, r := range word[from:] {
			if n++; n > most {
				break
			}
			if part := word[from : from+to+utf8.RuneLen(r)]; n >= least && len(part) < len(word) {
				s.add(part, worth)
			}
		}
	}
}

// speech returns the vocabulary in which a message is written.
func speech(said text.Saying, words []token) (best *vocabulary) {
	most := -1
	for _, v := range vocabularies() {
		if v.code == said.Code {
			return v
		}
		n := 0
		if v.unspaced || v.code == "ko" {
			continue
		}
		for i, w := range words {
			n += int(text.Indicator(v.grammar.small[w.key] || v.own.has(w.key)) + text.Indicator(slices.ContainsFunc(v.signs.byStart[startOf(w.key)], func(one sign) bool { return one.at(words, i) >= 0 })))
		}
		if n > most || n == most && v.code == "en" {
			best, most = v, n
		}
	}
	return best
}

// addTables adds what the tables find.
func (s *sight) addTables() {
	name := [...]string{"=tables none", "=tables perhaps", "=tables likely"}[s.unsure]
	o := Order{}
	if len(s.found) > 0 {
		if o = s.found[0]; o.All {
			name = "=tables all"
		} else {
			name = "=tables " + string(o.Deed)
		}
	}
	s.add(name, 1)
	for _, t := range []struct {
		is   bool
		name string
	}{{o.Own, " own"}, {o.Other, " other"}, {o.Field != "", " field"}, {o.Wrong != "", " wrong"}, {o.Plain, " plain"}, {o.Deed != "" && o.Text == "", " points"}, {len(s.found) > 1, " several"}, {o.Deed != "" && s.unsure > NoDoubt, " unsure"}} {
		if t.is {
			s.add(name+t.name, 1)
		}
	}
}
