package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/utterance"
	"familiar/internal/memory/ranking"
	"familiar/internal/store"
)

const (
	// lastDirect is how many messages of a direct conversation are looked through: they are in no index.
	lastDirect = 400
	// window is how many messages the conversation shows, unless told otherwise.
	window = 20
	// fewWords is how many words that carry meaning a message needs that is no question, so that something is recalled for it.
	fewWords = 3
)

// worthIt reports whether something that was written before may answer a message: a question, or a message that says something.
func worthIt(r turn.Request, q *ranking.Question) bool {
	words := len(q.Words())
	if words == 0 || !r.Message.ByPerson() || r.Web.Switch == turn.WebAlways {
		return false
	}
	return words >= fewWords || asks(r)
}

// asks reports whether a message asks for something.
func asks(r turn.Request) bool {
	u := utterance.Parse(r.Message.Text, r.Names)
	return u.HasQuestionMark() || u.Form() != utterance.NoForm
}

// Recall ranks what was written before by how well it would answer the message of a request: in a server what the asker and all who
// see the answer may read, in a direct message that conversation.
func (p *Provider) Recall(ctx context.Context, r turn.Request) (ranking.Result, error) {
	q := ranking.Read(r.Message.Text, r.Reader.ID, r.People, p.now())
	return p.recall(ctx, r, q, p.readMeaning(ctx, r, q))
}

func (p *Provider) recall(ctx context.Context, r turn.Request, q *ranking.Question, m *meaning) (ranking.Result, error) {
	defer m.wait()
	if len(q.Words()) == 0 {
		return ranking.Result{}, nil
	}
	stored, weights, err := p.gather(ctx, r, q)
	if err != nil {
		return ranking.Result{}, fmt.Errorf("recall what was written before: %w", err)
	}
	stored, near := p.nearest(ctx, r, m, stored)
	messages := make([]turn.Message, 0, len(stored))
	for _, m := range stored {
		if m.ID == r.Message.ID || slices.Contains(r.Burst, m.ID) || !r.Message.At.IsZero() && m.At.After(r.Message.At) {
			continue
		}
		messages = append(messages, asSeen(m, r.Character))
	}
	if weights == nil {
		weights = q.Weigh(messages)
	}
	result := q.Rank(messages, weights)
	result.Fuse(near)
	return result, nil
}

// gather returns messages that may hold an answer, and what the words are worth; nil: the messages are all there are.
func (p *Provider) gather(ctx context.Context, r turn.Request, q *ranking.Question) ([]store.Message, []float64, error) {
	if r.GuildID == "" {
		all, err := p.Store.Recent(ctx, r.ChannelID, lastDirect)
		return all, nil, err
	}
	channels := p.readable(ctx, r)
	if len(channels) == 0 {
		return nil, nil, nil
	}
	got, err := p.Store.Recall(ctx, store.Recall{GuildID: r.GuildID, Channels: channels, Words: q.Words(), Kin: q.Kin(), From: q.Span.From, To: q.Span.To})
	return got.Messages, got.Weights, err
}

// readable are the channels that who asks, and all who see the answer, may read now.
func (p *Provider) readable(ctx context.Context, r turn.Request) []string {
	if p.Rooms == nil {
		return nil
	}
	audience := r.ChannelID
	if r.Private {
		audience = ""
	}
	all := p.Rooms.Readable(ctx, r.GuildID, r.Reader, audience)
	maps.DeleteFunc(all, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(all))
}

// shown are the messages that the conversation shows anyway.
func (p *Provider) shown(ctx context.Context, r turn.Request) (map[string]bool, error) {
	n := p.Window
	if n <= 0 {
		n = window
	}
	recent, err := p.Store.Recent(ctx, r.ChannelID, n+1)
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

// asSeen is a message that is kept as the character sees it: what another one wrote is not its own.
func asSeen(m store.Message, character string) turn.Message {
	other := m.OfAnother(character)
	return turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName, Machine: other},
		Text: m.Text, Note: m.Note, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own && !other,
	}
}
