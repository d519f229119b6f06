package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	chainLength  = 6
	besides      = 4                // messages that are read besides the character's window, for the turn's own
	exchangeSpan = 10 * time.Minute // how long an exchange may be followed up without a reply
)

// request describes the turn to the providers. It cannot fail: what the store does not return is left out.
func (b *Bot) request(ctx context.Context, actor *Actor, id string, batch []arrival) turn.Request {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	last := batch[len(batch)-1]
	settings := b.Settings(ctx, actor, last.Event)
	mode, limits := actor.ModeFor(settings)
	r := turn.Request{
		ID: id, Character: actor.ID, Names: actor.Names(), GuildID: last.GuildID, ChannelID: last.Message.ChannelID,
		Mode: mode, Message: last.Message, Budget: turn.Budget{Total: limits.Total, Layers: limits.Layers},
		Web: b.web(actor, settings, limits.Web), Buttons: b.HasButtons(actor, settings), Deadline: time.Now().Add(limits.Deadline),
		Watch: b.Watch, Patterns: new(atomic.Int64),
	}
	var texts []string
	for i, a := range batch {
		texts = append(texts, a.Message.Text)
		if !r.Addressed.Plain() {
			for _, called := range b.scene(ctx, a.Event).addressees(a.Event) {
				if called.actor.ID == actor.ID {
					r.Addressed = called.how
				}
			}
		}
		if a.Message.ReplyTo != "" {
			r.Message.ReplyTo = a.Message.ReplyTo
		}
		if a.Reply != nil {
			r.Parent = b.asSeen(ctx, a.Reply, actor.ID)
		}
		if i < len(batch)-1 {
			r.Message.Files = append(slices.Clip(r.Message.Files), a.Message.Files...)
			r.Message.Quotes = append(slices.Clip(r.Message.Quotes), a.Message.Quotes...)
			r.Message.Note = strings.TrimSpace(a.Message.Note + " " + r.Message.Note)
			r.Burst = append(r.Burst, a.Message.ID)
			r.Message.Mentions = append(slices.Clip(r.Message.Mentions), a.Message.Mentions...)
		}
	}
	r.Message.Text = strings.Join(texts, "\n")
	var err error
	r.Card, err = b.Memories.Card(ctx, r.Message.Author.ID)
	b.logged("read a person's card", err)
	r.Backdrop = b.Backdrop(ctx, last.Event)
	r.Persona = b.persona(ctx, actor, last.Event)
	if batch[0].second || batch[0].pressed() || batch[0].unasked == turn.ByGreeting {
		r.Claim = batch[0].claim()
	}
	if earlier := batch[0].earlier; earlier != nil {
		r.EarlierID, r.GoOn, r.Burst, r.Addressed = earlier.Request.ID, batch[0].goesOnWith, earlier.Request.Burst, earlier.Request.Addressed
		r.Edited = batch[0].again
	}
	if why := batch[0].unasked; why != "" {
		r.Addressed, r.Web = why, turn.Web{Switch: turn.WebOff, Reason: turn.OffUnasked}
	}
	if r.Reader = last.Reader; r.Reader.ID != r.Message.Author.ID {
		r.Reader = turn.Reader{ID: r.Message.Author.ID}
	}
	last.Event.Message = r.Message
	r.Language = reply.Language(last.Event)
	if wanted := text.LanguageNamed(r.Card[turn.CardLanguage]); wanted != "" {
		r.Language = reply.LanguageOf(wanted)
	}
	if batch[0].unasked == turn.ByGreeting { // what it is asked is no message of the channel
		r.Language = cmp.Or(last.Language, reply.English)
	}
	if r.Web.Switch != turn.WebOff {
		if why := b.Gate.HoldLookup(ctx, batch[0].pass, last.Event); why != "" {
			r.Web.Switch, r.Web.Reason = turn.WebOff, why
		}
	}
	most := max(chainLength, actor.Window+besides)
	if r.Recent, err = b.Store.Messages.Latest(ctx, r, most); err == nil {
		r.RecentOf = most
	}
	b.logged("read recent messages", err)
	b.thread(ctx, &r)
	b.people(ctx, &r)
	return r
}

// sharedServers is how many servers a question in a direct message may be about. Its author has spoken last in those.
const sharedServers = 3

// people finds the names of the server's people. In a direct message they are the people of the servers that its author shares with the
// bot.
func (b *Bot) people(ctx context.Context, r *turn.Request) {
	var err error
	if r.GuildID != "" {
		r.People, err = b.Store.People.Names(ctx, r.GuildID)
		b.logged("read the names of people", err)
		return
	}
	r.Servers, err = b.Store.People.Servers(ctx, r.Message.Author.ID, sharedServers)
	b.logged("read the servers of a person", err)
	for _, server := range r.Servers {
		names, err := b.Store.People.Names(ctx, server)
		b.logged("read the names of people", err)
		r.People = append(r.People, names...)
	}
}

