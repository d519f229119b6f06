package question

import (
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// maxFollowUpWords is the length of a follow-up. maxFollowUpBytes is that of a follow-up, or of the question before it for the models.
// Scripts without spaces have no words to count.
const (
	maxFollowUpWords = 25
	maxFollowUpBytes = 600
)

// standalone completes a message from earlier ones, newest first, and returns the message that helped. That one is
// completed first. If nothing is missing or nothing helps, standalone returns the message unchanged. earlier must not
// contain the bot's own words.
func standalone(message string, names []string, earlier []turn.Message) (whole string, helper *turn.Message) {
	if rest := behindAside(message); rest != "" && !slices.Contains(Assess(message, names).Cues, "to the room") {
		return rest, nil
	}
	u := Parse(afterSmallTalk(message, names), names)
	if len(u.Words) == 0 || len(u.Words) > maxFollowUpWords || len(u.Text) > maxFollowUpBytes {
		return message, nil
	}
	if asked, said := splitCheck(u); said != "" {
		if of := Parse(said, nil); hasPronoun(of) || isFragment(of) || of.has(dependentIn()[text.MessageLanguage(said)].pointers) {
			said, helper = standalone(said, nil, earlier)
		}
		if helper == nil {
			return message, nil
		}
		return asked + said, helper
	}
	earlier = withoutAnswers(names, earlier)
	subject := subjectBefore(names, earlier)
	for i := range earlier {
		if !canHelp(earlier[i].Text, names) && !wantsMore(earlier[i].Text) {
			if i == subject && newPair(u, parsePrior(earlier[i].Text), text.MessageLanguage(u.Text)).leans() {
				break // an older question would be the wrong one
			}
			continue
		}
		before, help := standalone(earlier[i].Text, names, earlier[i+1:])
		if help == nil && isFragment(Parse(before, nil)) && !wantsMore(before) {
			continue // an incomplete follow-up itself
		}
		p := parsePrior(before)
		if s, ok := builtIn().complete(u, p); ok {
			return s, &earlier[i]
		}
	}
	if i := subject; i >= 0 {
		before, _ := standalone(earlier[i].Text, names, earlier[i+1:])
		p := parsePrior(before)
		if r := newPair(u, p, text.MessageLanguage(u.Text+" "+before)); r.leans() {
			return r.both(), &earlier[i]
		}
	}
	return message, nil
}

// splitCheck cuts "is it true that it was built in 1889?" before the statement, which is what may depend on earlier messages: "it" and "that"
// before it refer to nothing. The statement is "" if there is none of at least three words.
func splitCheck(u Utterance) (asked, said string) {
	if len(u.Body) == 0 {
		return "", ""
	}
	from := u.Body[0].Start
	at := checkOpening.FindStringIndex(u.Text[from:])
	if at == nil || len(text.Words(u.Text[from+at[1]:])) < 3 {
		return "", ""
	}
	return u.Text[:from+at[1]], u.Text[from+at[1]:]
}

// checkOpening matches what asks whether the statement after it is true.
var checkOpening = text.LazyRegexpOf(func() string { return `(?i)^(?:` + tables().FactCheck.Lead.String() + `)[\s:,–-]+` })

// isFollowUp reports whether a message may depend on earlier ones: it has a pronoun or the form of a fragment.
func isFollowUp(message string, names []string) bool {
	u := Parse(message, names)
	return 0 < len(u.Words) && len(u.Words) <= maxFollowUpWords && (isFragment(u) || hasPronoun(u))
}

// complete completes an utterance from the question before it, if it depends on it. The rules come first in the
// languages that they know: English, and some others if names have capitals. Neither the rules nor the models alone
// complete as many follow-ups as both.
func (m Models) complete(u Utterance, p prior) (string, bool) {
	language := text.MessageLanguage(u.Text + " " + p.raw)
	r := newPair(u, p, language)
	if s, ok := r.swapKind(); ok {
		return s, true
	}
	if rest, ok := fragment(u); ok {
		if s, ok := p.shiftTime(rest); ok {
			return s, true
		}
	}
	_, names := firstName(p.Words)
	named := names > 0 && len(text.TablesOf(language).FollowUp.TopicOpenings) > 0
	if language == "en" || named || text.Unspaced(u.Text) || isRepetition(u) {
		if s, ok := rewrite(u, p, language); ok {
			return s, true
		}
	}
	if len(u.Text) > maxFollowUpBytes || len(p.raw) > maxFollowUpBytes {
		return "", false
	}
	return m.completeByModel(r)
}

// wantsMore reports whether an earlier message was looked up. A message that depends on it may then be, too.
func wantsMore(before string) bool { return Assess(before, nil).Score >= Threshold }

// afterSmallTalk removes small talk before a question ("thanks! ok and what about Rome?") and remarks after it ("any
// others? played those").
func afterSmallTalk(s string, names []string) string {
	if all := text.MessageSentences(s); len(all) == 2 {
		first, second := assessSentence(all[0], names), assessSentence(all[1], names)
		switch asked := Parse(all[0], names); {
		case first.Order == NoOrder && (first.Barred || len(asked.Words) == 0 || hasManners(asked) && second.Asks):
			s = all[1]
		case asked.HasQuestionMark() && !second.Asks && second.Order == NoOrder && second.Score < Threshold:
			s = all[0]
		}
	}
	s = politeEnding.ReplaceAllString(s, "")
	words := text.Words(s)
	for i := range words {
		if n, _ := fragmentOpenings().Prefix(words[i:]); n > 0 {
			if polite, _ := politePrefix(words[:i]); polite == i {
				return s[words[i].Start:]
			}
			break
		}
	}
	return s
}

// maxManners is the length of a sentence that only thanks, greets or agrees, in words.
const maxManners = 4

// hasManners reports whether an utterance of a few words thanks, greets or agrees, and asks nothing.
func hasManners(u Utterance) bool {
	if len(u.Words) > maxManners || u.HasQuestionMark() || strings.ContainsAny(u.Text, "0123456789") {
		return false
	}
	return slices.ContainsFunc(u.find(chatPhrases()), func(m text.Match) bool { return isManners(Chat(m.Cue)) }) || slices.ContainsFunc(u.Words, func(w text.Word) bool { return reactions()[w.Key] || fillers()[w.Key] })
}

// forms are the forms of follow-ups and how to complete each, in the order of trying.
var forms = []struct {
	is       func(Utterance, prior, string) bool
	complete func(Utterance, prior) (string, bool)
}{
	{alone(isRepetition), func(_ Utterance, p prior) (string, bool) { return p.raw, true }},
	{alone(isBareCheck), addStatement},
	{alone(hasInvertedPronoun), replaceInvertedPronoun},
	{isPlainFragment, fillFragment},
	{alone(isBareQuestion), func(u Utterance, p prior) (string, bool) { return withQuestion(u.Text, p.raw), true }},
	{alone(hasPronoun), replacePronoun},
	{alone(func(u Utterance) bool { return lacksSubject(u) || lacksOwner(u) }), addSubject},
}

// alone makes a form of what the message alone tells.
func alone(is func(Utterance) bool) func(Utterance, prior, string) bool {
	return func(u Utterance, _ prior, _ string) bool { return is(u) }
}

// rewrite completes an utterance by the rules, in the language of it and of the question.
func rewrite(u Utterance, p prior, language string) (string, bool) {
	if text.Unspaced(u.Text) {
		return rewriteUnspaced(u, p)
	}
	for _, form := range forms {
		if form.is(u, p, language) {
			if s, ok := form.complete(u, p); ok {
				return s, true
			}
		}
	}
	return "", false
}

// canHelp reports whether a message can complete a follow-up: it is a question, or can be looked up. Thanks and
// questions about the bot cannot help.
func canHelp(s string, names []string) bool {
	u := Parse(s, names)
	if len(u.Words) == 0 {
		return false
	}
	if isFragment(u) || text.Unspaced(s) || u.has(topicPhrases()) {
		return true
	}
	if len(u.Body) == 1 && adverbs()[u.Body[0].Key] {
		return false
	}
	aboutSpeaker := false
	for _, f := range speakerPhrases().FindAll(s, u.Body) {
		if _, end := firstName(u.Body); f.Cue == "you" && end == 0 {
			return false
		}
		aboutSpeaker = aboutSpeaker || f.Cue == "me"
	}
	if u.Asks() || u.has(orderPhrases()) {
		return true
	}
	_, end := firstName(u.Words)
	return end > 0 && !aboutSpeaker && !u.has(notForWeb())
}

// isBareCheck reports whether an utterance asks if something is true without saying what: "is this true?".
func isBareCheck(u Utterance) bool {
	return len(u.Words) > 0 && len(u.Words) <= 5 && !slices.ContainsFunc(u.Words[1:], func(w text.Word) bool { return w.Upper }) && isCheck(u.Text)
}

// addStatement appends the statement before. It refuses if that is a question.
func addStatement(u Utterance, p prior) (string, bool) {
	return withQuestion(u.Text, p.raw), !p.Utterance.Asks() && !strings.ContainsAny(p.raw, "?？") && len(p.Words) > 3
}

// withQuestion appends the whole question before, which is enough for a search.
func withQuestion(s, before string) string {
	return strings.TrimRight(strings.TrimSpace(s), "?？ ") + ": " + before
}

// maxEarlier is how many earlier messages are read.
const maxEarlier = 4

// Earlier returns the people's messages that can complete a question, newest first and without mentions. They are the replied-to message
// and the chain of replies. The quotes and embeds of the first two are included, since a question may refer to them ("is this true?").
// Messages of bots are left out: their words may come from the web.
func Earlier(req turn.Request) []turn.Message {
	all := quoted(req.Message)
	if req.Parent != nil {
		all = append(all, *req.Parent)
		if req.Parent.ByPerson() {
			all = append(all, quoted(*req.Parent)...)
		}
	}
	all = append(all, req.Chain...)
	var out []turn.Message
	seen := map[string]bool{req.Message.ID: true}
	for _, m := range all {
		m.Text = text.OneLine(earlierMention.ReplaceAllString(m.Text, " "))
		if m.ByPerson() && m.Text != "" && (m.ID == "" || !seen[m.ID]) && len(out) < maxEarlier {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out
}

// quoted returns a message's quotes as messages.
func quoted(m turn.Message) (all []turn.Message) {
	for i, q := range m.Quotes {
		words := q.Text
		if words == "" {
			words = q.Title
		}
		all = append(all, turn.Message{ID: fmt.Sprintf("%s/%s/%d", m.ID, q.Kind, i+1), Text: words, At: m.At})
	}
	return all
}

// earlierMention matches a mention in an earlier message. The number of words in its name is unknown.
var earlierMention = text.NewLazyRegexp(`@[\pL\pN_.\-]+(?: \p{Lu}[\pL\pN_.\-'’]*)*`)

// asksToRefresh reports whether a message asks for something newer than was found before.
func asksToRefresh(u Utterance, order Order) bool {
	return u.has(refreshPhrases()) || order == Search && text.ContainsAny(u.Words, againWords())
}

// isRefresh reports whether a message asks for something newer and nothing else. The message before then says what to
// look up.
func isRefresh(u Utterance) bool {
	found := false
	for rest := u.Body; len(rest) > 0; {
		n, _ := refreshPhrases().Prefix(rest)
		if n == 0 && refreshAlone()[rest[0].Key] {
			n = 1
		}
		found = found || n > 0
		if n == 0 && !besideRefresh()[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// trimRefresh removes words that ask for something newer from the end of a longer question.
func trimRefresh(s string) string {
	words := text.Words(s)
	for _, f := range refreshPhrases().FindAll(s, words) {
		if f.From > 0 && f.To == len(words) {
			return s[:words[f.From-1].End]
		}
	}
	return s
}

// isBareOrder reports whether a message orders a search without a subject: "look it up", "can you check online?". The
// message before then says what to look up.
func isBareOrder(u Utterance) bool {
	found := false
	for rest := u.Words; len(rest) > 0; {
		n, cue := orderPhrases().Prefix(rest)
		if Order(cue) == Search {
			found = true
		} else {
			n, _ = politeOpenings().Prefix(rest)
		}
		if n == 0 && !besideRefresh()[rest[0].Key] && !orderTails()[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// isRepetition reports whether a message asks the question before it again.
func isRepetition(u Utterance) bool { return isRefresh(u) || isBareOrder(u) }

// prior is the question before a follow-up.
type prior struct {
	Utterance        // without final punctuation
	raw       string // with it
	timeFrom  int    // Words[timeFrom:timeTo] is its first time expression
	timeTo    int
}

func parsePrior(s string) prior {
	if all := text.MessageSentences(s); len(all) == 2 && isBareOrder(Parse(all[1], nil)) {
		s = all[0] // "how tall is it? look it up"
	}
	u := Parse(strings.TrimRight(strings.TrimSpace(s), "?？!. "), nil)
	p := prior{Utterance: u, raw: s}
	p.timeFrom, p.timeTo = timeIn(u.Words)
	return p
}

// inTime reports whether a word is part of the time expression.
func (p prior) inTime(i int) bool { return p.timeFrom <= i && i < p.timeTo }

// span returns the text of Words[from:to].
func (p prior) span(from, to int) string { return p.Text[p.Words[from].Start:p.Words[to-1].End] }

// replace returns the question with Words[from:to] replaced.
func (p prior) replace(from, to int, with string) string {
	return p.Text[:p.Words[from].Start] + with + p.Text[p.Words[to-1].End:]
}

// slotEnd returns the end of the slot that begins at from: the next preposition or the time expression.
func (p prior) slotEnd(from int) int {
	for i := from + 1; i < len(p.Words); i++ {
		if text.Prepositions()[p.Words[i].Key] || i == p.timeFrom {
			return i
		}
	}
	return len(p.Words)
}
