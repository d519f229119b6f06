// Package ranking orders messages by how well they would answer a question, without a model of language: it counts words, and looks at
// who speaks, when, and what stands around.
//
//   - question.go: [Read] makes a [Question] of a message: the words to look for, who is named, of which time it asks.
//   - kin.go, kin/*.txt: words of one field, by language, so that a question about pets finds the dog.
//   - features.go has what is looked at, and what it is worth.
//   - corpus.go prepares the messages: their words, their neighbours, their sessions.
//
// It knows no store. Who asks it fetches candidates by the question's words, with what stands around them, and says how rare each word is.
package ranking

import (
	"cmp"
	"math"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// sessionGap is how long a channel is silent between two sessions.
const sessionGap = 3 * time.Hour

// Hit is a message, ranked.
type Hit struct {
	turn.Message
	Score   float64  // the log of its odds; those of one question compare
	Session int      // of the result's sessions
	Why     []Reason // its features, the greatest part first
	Holds   float64  // the share of the question's words but for those of time, by weight, that stand in it or right before it
	Before  *turn.Message
}

// Reason is a feature and what it added to a score.
type Reason struct {
	Feature string
	Gain    float64
}

// Result is what was ranked. Sessions are in the order of their odds, by those of their best messages.
type Result struct {
	Hits     []Hit
	Sessions []Session
}

// Session is a stretch of a channel without a long silence, as far as its messages were candidates.
type Session struct {
	ChannelID string
	From, To  time.Time
	Score     float64
	Number    int // as hits know it
}

// Rank orders messages, the best first. weights are what the question's words are worth, in the order of [Question.Words].
func (q *Question) Rank(messages []turn.Message, weights []float64) Result {
	c := newCorpus(q, messages, weights)
	hits := make([]Hit, len(c.views))
	for i := range c.views {
		v := &c.views[i]
		hits[i] = Hit{Message: *v.message, Session: v.session, Holds: v.holds()}
		if v.index > 0 {
			hits[i].Before = c.views[i-1].message
		}
		for f, x := range v.features() {
			if x == 0 {
				continue
			}
			hits[i].Score += features[f].weight * x
			hits[i].Why = append(hits[i].Why, Reason{features[f].name, features[f].weight * x})
		}
		slices.SortStableFunc(hits[i].Why, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Gain), math.Abs(a.Gain)) })
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return Result{Hits: hits, Sessions: c.rankSessions(hits)}
}

const (
	// bestOfSession is how many of its messages speak for a session.
	bestOfSession = 5
	// sessionSlope is how much the log of a session's messages speaks against it: a long one has good ones by chance.
	sessionSlope = 0.3
)

// rankSessions orders the sessions by the sum of the odds of their best messages, the shorter the better. The hits are in order, the best
// first.
func (c *corpus) rankSessions(hits []Hit) []Session {
	all, sizes := slices.Clone(c.sessions), make([]int, len(c.sessions))
	for _, h := range hits {
		if sizes[h.Session]++; sizes[h.Session] <= bestOfSession {
			all[h.Session].Score += math.Exp(h.Score - hits[0].Score)
		}
	}
	for i := range all {
		all[i].Score /= math.Pow(float64(max(1, sizes[i])), sessionSlope)
	}
	slices.SortStableFunc(all, func(a, b Session) int { return cmp.Or(cmp.Compare(b.Score, a.Score), b.To.Compare(a.To)) })
	return all
}
