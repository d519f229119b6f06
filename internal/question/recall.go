package question

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Recall is what a message asks about the past of its own server. The zero value asks nothing.
type Recall struct {
	Why string // the evidence that it asks; empty: it does not
	// What is asked for besides messages.
	Pins, Topic, Missed bool
	Talk                bool          // what was said here before, about whatever
	Links               []MessageLink // messages that the text links to

	People   []string // as the server has their names
	ByAsker  bool     // messages of the asker
	ByBot    bool     // messages of the bot
	Channels []string // without #
	Here     bool     // in this channel
	Span     text.TimeSpan
	Words    []string // the topic
	Address  bool     // a posted link is wanted
}

// Asks reports whether the message asks about its server.
func (q Recall) Asks() bool { return q.Why != "" }

// AboutServer reads what a message asks about its server or, in a direct message, about that conversation and the servers that the author
// shares with the bot. An order to search the web asks nothing. No model has a part in it, so the same question is always understood the same
// way.
func AboutServer(req turn.Request, now time.Time) Recall {
	if !req.Message.ByPerson() {
		return Recall{}
	}
	message := req.Message.Text
	q := Recall{Links: MessageLinks(message)}
	if len(q.Links) > 0 {
		q.Why = "a message is linked"
		return q
	}
	if req.Web.Switch == turn.WebAlways {
		return Recall{}
	}
	u := Parse(message, req.Names)
	if len(u.Words) == 0 || len(u.Words) > maxRecallWords {
		return Recall{}
	}
	r := recallReader{u: u, req: req, used: map[int]bool{}}
	r.find(now)
	if q = r.decide(); !q.Asks() {
		q = r.inOtherWords()
	}
	if q.Why != "" && ordersWeb(u) {
		return Recall{}
	}
	if q.Why != "" && r.hasNoTopic(q) {
		q.Words = nil
		q.Talk = !q.ByAsker && !q.ByBot && !q.Missed && !q.Pins && !q.Topic && !q.Address && len(q.People)+len(q.Channels) == 0 && q.Span.From.IsZero()
	}
	if alone := req.GuildID == "" && len(req.Servers) == 0; alone && (len(u.Words) > maxPhraseWords || !q.Talk && !q.ByAsker && !q.ByBot && !(q.Missed && q.Here)) {
		return Recall{} // nobody else has said anything
	}
	q.Here = q.Here || q.Talk
	return q
}

// hasNoTopic reports whether the words of a question say only that something was said before.
func (r *recallReader) hasNoTopic(q Recall) bool {
	return len(q.Words) == 0 || slices.ContainsFunc(r.inLanguages(), func(s spokenParts) bool { return s.has["before"] && len(s.topic()) == 0 })
}

// maxRecallWords is the length of a question about the server, in words: a longer message tells something.
const maxRecallWords = 60

// ordersWeb reports whether the message names another place to look.
func ordersWeb(u Utterance) bool {
	return slices.ContainsFunc(u.Words, func(w text.Word) bool { return webWords()[w.Key] })
}

// recallReader reads a message for [AboutServer].
type recallReader struct {
	u    Utterance
	req  turn.Request
	q    Recall
	used map[int]bool // words that are not part of the topic, by where they begin

	saying  bool // somebody says, writes or decides something
	posting bool // a verb for what people do only in a chat: mention, post, link
	we      bool // "we", the people here
	anyone  bool // "anyone", "somebody"
	place   bool // "here", "in this channel"
	who     bool // it asks for a person
	spanned bool
}