// Settings returns the channel's own settings, or those of the channel above a thread. The door may not know whether a channel is a thread.
// Until it does, the web is off if it is off in any channel of the server.
func (b *Bot) Settings(ctx context.Context, actor *Actor, e turn.Event) store.Channel {
	own, err := b.Store.Settings.Channel(ctx, e.Message.ChannelID)
	b.logged("read a channel's settings", err)
	untouched := own.Mode == "" && !own.WebOff && !own.Bare
	switch {
	case untouched && e.ParentID != "":
		own, err = b.Store.Settings.Channel(ctx, e.ParentID)
		b.logged("read a channel's settings", err)
	case untouched && e.ParentUnknown:
		all, err := b.Store.Settings.Channels(ctx, e.GuildID)
		b.logged("read a server's settings", err)
		own.WebOff = err != nil || slices.ContainsFunc(all, func(c store.Channel) bool {
			_, limits := actor.ModeFor(c)
			return c.WebOff || !limits.Web
		})
	}
	return own
}

func (b *Bot) web(actor *Actor, c store.Channel, inMode bool) turn.Web {
	switch {
	case b.WebOff:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffOperator}
	case !actor.Web.Enabled:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffCharacter}
	case c.WebOff:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffChannel}
	case !inMode:
		return turn.Web{Switch: turn.WebOff, Reason: turn.OffMode}
	}
	return turn.Web{Switch: turn.WebAuto}
}

// thread finds what the message follows. That is the messages that it replies to or, if it is not a reply, the exchange just before.
func (b *Bot) thread(ctx context.Context, r *turn.Request) {
	if r.Message.ReplyTo != "" {
		chain, err := b.Store.Messages.Chain(ctx, r.Message.ID, chainLength)
		if !errors.Is(err, store.ErrNotFound) { // nothing is kept of people who opted out
			b.logged("read a reply chain", err)
		}
		r.Chain = store.Seen(chain, r.Character)
		if r.Parent != nil && len(r.Chain) == 0 {
			r.Chain = []turn.Message{*r.Parent}
		}
		switch {
		case len(r.Chain) == 0:
		case r.Parent == nil:
			r.Parent = &r.Chain[0]
		case r.Parent.Text == "" && r.Chain[0].ID == r.Parent.ID: // a voice message that was transcribed
			r.Parent.Text, r.Parent.Note = r.Chain[0].Text, r.Chain[0].Note
		}
		return
	}
	for _, m := range slices.Backward(r.Recent[max(0, len(r.Recent)-chainLength):]) {
		if r.Message.At.Sub(m.At) > exchangeSpan {
			return
		}
		if m.Own && m.ReplyTo != "" && m.ReplyTo != r.Message.ID { // else the question is answered again
			r.Chain = b.exchange(ctx, *r, m)
			return
		}
	}
}

// exchange returns an answer of the bot and its question, if the question was from the turn's author.
func (b *Bot) exchange(ctx context.Context, r turn.Request, answer turn.Message) []turn.Message {
	var question turn.Message
	if i := slices.IndexFunc(r.Recent, func(m turn.Message) bool { return m.ID == answer.ReplyTo }); i >= 0 {
		question = r.Recent[i]
	} else if kept, err := b.Store.Messages.Get(ctx, answer.ReplyTo); err == nil {
		question = kept.SeenBy(r.Character)
	}
	if question.ID == "" || question.Author.ID != r.Message.Author.ID {
		return nil
	}
	return []turn.Message{answer, question}
}

// asSeen returns a message from the door as a character sees it.
func (b *Bot) asSeen(ctx context.Context, m *turn.Message, character string) *turn.Message {
	if !m.Own {
		return m
	}
	seen := *m
	seen.Text = cmp.Or(reply.OwnWords(m.Text), m.Text)
	kept, err := b.Store.Messages.Get(ctx, m.ID)
	if err != nil {
		return &seen
	}
	if b.Pace.Label != nil {
		seen.Text = strings.TrimPrefix(seen.Text, b.Pace.Label(kept.AuthorName))
	}
	if kept.OfAnother(character) {
		seen.Own, seen.Author = false, turn.Author{ID: kept.AuthorID, Name: kept.AuthorName, Machine: true}
	}
	return &seen
}

// Backdrop returns the scene where an event happened. It is the channel's, or that of the channel above a thread, and nil if there is none.
func (b *Bot) Backdrop(ctx context.Context, e turn.Event) *turn.Backdrop {
	scene, err := b.Store.Settings.Backdrop(ctx, e.Message.ChannelID, e.ParentID)
	b.logged("read a scene", err)
	if scene.Text == "" {
		return nil
	}
	return &turn.Backdrop{Text: scene.Text, By: scene.ByName, At: scene.At}
}
