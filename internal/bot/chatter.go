package bot

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// The bot may join in unasked in channels where people want that. It does so after a lull, or after a number of messages without the bot. A
// side model decides yes or no. After each no it is asked again sooner. Without a side model the bot never joins in.
const (
	lull         = 10 * time.Second
	firstTier    = 15 // messages of people before the side model is asked the first time
	tierStep     = 3  // how many fewer before each further time; also the least
	considerTime = 5 * time.Second
	considered   = 12 // messages that the side model is shown
)

// chatter counts messages in the channels where the bot may join in. Its zero value is ready.
type chatter struct {
	mu       sync.Mutex
	channels map[string]*overheard // guarded by mu
	closed   bool                  // the side model is not asked any more; guarded by mu
}

// overheard is one channel. Its fields are guarded by chatter.mu.
type overheard struct {
	since   int // messages of people since the bot took part
	tier    int // messages before the side model is asked again
	next    int // the count at which it is asked
	at      int // the count when it was last asked
	last    turn.Event
	timer   *time.Timer // of the lull
	busy    bool        // it is being asked
	resting time.Time   // it is not asked before: the day's allowance is used up
}

// overhear counts a message. A message that asks for a turn resets the count.
func (b *Bot) overhear(ctx context.Context, a arrival) {
	e := a.Event
	c := &b.chatter
	if a.addressed {
		c.drop(e.Message.ChannelID, "")
		return
	}
	if e.GuildID == "" || e.Kind != turn.Created || e.Late || e.Message.Own || !b.Conduct(ctx, e).Chatty || !b.speaker(ctx, e).Chatty() || !b.Gate.Access.Admits(e) {
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
		o.timer = time.AfterFunc(lull, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			b.considerLater(run, o, turn.ByLull)
		})
	}
	o.since, o.last = o.since+1, e
	o.timer.Reset(lull)
	if o.since >= o.next {
		b.considerLater(run, o, turn.ByTier)
	}
}

// Chatty reports whether a character has the models that it needs to join in unasked.
func (a *Actor) Chatty() bool { return a.Side != nil && a.Model != nil }

// considerLater asks the side model whether to join in, without waiting for it. Its caller holds chatter.mu.
func (b *Bot) considerLater(ctx context.Context, o *overheard, why turn.Address) {
	if b.chatter.closed || o.busy || o.since == 0 || time.Now().Before(o.resting) {
		return
	}
	o.busy, o.at = true, o.since
	e := o.last
	b.tasks.Go(func() { b.consider(ctx, o, e, why) })
}

// drop begins the count again in a channel, because the bot takes part, and where a person wrote last.
func (c *chatter) drop(channelID, personID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.channels, func(id string, o *overheard) bool {
		ends := id == channelID || o.last.Message.Author.ID == personID
		if ends {
			o.timer.Stop()
		}
		return ends
	})
}

// close stops all timers.
func (c *chatter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, o := range c.channels {
		o.timer.Stop()
	}
}

// consider asks the side model whether to join in. The bot joins in if the answer is yes and the day's allowance permits it.
func (b *Bot) consider(ctx context.Context, o *overheard, e turn.Event, why turn.Address) {
	defer func() { b.recovered("consider joining in", recover()) }()
	actor := b.speaker(ctx, e)
	p, no := b.Gate.Pass(ctx, e, gate.Passage{Tokens: actor.PromptTokens(), Posts: true, Unasked: true})
	yes, asked := false, consideration{}
	if no == nil {
		yes, asked = b.wantsToJoin(ctx, actor, e)
	}
	a := arrival{Event: e, at: b.now(), addressed: true, character: actor.ID, newID: ulid.Make().String(), unasked: why, considered: &asked, pass: p}
	begins := false
	defer func() {
		if !begins {
			giveBack(a)
			if asked.call.Request.For != "" {
				llm.Observer(ctx)(asked.call)
			}
		}
	}()
	rest := time.Time{}
	if yes {
		took, err := b.Store.Quotas.TakeAllowances(ctx, b.now(), store.Allowance{Name: "chatter/" + e.Message.ChannelID, Span: 24 * time.Hour, Limit: actor.ChatterPerDay})
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
		if o.next = o.at + o.tier; o.since >= o.next { // people wrote that many meanwhile
			b.considerLater(ctx, o, turn.ByTier)
		}
	}
	c.mu.Unlock()
	if !yes || !current {
		b.Log.Debug("did not join in", "channel", e.Message.ChannelID, "why asked", why, "said", asked.Text, "err", asked.Err)
		return
	}
	c.drop(e.Message.ChannelID, "")
	select {
	case <-b.stopping:
		return
	default:
	}
	a.Kind = turn.Edited // there is no burst to wait for
	begins = true
	b.enqueue(ctx, a)
}

const joinPlease = "You are %NAME, and read along in a chat channel. Below are its last messages. Nobody has asked you anything. " +
	"Would a short remark of yours be welcome right now, because you can add something that the people there would want to hear? If in doubt it would not. " +
	"Answer with one word: YES or NO.\n\n"

// consideration is what a side model was asked about joining in.
type consideration struct {
	turn.Processed
	call llm.Call
	read []string // ids of the messages that it was shown
}

// wantsToJoin asks the side model. Only a plain yes is a yes. The tokens are counted for the day.
func (b *Bot) wantsToJoin(ctx context.Context, actor *Actor, e turn.Event) (yes bool, asked consideration) {
	if !actor.Chatty() { // another character speaks here meanwhile
		return false, asked
	}
	began := time.Now()
	recent, err := b.Store.Messages.Recent(ctx, e.Message.ChannelID, considered)
	b.logged("read recent messages", err)
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(joinPlease, "%NAME", actor.Name))
	for _, m := range recent {
		asked.read = append(asked.read, m.ID)
		text.WriteString(reply.PlainName(m.AuthorName) + ": " + strings.Join(strings.Fields(m.Text), " ") + "\n")
	}
	_, asked.Processed = b.AskModel(llm.Observed(ctx, func(c llm.Call) { asked.call = c }), actor.Side, "chatter", e.Message.ChannelID, turn.Rendered{Text: text.String()}, 16, considerTime)
	if tokens := asked.call.Answer.Usage.Prompt + asked.call.Answer.Usage.Completion; tokens > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
		defer cancel()
		_, err := b.Store.Quotas.Take(ctx, "chatter_tokens/"+e.Message.ChannelID, began.UTC().Format(time.DateOnly), tokens, 1<<40)
		b.logged("count what a side model used", err)
	}
	return asked.Status == turn.OK && strings.EqualFold(strings.TrimSuffix(asked.Text, "."), "yes"), asked
}
