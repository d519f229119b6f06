package memory

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// saying is a text in which phrases are looked for.
type saying struct {
	text  string
	words []text.Word
	code  string // its language, or ""
	flat  string // its words in lower case with a space before and behind each
	lower string
}

func newSaying(s string) saying {
	words := text.Words(s)
	return saying{text: s, words: words, code: text.MessageLanguage(s), flat: flat(s), lower: strings.ToLower(s) + " "}
}

// flat returns the words of a text in lower case and without accents, with a space before and behind each. Dotless letters get their dot.
func flat(s string) string {
	words := strings.FieldsFunc(text.Unaccented(strings.ToLower(s)), func(r rune) bool { return !text.InWord(r) })
	return undotted.Replace(" " + strings.Join(words, " ") + " ")
}

// undotted gives the Turkish letter its dot. Written in capitals, it cannot be told from the one that has it.
var undotted = strings.NewReplacer("ı", "i")

// phraseSet are phrases that are looked for in sayings. Those of scripts without spaces are parts of a text, others are whole words.
type phraseSet []string

func newPhrases(lists ...text.PhraseList) (all phraseSet) {
	for _, list := range lists {
		for phrase := range strings.SplitSeq(string(list), ",") {
			phrase = strings.ToLower(strings.TrimSpace(phrase))
			switch open := strings.HasSuffix(phrase, "*"); {
			case phrase == "":
			case text.Unspaced(phrase) || strings.Contains(phrase, "/"):
				all = append(all, phrase)
			case open:
				all = append(all, strings.TrimSuffix(flat(phrase), " "))
			default:
				all = append(all, flat(phrase))
			}
		}
	}
	return all
}

// find returns where the first phrase begins in the text in which it is looked for, and its end, or -1.
func (p phraseSet) find(s saying) (in string, from, to int) {
	from = -1
	for _, phrase := range p {
		within := s.flat
		if phrase[0] != ' ' {
			within = s.lower
		}
		if i := strings.Index(within, phrase); i >= 0 && (from < 0 || i < from) {
			in, from, to = within, i, i+len(phrase)
		}
	}
	return in, from, to
}

func (p phraseSet) in(s saying) bool {
	_, from, _ := p.find(s)
	return from >= 0
}

// ends reports whether a text ends with one of the phrases.
func (p phraseSet) ends(s saying) bool {
	return slices.ContainsFunc(p, func(phrase string) bool {
		within := s.flat
		if phrase[0] != ' ' {
			within = strings.TrimRight(s.lower, " .!。！~)")
		}
		i := strings.LastIndex(within, phrase)
		return i >= 0 && !strings.Contains(strings.Trim(within[i+len(phrase):], " "), " ") && utf8.RuneCountInString(within[i+len(phrase):]) < 8
	})
}

// lexicons holds the tables of package text that judge sentences.
type lexicons struct {
	frames, jokes, untrue, people, bots, duties, commands, private, harmless, harmlessWords phraseSet
	plain                                                                                   map[string]bool
	of                                                                                      map[string]*dialect // by language; "" has all
}

// dialect holds those that hold in one language.
type dialect struct {
	small, own, third, firstThird, determiners map[string]bool
	asks, negations, verbs                     map[string]bool
	qualifiers, attributes                     phraseSet
	single                                     map[string]phraseSet
}

var lexicon = sync.OnceValue(func() *lexicons {
	all := text.AllTables()
	t := all.Statement
	l := &lexicons{
		frames: newPhrases(t.Frames), jokes: newPhrases(t.Jokes), untrue: newPhrases(all.Claim.Refutals), people: newPhrases(t.People), bots: newPhrases(t.Bots),
		duties: newPhrases(t.Duties), plain: text.Set(t.Plain + " " + all.Number.Words + " " + text.WordList(all.Time.Weekdays+" "+all.Time.Months)), commands: newPhrases(t.Commands), of: map[string]*dialect{"": newDialect(all)},
	}
	l.private, l.harmless = newPhrases(slices.Collect(maps.Values(t.Private))...), newPhrases(slices.Collect(maps.Values(t.Harmless))...)
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
		asks: text.Set(t.Question.Things), negations: text.Set(t.Grammar.Negations), verbs: text.Set(t.Memory.Is), qualifiers: newPhrases(t.Statement.Qualifiers), attributes: newPhrases(t.Statement.Attributes), single: map[string]phraseSet{},
	}
	for what, list := range t.Statement.Single {
		d.single[what] = newPhrases(list)
	}
	return d
}

func (s saying) dialect() *dialect { return lexicon().of[s.code] }
