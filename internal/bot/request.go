package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
	"familiar/internal/store"
)

const (
	chainLength  = 6
	exchangeSpan = 10 * time.Minute // how long an exchange may be followed up without a reply
)

// request describes the turn to the providers. It cannot fail: what the store does not return is left out.
func (b *Bot) request(ctx context.Context, id string, batch []arrival) turn.Request {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	last := batch[len(batch)-1]
	settings := b.settings(ctx, last.Event)
	mode, limits := b.mode(settings)
	r := turn.Request{
		ID: id, Character: b.Character.ID, Names: b.Character.Names(), GuildID: last.GuildID, ChannelID: last.Message.ChannelID,
		Mode: mode, Message: last.Message, Budget: turn.Budget{Total: limits.Total, Layers: limits.Layers},
		Web: b.web(settings, limits.Web), Buttons: b.buttoned(settings), Deadline: time.Now().Add(limits.Deadline),
	}
	var texts []string
	for i, a := range batch {
		texts = append(texts, a.Message.Text)
		if !r.Addressed.Plain() {
			r.Addressed = cmp.Or(b.addressed(ctx, a.Event), r.Addressed)
		}
		if a.Message.ReplyTo != "" {
			r.Message.ReplyTo = a.Message.ReplyTo
		}
		if a.Reply != nil {
			r.Parent = a.Reply
		}
		if i < len(batch)-1 {
			r.Burst = append(r.Burst, a.Message.ID)
			r.Message.Mentions = append(slices.Clip(r.Message.Mentions), a.Message.Mentions...)
		}
	}
	r.Message.Text = strings.Join(texts, "\n")
	if earlier := batch[0].earlier; earlier != nil {
		r.EarlierID, r.GoOn, r.Burst, r.Addressed = earlier.Request.ID, batch[0].goesOnWith, earlier.Request.Burst, earlier.Request.Addressed
	}
	if r.Reader = last.Reader; r.Reader.ID != r.Message.Author.ID {
		r.Reader = turn.Reader{ID: r.Message.Author.ID}
	}
	b.thread(ctx, &r)
	if r.GuildID != "" {
		var err error
		r.People, err = b.Store.People(ctx, r.GuildID)
		b.logged("read the names of people", err)
	}
	return r
}

// settings returns the channel's own settings, or those of the channel that a thread belongs to. While nobody knows whether it
// is a thread, and of which channel, the web is off where any channel of the server has it off.
func (b *Bot) settings(ctx context.Context, e turn.Event) store.Channel {
	own, err := b.Store.Channel(ctx, e.Message.ChannelID)
	b.logged("read a channel's settings", err)
	untouched := own.Mode == "" && !own.WebOff && !own.Bare
	switch {
	case untouched && e.ParentID != "":
		own, err = b.Store.Channel(ctx, e.ParentID)
		b.logged("read a channel's settings", err)
	case untouched && e.ParentUnknown:
		all, err := b.Store.Channels(ctx, e.GuildID)
		b.logged("read a server's settings", err)
		own.WebOff = err != nil || slices.ContainsFunc(all, func(c store.Channel) bool {
			_, limits := b.mode(c)
			return c.WebOff || !limits.Web
		})
	}
	return own
}

// mode returns the channel's mode, or the character's where none is set or the name is unknown.
func (b *Bot) mode(c store.Channel) (turn.Mode, character.Limits) {
	if limits, ok := b.Character.Modes[turn.Mode(c.Mode)]; ok {
		return turn.Mode(c.Mode), limits
	}
	return b.Character.Mode, b.Character.Modes[b.Character.Mode]
}

func (b *Bot) web(c store.Channel, inMode bool) turn.Web {
	switch {
	case b.WebOff:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffOperator}
	case !b.Character.Web.Enabled:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffCharacter}
	case c.WebOff:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffChannel}
	case !inMode:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffMode}
	}
	return turn.Web{Switch: turn.WebAuto}
}

// thread finds what the message follows: the messages that it replies to or, if it is no reply, the exchange just before.
func (b *Bot) thread(ctx context.Context, r *turn.Request) {
	if r.Message.ReplyTo != "" {
		chain, err := b.Store.Chain(ctx, r.Message.ID, chainLength)
		b.logged("read a reply chain", err)
		r.Chain = messages(chain)
		if r.Parent != nil && len(r.Chain) == 0 {
			r.Chain = []turn.Message{*r.Parent}
		}
		if r.Parent == nil && len(r.Chain) > 0 {
			r.Parent = &r.Chain[0]
		}
		return
	}
	recent, err := b.Store.Recent(ctx, r.ChannelID, chainLength)
	b.logged("read recent messages", err)
	for i := len(recent) - 1; i >= 0; i-- {
		m := recent[i]
		if r.Message.At.Sub(m.At) > exchangeSpan {
			return
		}
		if m.Own && m.ReplyTo == r.Message.ID { // it is answered again
			continue
		}
		if m.Own && m.ReplyTo != "" {
			r.Chain = b.exchange(ctx, m, r.Message.Author.ID)
			return
		}
	}
}

// exchange returns an answer of ours and its question, if the question was this author's.
func (b *Bot) exchange(ctx context.Context, answer store.Message, author string) []turn.Message {
	question, err := b.Store.Message(ctx, answer.ReplyTo)
	if err != nil || question.AuthorID != author {
		return nil
	}
	return messages([]store.Message{answer, question})
}

func messages(rows []store.Message) []turn.Message {
	var ms []turn.Message
	for _, m := range rows {
		ms = append(ms, turn.Message{
			ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName},
			Text: m.Text, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own,
		})
	}
	return ms
}
