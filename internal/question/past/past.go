// Package past decides what a message asks of the past of its own server. It does no input or output.
//
// [Read] makes a [Question] in four steps:
//
// 1. Find: message.go finds the time, the channels and the people that a message names. It also finds the parts that its words play.
// words.go has the words of each language. 2. Ask: rules.go says what the parts ask, in the first language in which they ask something. 3.
// Weigh: a trained model says how sure it is (past.go). It sees the spelling, the parts and what the rules found (features.go). In doubt
// the server is searched first, and then the web. 4. Name the topic: the words that play no part are searched for.
//
// message.go also knows links to messages of Discord, which need no reading. It finds questions about their own author, which memory
// answers. The forms of sentences, spelling and kinds of words come from package question.
package past

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Question is what a message asks of the past of its own server. The zero value asks nothing.
type Question struct {
	Why   string // the evidence that it asks; empty: it does not
	Maybe bool   // it is not sure: where the server has nothing that fits, the web may have
	// What is asked for besides messages.
	Pins, Topic, Missed bool
	Talk                bool                // what was said here before, about whatever
	Links               []clean.MessageLink // messages that the text links to

	People   []string // as the server has their names
	ByAsker  bool     // messages of the asker
	ByBot    bool     // messages of the bot
	Channels []string // without #
	Here     bool     // in this channel
	Span     text.TimeSpan
	Words    []string // the topic
	Address  bool     // a posted link is wanted

	// Owned is the key of the word that names what belongs to the asker. The message must ask for a property of it and for little else: "bike"
	// of "what colour is my bike?". If something is remembered of it, that is the answer, whether the message asks about the server or not. It
	// is empty for other messages, and in languages without spaces.
	Owned string
}

// Asks reports whether the message asks about its server, or may do so.
func (q Question) Asks() bool { return q.Why != "" }

// Sure reports whether the message certainly asks about its server, so the web has no answer.
func (q Question) Sure() bool { return q.Asks() && !q.Maybe }

// Read reads what a message asks about its server. In a direct message it asks about that conversation and the servers that the author
// shares with the bot. An order to search the web asks nothing. No language model has a part in it, so the same question is always
// understood the same way.
func Read(req turn.Request, now time.Time) Question { return ReadBy(builtIn(), req, now) }

// Reader is [Read] for several who read the same turn at the same moment: it works once. A nil Reader works each time.
type Reader struct {
	mu     sync.Mutex
	recent [64]struct { // readings of the latest turns; guarded by mu
		turn, message string
		read          func() Question
	}
	next int // of recent to be replaced; guarded by mu
}

// Read is [Read]. Those who share the result do not change it.
func (r *Reader) Read(req turn.Request, now time.Time) Question {
	if r == nil || req.ID == "" {
		return Read(req, now)
	}
	return r.reading(req, now)()
}

func (r *Reader) reading(req turn.Request, now time.Time) func() Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.recent {
		if one.turn == req.ID && one.message == req.Message.Text { // which may be edited while the turn lasts
			return one.read
		}
	}
	one := &r.recent[r.next]
	one.turn, one.message, one.read = req.ID, req.Message.Text, sync.OnceValue(func() Question { return Read(req, now) })
	r.next = (r.next + 1) % len(r.recent)
	return one.read
}

// ReadBy is [Read] with another model, for training.
func ReadBy(model *text.Model, req turn.Request, now time.Time) Question {
	if !req.Message.ByPerson() {
		return Question{}
	}
	if links := clean.MessageLinks(req.Message.Text); len(links) > 0 {
		return Question{Links: links, Why: "a message is linked"}
	}
	u := question.Parse(req.Message.Text, req.Names)
	if req.Web.Switch == turn.WebAlways || len(u.Words) == 0 || len(u.Words) > maxWords || ordersWeb(u) {
		return Question{}
	}
	r := reader{u: u, req: req, used: map[int]bool{}}
	r.find(now)
	spoken := r.inLanguages(text.MessageLanguage(u.Text))
	q := firstAsked(spoken)
	if !q.Asks() && len(u.Words) <= maxPhraseWords { // a phrase that is enough by itself, in any language
		q = firstAsked(slices.DeleteFunc(r.inLanguages(""), func(s spokenParts) bool { return !s.has["own_miss"] }))
	}
	s := r.spoken()
	if !q.Pins && !q.Topic {
		if q = weigh(model, q, s); r.direct() {
			q = s.inDirect(q)
		}
	}
	if q.Asks() && hasNoTopic(q, spoken) {
		q.Words = nil
		q.Talk = !q.Maybe && !q.ByAsker && !q.ByBot && !q.Missed && !q.Pins && !q.Topic && !q.Address && len(q.People)+len(q.Channels) == 0 && q.Span.From.IsZero()
	}
	ofTalk := len(u.Words) <= maxPhraseWords && (q.Talk || q.ByAsker || q.ByBot || q.Missed && q.Here)
	ofServers := q.Sure() && (q.Missed || len(q.Channels) > 0 || s.tellsOfSaying())
	if req.GuildID == "" && len(req.Servers) == 0 && !ofTalk && !ofServers {
		q = Question{} // nobody else has said anything
	}
	q.Here, q.Owned = q.Here || q.Talk, ownedIn(u, spoken)
	return q
}

