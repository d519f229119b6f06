package bot

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

const (
	resumeSpan = 10 * time.Minute // how old a question may be to be answered after a restart
	clockLimit = 10 * time.Second // for Discord to tell the time
)

// Inheritance is the servers that this process has begun to act for. With Over it is what another one was to finish there.
type Inheritance struct {
	Mine      func(guildID string) bool
	Finishing []string // ids of the turns and claims that another process finishes
	Over      bool     // it has finished those, or is gone
}

// inherit begins to act for servers. It first waits until the turns that it had there are over.
func (b *Bot) inherit(ctx context.Context, h Inheritance) {
	if !h.Over {
		over, end := context.WithCancel(ctx)
		end()
		b.Yield(over, h.Mine, func(work func() []string) { work() })
	}
	b.resume(ctx, func(guildID, id string) bool { return h.Mine(guildID) && slices.Contains(h.Finishing, id) == h.Over })
	b.Store.Reminders.Wake()
}

// Yield stops to act for servers. What waits is left to the next process. The turns that are being taken end by themselves, or when ctx does.
// pass calls its function for the ids of those turns and their claims. No turn begins by then.
func (b *Bot) Yield(ctx context.Context, mine func(guildID string) bool, pass func(work func() []string)) {
	here := func(e turn.Event) bool { return mine(e.GuildID) }
	var running []<-chan struct{}
	pass(func() (ids []string) {
		giveBack(b.lanes.withdraw(nil, here)...)
		running, ids = b.lanes.turns(here)
		return ids
	})
	left := ctx.Done()
	for _, over := range running {
		select {
		case <-over:
			continue
		case <-left:
		}
		giveBack(b.lanes.withdraw(errElsewhere, here)...)
		<-over // a request that is under way has a limit
	}
}

// resume goes on with what an earlier process left in some servers. Waiting messages get their turns, and half an answer is finished in the
// same posts. If that would come too late, half an answer is marked as interrupted, and other authors are told.
func (b *Bot) resume(ctx context.Context, mine func(guildID, id string) bool) {
	all, err := b.Store.Claims.Open(ctx)
	b.logged("read what is unanswered", err)
	var open []store.OpenClaim
	var left []arrival
	for _, o := range all {
		switch a, ok := b.reopened(ctx, o); {
		case !ok && b.Inherited == nil:
			b.closeClaims(ctx, "", o.Claim)
		case ok && mine(a.GuildID, o.Claim):
			open, left = append(open, o), append(left, a)
		}
	}
	if len(open) > 0 && b.Clocked != nil { // nothing can be posted earlier
		select {
		case <-b.Clocked:
		case <-ctx.Done():
		case <-time.After(clockLimit):
		}
	}
	now := b.now()
	var again []arrival
	for i, o := range open {
		a := left[i]
		switch {
		case now.Sub(o.At) <= resumeSpan:
			again = append(again, a)
		case len(o.Posts) > 0:
			b.markInterrupted(ctx, a)
		default:
			b.tellMissed(ctx, a)
		}
	}
	b.markLeft(ctx, mine)
	n, err := b.Traces.Interrupt(ctx, mine) // what markLeft has read is half an answer, and no turn that is over
	if b.logged("mark interrupted turns", err); n > 0 {
		b.Log.Info("an earlier run was interrupted", "turns", n)
	}
	for _, group := range byChannel(again) {
		b.enqueue(ctx, group...)
	}
	if len(open) > 0 {
		b.Log.Info("an earlier run left messages unanswered", "messages", len(open))
	}
}

// doubtLasts is how long an edit may still take effect whose fate is unknown.
const doubtLasts = 45 * time.Second

// doubted returns those posts of a turn, by their places, that have an edit that may still take effect. They are kept until that is settled, so that
// the next start can put them right.
func (b *Bot) doubted(turnID string, posts []sentPost) map[int]store.Post {
	found := map[int]store.Post{}
	for n, p := range posts {
		if b.Resume && b.Doubted != nil && b.Doubted(p.id) {
			found[n] = store.Post{ID: p.id, Text: p.text}
		}
	}
	if len(found) > 0 {
		b.notices.posting.Go(func() { b.settleDoubt(turnID, found) })
	}
	return found
}

