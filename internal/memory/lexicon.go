package memory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"familiar/internal/text"
)

// saying is a text that is judged.
type saying struct{ text.Saying }

func newSaying(s string) saying { return saying{text.NewSaying(s)} }

// lexicons holds the tables of package text that judge sentences.
type lexicons struct {
	frames, jokes, untrue, people, bots, duties, commands, private, harmless, harmlessWords text.PhraseSet
	plain                                                                                   map[string]bool
	of                                                                                      map[string]*dialect // by language; "" has all
}

// dialect holds those that hold in one language.
type dialect struct {
	small, own, third, firstThird, determiners map[string]bool
	asks, negations, verbs                     map[string]bool
	qualifiers, attributes                     text.PhraseSet
	single                                     map[string]text.PhraseSet
}

var lexicon = sync.OnceValue(func() *lexicons {
	all := text.AllTables()
	t := all.Statement
	l := &lexicons{
		frames: text.NewPhraseSet(t.Frames), jokes: text.NewPhraseSet(t.Jokes), untrue: text.NewPhraseSet(all.Claim.Refutals), people: text.NewPhraseSet(t.People), bots: text.NewPhraseSet(t.Bots),
		duties: text.NewPhraseSet(t.Duties), plain: text.Set(t.Plain + " " + all.Number.Words + " " + text.WordList(all.Time.Weekdays+" "+all.Time.Months)), commands: text.NewPhraseSet(t.Commands), of: map[string]*dialect{"": newDialect(all)},
	}
	l.private, l.harmless = text.NewPhraseSet(slices.Collect(maps.Values(t.Private))...), text.NewPhraseSet(slices.Collect(maps.Values(t.Harmless))...)
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
		asks: text.Set(t.Question.Things), negations: text.Set(t.Grammar.Negations), verbs: text.Set(t.Memory.Is), qualifiers: text.NewPhraseSet(t.Statement.Qualifiers), attributes: text.NewPhraseSet(t.Statement.Attributes), single: map[string]text.PhraseSet{},
	}
	for what, list := range t.Statement.Single {
		d.single[what] = text.NewPhraseSet(list)
	}
	return d
}

func (s saying) dialect() *dialect { return lexicon().of[s.Code] }