// recallFile is the trained model, as cmd/evaluate/train wrote it.
//
//go:embed recall.model
var recallFile []byte

// builtIn returns the model in the binary. It tells whether a message asks about the past of its own server: classes "other" and "asks".
var builtIn = sync.OnceValue(func() *text.Model { return text.MustParseModel(recallFile) })

// A message certainly asks about its server from a probability of sureFrom on where the rules say so too. It may ask from maybeFrom on.
const (
	sureFrom  = 0.8
	maybeFrom = 0.6
)

// weigh decides how sure a question about the server is. q is what the rules found; where they found nothing, the parts of the message tell what
// to look for.
func weigh(model *text.Model, q Question, s spokenParts) Question {
	odds, ofWorld, found := model.Classify(s.features())[1], s.ofWorld(), q.Asks()
	switch {
	case odds < maybeFrom, ofWorld && !found && odds < sureFrom:
		return Question{}
	case !found:
		q = s.wanted()
	}
	if ofWorld && q.Missed { // what was missed may be a film
		q.Missed, q.Words = false, s.topic()
	}
	q.Maybe = !found || odds < sureFrom || !s.u.Asks() && !s.u.Inquiry || ofWorld
	return q
}

// inDirect decides a question in a direct message. What names a channel, or what somebody said or wrote, is for the servers and not for the web.
func (s *spokenParts) inDirect(q Question) Question {
	has := func(parts ...string) bool { return slices.ContainsFunc(parts, func(n string) bool { return s.has[n] }) }
	channels, said := len(s.q.Channels) > 0, s.tellsOfSaying()
	page := len(clean.TypedURLs(s.u.Text)) > 0
	if (s.ofWorld() || page) && !channels || has("future") && !q.Asks() {
		return q
	}
	if len(s.q.People) == 0 && said {
		s.q.People = s.owners()
		q.People = s.q.People
	}
	people := len(s.q.People) > 0
	switch sure := channels || people && said; {
	case q.Asks() && (sure || said):
		q.Maybe = false
	case sure, has("who", "anyone") && said:
		q = s.wanted()
		q.Maybe = !sure && !has("talk")
	default:
		return q
	}
	if channels && q.Why == wantsSaid && len(q.Words) < 2 && !people && !q.Missed && !q.ByAsker && !q.ByBot && q.Span.From.IsZero() {
		q.Topic = true
	}
	return q
}

// tellsOfSaying reports whether a message has a word for what people say or write.
func (s *spokenParts) tellsOfSaying() bool {
	return slices.ContainsFunc([]string{"say", "post", "talk", "suggest", "message", "link", "own_say", "own_talk", "own_suggest", "own_message", "chat", "server"}, func(n string) bool { return s.has[n] })
}

// ofWorld reports whether a message quotes somebody, or has a word for what everybody knows of.
func (s *spokenParts) ofWorld() bool {
	return strings.ContainsAny(s.u.Text, quotationMarks) || slices.Contains(kinds().In(s.u.Text), "world")
}

// quotationMarks are around what somebody else wrote.
const quotationMarks = "\"“”„«»「」"

const wantsSaid = "asks what was said here"

// wanted returns what a message wants of its server if the rules do not tell.
func (s *spokenParts) wanted() Question {
	q := s.q
	q.Why, q.Here, q.Address = wantsSaid, s.has["place"], s.has["link"] && !s.has["my"]
	q.ByAsker, q.ByBot = s.saidBehind("did_i") || s.has["own_message"] || s.has["own_say"], s.saidBehind("did_you")
	q.Missed = s.has["absent"] || s.has["own_miss"] || s.has["summary"] || s.has["should_know"]
	q.Words = s.topic()
	return q
}

// maxWords is the length of a question about the server, in words: a longer message tells something.
const maxWords = 60

// ordersWeb reports whether the message names another place to look.
func ordersWeb(u question.Utterance) bool {
	return slices.ContainsFunc(u.Words, func(w text.Word) bool { return webWords()[w.Key] })
}

// maxPhraseWords is the length of a message that asks by a phrase alone, in words.
const maxPhraseWords = 12
