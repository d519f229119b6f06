package bot

import (
	"context"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

// Where people want that, the bot may join in unasked: when nobody has written for a while, or when so many messages have gone by since it
// last took part. A side model then says yes or no; after each no it is asked again sooner, and without one the bot keeps silent.
const (
	lull         = 10 * time.Second
	firstTier    = 15 // messages of people before it is considered for the first time
	tierStep     = 3  // fewer before each further time, down to as many
	considerTime = 5 * time.Second
	considered   = 12 // messages that the side model is shown
)

// chatter is what has gone by in the channels where the bot may join in. Its zero value is ready.
type chatter struct {
	mu       sync.Mutex
	channels map[string]*overheard // guarded by mu
	closed   bool                  // guarded by mu: nothing is considered any more
}

// overheard is one channel. Its fields are guarded by chatter.mu.
type overheard struct {
	since   int // messages of people since the bot took part
	tier    int // how many more there must be after this
	next    int // the number of them at which it is considered
	at      int // the number of them when it was last considered
	last    turn.Event
	timer   *time.Timer // of the lull; nil: none is waited for
	busy    bool        // it is being considered
	resting time.Time   // nothing is considered before: what a day allows is used up
}

// overhear notes a message that came in. One that asks for a turn begins the count anew.
func (b *Bot) overhear(ctx context.Context, a arrival) {
	e := a.Event
	c := &b.chatter
	if a.addressed {
		c.reset(e.Message.ChannelID)
		return
	}
	if e.GuildID == "" || e.Kind != turn.Created || e.Late || e.Message.Own || !b.conduct(ctx, e).Chatty || !b.speaker(ctx, e).chatty() || b.silenced(ctx, e) {
		return
	}
	run := context.WithoutCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if c.channels == nil {
		c.channels = map[string]*overheard{}
	}
	o := c.channels[e.Message.ChannelID]
	if o == nil {
		o = &overheard{tier: firstTier, next: firstTier}
		c.channels[e.Message.ChannelID] = o
	}
	o.since, o.last = o.since+1, e
	if o.timer != nil {
		o.timer.Stop()
	}
	o.timer = time.AfterFunc(lull, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		b.considerLater(run, o, turn.ByLull)
	})
	if o.since >= o.next {
		b.considerLater(run, o, turn.ByTier)
	}
}

// chatty reports whether a character has the models that joining in takes.
func (a *Actor) chatty() bool { return a.Side != nil && a.Model != nil }

// considerLater has it considered whether to join in. Its caller holds chatter.mu.
func (b *Bot) considerLater(ctx context.Context, o *overheard, why turn.Address) {
	if b.chatter.closed || o.busy || o.since == 0 || time.Now().Before(o.resting) {
		return
	}
	o.busy, o.at = true, o.since
	e := o.last
	b.commands.Go(func() { b.consider(ctx, o, e, why) })
}

// reset begins a channel's count anew: the bot takes part.
func (c *chatter) reset(channelID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.channels[channelID]; o != nil {
		if o.timer != nil {
			o.timer.Stop()
		}
		delete(c.channels, channelID)
	}
}

// forget begins the count anew in the channels where a person wrote last.
func (c *chatter) forget(personID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, o := range c.channels {
		if o.last.Message.Author.ID != personID {
			continue
		}
		if o.timer != nil {
			o.timer.Stop()
		}
		delete(c.channels, id)
	}
}

// close ends what is waited for.
func (c *chatter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, o := range c.channels {
		if o.timer != nil {
			o.timer.Stop()
		}
	}
}

// consider asks the side model whether to join in, and does so if it says yes and the day allows it.
func (b *Bot) consider(ctx context.Context, o *overheard, e turn.Event, why turn.Address) {
	defer func() { b.recovered("consider joining in", recover()) }()
	actor := b.speaker(ctx, e)
	yes, asked := b.wantsToJoin(ctx, actor, e)
	rest := time.Time{}
	if yes {
		took, err := b.Store.Take(ctx, time.Now(), store.Allowance{Name: "chatter/" + e.Message.ChannelID, Span: 24 * time.Hour, Limit: actor.ChatterPerDay})
		b.logged("count what is said unasked", err)
		if yes = err == nil && took.Refused < 0; err == nil {
			rest = took.Free
		}
	}
	c := &b.chatter
	c.mu.Lock()
	o.busy, o.resting = false, rest
	current := c.channels[e.Message.ChannelID] == o // else somebody has spoken to the bot meanwhile
	if !yes && current {
		o.tier = max(o.tier-tierStep, tierStep)
		if o.next = o.at + o.tier; o.since >= o.next { // so many were written meanwhile
			b.considerLater(ctx, o, turn.ByTier)
		}
	}
	c.mu.Unlock()
	if !yes || !current {
		b.Log.Debug("did not join in", "channel", e.Message.ChannelID, "why asked", why, "said", asked.Text, "err", asked.Err)
		return
	}
	c.reset(e.Message.ChannelID)
	select {
	case <-b.stopping:
		return
	default:
	}
	a := arrival{Event: e, at: time.Now(), addressed: true, character: actor.ID, newID: ulid.Make().String(), unasked: why, considered: &asked}
	a.Kind = turn.Edited // there is no burst to wait for
	b.enqueue(ctx, a)
}

const joinPlease = "You are %NAME, and read along in a chat channel. Below are its last messages. Nobody has asked you anything. " +
	"Would a short remark of yours be welcome right now, because you can add something that the people there would want to hear? If in doubt it would not. " +
	"Answer with one word: YES or NO.\n\n"

// wantsToJoin asks the side model. Anything but a plain yes is a no. What it used is counted, for the day.
func (b *Bot) wantsToJoin(ctx context.Context, actor *Actor, e turn.Event) (yes bool, asked turn.Processed) {
	if !actor.chatty() { // another one speaks here meanwhile
		return false, asked
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, considerTime)
	defer cancel()
	recent, err := b.Store.Recent(ctx, e.Message.ChannelID, considered)
	b.logged("read recent messages", err)
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(joinPlease, "%NAME", actor.Name))
	for _, m := range recent {
		text.WriteString(plainName(m.AuthorName) + ": " + strings.Join(strings.Fields(m.Text), " ") + "\n")
	}
	a, err := actor.Side.Complete(ctx, llm.Request{Lane: e.Message.ChannelID, MaxTokens: 16, Messages: []llm.Message{{Role: "user", Content: text.String()}}})
	asked = turn.Processed{By: "chatter", Model: a.Model, Status: turn.OK, Text: strings.TrimSpace(a.Text), Usage: turn.Usage(a.Usage), Took: time.Since(began)}
	if err != nil {
		asked.Status, asked.Err = turn.Failed, b.Redact.String(cause(err))
	}
	if tokens := a.Usage.Prompt + a.Usage.Completion; tokens > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
		defer cancel()
		_, err := b.Store.TakeQuota(ctx, "chatter_tokens/"+e.Message.ChannelID, began.UTC().Format(time.DateOnly), tokens, 1<<40)
		b.logged("count what a side model used", err)
	}
	return err == nil && strings.EqualFold(strings.TrimSuffix(asked.Text, "."), "yes"), asked
}
