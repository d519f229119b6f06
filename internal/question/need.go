package question

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// Need is how much a message needs the web, and why.
type Need struct {
	Score     float64  // from 0 to 1
	ruleScore float64  // the score of the rules alone
	Cues      []string // what moved the score, strongest first
	Asks      bool     // it has the form of a question or a request
	Barred    bool     // a cue clearly speaks against a lookup: small talk, a device, a sum
	Order     Order
	Topics    []string // keys of the topics table
	Times     []string // keys of the times table
	Check     bool     // it asks whether something is true
	Sentence  string   // the sentence that decided
}

// A score of Threshold or more means a lookup. From DoubtFrom to DoubtTo, a side model is asked.
const (
	Threshold = 0.5
	DoubtFrom = 0.3
	DoubtTo   = 0.7
)

// weights are the log-odds that each cue adds. They were set by hand and rounded.
var weights = map[string]float64{
	"wh": 2.0, "aux": 1.0, "get": 1.3, "question mark": 0.6, "statement": -1.2, "long statement": -1.0, "fragment": 0.3,
	"topic": 1.8, "topics": 0.6, "time": 0.8, "factcheck": 3.5, "name": 0.8, "names": 0.5, "year": 1.0,
	"device": -3.2, "clock": -3.6, "sums": -3.2, "chance": -4, "speech": -3.2, "make": -2.6, "smalltalk": -1.6, "greeting only": -3, "opinion": -3,
	"you": -2.2, "me": -1.3, "i": -0.5, "pointing": -1.5, "nothing named": -2.5, "to another": -2.5, "to the room": -1, "roleplay": -4, "in play": -3, "code": -2.5,
}

const bias = -1.9

// barring are the cues that prevent a lookup even of a question.
var barring = text.LazySet(func() text.WordList {
	return "device clock sums chance speech make smalltalk opinion you roleplay code"
})

// Assess scores a message with the built-in models. names are the bot's.
func Assess(message string, names []string) Need { return builtIn().Assess(message, names) }

// Assess scores a message with these models. names are the bot's.
func (m Models) Assess(message string, names []string) Need {
	spoken, acted, code := spokenText(message)
	n := byRules(spoken, names)
	switch {
	case n.Order == NoSearch:
		return n
	case n.Order == Search:
		n.Score, n.Cues = 1, []string{"told to search"}
		return n
	case !acted && !code:
		m.rescore(&n, Parse(spoken, names))
		if rest := behindAside(spoken); rest != "" && !slices.Contains(n.Cues, "to the room") {
			n = m.surer(n, rest, names)
		}
	}
	// Text around an action in asterisks is played, too, unless it clearly asks for facts.
	if acted && n.Score < 0.9 {
		n.addCue("roleplay")
	}
	if code {
		n.addCue("code")
	}
	return n
}

// behindAside returns what follows an announcement of another subject, such as "thanks! different thing:", or "".
func behindAside(spoken string) string {
	words := text.Words(spoken)
	found := dependentIn()[text.MessageLanguage(spoken)].asides.FindAll(spoken, words)
	if len(found) == 0 || found[0].From > maxBeforeAside || found[0].To >= len(words) {
		return ""
	}
	from, to := found[0].From, found[0].To
	if to > from && to+maxBehindAside < len(words) { // "… entirely, when does it open?"
		end := words[to-1].End
		if at := strings.IndexAny(spoken[end:words[to+maxBehindAside].Start], ":,"); at > 1 {
			return strings.TrimSpace(spoken[end+at+1:])
		}
	}
	return spoken[words[to].Start:]
}

// maxBeforeAside is how many words an announcement of another subject may follow. maxBehindAside is how many more may belong to it.
const (
	maxBeforeAside = 6
	maxBehindAside = 2
)

// surer returns the need of a message. If a part of it asks and needs the web more, it is that of the part.
func (m Models) surer(n Need, part string, names []string) Need {
	one := byRules(part, names)
	if m.rescore(&one, Parse(part, names)); one.Asks && one.Order == NoOrder && one.Score > n.Score {
		return one
	}
	return n
}

// isCheck reports whether a message asks if something is true. It is faster than the Check of [Assess].
func isCheck(message string) bool {
	spoken, _, _ := spokenText(message)
	return byRules(spoken, nil).Check
}

