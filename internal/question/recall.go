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
	spoken := r.inLanguages(text.MessageLanguage(u.Text))
	if q = firstAsked(spoken); !q.Asks() && len(u.Words) <= maxPhraseWords { // a phrase that is enough by itself, in any language
		q = firstAsked(slices.DeleteFunc(r.inLanguages(""), func(s spokenParts) bool { return !s.has["own_miss"] }))
	}
	if q.Why != "" && ordersWeb(u) {
		return Recall{}
	}
	if q.Why != "" && hasNoTopic(q, spoken) {
		q.Words = nil
		q.Talk = !q.ByAsker && !q.ByBot && !q.Missed && !q.Pins && !q.Topic && !q.Address && len(q.People)+len(q.Channels) == 0 && q.Span.From.IsZero()
	}
	if alone := req.GuildID == "" && len(req.Servers) == 0; alone && (len(u.Words) > maxPhraseWords || !q.Talk && !q.ByAsker && !q.ByBot && !(q.Missed && q.Here)) {
		return Recall{} // nobody else has said anything
	}
	q.Here = q.Here || q.Talk
	return q
}

// firstAsked returns what the parts ask in the first language in which they ask something.
func firstAsked(spoken []spokenParts) Recall {
	for _, s := range spoken {
		if q := s.decide(); q.Asks() {
			return q
		}
	}
	return Recall{}
}

// hasNoTopic reports whether the words of a question say only that something was said before.
func hasNoTopic(q Recall, spoken []spokenParts) bool {
	return len(q.Words) == 0 || slices.ContainsFunc(spoken, func(s spokenParts) bool { return s.has["before"] && len(s.topic()) == 0 })
}

// maxRecallWords is the length of a question about the server, in words: a longer message tells something.
const maxRecallWords = 60

// ordersWeb reports whether the message names another place to look.
func ordersWeb(u Utterance) bool {
	return slices.ContainsFunc(u.Words, func(w text.Word) bool { return webWords()[w.Key] })
}

// recallReader has what a message for [AboutServer] names in any language.
type recallReader struct {
	u       Utterance
	req     turn.Request
	q       Recall
	used    map[int]bool // words that are not part of the topic, by where they begin
	spanned bool         // a time is named
}

// find finds the time, the channels and the people that the message names.
func (r *recallReader) find(now time.Time) {
	if span, at, ok := text.PastSpan(r.u.Text, r.u.Words, now); ok {
		r.q.Span, r.spanned = span, true
		for _, i := range at {
			r.used[r.u.Words[i].Start] = true
		}
	}
	r.findMentions()
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

func (r *recallReader) markUsed(from, to int) {
	for _, w := range r.u.Words {
		if w.Start >= from && w.End <= to {
			r.used[w.Start] = true
		}
	}
}

// maxTopicWords limits what is searched for.
const maxTopicWords = 8

// maxPhraseWords is the length of a message that asks by a phrase alone, in words.
const maxPhraseWords = 12

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
