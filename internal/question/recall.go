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
	Why   string // the evidence that it asks; empty: it does not
	Maybe bool   // it is not sure: where the server has nothing that fits, the web may have
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

// Asks reports whether the message asks about its server, or may do so.
func (q Recall) Asks() bool { return q.Why != "" }

// Sure reports whether the message surely asks about its server, so the web has no answer.
func (q Recall) Sure() bool { return q.Asks() && !q.Maybe }

// AboutServer reads what a message asks about its server or, in a direct message, about that conversation and the servers that the author
// shares with the bot. An order to search the web asks nothing. No language model has a part in it, so the same question is always understood
// the same way.
func AboutServer(req turn.Request, now time.Time) Recall { return builtIn().AboutServer(req, now) }

// AboutServer is [AboutServer] with these models.
func (m Models) AboutServer(req turn.Request, now time.Time) Recall {
	if !req.Message.ByPerson() {
		return Recall{}
	}
	if links := MessageLinks(req.Message.Text); len(links) > 0 {
		return Recall{Links: links, Why: "a message is linked"}
	}
	u := Parse(req.Message.Text, req.Names)
	if req.Web.Switch == turn.WebAlways || len(u.Words) == 0 || len(u.Words) > maxRecallWords || ordersWeb(u) {
		return Recall{}
	}
	r := recallReader{u: u, req: req, used: map[int]bool{}}
	r.find(now)
	spoken := r.inLanguages(text.MessageLanguage(u.Text))
	q := firstAsked(spoken)
	if !q.Asks() && len(u.Words) <= maxPhraseWords { // a phrase that is enough by itself, in any language
		q = firstAsked(slices.DeleteFunc(r.inLanguages(""), func(s spokenParts) bool { return !s.has["own_miss"] }))
	}
	if !q.Pins && !q.Topic {
		q = m.weigh(q, r.spoken())
	}
	if q.Asks() && hasNoTopic(q, spoken) {
		q.Words = nil
		q.Talk = !q.Maybe && !q.ByAsker && !q.ByBot && !q.Missed && !q.Pins && !q.Topic && !q.Address && len(q.People)+len(q.Channels) == 0 && q.Span.From.IsZero()
	}
	if alone := req.GuildID == "" && len(req.Servers) == 0; alone && (len(u.Words) > maxPhraseWords || !q.Talk && !q.ByAsker && !q.ByBot && !(q.Missed && q.Here)) {
		return Recall{} // nobody else has said anything
	}
	q.Here = q.Here || q.Talk
	return q
}

// A message surely asks about its server from a probability of sureFrom on, and may ask from maybeFrom on.
const (
	sureFrom  = 0.9
	maybeFrom = 0.38
)

// weigh decides how sure a question about the server is. q is what the rules found; where they found nothing, the parts of the message tell what
// to look for.
func (m Models) weigh(q Recall, s spokenParts) Recall {
	odds := m.Recall.Classify(s.features())[1]
	switch {
	case odds < maybeFrom:
		return Recall{}
	case !q.Asks():
		q = s.wanted()
	}
	ofWorld := s.ofWorld()
	if ofWorld && q.Missed { // what was missed may be a film
		q.Missed, q.Words = false, s.topic()
	}
	q.Maybe = odds < sureFrom || !s.u.Asks() && !s.u.Inquiry || ofWorld
	return q
}

// ofWorld reports whether a message quotes somebody, or has a word for what everybody knows of.
func (s *spokenParts) ofWorld() bool {
	found := pastKinds().find(spelledWords(s.u.Text))
	language, _ := mostFound(found)
	return strings.ContainsAny(s.u.Text, "\"“”„«»「」") || slices.ContainsFunc(found[language], func(f foundKind) bool { return f.kind == "world" })
}

