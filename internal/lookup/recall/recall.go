// Package recall decides whether a message asks about what was said before in its own server, such as "what did Ada say about the
// deploy?", and about what: by whom, when, in which channel, in which words. It reads the message and nothing else; no model is
// asked, so the same question is always understood in the same way.
//
//   - recall.go: [Read] makes a [Question] of a message.
//   - lexicon.go has the words of saying and of places, by language.
//   - link.go finds links to messages.
package recall

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// Question is what a message asks about its server. The zero Question asks nothing.
type Question struct {
	Why string // what tells that it does; empty: it does not
	// What is asked for beside messages, or in place of them.
	Pins, Topic, Missed bool
	Links               []Link // messages that it links to

	People   []string // names, as the server has them
	ByAsker  bool     // what the asker wrote
	ByBot    bool     // what the bot wrote
	Channels []string // names, without #
	Here     bool     // in this channel
	Span     calendar.Span
	Words    []string // what it is about
	Address  bool     // a link that was posted is wanted
}

// Asks reports whether the message asks about its server.
func (q Question) Asks() bool { return q.Why != "" }

// Read reads the message of a request. One that orders a search of the web asks nothing of the server, and neither does one that was not
// written in a server.
func Read(req turn.Request, now time.Time) Question {
	if req.GuildID == "" || !req.Message.ByPerson() {
		return Question{}
	}
	message := req.Message.Text
	q := Question{Links: Links(message)}
	if len(q.Links) > 0 {
		q.Why = "a message of this server is linked"
		return q
	}
	if req.Web.Switch == turn.WebAlways {
		return Question{}
	}
	u := utterance.Parse(message, req.Names)
	if len(u.Words) == 0 || len(u.Words) > longest {
		return Question{}
	}
	r := reading{u: u, req: req, used: map[int]bool{}}
	r.find(now)
	q = r.decide()
	if q.Why != "" && ordersWeb(u) {
		return Question{}
	}
	return q
}

// longest is how many words a question about the server has at most: who writes more tells something.
const longest = 60

// ordersWeb reports whether the message says where else to look.
func ordersWeb(u utterance.Utterance) bool {
	return slices.ContainsFunc(u.Words, func(w text.Word) bool { return webWords[w.Key] })
}

// reading is a message on its way to a question.
type reading struct {
	u    utterance.Utterance
	req  turn.Request
	q    Question
	used map[int]bool // words that are no part of what it is about, by where they begin

	saying  bool // somebody says, writes or decides something
	posting bool // what only people in chats do: mention, post, link
	we      bool // those who are here
	anyone  bool // "anyone", "somebody"
	place   bool // "here", "in this channel"
	who     bool // it asks for a person
	spanned bool
}

// find finds what the message names.
func (r *reading) find(now time.Time) {
	words := r.u.Words
	if span, at, ok := calendar.Past(r.u.Text, r.u.Words, now); ok {
		r.q.Span, r.spanned = span, true
		for _, i := range at {
			r.used[words[i].Start] = true
		}
	}
	r.mentions()
	lead := len(words) - len(r.u.Body) // courtesies: "can you tell us"
	for i, w := range words {
		known := true
		switch {
		case i < lead, i == lead && saying[w.Key]: // an order: "tell me"
		case addresses[w.Key]:
			r.q.Address, r.saying, r.posting = true, true, true
		case posting[w.Key]:
			r.saying, r.posting = true, true
		case saying[w.Key]:
			r.saying = true
		case us[w.Key]:
			r.we = true
		case anyone[w.Key]:
			r.anyone = true
		case asking[w.Key]:
			r.who = true
		case places[w.Key] && (w.Key == "here" || i > 0 && pointing[words[i-1].Key]):
			r.place, r.q.Here = true, r.q.Here || w.Key != "server" && w.Key != "guild"
		default:
			known = furniture[w.Key]
		}
		if known {
			r.used[w.Start] = true
		}
	}
	if !r.saying {
		return
	}
	r.people()
	r.voices()
	r.q.Words = r.about()
}

// voices finds "I" and "you" as those who said something: "what did I say", "what have you told us".
func (r *reading) voices() {
	for i, w := range r.u.Words {
		if i == 0 || !auxiliaries[r.u.Words[i-1].Key] || !r.saidAfter(i) {
			continue
		}
		r.q.ByAsker = r.q.ByAsker || w.Key == "i"
		r.q.ByBot = r.q.ByBot || w.Key == "you"
	}
}