// outlast waits, and reports false if the bot stops meanwhile.
func (b *Bot) outlast(wait time.Duration) bool {
	select {
	case <-b.stopping:
	case <-b.ended:
	case <-time.After(wait):
		return true
	}
	return false
}

// settleDoubt waits until no edit of the posts can take effect any more, and does not keep them any longer.
func (b *Bot) settleDoubt(turnID string, posts map[int]store.Post) {
	defer func() { b.recovered("settle the fate of an edit", recover()) }()
	for doubted := true; doubted; {
		if !b.outlast(doubtLasts) {
			return
		}
		doubted = false
		for _, p := range posts {
			doubted = doubted || b.Doubted(p.ID)
		}
	}
	b.logged("settle the fate of an edit", b.Store.Claims.DropPosts(context.Background(), turnID))
}

// putRight gives posts of a turn that is over their last words again. It does so now, and when nothing else can take effect any more. If the
// turn's reply was about to take the place of another answer, it does.
func (b *Bot) putRight(ctx context.Context, t *turn.Trace, posts []store.Post) {
	defer func() { b.recovered("put posts right", recover()) }()
	if n := len(t.Presses); n > 0 && t.Presses[n-1].Kind == turn.PressShown {
		err := b.show(ctx, t, posts)
		if b.logged("show another answer", err); unsent(err) {
			return
		}
		b.logged("drop the posts of an answer", b.Store.Claims.DropPosts(context.WithoutCancel(ctx), t.Request.ID))
		return
	}
	var buttons []turn.Button
	if actor := b.CurrentCast().Actor(t.Request.Character); actor != nil {
		settings := b.Settings(ctx, actor, turn.Event{GuildID: t.Request.GuildID, Message: turn.Message{ChannelID: t.Request.ChannelID}})
		if b.HasButtons(actor, settings) {
			buttons = reply.Buttons(t.Request.Language, b.ButtonKeys(t.Request.ID), b.finalButtons(t)...)
		}
	}
	for _, wait := range []time.Duration{0, doubtLasts} {
		if wait > 0 && !b.outlast(wait) { // the next start does it
			return
		}
		for _, p := range posts {
			edit := turn.Edit{Ref: t.Request.Ref(p.ID), Text: p.Text, Final: true}
			if slices.Index(t.ReplyIDs, p.ID) == len(t.ReplyIDs)-1 {
				edit.Picture, edit.Buttons = b.pictureOf(ctx, t.Request.Character, t.Mood), buttons
			}
			err := b.sendEdit(ctx, edit, true)
			if b.logged("correct a post", err); unsent(err) {
				return
			}
		}
	}
	b.logged("settle the fate of an edit", b.Store.Claims.DropPosts(context.WithoutCancel(ctx), t.Request.ID))
}

// markLeft ends the halves of answers to which no turn returns. Nobody asked for them, or what asked was forgotten. Their buttons would
// stay for good. Posts of a turn that is over may not hold its last words.
func (b *Bot) markLeft(ctx context.Context, mine func(guildID, id string) bool) {
	left, err := b.Store.Claims.Left(ctx)
	b.logged("read which turns were left", err)
	for _, id := range left {
		t, err := b.Traces.Get(ctx, id)
		posts, failed := b.Store.Claims.Posts(ctx, id)
		if err := errors.Join(err, failed); err != nil || len(posts) == 0 {
			b.logged("read a turn that was left", err)
			continue
		}
		if !mine(t.Request.GuildID, id) {
			continue
		}
		if t.Phase.Over() {
			b.notices.posting.Go(func() { b.putRight(ctx, t, posts) })
			continue
		}
		e := turn.Event{Kind: turn.Created, ID: t.Request.Message.ID, GuildID: t.Request.GuildID, Direct: t.Request.GuildID == "", Language: t.Request.Language, Message: t.Request.Message}
		e.Message.ChannelID = t.Request.ChannelID
		b.markInterrupted(ctx, arrival{Event: e, turnID: id, posts: posts})
	}
}

