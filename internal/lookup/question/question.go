// Package question decides what a message asks of the web, before the web is touched.
//
//   - [Decide] makes a [Plan]: the URLs that people typed (urls.go), whether they ask for anything but what these
//     pages say (outline.go), the part of the message that asks, standing alone (package followup), and how much it needs the web (package need).
//   - [Plan.Compose] adds the kinds of question it is, and the queries (query.go, quote.go): without courtesies, without
//     whatever is private (package privacy), and with dates in place of words like "yesterday".
//   - [Plan.MayAsk] checks the words of a side model that rewords a follow-up.
//
// Nothing that is read later changes a plan, and nothing here does input or output.
package question

import (
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/followup"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/privacy"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

// MaxQuestion is how many characters of a question models are shown.
const MaxQuestion = 300

// Plan is what is asked of the web.
type Plan struct {
	need.Need
	Core     string        // the part of the message that asks, standing alone
	Question string        // Core as models are shown it
	FollowUp bool          // the message cannot be understood without what was written before it
	Outline  bool          // it names a page, and asks for nothing but what that says
	Refresh  bool          // it asks for something newer than what was found before
	URLs     []string      // that people typed, canonical
	Refused  []string      // what people typed that looks like a URL and may not be read
	Topic    string        // the denied topic that the message holds
	Chosen   turn.Intent   // the kind of question that a person says it is; empty: the words decide
	Names    privacy.Names // whose names leave in no query

	// Compose sets these.
	Queries  []string // what may leave, in the order of trying: the second only if the first finds nothing
	Scrubbed []string // kinds of private things that were taken out
	Intents  []turn.ScoredIntent
	Intent   turn.Intent // the first of Intents
	Language string
	Fresh    string    // how old results may be: "day", "week", "month", "year" or "" for any age
	Day      text.Date // that it asks about, if it names one

	Steps []turn.Step // how the queries came to be
	Usage turn.Usage  // of side models
}

// AddStep records a step on the way to the queries.
func (p *Plan) AddStep(by, text string) { p.Steps = append(p.Steps, turn.Step{By: by, Text: text}) }

// Decide plans what a message asks, with what was written before it. names are the bot's, denied the topics that the
// operator denies.
func Decide(req turn.Request, names, denied []string) Plan {
	p := Plan{Names: privacy.NamesIn(req, names), Chosen: req.Web.Intent}
	message, earlier := guard.WithoutURLs(req.Message.Text), privacy.Earlier(req)
	outline, spelled := asksForOutline(req.Message.Text, names)
	if outline && len(guard.TypedURLs(req.Message.Text)) > 0 {
		earlier = nil // it stands alone
	}
	whole, helper := followup.Standalone(message, names, earlier)
	p.FollowUp = helper != nil || len(earlier) > 0 && followup.IsFollowUp(message, names)
	if helper != nil {
		p.AddStep("standalone", whole+" (with message "+helper.ID+")")
	}
	u := utterance.Parse(message, names)
	p.Refresh = followup.IsRefresh(u)
	p.weigh(whole, u, names)
	if helper != nil && !p.Barred && p.Order == utterance.NoOrder {
		p.Score = max(p.Score, need.Weigh(helper.Text, names).Score) // what was looked up is looked up again
	}
	if req.Mode == turn.FullRP && !p.Asks && p.Order == utterance.NoOrder {
		p.Add("in play") // where a story is played, what asks for nothing is a part of it
	}
	if p.Asks || p.Order != utterance.NoOrder || !toRoom(req, u) {
		p.URLs, p.Refused = typedURLs(req, outline && spelled)
	}
	p.Outline = outline && len(p.URLs) > 0
	p.Refresh = p.Refresh || followup.AsksToRefresh(u, p.Order)
	p.Core = essence(whole, p.Need, names)
	if req.Target != nil && p.Chosen == turn.IntentFactCheck {
		p.Core = claim(whole, names)
	}
	p.Question = text.Truncate(text.OneLine(p.Core), MaxQuestion)
	if p.Outline {
		p.Question, p.FollowUp = OutlineQuestion, false
	}
	p.Topic = DeniedTopic(whole, denied)
	return p
}

// weigh sets how much a message needs the web: as much as the question that it is a part of, unless its own words say
// something else.
func (p *Plan) weigh(whole string, u utterance.Utterance, names []string) {
	p.Need = need.Weigh(whole, names)
	if whole == u.Text {
		return
	}
	own := u.Text
	if 0 < len(u.Body) && len(u.Body) < len(u.Words) {
		own = own[u.Body[0].Start:] // the "ok" before it is no small talk
	}
	switch n := need.Weigh(own, names); {
	case n.Order == utterance.Search && followup.IsBareOrder(u):
		p.Order, p.Score, p.Cues = n.Order, n.Score, n.Cues
	case n.Order != utterance.NoOrder, n.Barred && !p.Check && !p.Refresh:
		p.Need = n
	}
}

// toRoom reports whether a message was written to the room and not to the bot, so that a link in it is no request.
func toRoom(req turn.Request, u utterance.Utterance) bool {
	return req.GuildID != "" && req.Web.Switch != turn.WebAlways && !req.Addressed.Plain() && (req.Parent == nil || !req.Parent.Own) && !u.ToBot
}

// Predict decides with other models whether a message with nothing before it is looked up, and what for.
func Predict(m need.Models, message string) (search bool, intent turn.Intent) {
	n := m.Weigh(message, nil)
	intents := m.Classify(n, utterance.Parse(essence(message, n, nil), nil))
	return n.Order != utterance.NoSearch && n.Score >= need.Threshold, intents[0].Name
}

// essence returns the part of a message that asks: of a long one the sentence that decided, of a short one all but the
// small talk.
func essence(message string, n need.Need, names []string) string {
	spoken, _, _ := need.SpokenText(message)
	if spoken = text.OneLine(spoken); spoken != "" {
		message = spoken
	}
	all := text.MessageSentences(message)
	if len(all) < 2 {
		return message
	}
	if len(text.Words(message)) > 30 && n.Sentence != "" {
		return n.Sentence
	}
	keep := slices.DeleteFunc(all, func(s string) bool {
		one := need.WeighSentence(s, names)
		ofSpeaker := !one.Asks && (slices.Contains(one.Cues, "me") || slices.Contains(one.Cues, "i"))
		return s != n.Sentence && (one.Barred || ofSpeaker)
	})
	if len(keep) == 0 {
		return message
	}
	return strings.Join(keep, " ")
}

// claim returns the sentence of somebody's message that most can be checked of. Its neighbours would be held against the pages with it,
// and one that gives an order claims nothing.
func claim(message string, names []string) string {
	spoken, _, _ := need.SpokenText(message)
	best, score := message, 0.0
	for _, s := range text.MessageSentences(spoken) {
		if n := need.WeighSentence(s, names); n.Order == utterance.NoOrder && n.Score > score {
			best, score = text.OneLine(s), n.Score
		}
	}
	return best
}

// DeniedTopic returns the topic of the operator's list that a text holds, matched as whole words, or "".
func DeniedTopic(s string, denied []string) string {
	words := text.Words(s)
	for _, topic := range denied {
		keys := text.PhraseKeys(topic)
		if len(keys) == 0 {
			continue
		}
		if text.Unspaced(topic) && strings.Contains(s, topic) {
			return topic
		}
		for i := range words {
			if text.HasPrefix(words[i:], keys) {
				return topic
			}
		}
	}
	return ""
}

// MayAsk reports whether a question that a side model wrote holds nothing but words of the messages, without what is
// private in them, and stop words.
func (p *Plan) MayAsk(question string, messages []turn.Message) bool {
	if question == "" || utf8.RuneCountInString(question) > MaxQuestion || text.Unspaced(question) {
		return false // without spaces there are no words to tell whose they are
	}
	allowed := map[string]bool{}
	for _, m := range messages {
		s, _ := privacy.Scrub(guard.WithoutURLs(m.Text), p.Names)
		for _, w := range text.Words(s) {
			allowed[w.Key] = true
		}
	}
	words := text.Words(question)
	return text.ContainsAny(words, allowed) &&
		!slices.ContainsFunc(words, func(w text.Word) bool { return !allowed[w.Key] && !text.StopWords[w.Key] })
}