var (
	codeBlock  = text.NewLazyRegexp("(?s)```.*?(?:```|$)")
	codeSpan   = text.NewLazyRegexp("`[^`\n]+`")
	actionSpan = text.NewLazyRegexp(`(?:^|[\s(])(?:\*[^*\n]{2,200}\*|_[^_\n]{2,200}_)(?:$|[\s).,!?])`)
)

// spokenText returns a message without its code and without played actions such as "*waves*". It reports whether there
// were actions, and whether there were code blocks.
func spokenText(message string) (spoken string, acted, code bool) {
	prose := codeBlock.ReplaceAllString(message, " ")
	plain := codeSpan.ReplaceAllString(prose, " ")
	spoken = actionSpan.ReplaceAllString(plain, " ")
	return spoken, len(strings.TrimSpace(spoken)) < len(strings.TrimSpace(plain)), prose != message
}

// byRules scores a message by the rules alone. The sentence that needs the web most decides.
func byRules(spoken string, names []string) Need {
	var best Need
	for _, s := range text.MessageSentences(spoken) {
		n := assessSentence(s, names)
		if n.Order == NoSearch {
			return Need{Order: NoSearch, Cues: []string{"told not to search"}, Asks: n.Asks}
		}
		if best.Cues == nil || n.Order == Search && best.Order == NoOrder || best.Order == n.Order && n.Score > best.Score {
			best = n
		}
	}
	return best
}

// assessSentence scores one sentence by the rules alone.
func assessSentence(s string, names []string) Need {
	u := Parse(s, names)
	if len(u.Words) == 0 {
		return Need{Cues: []string{"nothing said"}}
	}
	if len(u.Body) == 0 {
		u.Body = u.Words
	}
	form := u.Form()
	if form == NoForm && u.Inquiry {
		form = Request
	}
	n := Need{Sentence: s, Order: u.order(), Asks: form != NoForm || u.HasQuestionMark()}
	c := cues{}
	c.addForm(u, form)
	c.addTopics(&n, u, form)
	c.addNames(u)
	c.addAgainst(u, slices.Contains(n.Topics, "weather"))
	c.add("to another", !u.ToBot && toAnother(u))
	if c["topic"] || c["factcheck"] {
		delete(c, "greeting only")
	}
	c.score(&n)
	return n
}

// addCue changes the score by one more cue.
func (n *Need) addCue(cue string) {
	n.Score = logistic(logOdds(n.Score) + weights[cue])
	n.Cues = append(n.Cues, cue)
	n.Barred = n.Barred || barring()[cue]
}

// cues is the set of a sentence's cues, by name.
type cues map[string]bool

func (c cues) add(cue string, present bool) {
	if present {
		c[cue] = true
	}
}

// shownAs are the names of cues that people see.
var shownAs = map[Form]string{Wh: "question word", YesNo: "yes-or-no question", Request: "request"}

// score sets n's score from the weights of the cues, and lists the cues, strongest first.
func (c cues) score(n *Need) {
	n.Cues = slices.SortedStableFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Abs(weights[b]), math.Abs(weights[a])), strings.Compare(a, b))
	})
	sum := bias
	for i, cue := range n.Cues {
		sum += weights[cue]
		n.Barred = n.Barred || barring()[cue]
		switch cue {
		case "topic":
			n.Cues[i] = "topic: " + strings.Join(n.Topics, ", ")
		case "time":
			n.Cues[i] = "time: " + strings.Join(n.Times, ", ")
		default:
			n.Cues[i] = cmp.Or(shownAs[Form(cue)], cue)
		}
	}
	n.Score = math.Round(logistic(sum)*1000) / 1000
	n.ruleScore = n.Score
}

// addForm adds cues for how the sentence is built.
func (c cues) addForm(u Utterance, form Form) {
	switch {
	case form != NoForm:
		c[string(form)] = true
	case u.HasQuestionMark():
	default:
		c.add("fragment", len(u.Words) <= 5)
		c.add("statement", len(u.Words) > 5)
		c.add("long statement", len(u.Words) > 12)
	}
	c.add("question mark", u.HasQuestionMark())
	c.add("nothing named", !hasContent(u))
	c.add("pointing", len(u.Body) <= 6 && form != Request && text.ContainsAny(u.Body, deictics()))
}

// hasContent reports whether a word carries meaning. None does in "what?" and "why is that".
func hasContent(u Utterance) bool {
	return text.Unspaced(u.Text) || slices.ContainsFunc(u.Body, func(w text.Word) bool { return !text.StopWords()[w.Key] })
}

