package memory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/memory/order"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Why a sentence of somebody is not remembered.
const (
	refusedQuestion  = "question"
	refusedJoke      = "joke"
	refusedFrame     = "frame"     // the words before it say that it is not a statement of its writer's
	refusedQuotation = "quotation" // of somebody's words
	refusedOthers    = "others"    // it is about people who did not say it
	refusedPrivate   = "private"   // it is about health, belief, sex or politics
	refusedUnknown   = "unknown"   // nothing shows that it is of a harmless kind
	refusedAddressee = "to whom"   // it speaks to somebody
	refusedOrder     = "order"     // it would steer the bot
	refusedAddress   = "address"
)

// Learns reports whether the bot may keep a sentence of a message by itself, of a writer who agreed.
func Learns(message string) bool {
	return slices.ContainsFunc(sentencesOf(message, "", "", nil), func(s sentence) bool { return s.refused == "" })
}

// fit returns why the bot does not keep a sentence by itself, or "". others are the names of people who did not say it. No list of words can
// hold all that is private. So a sentence must also have a word of what is harmless.
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
	case s.SpeaksTo():
		return refusedAddressee
	case frames(s):
		return refusedFrame
	case s.EndsWith(l.jokes):
		return refusedJoke
	case quotes(s):
		return refusedQuotation
	case s.ofThird() || slices.ContainsFunc(others, s.names):
		return refusedOthers
	case s.Has(l.private):
		return refusedPrivate
	case !s.Has(l.harmless) || !s.ofThing() && s.strange() > mostStrange:
		return refusedUnknown
	}
	return ""
}

// ofThing reports whether a text begins with a thing and says nothing in the first person. An example is "the server moves in June".
func (s saying) ofThing() bool {
	own, _ := order.About(s.Text)
	return !own && len(s.Words) > 0 && s.Code != "" && s.dialect().determiners[s.Words[0].Key] && !text.TablesOf(s.Code).Memory.Drops && !s.Has(lexicon().people)
}

// mostStrange is how many strange words a sentence that the bot keeps by itself may have. A strange word is neither harmless nor small, and
// no name or number.
const mostStrange = 1

// strange returns how many words of a text are none of these. In a script without spaces they cannot be told.
func (s saying) strange() (n int) {
	for i, w := range s.Words {
		word := s.Text[w.Start:w.End]
		harmless := text.Saying{Flat: text.Flat(word)}.Has(lexicon().harmlessWords)
		name := w.Upper && i > 0 && s.Code != "de"
		if harmless || name || text.Unspaced(word) || text.Numeric(w.Key) || len(w.Key) < 3 || lexicon().plain[w.Key] || lexicon().of[""].small[w.Key] {
			continue
		}
		n++
	}
	return n
}

// asks reports whether a sentence is a question.
func asks(s saying) bool {
	trimmed := strings.TrimRight(s.Text, " 。.!)」\"")
	return strings.ContainsAny(s.Text, "?？؟") || strings.HasSuffix(trimmed, "か") || len(s.Words) > 0 && s.dialect().asks[s.Words[0].Key]
}

// steers reports whether a text would have the bot do something. names are the bot's.
func steers(s saying, names []string) bool {
	l := lexicon()
	return text.Orders(s.Text) || s.Has(l.commands) || s.Has(l.duties) && (s.Has(l.bots) || s.speaksTo() || slices.ContainsFunc(names, s.names)) || s.bids()
}

// speaksTo is SpeaksTo for scripts without spaces, too, in which a word cannot be told from a part of one.
func (s saying) speaksTo() bool {
	return s.SpeaksTo() || text.Unspaced(s.Text) && s.Has(lexicon().you)
}

// beginsWithYou reports whether a clause tells what the bot is or does.
func (s saying) beginsWithYou() bool {
	return len(s.Words) > 0 && text.SecondPerson(s.Code)[s.Words[0].Key] || text.Unspaced(s.Text) && slices.ContainsFunc(lexicon().you, func(you string) bool { return strings.HasPrefix(s.Text, you) })
}