// find finds what the message names.
func (r *recallReader) find(now time.Time) {
	words := r.u.Words
	if span, at, ok := text.PastSpan(r.u.Text, r.u.Words, now); ok {
		r.q.Span, r.spanned = span, true
		for _, i := range at {
			r.used[words[i].Start] = true
		}
	}
	r.findMentions()
	lead := len(words) - len(r.u.Body) // the polite opening: "can you tell us"
	for i, w := range words {
		known := true
		switch {
		case i < lead, i == lead && sayWords()[w.Key]: // an order: "tell me"
		case linkWords()[w.Key]:
			r.q.Address, r.saying, r.posting = true, true, true
		case postWords()[w.Key]:
			r.saying, r.posting = true, true
		case sayWords()[w.Key]:
			r.saying = true
		case weWords()[w.Key]:
			r.we = true
		case anyoneWords()[w.Key]:
			r.anyone = true
		case whoWords()[w.Key]:
			r.who = true
		case placeWords()[w.Key] && (w.Key == "here" || i > 0 && demonstratives()[words[i-1].Key]):
			r.place, r.q.Here = true, r.q.Here || w.Key != "server" && w.Key != "guild"
		default:
			known = idleWords()[w.Key]
		}
		if known {
			r.used[w.Start] = true
		}
	}
	if !r.saying {
		return
	}
	r.findPeople()
	r.findSpeakers()
	r.q.Words = r.topicWords()
}

// findSpeakers finds "I" and "you" as speakers: "what did I say", "what have you told us".
func (r *recallReader) findSpeakers() {
	for i, w := range r.u.Words {
		if i == 0 || !haveWords()[r.u.Words[i-1].Key] || !r.saidAfter(i) {
			continue
		}
		r.q.ByAsker = r.q.ByAsker || w.Key == "i"
		r.q.ByBot = r.q.ByBot || w.Key == "you"
	}
}

// saidAfter reports whether a verb of saying follows word i soon.
func (r *recallReader) saidAfter(i int) bool {
	rest := r.u.Words[i+1:]
	return slices.ContainsFunc(rest[:min(3, len(rest))], func(w text.Word) bool { return sayWords()[w.Key] || postWords()[w.Key] })
}

// findMentions takes the channels and people that Discord marked.
func (r *recallReader) findMentions() {
	for _, m := range r.req.Message.Mentions {
		name := m[1:]
		if m[0] == '#' {
			r.q.Channels = text.AddOnce(r.q.Channels, name)
		} else {
			r.q.People = text.AddOnce(r.q.People, name)
		}
		if at := strings.Index(r.u.Text, m); at >= 0 {
			r.markUsed(at, at+len(m))
		}
	}
}

// findPeople finds the members who said something, longest name first. A name that continues with a capital letter is
// another one: Ada Lovelace is not Ada. A name after the verb is the topic: "who wrote Purple Rain" asks nothing of
// Rain.
func (r *recallReader) findPeople() {
	names := slices.Clone(r.req.People)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		if !text.MayHold(r.u.Words, name) {
			continue
		}
		keys := text.PhraseKeys(name)
		if len(keys) == 0 || len(keys) == 1 && (len(keys[0]) < 2 || isCommonWord(keys[0]) || isRecallWord(keys[0])) {
			continue
		}
		for i := range r.u.Words {
			if r.used[r.u.Words[i].Start] || !text.HasPrefix(r.u.Words[i:], keys) {
				continue
			}
			if next := i + len(keys); next < len(r.u.Words) && r.u.Words[next].Upper && r.u.Words[i].Upper && r.u.Words[next].Start == r.u.Words[next-1].End+1 {
				break
			}
			if !r.speaks(i, i+len(keys)) {
				continue
			}
			r.q.People = text.AddOnce(r.q.People, name)
			r.markUsed(r.u.Words[i].Start, r.u.Words[i+len(keys)-1].End)
			break
		}
	}
}

// speaks reports whether the name at words i to end is the speaker's: "what did Ada say", "posted by Ada".
func (r *recallReader) speaks(i, end int) bool {
	return i > 0 && byWords()[r.u.Words[i-1].Key] || slices.ContainsFunc(r.u.Words[end:], func(w text.Word) bool {
		return sayWords()[w.Key] || postWords()[w.Key] || linkWords()[w.Key]
	})
}

// isRecallWord reports whether a word is in the tables. Such a word is no person's name by itself.
func isRecallWord(key string) bool {
	return sayWords()[key] || postWords()[key] || idleWords()[key] || placeWords()[key] || linkWords()[key] || whoWords()[key]
}