// addTopics adds cues for topics and times, and lists both in n.
func (c cues) addTopics(n *Need, u Utterance, form Form) {
	for _, f := range u.find(topicPhrases()) {
		n.Topics = text.AddOnce(n.Topics, f.Cue)
	}
	for _, f := range u.find(Times()) {
		n.Times = text.AddOnce(n.Times, f.Cue)
	}
	if (len(n.Times) > 0 || hasPlace(u)) && u.has(weatherWords()) {
		n.Topics = text.AddOnce(n.Topics, "weather")
	}
	// In a long sentence that asks nothing, "movie" and "today" are talk.
	if form != NoForm || u.HasQuestionMark() || len(u.Words) <= 7 {
		c.add("topic", len(n.Topics) > 0)
		c.add("topics", len(n.Topics) > 1)
		c.add("time", len(n.Times) > 0)
	}
	n.Check = u.has(checkPhrases()) || form == YesNo && asksIfTrue(u)
	c.add("factcheck", n.Check)
}

// hasPlace reports whether words name a place after its preposition, or the speaker's own place.
func hasPlace(u Utterance) bool {
	for i, w := range u.Words {
		if hereWords()[w.Key] || i > 0 && i+1 < len(u.Words) && placeMarkers()[w.Key] {
			return true
		}
	}
	return false
}

// asksIfTrue reports whether a yes-or-no question asks if something is true. It ends with a word of doubt, or has one
// beside a name, as in "did Ada really write it?".
func asksIfTrue(u Utterance) bool {
	if doubts()[u.Words[len(u.Words)-1].Key] && len(u.Words) > 3 {
		return true
	}
	named := slices.ContainsFunc(u.Words[1:], func(w text.Word) bool { return w.Upper })
	return named && text.ContainsAny(u.Words, doubtAdverbs()) && !u.has(speakerPhrases()) && !allCapitals(u)
}

// addNames adds cues for proper names and years: they refer to the outside world.
func (c cues) addNames(u Utterance) {
	names := 0
	for i, w := range u.Words {
		if w.Upper && i > 0 && w.Key != "i" && !text.SameWord(u.Words[i-1], w) {
			names++
		}
	}
	if names > 0 && !allCapitals(u) {
		c.add("name", true)
		c.add("names", names > 1)
	}
	c.add("year", strings.ContainsAny(u.Text, "0123456789") && text.YearPattern.MatchString(u.Text))
}

// allCapitals reports whether the text is all capitals, where a capital marks no name.
func allCapitals(u Utterance) bool {
	return u.Text == strings.ToUpper(u.Text) && u.Text != strings.ToLower(u.Text)
}

// addAgainst adds the cues that speak against a lookup.
func (c cues) addAgainst(u Utterance, weather bool) {
	if asksForMaker(u) {
		return // in "who sings hello is it me you are looking for", "you" is nobody present
	}
	for _, f := range u.find(notForWeb()) {
		switch {
		case f.Cue == "smalltalk" && f.From > 1 && f.To < len(u.Words): // "true" in "what does true love mean"
		case f.Cue == "clock" && weather: // "the weather at this time in Lima" asks for no clock
		default:
			c[f.Cue] = true
			c.add("greeting only", f.Cue == "smalltalk" && f.To-f.From == len(u.Words))
		}
	}
	for _, f := range speakerPhrases().FindAll(u.Text, u.Body) {
		c.add(f.Cue, f.Cue != "you" || !meansAnyone(u, f.From))
	}
	if n, cue := commands().Prefix(u.Body); n > 0 {
		c[cue] = true
	}
	c.add("to the room", text.ContainsAny(u.Words, everybody()))
	c.add("sums", (strings.ContainsAny(u.Text, "0123456789") || strings.Contains(u.Text, " times ")) && arithmetic.MatchString(u.Text))
	c.add("code", (strings.ContainsAny(u.Text, "{};(>$#=:&|") || codeWords()[u.Words[0].Key]) && codeLike.MatchString(u.Text))
}

// meansAnyone tells the "you" of "how do you prepare tacos" from that of "how do you feel".
func meansAnyone(u Utterance, you int) bool {
	return you == 2 && len(u.Body) > 4 && u.Body[0].Key == "how" && genericYou()[u.Body[1].Key] && !botVerbs()[u.Body[3].Key]
}

