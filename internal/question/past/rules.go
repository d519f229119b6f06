package past

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// firstAsked returns what the parts ask in the first language in which they ask something.
func firstAsked(spoken []spokenParts) Question {
	for _, s := range spoken {
		if q := s.decide(); q.Asks() {
			return q
		}
	}
	return Question{}
}

// hasNoTopic reports whether the words of a question say only that something was said before.
func hasNoTopic(q Question, spoken []spokenParts) bool {
	return len(q.Words) == 0 || slices.ContainsFunc(spoken, func(s spokenParts) bool { return s.has["before"] && len(s.topic()) == 0 })
}

// decide says whether the message asks about the server, and why.
func (s *spokenParts) decide() Question {
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
		return Question{}
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
		q.Why = wantsSaid
	case place && (asks && has("who") && has("again") || has("anyone") && has("was")):
		q.Why = "asks who of the people here it was"
	case asks && has("what", "again") && has("reason") && s.givenSpeaks():
		q.Why = "asks what somebody here said"
	case !asks || !said:
		return Question{}
	case has("who") && (has("itself") && has("say") || has("own_suggest") || has("suggest", "post") && has("distant") && !has("about")):
		q.Why = "asks who of the people here said it"
	case len(q.People) > 0 && !s.has["who"]:
		q.Why = "asks what " + q.People[0] + " said"
	case s.givenSpeaks() && !s.has["who"]:
		q.Why = "asks what somebody here said"
	case place, has("chat") && (has("say", "post", "own_talk") || has("we")):
		q.Why = wantsSaid
	case q.ByAsker, q.ByBot:
		q.Why = "asks what was said in this conversation"
	case has("own_talk", "of_us"), has("we") && has("say", "post", "talk", "suggest"), has("talk") && has("before"):
		q.Why = "asks what the people here said"
	case has("who", "anyone") && (has("post") || has("anyone") && has("before") || s.spanned && has("anyone")), has("link") && has("who", "post"):
		q.Why = "asks who of the people here said it"
	default:
		return Question{}
	}
	q.Words = s.topic()
	return q
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

// holds reports whether a word plays one of some parts. The order that a question is put as counts, too: "search our chat".
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

// givenSpeaks reports whether a person is named by a given name alone. Those who talk know a person who is called so.
func (s *spokenParts) givenSpeaks() bool {
	for i, w := range s.u.Words {
		if s.words.isGiven(w.Key) && s.near(i) && !s.goesOn(i) && (i == 0 || !s.u.Words[i-1].Upper || i == 1) {
			return true
		}
	}
	return slices.ContainsFunc(s.words.names, func(name string) bool { return strings.Contains(s.u.Text, name) })
}
