package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/utterance"
	"familiar/internal/memory"
	"familiar/internal/memory/ranking"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	// lastDirect is how many messages of a direct conversation are looked through: they are in no index.
	lastDirect = 400
	// window is how many messages the conversation shows, unless told otherwise.
	window = 20
	// fewWords is how many words that carry meaning a message needs that is no question, so that something is recalled for it.
	fewWords = 3
)

// worthIt reports whether something that was written before may answer a message: a question, or one that says something. A question that
// is none but by form, such as "how are you?", does not make the rest of its message one.
func worthIt(r turn.Request, q *ranking.Question) bool {
	if len(q.Words()) == 0 || !r.Message.ByPerson() || r.Web.Switch == turn.WebAlways {
		return false
	}
	if len(q.Words()) >= fewWords {
		return true
	}
	for _, sentence := range text.Sentences(r.Message.Text) {
		one := r
		one.Message.Text = sentence
		if asks(one) && len(ranking.Read(unaddressed(one), r.Reader.ID, r.People, r.Message.At).Words()) > 0 {
			return true
		}
	}
	return false
}

// unaddressed is the text of a message without the bot's name at either end, which says who is spoken to and not what is asked for.
func unaddressed(r turn.Request) string {
	message := r.Message.Text
	words := utterance.Parse(message, r.Names).Words
	if len(words) == 0 {
		return ""
	}
	rest := message[words[0].Start:words[len(words)-1].End]
	if strings.ContainsAny(message[words[len(words)-1].End:], "?？؟") {
		rest += "?"
	}
	return rest
}

// asks reports whether a message asks for something.
func asks(r turn.Request) bool {
	u := utterance.Parse(r.Message.Text, r.Names)
	return u.HasQuestionMark() || u.Form() != utterance.NoForm
}

// Recall ranks what was written before by how well it would answer the message of a request: in a server what the asker and all who
// see the answer may read, in a direct message that conversation.
func (p *Provider) Recall(ctx context.Context, r turn.Request) (ranking.Result, error) {
	q := ranking.Read(unaddressed(r), r.Reader.ID, r.People, p.now())
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
	result.Near(near)
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
	got, err := p.Store.Recall(ctx, store.Recall{GuildID: r.GuildID, Channels: channels, Words: q.Words(), Kin: q.Kin(), Language: q.Written(), From: q.Span.From, To: q.Span.To})
	return got.Messages, got.Weights, err
}

// readable are the channels that who asks, and all who see the answer, may read now.
func (p *Provider) readable(ctx context.Context, r turn.Request) []string {
	audience := r.ChannelID
	if r.Private {
		audience = ""
	}
	return memory.Readable(ctx, p.Rooms, r.GuildID, r.Reader, audience)
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
