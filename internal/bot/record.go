package bot

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// remember completes the record of a turn and stores the reply as history. It does nothing if another attempt, or the next start, follows.
func (b *Bot) remember(ctx context.Context, actor *Actor, t *turn.Trace, result deliveryResult, batch []arrival) {
	of := batch[0]
	if startsOver(result.err) || elsewhere(result.err) || errors.Is(result.err, errLeft) || rest.KindOf(result.err) == rest.Unauthorized {
		return
	}
	var withdrawn withdrawal
	errors.As(result.err, &withdrawn)
	b.classify(ctx, t, result, withdrawn)
	b.tellUnseen(batch[len(batch)-1].Event, result, withdrawn) // below the last message, as an answer would be
	own := b.postsOf(actor, t, result, of)
	b.saveFinally(ctx, t, own, of.pass, b.openIn(t.Request.ID, result, of))
	b.over(t)
	if b.Finished != nil {
		b.Finished(t)
	}
	b.deleteEarlierSpeech(ctx, t)
	b.sayByHabit(ctx, actor, t, of.Event)
	b.showMood(ctx, actor, t, of.Event, result.posts)
	if actor.Model != nil && withdrawn == "" {
		b.conditionChanged(func(c *condition) { c.failing = t.Finish == "" && t.Err != "" })
	}
}

// openIn returns what keeps, in the transaction that ends a turn, what the next start has to put right. They are the posts
// of a reply whose last words could not be sent. If all were sent, they are those with an edit that may still take effect.
func (b *Bot) openIn(turnID string, result deliveryResult, of arrival) func(*store.Tx) error {
	if b.Resume && len(result.posts) > 0 && unsent(result.err) {
		return func(tx *store.Tx) error {
			return b.Store.Claims.ReopenIn(tx, of.claim(), turnID, encodeArrival(of), result.kept()...)
		}
	}
	doubted := b.doubted(turnID, result.posts)
	return func(tx *store.Tx) (err error) {
		for n, p := range doubted {
			if err == nil {
				err = b.Store.Claims.SavePostIn(tx, turnID, n, p)
			}
		}
		return err
	}
}

// classify sets how a turn ended, and logs an error.
func (b *Bot) classify(ctx context.Context, t *turn.Trace, result deliveryResult, withdrawn withdrawal) {
	switch {
	case withdrawn != "":
		t.Phase, t.Err = turn.Interrupted, withdrawn.Error()
	case result.err != nil:
		t.Phase = turn.Broken
		t.Err = joinText(t.Err, b.Redact.String(result.err.Error()))
	case errors.Is(context.Cause(ctx), errStopped):
		t.Phase = turn.Interrupted
	case t.Err != "" && t.Finish == "":
		t.Phase = turn.Broken
	default:
		t.Phase = turn.Answered
	}
	if t.Err != "" && withdrawn == "" {
		about := []any{"turn", t.Request.ID, "channel", t.Request.ChannelID, "phase", t.Phase, "err", t.Err}
		if t.Cure != "" {
			about = append(about, "check", t.Cure)
		}
		b.Log.Warn("a turn went wrong", about...)
	}
	if result.unsaid {
		t.Reply, t.Cut, t.Phase = "", true, turn.Interrupted
		for _, p := range result.posts {
			t.Reply = strings.TrimLeft(t.Reply+"\n"+reply.Unlinked(p.text), "\n")
		}
	}
}

// tellUnseen tells the author why nothing of a reply could be posted.
func (b *Bot) tellUnseen(e turn.Event, result deliveryResult, withdrawn withdrawal) {
	switch unseen := result.err != nil && len(result.posts) == 0; {
	case unseen && errors.Is(result.err, errUnrecorded):
		b.tell(e, reply.OutOfOrder)
	case unseen && Temporary(result.err) && withdrawn == "":
		b.tell(e, reply.TurnBroken)
	case rest.KindOf(result.err) == rest.ClosedThread:
		b.tellAbove(e, reply.ThreadLocked)
	}
}