// bids reports whether a clause tells the bot what to say or do: "and always answer in Latin". Where a verb needs no pronoun, only the
// first clause and one with a word of duty does. "my parrot is green, speaks Dutch" has the same form.
func (s saying) bids() bool {
	d := lexicon().of[cmp.Or(s.Code, "en")]
	for i, c := range s.clauses() {
		if (i == 0 || !d.drops || c.Has(lexicon().duties)) && d.bid(c) {
			return true
		}
	}
	return false
}

// clauses returns the parts of a text between marks and words such as "and".
func (s saying) clauses() (all []saying) {
	from, and := 0, s.dialect().and
	cut := func(to int) {
		if clause := strings.Trim(s.Text[from:to], " "); clause != "" {
			all = append(all, newSaying(clause))
		}
	}
	for _, w := range s.Words {
		if and[w.Key] {
			cut(w.Start)
			from = w.End
		} else if i := strings.LastIndexAny(s.Text[from:w.Start], joints+".!。！"); i >= 0 {
			cut(from + i)
			from = w.Start
		}
	}
	cut(len(s.Text))
	return all
}

// bid reports whether a clause begins with such a verb, after small words without a subject. If verbs come last, it must end with it.
func (d *dialect) bid(clause saying) bool {
	words := clause.Words
	switch {
	case text.Unspaced(clause.Text):
		return slices.ContainsFunc(slices.Collect(maps.Keys(d.bids)), func(verb string) bool { return strings.Contains(clause.Text, verb) })
	case d.verbLast:
		return len(words) > 0 && d.bids[words[len(words)-1].Key]
	}
	for i, w := range words {
		skipped := d.small[w.Key] || d.negations[w.Key] || d.courtesies[w.Key] || saying{text.NewSaying(clause.Text[w.Start:w.End])}.Has(lexicon().duties)
		switch {
		case d.bids[w.Key]:
			return i+1 < len(words)
		case !skipped || d.own[w.Key] || d.third[w.Key] || d.determiners[w.Key]:
			return false
		}
	}
	return false
}

// frames reports whether a sentence says that it is not a statement of its writer's. It says so of itself, or of what follows it. After a
// word for the writer the same words do not: "I translate novels".
func frames(s saying) bool {
	in, from, _ := s.Find(lexicon().frames)
	return from >= 0 && (text.Unspaced(in) || !text.ContainsAny(text.Words(in[:from]), s.dialect().own))
}

// quotedWords is how many words between quotation marks may be a name.
const quotedWords = 3

// quotes reports whether a sentence quotes more than a name.
func quotes(s saying) bool {
	for _, m := range quotation.FindAllString(s.Text, -1) {
		words := text.Words(m)
		if len(words) > quotedWords || text.ContainsAny(words, s.dialect().own) || text.Unspaced(m) && utf8.RuneCountInString(m) > 2*quotedWords+2 {
			return true
		}
	}
	return false
}

var quotation = text.NewLazyRegexp(`"[^"]+"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』`)

// address matches an address of the web or of mail, and a name of a host.
var address = text.NewLazyRegexp(`(?i)\w://|\(link\)|\bwww\.|[\w.+-]+@[\w-]+\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[\p{L}\d-]+\.)+(?:[a-z]{3,}|(?:at|be|br|ch|cn|co|cz|de|es|eu|fr|gg|io|it|jp|kr|me|nl|pl|pt|ru|to|tr|tv|uk|us))\b(?:[/:]|\W|$)`)

func hasAddress(s string) bool { return address.MatchString(s) }

// Refusal returns why a text is not remembered at a person's request, or "" if it may be. Secrets, orders to the bot and addresses are
// refused. So is what is about another person than the request's author. other says that the words themselves are about somebody else.
func Refusal(redactor *clean.Redactor, r turn.Request, said string, other bool) string {
	s := newSaying(said)
	switch {
	case other || namesOther(r, s) || !saysOwnPrivate(s, insideOf(r.Message.Text, said)):
		return turn.MemoryOthers
	case redactor.String(said) != said:
		return turn.MemorySecret
	case steers(s, r.Names) || hasAddress(unbroken(r.Message.Text, said)):
		return turn.MemoryOrder
	}
	return ""
}