func (r *recallReader) markUsed(from, to int) {
	for _, w := range r.u.Words {
		if w.Start >= from && w.End <= to {
			r.used[w.Start] = true
		}
	}
}

// topicWords returns the remaining words: the topic.
func (r *recallReader) topicWords() (words []string) {
	for _, w := range r.u.Words {
		if r.used[w.Start] || !text.Meaningful(w.Key) {
			continue
		}
		word := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(r.u.Text[w.Start:w.End], "'s"), "’s"), "'’")
		words = text.AddOnce(words, word)
	}
	if len(words) > maxTopicWords {
		words = words[:maxTopicWords]
	}
	return words
}

// maxTopicWords limits what is searched for.
const maxTopicWords = 8

// maxPhraseWords is the length of a message that asks by a phrase alone, in words.
const maxPhraseWords = 12

// decide says whether the message asks about the server, and why.
func (r *recallReader) decide() Recall {
	q := r.q
	asks := r.u.Form() != NoForm || r.u.HasQuestionMark() || r.who || r.u.Inquiry
	switch {
	case len(r.u.Words) <= maxPhraseWords && r.u.has(missedPhrases()):
		q.Why, q.Missed, q.Words = "asks what was missed", true, nil
	case len(r.u.Words) <= maxPhraseWords && r.u.has(pinPhrases()):
		q.Why, q.Pins, q.Words = "asks for the pins", true, nil
	case len(r.u.Words) <= maxPhraseWords && r.u.has(channelTopicPhrases()):
		q.Why, q.Topic, q.Words = "asks what the channel is for", true, nil
	case !asks || !r.saying:
		return Recall{}
	case len(q.People) > 0:
		q.Why = "asks what " + q.People[0] + " said"
	case len(q.Channels) > 0:
		q.Why = "asks about #" + q.Channels[0]
	case r.place:
		q.Why = "asks what was said here"
	case q.ByAsker, q.ByBot:
		q.Why = "asks what was said in this conversation"
	case r.we && !r.isAboutFuture():
		q.Why = "asks what the people here said"
	case (r.who || r.anyone) && (r.posting || r.anyone && r.spanned):
		q.Why = "asks who of the people here said it"
	default:
		return Recall{}
	}
	return q
}

// isAboutFuture reports whether "we" refers to the future: "should we discuss this?"
func (r *recallReader) isAboutFuture() bool {
	return slices.ContainsFunc(r.u.Words, func(w text.Word) bool { return futureWords()[w.Key] })
}

// MessageLink is a link to a Discord message.
type MessageLink struct {
	Guild, Channel, Message string // ids
	URL                     string // as typed
}

// messageLink matches the links of all Discord clients. A link into a direct message has "@me" in place of a server and
// does not match.
var messageLink = text.NewLazyRegexp(`https?://(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/(\d{1,20})/(\d{1,20})/(\d{1,20})\b`)

// maxLinks is how many links of one message are followed.
const maxLinks = 5

// MessageLinks returns the messages that a text links to, each once.
func MessageLinks(s string) (all []MessageLink) {
	seen := map[string]bool{}
	for _, m := range messageLink.FindAllStringSubmatch(s, -1) {
		if !seen[m[3]] && len(all) < maxLinks {
			seen[m[3]] = true
			all = append(all, MessageLink{Guild: m[1], Channel: m[2], Message: m[3], URL: m[0]})
		}
	}
	return all
}

// MessageURL returns the address of a message.
func MessageURL(guildID, channelID, messageID string) string {
	return "https://discord.com/channels/" + guildID + "/" + channelID + "/" + messageID
}

// ChannelOf returns the channel id in the address of a message or channel, or "".
func ChannelOf(url string) string {
	if m := channelLink.FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

var channelLink = text.NewLazyRegexp(`^https://discord\.com/channels/\d{1,20}/(\d{1,20})(?:/\d{1,20})?$`)