// byChannel groups arrivals by channel, in order. The arrivals of one half answered turn follow each other, so that the turn is taken once.
func byChannel(all []arrival) map[string][]arrival {
	groups := map[string][]arrival{}
	for _, a := range all {
		group := groups[a.Message.ChannelID]
		at := len(group)
		for at > 0 && a.turnID != "" && group[at-1].turnID != a.turnID {
			at--
		}
		if at == 0 { // no arrival of its turn yet
			at = len(group)
		}
		groups[a.Message.ChannelID] = slices.Insert(group, at, a)
	}
	return groups
}

// reopened rebuilds an arrival. Its message has the latest text. It returns false if the message is gone.
func (b *Bot) reopened(ctx context.Context, o store.OpenClaim) (arrival, bool) {
	a := arrival{at: o.At, addressed: true, left: true, turnID: o.TurnID, posts: o.Posts}
	id, newID, _ := strings.Cut(o.Claim, pressClaim)
	id, _, a.second = strings.Cut(id, secondClaim)
	m, err := b.Store.Messages.Get(ctx, id)
	if err != nil {
		b.logged("read a message that is unanswered", err)
		return a, false
	}
	if o.Event == "" { // it joined a turn
		a.Event = turn.Event{Kind: turn.Created, ID: m.ID, GuildID: m.GuildID, Direct: m.GuildID == "", Message: m.SeenBy(a.character)}
		return a, true
	}
	var kept keptEvent
	if err := json.Unmarshal([]byte(o.Event), &kept); err != nil {
		b.logged("read an event that is unanswered", err)
		return a, false
	}
	a.Event, a.character = kept.Event, kept.Character
	a.Message.Text = m.Text
	if kept.Earlier != "" {
		a.newID, a.goesOnWith = newID, kept.GoesOn
		a.earlier, err = b.Traces.Get(ctx, kept.Earlier)
		b.logged("read the record of a reply whose button was pressed", err)
	}
	return a, err == nil
}

// namesRoom is left for a character's name that a post may need before it.
const namesRoom = 90

// markInterrupted ends half an answer that is not finished any more. Where it was to take the place of another, that comes back. If it cannot
// be posted, the next start tries again.
func (b *Bot) markInterrupted(ctx context.Context, a arrival) {
	last := a.posts[len(a.posts)-1]
	mark := "\n\n" + reply.SmallType + reply.Interrupted.In(reply.Language(a.Event))
	text := last.Text
	if b.Pace.Units > 0 {
		text = reply.Head(text, b.Pace.Units-len(mark)-namesRoom)
	}
	b.notices.posting.Go(func() {
		defer func() { b.recovered("mark an interrupted reply", recover()) }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeLimit)
		defer cancel()
		if a.inPlace() {
			err := b.show(ctx, a.earlier, a.posts)
			if b.logged("bring back an answer", err); !unsent(err) {
				b.closeClaims(ctx, a.GuildID, a.claim())
			}
			return
		}
		var buttons []turn.Button
		if actor := b.actor(ctx, a); b.HasButtons(actor, b.Settings(ctx, actor, a.Event)) {
			buttons = reply.Buttons(reply.Language(a.Event), b.ButtonKeys(a.turnID), b.finalButtons(&turn.Trace{})...)
		}
		persona := b.persona(ctx, b.actor(ctx, a), a.Event)
		ref := turn.Ref{GuildID: a.GuildID, ChannelID: a.Message.ChannelID, ID: last.ID, Persona: persona}
		err := b.sendEdit(ctx, turn.Edit{Ref: ref, Text: text + mark, Buttons: buttons, Final: true}, true)
		b.logged("mark an interrupted reply", err)
		if unsent(err) {
			return
		}
		b.recordInterrupted(ctx, a)
		b.closeClaims(ctx, a.GuildID, a.claim())
	})
}

// recordInterrupted completes the record of half an answer, which then can be found by its posts.
func (b *Bot) recordInterrupted(ctx context.Context, a arrival) {
	t, err := b.Traces.Get(ctx, a.turnID)
	if err != nil {
		b.logged("read the record of an interrupted turn", err)
		return
	}
	t.Phase, t.ReplyIDs = turn.Interrupted, nil
	for _, p := range a.posts {
		t.ReplyIDs = append(t.ReplyIDs, p.ID)
	}
	b.save(ctx, t)
}