var (
	arithmetic = text.NewLazyRegexp(`\d\s*% of \d|\d\s*[+*×÷^=]\s*\d|\d\s+[-/x]\s+\d|(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty) times (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b`)
	codeLike   = text.NewLazyRegexp(`[{};]\s*$|\w+\([^)]*\)\s*[{;]|^\s*(?:\$|>>>|sudo |#include|import |def |func )|=>|::|&&|\|\|`)
)

// codeWords begin lines of code that have no other sign of it.
var codeWords = text.LazySet(func() text.WordList { return "sudo import def func" })

// asksForMaker reports whether a question asks who made a work with a given title: "who sings …". One or two words after
// the verb may be no title: "who wrote you", "who sings this".
func asksForMaker(u Utterance) bool {
	return len(u.Body) > 4 && u.Body[0].Key == "who" && makerVerbs()[u.Body[1].Key]
}

// vocative matches a name at the beginning of a message, with the mark after it.
var vocative = text.NewLazyRegexp(`^[\pL\d_\-\[\]|` + "`" + `^{}\\]{2,24}([:,>]) `)

// toAnother reports whether a message addresses somebody else: "bob: how do I mount it?". "ok, how high is it?" does
// not.
func toAnother(u Utterance) bool {
	name, _ := vocativeName(u)
	return name != ""
}

// Addressee returns the name that a message begins with, as in "bob, how high is it?", or "". names are the bot's, which
// do not count. Text before a colon does not count either, since it may be a subject.
func Addressee(message string, names []string) string {
	u := Parse(message, names)
	if name, mark := vocativeName(u); mark == ',' && !u.ToBot {
		return name
	}
	return ""
}

// vocativeName returns the name of somebody else at the beginning of a message, and the mark after it, or "".
func vocativeName(u Utterance) (name string, mark byte) {
	m := vocative.FindStringSubmatchIndex(u.Text)
	if m == nil || Parse(u.Text[:m[1]], nil).has(checkPhrases()) {
		return "", 0
	}
	name, mark = u.Text[:m[2]], u.Text[m[2]]
	if mark != ',' || len(u.Words) == 0 {
		return name, mark
	}
	n, _ := politeOpenings().Prefix(u.Words)
	if n > 0 || IsCommonWord(u.Words[0].Key) || fillers()[u.Words[0].Key] || isSmallTalkWord(name) {
		return "", 0
	}
	return name, mark
}

// isSmallTalkWord reports whether a word is small talk in some language: "moin, wann kommt …" addresses nobody else.
func isSmallTalkWord(word string) bool {
	for _, found := range SpeechKinds().find(spelledWords(word)) {
		if slices.ContainsFunc(found, func(f foundKind) bool { return f.kind == "talk" }) {
			return true
		}
	}
	return false
}

// Chat is what a message says to the bot without asking for anything that somebody would look up.
type Chat string

// The kinds of chat, as the language files name them, the most specific first.
const (
	NoChat  Chat = ""
	AskHelp Chat = "can"    // "what can you do?"
	AskSelf Chat = "self"   // "who are you?"
	AskTime Chat = "clock"  // "what time is it?"
	TellSad Chat = "sad"    // "I had a bad day"
	AskMood Chat = "how"    // "how are you?"
	Thanks  Chat = "thanks" //
	Bye     Chat = "bye"    //
	Hello   Chat = "hello"  //
)

// maxChatWords is the length of small talk in words. maxInsideChat is that of small talk in a script without spaces, in characters.
const (
	maxChatWords  = 9
	maxInsideChat = 10
)

var chatPhrases = sync.OnceValue(func() text.Phrases {
	all := map[string]text.PhraseList{}
	for _, code := range text.Languages() {
		for kind, phrases := range text.TablesOf(code).Chat {
			all[kind] += "," + phrases
		}
	}
	return text.Compile(all)
})

// ReadChat returns what kind of chat a message is. A message that needs the web is none. "Ich bin heute so traurig" is what it is without "heute
// so".
func ReadChat(message string, names []string) Chat {
	u := Parse(message, names)
	kind := readChat(u, message, names)
	if kind != NoChat || len(u.Words) > maxChatWords {
		return kind
	}
	aside := map[int]bool{}
	for _, m := range chatPhrases().FindAll(u.Text, u.Words) {
		for i := m.From; i < m.To && (m.Cue == "now" || m.Cue == "very"); i++ {
			aside[i] = true
		}
	}
	var plain []text.Word
	for i, w := range u.Words {
		if !aside[i] {
			plain = append(plain, w)
		}
	}
	if u.Words = plain; len(plain) > 0 && readChat(u, message, names) == TellSad {
		return TellSad
	}
	return NoChat
}