// saidAfter reports whether a word of saying stands soon behind words[i].
func (r *reading) saidAfter(i int) bool {
	rest := r.u.Words[i+1:]
	return slices.ContainsFunc(rest[:min(3, len(rest))], func(w text.Word) bool { return saying[w.Key] || posting[w.Key] })
}

// mentions takes the channels and the people that Discord itself marked.
func (r *reading) mentions() {
	for _, m := range r.req.Message.Mentions {
		name := m[1:]
		if m[0] == '#' {
			r.q.Channels = text.AddOnce(r.q.Channels, name)
		} else {
			r.q.People = text.AddOnce(r.q.People, name)
		}
		if at := strings.Index(r.u.Text, m); at >= 0 {
			r.use(at, at+len(m))
		}
	}
}

// people finds the names of people of the server who say something, the longest first. One that goes on with a capital letter is
// another's: Ada Lovelace is not Ada. What stands behind the saying is what it is about: "who wrote Purple Rain" asks nothing of Rain.
func (r *reading) people() {
	names := slices.Clone(r.req.People)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		keys := text.PhraseKeys(name)
		if len(keys) == 0 || len(keys) == 1 && (len(keys[0]) < 2 || utterance.Everyday(keys[0]) || everyday(keys[0])) {
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
			r.use(r.u.Words[i].Start, r.u.Words[i+len(keys)-1].End)
			break
		}
	}
}

// speaks reports whether the name that is the words from i up to end is of who says something: "what did Ada say", "posted by Ada".
func (r *reading) speaks(i, end int) bool {
	return i > 0 && by[r.u.Words[i-1].Key] || slices.ContainsFunc(r.u.Words[end:], func(w text.Word) bool {
		return saying[w.Key] || posting[w.Key] || addresses[w.Key]
	})
}

// everyday reports whether a word is one of ours: nobody's name alone makes it a person.
func everyday(key string) bool {
	return saying[key] || posting[key] || furniture[key] || places[key] || addresses[key] || asking[key]
}

func (r *reading) use(from, to int) {
	for _, w := range r.u.Words {
		if w.Start >= from && w.End <= to {
			r.used[w.Start] = true
		}
	}
}

// about returns the words that are left: what it is about.
func (r *reading) about() (words []string) {
	for _, w := range r.u.Words {
		if r.used[w.Start] || !text.Meaningful(w.Key) {
			continue
		}
		word := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(r.u.Text[w.Start:w.End], "'s"), "’s"), "'’")
		words = text.AddOnce(words, word)
	}
	if len(words) > mostWords {
		words = words[:mostWords]
	}
	return words
}

// mostWords bounds what is searched for.
const mostWords = 8

// phraseWords is how many words a message has at most that asks something by a phrase alone.
const phraseWords = 12

// decide says whether the message asks about the server, and by what that is told.
func (r *reading) decide() Question {
	q := r.q
	asks := r.u.Form() != utterance.NoForm || r.u.HasQuestionMark() || r.who || r.u.Inquiry
	switch {
	case len(r.u.Words) <= phraseWords && r.u.Has(missed):
		q.Why, q.Missed, q.Words = "asks what was missed", true, nil
	case len(r.u.Words) <= phraseWords && r.u.Has(pins):
		q.Why, q.Pins, q.Words = "asks for the pins", true, nil
	case len(r.u.Words) <= phraseWords && r.u.Has(topics):
		q.Why, q.Topic, q.Words = "asks what the channel is for", true, nil
	case !asks || !r.saying:
		return Question{}
	case len(q.People) > 0:
		q.Why = "asks what " + q.People[0] + " said"
	case len(q.Channels) > 0:
		q.Why = "asks about #" + q.Channels[0]
	case r.place:
		q.Why = "asks what was said here"
	case q.ByAsker, q.ByBot:
		q.Why = "asks what was said in this conversation"
	case r.we && !r.wishes():
		q.Why = "asks what the people here said"
	case (r.who || r.anyone) && (r.posting || r.anyone && r.spanned):
		q.Why = "asks who of the people here said it"
	default:
		return Question{}
	}
	return q
}

// wishes reports whether "we" speaks of what is to come: "should we discuss this?"
func (r *reading) wishes() bool {
	return slices.ContainsFunc(r.u.Words, func(w text.Word) bool { return ahead[w.Key] })
}