// wanted returns what a message wants of its server if the rules do not tell.
func (s *spokenParts) wanted() Recall {
	q := s.q
	q.Why, q.Here, q.Address = "asks what was said here", s.has["place"], s.has["link"] && !s.has["my"]
	q.ByAsker, q.ByBot = s.saidBehind("did_i") || s.has["own_message"] || s.has["own_say"], s.saidBehind("did_you")
	q.Missed = s.has["absent"] || s.has["own_miss"] || s.has["summary"] || s.has["should_know"]
	q.Words = s.topic()
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
	r.q.People = r.members()
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

// spokenParts reads what a message asks about its server by the parts that its words play, in the languages that have a table for it.
type spokenParts struct {
	recallReader
	words *recallWords
	parts []part
	has   map[string]bool
}

// inLanguages returns the parts of the message's words in a language, or in every language if it is empty.
func (r *recallReader) inLanguages(language string) (all []spokenParts) {
	for i := range recallLanguages() {
		w := &recallLanguages()[i]
		if language != "" && w.language != language {
			continue
		}
		s := spokenParts{recallReader: *r, words: w, parts: w.find(r.u), has: map[string]bool{}}
		for _, p := range s.parts {
			s.has[p.name] = s.has[p.name] || !s.isLead(p)
		}
		all = append(all, s)
	}
	return all
}

// isLead reports whether a part belongs to the order that a question is put as: "can you tell us".
func (s *spokenParts) isLead(p part) bool {
	if len(s.u.Body) == 0 {
		return false
	}
	body := s.u.Body
	leads := p.start == body[0].Start && p.name == "say" || p.name == "we" && len(body) > 1 && p.start == body[1].Start && s.plays(body[0], "say")
	return p.start < body[0].Start || leads
}

// find returns the index of the first part with a name, also if it is part of the polite opening, or -1.
func (s *spokenParts) find(name string) int {
	return slices.IndexFunc(s.parts, func(p part) bool { return p.name == name })
}

// plays reports whether a word has a part.
func (s *spokenParts) plays(w text.Word, name string) bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return p.name == name && p.start <= w.Start && w.End <= p.end })
}

// saidBehind reports whether a verb of saying follows a part soon: "what did I say", "what have you told us".
func (s *spokenParts) saidBehind(name string) bool {
	for i, w := range s.u.Words[1:] {
		if rest := s.u.Words[i+2:]; s.plays(w, name) && slices.ContainsFunc(rest[:min(3, len(rest))], func(w text.Word) bool {
			return s.plays(w, "say") || s.plays(w, "post") || s.plays(w, "suggest")
		}) {
			return true
		}
	}
	return false
}

// AboutAsker reports whether a message asks what is known of its author: "what do you know about me?". Memory answers that, and the web
// knows nothing of it.
func AboutAsker(message string, names []string) bool {
	r := recallReader{u: Parse(message, names), used: map[int]bool{}}
	return len(r.u.Words) <= maxPhraseWords && slices.ContainsFunc(r.inLanguages(text.MessageLanguage(message)), func(s spokenParts) bool {
		return s.find("you_know") >= 0 && s.find("about_me") >= 0
	})
}

// AboutOwn reports whether a message asks for something that belongs to its author, and for nothing else: "what is my dog's name?". The web
// does not know it.
func AboutOwn(message string, names []string) bool {
	r := recallReader{u: Parse(message, names), used: map[int]bool{}}
	if len(r.u.Words) > maxPhraseWords || strings.ContainsAny(message, "0123456789") {
		return false
	}
	return slices.ContainsFunc(r.inLanguages(text.MessageLanguage(message)), func(s spokenParts) bool {
		owner := s.find("my")
		if asks := s.has["naming"] || s.has["what"] || s.has["who"] || s.has["when"] || r.u.Form() == Wh; owner < 0 || !asks || !r.u.Asks() {
			return false
		}
		if text.Unspaced(message) {
			return s.has["naming"] || s.has["when"] && len(s.topic()) <= 1
		}
		rest := r.u.Words[slices.IndexFunc(r.u.Words, func(w text.Word) bool { return w.End >= s.parts[owner].end })+1:]
		for _, w := range r.u.Words {
			plays := slices.ContainsFunc(s.parts, func(p part) bool { return p.start < w.End && w.Start < p.end && p.name != "say" && p.name != "post" })
			if !plays && text.Meaningful(w.Key) && (w.Start < s.parts[owner].start || len(rest) > maxOwned) {
				return false
			}
		}
		return len(rest) > 0
	})
}

