package memory

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Why a sentence of somebody is not remembered.
const (
	refusedQuestion  = "question"
	refusedJoke      = "joke"
	refusedFrame     = "frame"     // the words before it say that it is no statement of its writer's
	refusedQuotation = "quotation" // of somebody's words
	refusedOthers    = "others"    // it is about people who did not say it
	refusedPrivate   = "private"   // it is about health, belief, sex or politics
	refusedAddressee = "to whom"   // it speaks to somebody
	refusedOrder     = "order"     // it would steer the bot
	refusedAddress   = "address"
)

// fit returns why the bot does not keep a sentence by itself, or "". others are the names of people who did not say it.
func fit(sentence string, others []string) (refused string) {
	s := newSaying(sentence)
	l := lexicon()
	switch {
	case asks(s):
		return refusedQuestion
	case hasAddress(sentence):
		return refusedAddress
	case steers(s, nil):
		return refusedOrder
	case speaksTo(s):
		return refusedAddressee
	case frames(s):
		return refusedFrame
	case l.jokes.ends(s):
		return refusedJoke
	case quotes(s):
		return refusedQuotation
	case s.ofThird() || slices.ContainsFunc(others, s.names):
		return refusedOthers
	case l.private.in(s):
		return refusedPrivate
	}
	return ""
}

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
	return saying{text: s, words: words, code: text.Language(s, words), flat: flat(s), lower: strings.ToLower(s) + " "}
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
	frames, jokes, untrue, people, bots, duties, commands, private phraseSet
	of                                                             map[string]*dialect // by language; "" has all
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
		duties: newPhrases(t.Duties), commands: newPhrases(t.Commands), of: map[string]*dialect{"": newDialect(all)},
	}
	for _, code := range text.Languages() {
		l.of[code] = newDialect(text.TablesOf(code))
	}
	for _, list := range t.Private {
		l.private = append(l.private, newPhrases(list)...)
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

// asks reports whether a sentence is a question.
func asks(s saying) bool {
	trimmed := strings.TrimRight(s.text, " 。.!)」\"")
	return strings.ContainsAny(s.text, "?？؟") || strings.HasSuffix(trimmed, "か") || len(s.words) > 0 && s.dialect().asks[s.words[0].Key]
}

// speaksTo reports whether a sentence speaks to somebody: who reads it later is not that person.
func speaksTo(s saying) bool { return text.ContainsAny(s.words, secondPerson()[s.code]) }

var secondPerson = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{"": text.Set(text.AllTables().Grammar.SecondPerson)}
	for _, code := range text.Languages() {
		all[code] = text.Set(text.TablesOf(code).Grammar.SecondPerson)
	}
	return all
})

// steers reports whether a text would have the bot do something. names are the bot's.
func steers(s saying, names []string) bool {
	l := lexicon()
	return clean.Orders(s.text) || l.commands.in(s) || l.duties.in(s) && (l.bots.in(s) || speaksTo(s) || slices.ContainsFunc(names, s.names))
}

// frames reports whether a sentence says of itself, or of what follows it, that it is no statement of its writer's. Behind a word for the
// writer the same words do not: "I translate novels".
func frames(s saying) bool {
	in, from, _ := lexicon().frames.find(s)
	return from >= 0 && (text.Unspaced(in) || !text.ContainsAny(text.Words(in[:from]), s.dialect().own))
}

// quotedWords is how many words between quotation marks may be a name.
const quotedWords = 3

// quotes reports whether a sentence quotes more than a name.
func quotes(s saying) bool {
	for _, m := range quotation().FindAllString(s.text, -1) {
		words := text.Words(m)
		if len(words) > quotedWords || text.ContainsAny(words, s.dialect().own) || text.Unspaced(m) && utf8.RuneCountInString(m) > 2*quotedWords+2 {
			return true
		}
	}
	return false
}

var quotation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"]+"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』`)
})

// address matches an address of the web or of mail, and a name of a host.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\w://|\(link\)|\bwww\.|[\w.+-]+@[\w-]+\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[\p{L}\d-]+\.)+(?:[a-z]{3,}|(?:at|be|br|ch|cn|co|cz|de|es|eu|fr|gg|io|it|jp|kr|me|nl|pl|pt|ru|to|tr|tv|uk|us))\b(?:[/:]|\W|$)`)
})

func hasAddress(s string) bool { return address().MatchString(s) }