// postsOf notes the posts of a reply and the turn's times in the record, and returns the posts as history. They are dated by the clock that
// dated the question, which may not be ours.
func (b *Bot) postsOf(actor *Actor, t *turn.Trace, result deliveryResult, of arrival) (own []store.Message) {
	t.Timings.FirstSeen = result.firstSeen
	t.Took = max(0, b.now().Sub(t.Began)) // the clock may be put right meanwhile
	at := t.Request.Message.At.Add(max(0, t.Began.Sub(of.at)) + t.Took)
	for _, p := range result.posts {
		t.ReplyIDs = append(t.ReplyIDs, p.id)
		m := b.stored(of.Event, turn.Message{
			ID: p.id, ChannelID: t.Request.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: reply.OwnWords(p.text),
			At: at, ReplyTo: t.Request.Message.ID, Own: true,
		})
		m.TurnID = t.Request.ID
		own = append(own, m)
	}
	return own
}

// saveFinally saves the record of a turn that is over, with the reply as history. It also saves what the turn used, and a note for the
// writer of memory. The next message may mean this reply, or meet a used up quota. It tries until that works, since the reply is already
// posted. If the bot is stopping, or no event comes any more, it tries once more and gives up.
func (b *Bot) saveFinally(ctx context.Context, t *turn.Trace, own []store.Message, held *gate.Pass, open func(*store.Tx) error) {
	defer held.GiveBack()
	r, count := t.Request, b.Gate.Counted(t, held)
	also := func(tx *store.Tx) error {
		err := count(tx)
		if err == nil {
			err = b.Store.Messages.SaveIn(tx, own...)
		}
		if err == nil {
			err = open(tx)
		}
		if err == nil && b.Learns && t.Phase == turn.Answered && !r.Private { // otherwise the channel did not see the turn
			err = b.Memories.NoteTurnIn(tx, r.ChannelID, r.GuildID, r.Message.At)
		}
		return err
	}
	for {
		if err := b.saveWith(ctx, t, b.fenced(r.GuildID, also)); err == nil || elsewhere(err) {
			return
		}
		if !b.outlast(saveAgain) {
			b.saveWith(ctx, t, b.fenced(r.GuildID, also))
			return
		}
	}
}

// save saves the record of a turn in a lane, if this process may still act for its server.
func (b *Bot) save(ctx context.Context, t *turn.Trace) error {
	return b.saveWith(ctx, t, b.fenced(t.Request.GuildID, noMore))
}

// noMore is for [Bot.saveWith].
func noMore(*store.Tx) error { return nil }

// fenced returns what writes in a transaction, if this process may still act for a server. The error is [store.ErrLost] otherwise.
func (b *Bot) fenced(guildID string, write func(*store.Tx) error) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		if err := b.Store.Leases.Check(tx, guildID); err != nil {
			return err
		}
		return write(tx)
	}
}

// saveWith saves the record of a turn, and more in the same transaction.
func (b *Bot) saveWith(ctx context.Context, t *turn.Trace, also func(*store.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	err := b.Traces.SaveWith(ctx, t, also)
	b.logged("record a turn", err)
	return err
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// saveBegun records a turn as begun, if it takes longer than begunAfter. Before another record is saved, settle must be called: it makes
// sure that this one is not written later.
func (b *Bot) saveBegun(ctx context.Context, t turn.Trace) (settle func()) {
	saved := make(chan struct{})
	later := time.AfterFunc(begunAfter, func() {
		defer close(saved)
		defer func() { b.recovered("record a turn", recover()) }()
		b.save(ctx, &t)
	})
	return sync.OnceFunc(func() {
		if !later.Stop() {
			<-saved
		}
	})
}

// watched reports the turn's progress from now on.
func (b *Bot) watched(t *turn.Trace) {
	if b.Progress == nil {
		return
	}
	p := t.Progress()
	watch := t.Request.Watch
	t.Request.Watch = func(a turn.Activity, n int) {
		if watch != nil {
			watch(a, n)
		}
		now := p // a provider that was given up may still report something
		now.Activity, now.N = a, n
		b.Progress(now)
	}
	b.Progress(p)
}

// over reports how a turn ended.
func (b *Bot) over(t *turn.Trace) {
	if b.Progress != nil {
		b.Progress(t.Progress())
	}
}