func readChat(u Utterance, message string, names []string) Chat {
	if len(u.Words) > maxChatWords || len(u.Words) == 0 && !u.ToBot {
		return NoChat
	}
	if len(u.Words) == 0 {
		return Hello // only the bot's name
	}
	found := chatPhrases().FindAll(u.Text, u.Words)
	for _, kind := range [...]Chat{AskHelp, AskSelf, AskTime, TellSad, AskMood, Thanks, Bye, Hello} {
		for _, m := range found {
			rest := len(u.Words) - (m.To - m.From)
			if inside := m.To == m.From; inside && utf8.RuneCountInString(u.Text) <= maxInsideChat {
				rest = 0 // a script without spaces
			}
			switch {
			case m.Cue != string(kind), isManners(kind) && rest > maxBesideManners && m.To > m.From, kind == AskTime && elsewhere(u, found, m):
			case rest <= 1 || !needsWeb(message, names):
				return kind
			}
		}
	}
	return NoChat
}

// maxBesideManners is how many words may be beside a greeting, thanks or a farewell that is the whole message.
const maxBesideManners = 2

func isManners(kind Chat) bool { return kind == Hello || kind == Thanks || kind == Bye }

func needsWeb(message string, names []string) bool {
	n := Assess(message, names)
	return n.Score >= Threshold && !n.Barred
}

// Clock returns the time in the place that a message asks for ("what time is it in Tokyo?"). Or it returns the day ("what day is it
// tomorrow?"). now is in the zone of the answer. isDay reports whether a day is asked for. ok is false for any other message, and for a
// place that has no time zone of its name.
func Clock(message string, names []string, now time.Time) (at time.Time, isDay, ok bool) {
	u := Parse(message, names)
	found := chatPhrases().FindAll(u.Text, u.Words)
	if len(u.Words) > maxChatWords || !slices.ContainsFunc(found, func(m text.Match) bool { return m.Cue == string(AskTime) && m.To > m.From }) {
		return now, false, false
	}
	var day text.Moment
	var rest []text.Word
	for i := 0; i < len(u.Words); i++ {
		n, m := text.MomentAt(u.Words, i)
		switch clock := func(m text.Match) bool {
			return m.From <= i && i < m.To && (m.Cue == string(AskTime) || m.Cue == "now")
		}; {
		case slices.ContainsFunc(found, clock):
		case n > 0:
			day, isDay = m, true
			i += n - 1
		default:
			rest = append(rest, u.Words[i])
		}
	}
	zone, named := placeOf(u.Text, rest)
	if zone != nil {
		now = now.In(zone)
	}
	switch {
	case named && zone == nil:
		return now, false, false
	case !isDay:
		return now, false, named
	}
	at, ok = day.Day(now)
	return at, ok, ok
}

// placeOf returns the time zone that the IANA database names after the last of some words of s. named reports whether they name anything.
func placeOf(s string, words []text.Word) (zone *time.Location, named bool) {
	for i, w := range words {
		if zone := zoneNamed(s, words[i:]); zone != nil {
			return zone, true
		}
		if text.Meaningful(w.Key) {
			return nil, true
		}
	}
	return nil, false
}

func zoneNamed(s string, words []text.Word) *time.Location {
	var name strings.Builder
	for i, w := range words {
		if i > 0 {
			name.WriteByte('_')
		}
		written := strings.ToLower(text.Unaccented(s[w.Start:w.End]))
		first, size := utf8.DecodeRuneInString(written)
		name.WriteString(string(unicode.ToUpper(first)) + written[size:])
	}
	return text.ZoneNamed(name.String())
}

// elsewhere reports whether a question for the time names a place or another day.
func elsewhere(u Utterance, found []text.Match, asked text.Match) bool {
	for i, w := range u.Words {
		covered := slices.ContainsFunc(found, func(m text.Match) bool { return (m == asked || m.Cue == "now") && m.From <= i && i < m.To })
		if !covered && text.Meaningful(w.Key) && asked.To > asked.From {
			return true
		}
	}
	return false
}