// maxOwned is how many words may name what belongs to the author.
const maxOwned = 3

// decide says whether the message asks about the server, and why.
func (s *spokenParts) decide() Recall {
	has := func(names ...string) bool { return slices.ContainsFunc(names, func(n string) bool { return s.has[n] }) }
	said := has("say", "post", "talk", "suggest", "own_say", "own_talk", "own_suggest", "link") || has("we") && has("chat") && has("last", "before")
	asks := s.u.Asks() || s.u.Inquiry || has("who", "what", "when", "again")
	place := has("place", "server") || len(s.q.Channels) > 0
	q := s.q
	q.Here, q.Address = s.has["place"], s.has["link"] && !s.has["my"]
	q.ByAsker, q.ByBot = s.saidBehind("did_i"), s.saidBehind("did_you")
	short := len(s.u.Words) <= maxPhraseWords
	switch {
	case short && has("own_pins"):
		q.Why, q.Pins = "asks for the pins", true
		return q
	case short && has("own_topic"):
		q.Why, q.Topic, q.Here = "asks what the channel is for", true, len(q.Channels) == 0
		return q
	case has("absent") && (asks || said || has("happened")), has("should_know") && (place || has("chat", "general")):
		q.Why, q.Missed = "asks what was missed", true
		return q
	case has("future"):
		return Recall{}
	case has("own_miss"):
		q.Why, q.Missed = "asks what was missed", true
		return q
	case has("summary") && (place || has("chat", "general", "talk", "own_talk") || s.spanned && (has("happened", "we") || len(s.topic()) == 0)):
		q.Why, q.Missed, q.Here = "asks for a summary of what was said here", true, len(q.Channels) == 0
		return q
	case has("happened") && (place || has("chat", "general")) && asks:
		q.Why, q.Missed = "asks what happened here", true
		return q
	case (has("my") && has("message", "link", "post") || has("own_message")) && has("last", "about", "when", "what", "who", "before", "link"), has("own_say") && (asks || has("last", "before")):
		q.Why, q.ByAsker = "asks what was said in this conversation", true
	case has("i") && has("say", "post") && has("last", "when", "before", "again", "what"):
		q.Why, q.ByAsker = "asks what was said in this conversation", true
	case s.holds("search") && s.holds("chat", "place") && s.holds("we", "place"),
		has("my") && has("own_message") && asks && said, has("they_say") && has("what", "when", "who"), has("we") && has("already") && has("was"):
		q.Why = "asks what was said here"
	case place && (asks && has("who") && has("again") || has("anyone") && has("was")):
		q.Why = "asks who of the people here it was"
	case asks && has("what", "again") && has("reason") && s.givenSpeaks():
		q.Why = "asks what somebody here said"
	case !asks || !said:
		return Recall{}
	case has("who") && (has("itself") && has("say") || has("own_suggest") || has("suggest", "post") && has("distant") && !has("about")):
		q.Why = "asks who of the people here said it"
	case len(q.People) > 0 && !s.has["who"]:
		q.Why = "asks what " + q.People[0] + " said"
	case s.givenSpeaks() && !s.has["who"]:
		q.Why = "asks what somebody here said"
	case place, has("chat") && (has("say", "post", "own_talk") || has("we")):
		q.Why = "asks what was said here"
	case q.ByAsker, q.ByBot:
		q.Why = "asks what was said in this conversation"
	case has("own_talk", "of_us"), has("we") && has("say", "post", "talk", "suggest"), has("talk") && has("before"):
		q.Why = "asks what the people here said"
	case has("who", "anyone") && (has("post") || has("anyone") && has("before") || s.spanned && has("anyone")), has("link") && has("who", "post"):
		q.Why = "asks who of the people here said it"
	default:
		return Recall{}
	}
	q.Words = s.topic()
	return q
}

// holds reports whether a word plays one of some parts, in the order that a question is put as, too: "search our chat".
func (s *spokenParts) holds(names ...string) bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return slices.Contains(names, p.name) })
}

