package recall

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/question"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	maxDirect     = 400 // messages of a direct conversation that are searched; no index has them
	defaultWindow = 20  // messages that the conversation shows
	minWords      = 3   // content words of a message that recalls something though it is no question

	maxQuoted = 6 // messages
	// minShare is the share of the question's words, by weight, that a message and the one before it must have; minShareUnasked is the
	// same if the message asks nothing.
	minShare, minShareUnasked = 0.45, 0.8
	// maxScoreGap is how far the score of a quoted message may be below the best.
	maxScoreGap = 4
)

// worthRecalling reports whether older messages may answer a message: it has enough content words, or one of its sentences is a question
// with content. So a phrase such as "how are you?" does not make the rest of the message a question.
func worthRecalling(r turn.Request, q *query) bool {
	if len(q.words()) == 0 || !r.Message.ByPerson() || r.Web.Switch == turn.WebAlways {
		return false
	}
	if len(q.words()) >= minWords {
		return true
	}
	for _, sentence := range text.Sentences(r.Message.Text) {
		one := r
		one.Message.Text = sentence
		if isQuestion(one) && len(readQuery(unaddressed(one), r.Reader.ID, r.People, r.Message.At).words()) > 0 {
			return true
		}
	}
	return false
}

// unaddressed returns the text of a message without the bot's name at either end, because the name says nothing about the question.
func unaddressed(r turn.Request) string {
	message := r.Message.Text
	words := question.Parse(message, r.Names).Words
	if len(words) == 0 {
		return ""
	}
	rest := message[words[0].Start:words[len(words)-1].End]
	if strings.ContainsAny(message[words[len(words)-1].End:], "?？؟") {
		rest += "?"
	}
	return rest
}

// isQuestion reports whether a message asks for something.
func isQuestion(r turn.Request) bool {
	u := question.Parse(r.Message.Text, r.Names)
	return u.HasQuestionMark() || u.Form() != question.NoForm
}

// messages returns older messages that bear on a message and that the conversation does not show, the best first. It returns more than
// are quoted.
func (p *MemoryProvider) messages(ctx context.Context, r turn.Request, q *query, m *meaning) ([]Hit, error) {
	if r.Budget.Layers != nil && r.Budget.Layers[turn.Content] == 0 {
		return nil, nil
	}
	result, err := p.recall(ctx, r, q, m)
	if err != nil || len(result.Hits) == 0 {
		return nil, err
	}
	shown, err := p.shown(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("read the messages that the conversation shows: %w", err)
	}
	return choose(r, result.Hits, m, func(h Hit, enough float64) bool {
		return h.Share >= enough && !shown[h.ID] && strings.TrimSpace(h.Text) != ""
	}), nil
}

// requiredShare returns the share of the question's words that a message or a passage must have.
func requiredShare(r turn.Request) float64 {
	if isQuestion(r) {
		return minShare
	}
	return minShareUnasked
}

// choose returns the hits that may be quoted: those with enough of the words and, if r is a question, those with another vocabulary but a
// near meaning.
func choose(r turn.Request, hits []Hit, m *meaning, fits func(h Hit, enough float64) bool) (chosen []Hit) {
	best := math.Inf(-1) // score of a hit with enough of the words
	for _, h := range hits {
		if len(chosen) == 2*maxQuoted {
			break
		}
		switch {
		case h.Score >= best-maxScoreGap && fits(h, requiredShare(r)):
			best = max(best, h.Score)
		case isQuestion(r) && m != nil && m.near[h.ID] && fits(h, 0):
		default:
			continue
		}
		chosen = append(chosen, h)
	}
	return chosen
}

// Recall ranks older messages by how well they would answer the message of a request. In a server it ranks the messages that the asker and
// everyone else who sees the answer may read. In a direct message it ranks that conversation.
func (p *MemoryProvider) Recall(ctx context.Context, r turn.Request) (Result, error) {
	q := readQuery(unaddressed(r), r.Reader.ID, r.People, p.now())
	return p.recall(ctx, r, q, p.readMeaning(ctx, r, q))
}

func (p *MemoryProvider) recall(ctx context.Context, r turn.Request, q *query, m *meaning) (Result, error) {
	defer m.wait()
	if len(q.words()) == 0 {
		return Result{}, nil
	}
	stored, weights, err := p.candidates(ctx, r, q)
	if err != nil {
		return Result{}, fmt.Errorf("recall older messages: %w", err)
	}
	stored, near := p.addNearest(ctx, r, m, stored)
	messages := make([]turn.Message, 0, len(stored))
	for _, m := range stored {
		if m.ID == r.Message.ID || slices.Contains(r.Burst, m.ID) || !r.Message.At.IsZero() && m.At.After(r.Message.At) {
			continue
		}
		messages = append(messages, asSeen(m, r.Character))
	}
	if weights == nil {
		weights = q.weigh(messages)
	}
	result := q.rank(messages, weights)
	result.fuseNear(near)
	return result, nil
}

// candidates returns messages that may hold an answer, and the weights of the query's words. Weights are nil if the messages are the whole
// conversation.
func (p *MemoryProvider) candidates(ctx context.Context, r turn.Request, q *query) ([]store.Message, []float64, error) {
	if r.GuildID == "" {
		all, err := p.Store.Messages.Recent(ctx, r.ChannelID, maxDirect)
		return all, nil, err
	}
	channels := p.readable(ctx, r)
	if len(channels) == 0 {
		return nil, nil, nil
	}
	got, err := p.Store.Messages.Recall(ctx, store.Recall{GuildID: r.GuildID, Channels: channels, Words: q.words(), Kin: q.kinWords(), Language: q.knownLanguage(), From: q.Span.From, To: q.Span.To})
	return got.Messages, got.Weights, err
}

// readable returns the channels that the asker, and everyone else who sees the answer, may read now.
func (p *MemoryProvider) readable(ctx context.Context, r turn.Request) []string {
	return memory.ReadableChannels(ctx, p.Servers, r.GuildID, r.Reader, audience(r))
}

// shown returns the ids of the messages that the conversation shows.
func (p *MemoryProvider) shown(ctx context.Context, r turn.Request) (map[string]bool, error) {
	if p.Unread {
		return nil, nil
	}
	n := p.Window
	if n <= 0 {
		n = defaultWindow
	}
	recent, err := p.Store.Messages.Recent(ctx, r.ChannelID, n+1)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, m := range recent {
		ids[m.ID] = true
	}
	for _, m := range r.Chain {
		ids[m.ID] = true
	}
	if r.Parent != nil {
		ids[r.Parent.ID] = true
	}
	return ids, nil
}