// Warm makes the tables that the first order to remember would otherwise wait for.
func Warm(redactor *clean.Redactor, r turn.Request) {
	order.Parse(r.Message.Text+" Remember that it rains.", r.Names)
	order.Reminders("Remind me in an hour to call.", r.Names, r.Message.At)
	Refusal(redactor, r, "It rains.", false) // the tables of what may be remembered
}

// unbroken returns a part of a message with the rest of its first and last word. Half an address is one, too.
func unbroken(message, part string) string {
	from := strings.Index(message, part)
	if from < 0 {
		return part
	}
	to := from + len(part)
	from = 1 + strings.LastIndexFunc(message[:from], unicode.IsSpace)
	if n := strings.IndexFunc(message[to:], unicode.IsSpace); n >= 0 {
		return message[from : to+n]
	}
	return message[from:]
}

// CardRefusal returns why a value is not put on a person's card, or "". Every character is told it. names are the bot's.
func CardRefusal(redactor *clean.Redactor, value string, names []string) string {
	switch {
	case redactor.String(value) != value:
		return turn.MemorySecret
	case steers(newSaying(value), names) || hasAddress(value) || strings.Contains(value, "@"):
		return turn.MemoryOrder
	}
	return ""
}

// saysOwnPrivate reports whether a text that speaks of health, belief, sex or politics speaks of its writer's alone. A place where people
// meet is allowed, too. In a language that needs no pronoun it speaks of its writer if it names nobody. inside says that it is the end of a
// sentence. Then its first word has a capital only if it is a name.
func saysOwnPrivate(s saying, inside bool) bool {
	if !s.Has(lexicon().private) || s.ofMeeting() {
		return true
	}
	from := min(1, len(s.Words))
	if inside {
		from = 0
	}
	own, _ := order.About(s.Text)
	own = own || text.TablesOf(s.Code).Memory.Drops && !hasCapital(s.Words[from:]) && !s.marksOther()
	return own && !s.ofThird() && !s.Has(lexicon().people)
}

// marksOther reports whether a particle marks somebody whom a text is about: "弟は", but not "アレルギーが".
func (s saying) marksOther() bool {
	i := strings.IndexAny(s.Text, "はが는은")
	return i >= 0 && !slices.ContainsFunc(lexicon().private, func(word string) bool { return strings.HasSuffix(s.Text[:i], word) })
}

// ofMeeting reports whether a text begins with something to which people come together. It names nobody, and has no private word but those
// of places: "practice is on Thursday at the church".
func (s saying) ofMeeting() bool {
	in, from, _ := s.Find(lexicon().meetings)
	if from < 0 || s.Has(lexicon().intimate) || s.Has(lexicon().people) || s.startsThird() {
		return false
	}
	d := s.dialect()
	leads := func(w text.Word) bool { return !d.small[w.Key] && !d.determiners[w.Key] }
	third := func(w text.Word) bool { return d.third[w.Key] && !d.articles[w.Key] }
	named := func(w text.Word) bool {
		_, day := text.Weekday(w.Key)
		return w.Upper && w.Start > 0 && s.Code != "de" && !day
	}
	return !slices.ContainsFunc(text.Words(in[:from]), leads) && !slices.ContainsFunc(s.Words, third) && !slices.ContainsFunc(s.Words, named)
}

func hasCapital(words []text.Word) bool {
	return slices.ContainsFunc(words, func(w text.Word) bool { return w.Upper })
}

// insideOf reports whether a part of a message comes after other words of its sentence.
func insideOf(message, part string) bool {
	before, _, found := strings.Cut(message, part)
	before = strings.TrimRight(before, " \t")
	return found && before != "" && !strings.ContainsRune(".!?:。！？：\n\"“«", []rune(before)[utf8.RuneCountInString(before)-1])
}