// near reports whether a verb of saying, or a word for what somebody thinks, is near word i.
func (s *spokenParts) near(i int) bool {
	reach := reach
	if s.words.language != "en" {
		reach *= 2 // the verb may come last
	}
	from, to := s.u.Words[max(0, i-reach)].Start, s.u.Words[min(len(s.u.Words)-1, i+reach)].End
	return slices.ContainsFunc(s.parts, func(p part) bool {
		return p.start >= from && p.end <= to && slices.Contains([]string{"say", "post", "talk", "suggest", "own_suggest", "reason"}, p.name)
	})
}

const reach = 2 // words between a person and what they do

// members returns the server's members that the message names, without those whose names go on with another capital: Ada Lovelace is not Ada.
func (r *recallReader) members() (people []string) {
	people = r.q.People
	for _, name := range r.req.People {
		if !text.MayHold(r.u.Words, name) {
			continue
		}
		keys := text.PhraseKeys(name)
		if len(keys) == 0 || len(keys) == 1 && (len(keys[0]) < 2 || isCommonWord(keys[0])) {
			continue
		}
		for i := range r.u.Words {
			if text.HasPrefix(r.u.Words[i:], keys) && !r.goesOn(i+len(keys)-1) {
				people = text.AddOnce(people, name)
				break
			}
		}
	}
	return people
}

// givenSpeaks reports whether a person is named by a given name alone. Those who talk know a person who is called so.
func (s *spokenParts) givenSpeaks() bool {
	for i, w := range s.u.Words {
		if s.words.isGiven(w.Key) && s.near(i) && !s.goesOn(i) && (i == 0 || !s.u.Words[i-1].Upper || i == 1) {
			return true
		}
	}
	return slices.ContainsFunc(s.words.names, func(name string) bool { return strings.Contains(s.u.Text, name) })
}

// goesOn reports whether a name goes on behind word i, with a capital.
func (r *recallReader) goesOn(i int) bool {
	words := r.u.Words
	return i+1 < len(words) && words[i].Upper && words[i+1].Upper && words[i+1].Start == words[i].End+1
}

// topic returns the words that play no part: what is searched for.
func (s *spokenParts) topic() (words []string) {
	covered := func(start, end int) bool {
		return slices.ContainsFunc(s.parts, func(p part) bool { return p.start < end && start < p.end })
	}
	for _, w := range s.u.Words {
		word := s.u.Text[w.Start:w.End]
		switch {
		case text.Unspaced(word):
		case s.used[w.Start], covered(w.Start, w.End), !text.Meaningful(w.Key), s.words.given[w.Key], slices.ContainsFunc(s.q.People, func(p string) bool { return slices.Contains(text.PhraseKeys(p), w.Key) }):
			continue
		}
		if !text.Unspaced(word) {
			words = text.AddOnce(words, word)
		}
	}
	if text.Unspaced(s.u.Text) {
		rest := s.u.Text
		for _, p := range s.parts {
			rest = strings.ReplaceAll(rest, s.u.Text[p.start:p.end], " ")
		}
		for _, name := range s.words.names {
			rest = strings.ReplaceAll(rest, name, " ")
		}
		for _, run := range s.words.runs(rest) {
			words = text.AddOnce(words, run)
		}
	}
	return words[:min(len(words), maxTopicWords)]
}

// MessageLink is a link to a Discord message.
type MessageLink struct {
	Guild, Channel, Message string // ids; of a direct message there is no guild
	URL                     string // as typed
}

// messageLink matches the links of all Discord clients. A link into a direct message has "@me" in place of a server.
var messageLink = text.NewLazyRegexp(`https?://(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/(\d{1,20}|@me)/(\d{1,20})/(\d{1,20})\b`)

// maxLinks is how many links of one message are followed.
const maxLinks = 5

// MessageLinks returns the messages that a text links to, each once.
func MessageLinks(s string) (all []MessageLink) {
	seen := map[string]bool{}
	for _, m := range messageLink.FindAllStringSubmatch(s, -1) {
		if !seen[m[3]] && len(all) < maxLinks {
			seen[m[3]] = true
			all = append(all, MessageLink{Guild: strings.TrimPrefix(m[1], "@me"), Channel: m[2], Message: m[3], URL: m[0]})
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