// ofThird reports whether a sentence is about somebody who was named before: "she has …".
func (s saying) ofThird() bool {
	if len(s.words) == 0 {
		return false
	}
	d := s.dialect()
	if s.code != "" && text.ContainsAny(s.words, d.third) || d.firstThird[s.words[0].Key] && !d.own[s.words[0].Key] {
		return true
	}
	return text.Unspaced(s.text) && slices.ContainsFunc(slices.Collect(maps.Keys(d.firstThird)), func(third string) bool { return strings.HasPrefix(s.text, third) })
}

// names reports whether a sentence names a person, whatever the case of a letter. A name that is a word of the language, too, counts where
// only a name can stand: "Will is late", but not "I will be late".
func (s saying) names(name string) bool {
	wanted := text.Words(name)
	if len(wanted) == 0 || utf8.RuneCountInString(name) < 2 {
		return false
	}
	if text.Unspaced(s.text) && beside(s.lower, strings.ToLower(name)) {
		return true
	}
	for i := range s.words {
		if i+len(wanted) <= len(s.words) && s.sameName(wanted, s.words[i:i+len(wanted)]) && (len(wanted) > 1 || !s.ordinary(i)) {
			return true
		}
	}
	return false
}

// sameName reports whether words are a name, or a case of it if they begin with capitals. Stems are compared with stems.
func (s saying) sameName(name, words []text.Word) bool {
	return slices.EqualFunc(name, words, func(a, b text.Word) bool {
		return undotted.Replace(a.Key) == undotted.Replace(b.Key) || s.code != "" && b.Upper && text.Stem(a.Key, s.code) == text.Stem(b.Key, s.code)
	})
}

// beside reports whether a text in a script without spaces has a name with no letter of the name's script before or behind it. Names in
// such a script have no such limits.
func beside(s, name string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(s[:from+i])
		from += i + len(name)
		after, _ := utf8.DecodeRuneInString(s[from:])
		if text.Unspaced(name) || !spaced(before) && !spaced(after) {
			return true
		}
	}
}

func spaced(r rune) bool { return unicode.IsLetter(r) && !text.Unspaced(string(r)) }

// ordinary reports whether the i-th word is no name but a word of the language.
func (s saying) ordinary(i int) bool {
	d, w := lexicon().of[cmp.Or(s.code, "en")], s.words[i]
	shouted := strings.ToUpper(s.text) == s.text
	capital := w.Upper && i > 0 && !shouted && s.code != "de"
	before := text.Word{}
	if i > 0 {
		before = s.words[i-1]
	}
	if text.MonthNames[w.Key] != 0 && (text.Prepositions[before.Key] || text.Numeric(before.Key)) {
		return true
	}
	if capital {
		return false
	}
	states := i+1 < len(s.words) && lexicon().of[""].verbs[s.words[i+1].Key] && !text.Possessive(s.text[w.Start:w.End])
	return i > 0 && d.determiners[before.Key] || d.small[w.Key] && !(states && !d.own[w.Key])
}

// Refusal returns why a text is not remembered at a person's wish, or "" if it may be. Secrets, orders to the bot and addresses are refused,
// and so is what is about another person than the request's author. other says that the words themselves are about somebody else.
func Refusal(redactor *redact.Redactor, r turn.Request, said string, other bool) string {
	s := newSaying(said)
	switch {
	case other || namesOther(r, s) || !saysOwnPrivate(s):
		return turn.MemoryOthers
	case redactor.String(said) != said:
		return turn.MemorySecret
	case steers(s, r.Names) || hasAddress(said):
		return turn.MemoryOrder
	}
	return ""
}

// saysOwnPrivate reports whether a text that speaks of health, belief, sex or politics speaks of its writer's alone.
func saysOwnPrivate(s saying) bool {
	own, _ := About(s.text)
	return !lexicon().private.in(s) || own && !s.ofThird() && !lexicon().people.in(s)
}

// namesOther reports whether a text names another person than the request's author, by a mention or by a name in the server.
func namesOther(r turn.Request, s saying) bool {
	if strings.Contains(s.text, "<@") { // a mention in a command
		return true
	}
	other := func(name string) bool { return name != r.Message.Author.Name && !slices.Contains(r.Names, name) }
	for _, mention := range r.Message.Mentions {
		if name, is := strings.CutPrefix(mention, "@"); is && other(name) && strings.Contains(s.text, mention) {
			return true
		}
	}
	return slices.ContainsFunc(r.People, func(name string) bool { return other(name) && s.names(name) })
}
