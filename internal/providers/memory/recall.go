package memory

import (
	"context"
	"fmt"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/memory/ranking"
	"familiar/internal/store"
)

// lastDirect is how many messages of a direct conversation are looked through: they are in no index.
const lastDirect = 400

// Recall ranks what was written before by how well it would answer the message of a request: in a server what the asker and all who
// see the answer may read, in a direct message that conversation.
func (p *Provider) Recall(ctx context.Context, req turn.Request) (*ranking.Question, ranking.Result, error) {
	q := ranking.Read(req.Message.Text, req.Reader.ID, req.People, p.now())
	if len(q.Words()) == 0 {
		return q, ranking.Result{}, nil
	}
	stored, weights, err := p.gather(ctx, req, q)
	if err != nil {
		return q, ranking.Result{}, err
	}
	messages := make([]turn.Message, 0, len(stored))
	for _, m := range stored {
		if m.ID == req.Message.ID || slices.Contains(req.Burst, m.ID) || !req.Message.At.IsZero() && m.At.After(req.Message.At) {
			continue
		}
		messages = append(messages, asSeen(m, req.Character))
	}
	if weights == nil {
		weights = q.Weigh(messages)
	}
	return q, q.Rank(messages, weights), nil
}

// gather returns messages that may hold an answer, and what the words are worth; nil: the messages are all there are.
func (p *Provider) gather(ctx context.Context, req turn.Request, q *ranking.Question) ([]store.Message, []float64, error) {
	if req.GuildID == "" {
		all, err := p.Store.Recent(ctx, req.ChannelID, lastDirect)
		return all, nil, err
	}
	channels, err := p.readable(ctx, req)
	if err != nil || len(channels) == 0 {
		return nil, nil, err
	}
	got, err := p.Store.Recall(ctx, store.Recall{
		GuildID: req.GuildID, Channels: channels, Words: q.Words(), Kin: q.Kin(), From: q.Span.From, To: q.Span.To,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search what was written before: %w", err)
	}
	return got.Messages, got.Weights, nil
}

// asSeen is a message that is kept as the character sees it: what another one wrote is not its own.
func asSeen(m store.Message, character string) turn.Message {
	other := m.OfAnother(character)
	return turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName, Machine: other},
		Text: m.Text, Note: m.Note, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own && !other,
	}
}
