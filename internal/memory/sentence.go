package memory

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/memory/order"
	"familiar/internal/text"
)

// sentence is a sentence of a message, in its writer's words, with the short remarks before and after it.
type sentence struct {
	text    string
	refused string // why it is not remembered, or ""
}

const (
	longestSentence = 300 // characters of a sentence that is remembered
	longestRemark   = 4   // words of a remark
	maxBackward     = 6   // words of a sentence that takes back what is before it
	wordLetters     = 2   // characters that count as a word in a script without spaces
)

// sentencesOf returns the sentences of a message, without those that are only remarks on others. What is around a sentence may make
// another statement of it: "imagine that", "just kidding". before and after are what its writer wrote immediately before and after the
// message, or "". others are the names of people who did not write it.
func sentencesOf(message, before, after string, others []string) (all []sentence) {
	parts := partsOf(message)
	framed := endsOpen(before)
	alone := !slices.ContainsFunc(parts, func(part string) bool { return !isRemark(part) }) // remarks on nothing are one statement
	for i, part := range parts {
		if framed = framed || frames(newSaying(part)); isRemark(part) && (!alone || i > 0) {
			continue
		}
		s := sentence{text: joined(parts, i)}
		switch {
		case utf8.RuneCountInString(s.text) > longestSentence:
			s.refused = refusedFrame
		case framed:
			s.refused = refusedFrame
		case slices.ContainsFunc(parts[i+1:], takesBack) || after != "" && takesBack(after):
			s.refused = refusedJoke
		default:
			s.refused = fit(s.text, others)
		}
		framed = framed || endsOpen(part)
		all = append(all, s)
	}
	return all
}

// partsOf splits a message into sentences. A line without a mark at its end goes on in the next one.
func partsOf(message string) (parts []string) {
	from := 0
	for to := range text.SentenceEnds(message) {
		part := strings.TrimSpace(message[from:to])
		if part != "" && (to == len(message) || !goesOn(part)) {
			parts, from = append(parts, text.OneLine(message[from:to])), to
		}
	}
	return parts
}

// goesOn reports whether a part of a message has no mark at its end.
func goesOn(part string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(part, `"'”’»)]」`))
	return !strings.ContainsRune(".!?…:。！？：", last)
}

// endsOpen reports whether the words after a text belong to it.
func endsOpen(s string) bool {
	words := text.Words(s)
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, ",") || len(words) > 0 && leadsOn()[words[len(words)-1].Key]
}

// isRemark reports whether a part of a message is too short to be a statement of its own. It does not speak of its writer.
func isRemark(part string) bool {
	own, _ := order.About(part)
	return !own && wordsOf(part) <= longestRemark
}

// takesBack reports whether a part of a message takes back what is before it. It was not meant, or is not so. Examples are "just kidding"
// and "that I am not".
func takesBack(part string) bool {
	s, all := newSaying(part), lexicon().of[""]
	says := func(w text.Word) bool { return !all.small[w.Key] && !all.negations[w.Key] && !lexicon().plain[w.Key] }
	return wordsOf(part) <= maxBackward && (s.Has(lexicon().jokes) || s.Has(lexicon().untrue)) ||
		!text.Unspaced(part) && len(s.Words) > 1 && text.ContainsAny(s.Words, all.negations) && !slices.ContainsFunc(s.Words, says)
}

// wordsOf returns how many words a text has, or would have if they were apart.
func wordsOf(s string) int {
	if text.Unspaced(s) {
		return utf8.RuneCountInString(s) / wordLetters
	}
	return len(text.Words(s))
}

// leadsOn returns words after which a sentence goes on: "that", "if".
var leadsOn = sync.OnceValue(func() map[string]bool {
	t := text.AllTables()
	return text.Set(t.Claim.Conjunctions + " " + t.Quote.Binding)
})

// joined returns the i-th part of a message with the remarks around it, except for questions.
func joined(parts []string, i int) string {
	from, to := i, i+1
	for from > 0 && isRemark(parts[from-1]) {
		from--
	}
	for to < len(parts) && isRemark(parts[to]) {
		to++
	}
	said := slices.DeleteFunc(slices.Clone(parts[from:to]), func(part string) bool { return part != parts[i] && asks(newSaying(part)) })
	return strings.Join(said, " ")
}

