// Package server is the server as a source: it answers questions about what was said there before, from the messages that are kept, from
// Discord's own search where that is granted, and from pins, topics and linked messages. Package recall decides whether a message
// asks such a question; no model has a part in it.
//
// The steps, in their order:
//
//	server.go  the provider: decide, what may be read, search, tell
//	find.go    the searches, and which of what they found is best
//	named.go   what a question names: links, pins, topics
//	missed.go  what somebody has missed
//	block.go   what was found as numbered quotations, in the words of a lookup
//
// Nothing is read that the asker may not read at that moment, nor, where all who read the channel see the answer, that any of them may
// not ([Platform]). What people wrote is data: it stands between tags, marked, and is never an order.
package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/recall"
	"familiar/internal/store"
	"familiar/internal/text/calendar"
)

// Platform is where the servers are: Discord. Package discord says more of each method.
type Platform interface {
	// Readable returns which channels a person may read now and, where an audience is named, all who read that channel.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
	Channels(guildID string) []turn.Channel
	SearchMessages(ctx context.Context, guildID string, q turn.MessageSearch) ([]turn.Message, error)
	Pins(ctx context.Context, guildID, channelID string) ([]turn.Message, error)
	Linked(ctx context.Context, guildID, channelID, messageID string) (turn.Message, error)
}

// Servers are the servers that the bot is in, for all its characters.
type Servers struct {
	Platform Platform // set before first use and not changed after

	mu     sync.Mutex
	paused map[string]time.Time // by server: until when Discord's search is not asked; guarded by mu
}

// Readable asks the platform. Without one nothing is readable.
func (s *Servers) Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool {
	if s == nil || s.Platform == nil {
		return nil
	}
	return s.Platform.Readable(ctx, guildID, who, audience, channels...)
}

// Provider is the context provider. Its exported fields are set before first use and not changed after.
type Provider struct {
	Store   *store.DB
	Servers *Servers         // nil: there are none, as at a terminal
	Off     bool             // the operator does not want servers searched
	Own     bool             // Discord's own search is not asked
	Zone    *time.Location   // in which times are told, and "yesterday" is a day; nil: UTC
	Count   func(string) int // tokens of a text; nil: a cautious estimate
	Now     func() time.Time // nil: time.Now
}

const (
	// priority of the block within the content layer: before what the web says.
	priority = 70
	// blockBytes bounds the block.
	blockBytes = 6 << 10
	// reserve is kept free of the turn's deadline, for writing the block.
	reserve = 100 * time.Millisecond
)

// Name returns "server".
func (p *Provider) Name() string { return "server" }

// Contribute answers a question about the server. To any other message it contributes nothing. Cut short by ctx it returns what it has.
func (p *Provider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	if p.Servers == nil || p.Off {
		return nil, nil
	}
	now := calendar.Now(p.Now, p.Zone)
	q := recall.Read(req, now)
	if !q.Asks() {
		return nil, nil
	}
	r := &run{p: p, req: req, q: q, now: now, room: -1}
	if req.Budget.Layers != nil {
		r.room = req.Budget.Layers[turn.Content]
	}
	r.answer(ctx)
	c := turn.Contribution{Layer: turn.Content, Priority: priority, Text: r.look.Block, Source: p.Name(), Lookup: &r.look}
	if c.Text != "" {
		c.Web, c.Tokens = true, p.count(c.Text)
	}
	if ctx.Err() != nil {
		return []turn.Contribution{c}, fmt.Errorf("search the server: %w", context.Cause(ctx))
	}
	return []turn.Contribution{c}, nil
}

// Missed returns what a person has missed in the channel of a request since they last wrote there, or in a span. For whom it is told, and
// who sees it, the request says.
func (p *Provider) Missed(ctx context.Context, req turn.Request, from time.Time) turn.Lookup {
	now := calendar.Now(p.Now, p.Zone)
	r := &run{p: p, req: req, q: recall.Question{Why: "asked for by command", Missed: true}, now: now, room: -1}
	r.q.Span.From = from
	if p.Servers == nil || p.Off || req.GuildID == "" {
		r.begin()
		r.look.State, r.look.Reason = turn.Disabled, "servers are not searched here"
		return r.look
	}
	r.answer(ctx)
	return r.look
}

// run is one answer on its way. It belongs to one goroutine.
type run struct {
	p    *Provider
	req  turn.Request
	q    recall.Question
	now  time.Time
	room int // tokens for the block; -1: any number
	look turn.Lookup

	named    map[string]turn.Channel // of the server, by id
	readable map[string]bool         // channels
	step     time.Time               // when the stage under way began
}

func (r *run) begin() {
	r.step = time.Now()
	r.look = turn.Lookup{
		Intent: turn.IntentServer, Reason: r.q.Why, Need: r.q.Why, Score: 1, Question: r.req.Message.Text, Began: r.now, By: "extractive",
	}
}

func (r *run) answer(ctx context.Context) {
	r.begin()
	began := r.step
	defer func() { r.look.Took = time.Since(began) }()
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-reserve))
		defer cancel()
	}
	if r.room == 0 {
		r.look.State, r.look.Reason = turn.Disabled, "this channel's mode has no room for what is found"
		return
	}
	r.permit(ctx)
	r.endStage("permissions")
	var found []hit
	var missing string
	switch {
	case len(r.q.Links) > 0:
		found, missing = r.linked(ctx), unreadableLink
	case r.q.Pins:
		found = r.pins(ctx)
	case r.q.Topic:
		found = r.topics()
	case r.q.Missed:
		found = r.missed(ctx)
	default:
		found = r.search(ctx)
	}
	r.endStage("search")
	r.tell(found, missing)
	r.endStage("block")
}

// unreadableLink is the same for a message that is not there and for one that the asker may not read: the difference would tell.
const unreadableLink = "The message that is linked cannot be opened for the person who asks. Say that you cannot open it, and nothing about it."

func (r *run) endStage(stage string) {
	now := time.Now()
	r.look.Stages = append(r.look.Stages, turn.Stage{Name: stage, Took: now.Sub(r.step)})
	r.step = now
}

// permit finds out which channels may be read for this answer.
func (r *run) permit(ctx context.Context) {
	r.named = map[string]turn.Channel{}
	for _, c := range r.p.Servers.Platform.Channels(r.req.GuildID) {
		r.named[c.ID] = c
	}
	audience := r.req.ChannelID
	if r.req.Private {
		audience = ""
	}
	r.readable = r.p.Servers.Platform.Readable(ctx, r.req.GuildID, r.req.Reader, audience)
}

// channels are those that are asked about, as far as they may be read.
func (r *run) channels() (ids []string) {
	for id, may := range r.readable {
		named := len(r.q.Channels) == 0 && (!r.q.Here || id == r.req.ChannelID) || slices.Contains(r.q.Channels, r.named[id].Name)
		if may && named {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// asked notes a source that was asked, and what came of it.
func (r *run) asked(source string, status turn.Code, detail string, hits int, began time.Time) {
	r.look.Asked = append(r.look.Asked, turn.Asked{Backend: source, Status: status, Detail: detail, Hits: hits, Took: time.Since(began)})
}

// status is what to note of a source that has answered.
func status(hits int) turn.Code {
	if hits == 0 {
		return turn.CodeEmpty
	}
	return turn.CodeOK
}

// count estimates high when it has no counter: a block that is too big is dropped whole.
func (p *Provider) count(s string) int {
	if p.Count == nil {
		return len(s)/2 + 1
	}
	return p.Count(s)
}