// saying is a text that is judged.
type saying struct{ text.Saying }

func newSaying(s string) saying { return saying{text.NewSaying(s)} }

// lexicons holds the tables of package text that judge sentences.
type lexicons struct {
	frames, jokes, untrue, people, bots, duties, commands, private, harmless, harmlessWords, meetings text.PhraseSet
	intimate                                                                                          text.PhraseSet // of private, without places
	you, wrong                                                                                        text.PhraseSet
	plain                                                                                             map[string]bool
	of                                                                                                map[string]*dialect // by language; "" has all
}

// dialect holds those that hold in one language.
type dialect struct {
	small, own, third, firstThird, determiners, articles     map[string]bool
	asks, negations, verbs, bids, courtesies, reporting, and map[string]bool
	drops, verbLast                                          bool // see text.Tables.Memory
	qualifiers, attributes, birthday                         text.PhraseSet
	single                                                   map[string]text.PhraseSet
}

var lexicon = sync.OnceValue(func() *lexicons {
	all := text.AllTables()
	t := all.Statement
	l := &lexicons{
		frames: text.NewPhraseSet(t.Frames), jokes: text.NewPhraseSet(t.Jokes), untrue: text.NewPhraseSet(all.Claim.Refutals), people: text.NewPhraseSet(t.People), bots: text.NewPhraseSet(t.Bots),
		duties: text.NewPhraseSet(t.Duties), plain: text.Set(t.Plain + " " + all.Number.Words + " " + text.WordList(all.Time.Weekdays+" "+all.Time.Months)), commands: text.NewPhraseSet(t.Commands), of: map[string]*dialect{"": newDialect(all)},
	}
	places := text.NewPhraseSet(t.Places)
	l.you, l.wrong = text.NewPhraseSet(all.Need.Persons["you"]), text.NewPhraseSet(all.Memory.Signs["wrong"])
	l.meetings = text.NewPhraseSet(t.Meetings)
	l.private, l.harmless = text.NewPhraseSet(slices.Collect(maps.Values(t.Private))...), text.NewPhraseSet(slices.Collect(maps.Values(t.Harmless))...)
	l.intimate = slices.DeleteFunc(slices.Clone(l.private), func(phrase string) bool { return slices.Contains(places, phrase) })
	for _, phrase := range l.harmless { // "night shift*" has two
		if phrase[0] == ' ' {
			open := !strings.HasSuffix(phrase, " ")
			words := strings.Fields(phrase)
			for i, w := range words {
				if w = " " + w + " "; open && i == len(words)-1 {
					w = strings.TrimSuffix(w, " ")
				}
				l.harmlessWords = append(l.harmlessWords, w)
			}
		}
	}
	for _, code := range text.Languages() {
		l.of[code] = newDialect(text.TablesOf(code))
	}
	return l
})

func newDialect(t *text.Tables) *dialect {
	d := &dialect{
		small: text.Set(t.Grammar.StopWords + " " + t.Grammar.FunctionWords + " " + t.Memory.Own + " " + t.Memory.Is), own: text.Set(t.Grammar.FirstPerson + " " + t.Memory.Own),
		third: text.Set(t.Grammar.Pronouns["he"]), firstThird: text.Set(t.Memory.Others), determiners: text.Set(t.Statement.Determiners + " " + t.Grammar.Articles),
		articles: text.Set(t.Grammar.Articles), asks: text.Set(t.Question.Things), negations: text.Set(t.Grammar.Negations), verbs: text.Set(t.Memory.Is), qualifiers: text.NewPhraseSet(t.Statement.Qualifiers), attributes: text.NewPhraseSet(t.Statement.Attributes), single: map[string]text.PhraseSet{},
		bids: text.Set(t.Statement.Bids), courtesies: text.Set(t.Grammar.Courtesies), and: text.Set(t.Memory.And), reporting: text.Set(t.Claim.Reporting), drops: t.Memory.Drops, verbLast: t.Memory.VerbLast,
	}
	for what, list := range t.Statement.Single {
		d.single[what] = text.NewPhraseSet(list)
	}
	d.birthday = d.single[birthdays]
	delete(d.single, birthdays)
	return d
}

func (s saying) dialect() *dialect { return lexicon().of[s.Code] }
