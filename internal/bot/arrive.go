package bot

import (
	"context"
	"encoding/json"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/attachment"
	"familiar/internal/store"
)

// arrival is an event on its way through a lane.
type arrival struct {
	turn.Event
	at        time.Time
	addressed bool         // asks for a turn
	character string       // id of the character that is asked; empty: the channel's
	second    bool         // another character is asked by the same message, and answers before
	turnID    string       // of the turn that an earlier process began for it; empty if none did
	posts     []store.Post // of that turn
	created   int          // posts that were made for it, those included that are gone

	unasked    turn.Address    // why the bot joins in, where nobody asked it
	considered *turn.Processed // what a side model said to that
	anew       bool            // it was answered, and edited then: the answer takes the place of the one before

	// Of a turn that a button asked for: its id, the turn under whose reply the button is, and whether only the rest of that reply
	// is wanted.
	newID      string
	earlier    *turn.Trace
	goesOnWith bool
}

// claim is the id under which the store knows what asks for a turn.
func (a arrival) claim() string {
	switch {
	case a.pressed():
		return a.Message.ID + pressClaim + a.newID
	case a.second:
		return a.Message.ID + secondClaim + a.character
	}
	return a.Message.ID
}

// pressed reports whether a button asked for the turn.
func (a arrival) pressed() bool { return a.earlier != nil && !a.anew }

// What stands in a claim behind the message's id: before the second character that it asks for a turn, and before the turn that a
// button asked for.
const (
	secondClaim = "/"
	pressClaim  = "+"
)

// arrivals are what an event puts into its lane: one, or one for each character that it asks for a turn.
func (b *Bot) arrivals(ctx context.Context, e turn.Event) []arrival {
	e = withNotes(e)
	a := arrival{Event: e, at: time.Now()}
	var called []summons
	switch {
	case e.Original != "" && b.standsIn(ctx, e):
	case !b.hushed(ctx, e):
		called = b.summoned(ctx, e)
	}
	if granted := b.rounds.grant(e, len(called)); granted < len(called) {
		b.Log.Info("a proxy's message gets no turn: no person has written here since the last ones", "channel", e.Message.ChannelID, "message", e.Message.ID)
		called = called[:max(0, granted)]
	}
	if len(called) == 0 || called[0].how == turn.ByChannel && b.cameBefore(ctx, e) || b.refuses(ctx, e) || !b.allowed(e) {
		return []arrival{a}
	}
	var all []arrival
	for i, s := range called {
		a.addressed, a.character, a.second = true, s.actor.ID, i > 0
		all = append(all, a)
	}
	return all
}

// withNotes has the messages of an event name what hangs on them.
func withNotes(e turn.Event) turn.Event {
	e.Message.Note = attachment.Note(e.Message, "")
	if e.Reply != nil {
		above := *e.Reply
		above.Note = attachment.Note(above, "")
		e.Reply = &above
	}
	return e
}

// allowed counts a turn of a person's, and reports whether there may be one more. Who asks for one too many is told so.
func (b *Bot) allowed(e turn.Event) bool {
	if b.PerPerson <= 0 || e.Late {
		return true
	}
	allowed, first := b.turns.allow(e.Message.Author.ID, b.PerPerson, time.Now())
	if first {
		b.tell(e, tooMany)
	}
	return allowed
}

// admit stores messages, claims those that ask for a turn, and lets them wait for it. Once ctx is done no turn begins.
func (b *Bot) admit(ctx context.Context, all ...arrival) {
	if len(all) == 0 {
		return
	}
	defer func() { b.recovered("admit messages", recover()) }()
	leaves := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	rows := make([]store.Arrival, len(all))
	for i, a := range all {
		rows[i].Message = b.stored(a.Event, a.Message)
		if a.addressed {
			rows[i].Claim = a.claim()
		}
		if a.addressed && b.Resume && !leaves {
			rows[i].Event = encodeArrival(a)
		}
	}
	first, err := b.Store.Arrive(ctx, rows...)
	b.logged("keep messages", err)
	for i, a := range all {
		switch {
		case err != nil && a.addressed: // without a claim there might be a second answer
			b.tell(a.Event, outOfOrder)
		case err != nil || !first[i]:
		case leaves && a.addressed:
			b.Log.Warn("a message came too late to be answered", "channel", a.Message.ChannelID, "message", a.Message.ID)
			b.tell(a.Event, leaving)
		case !leaves:
			b.overhear(ctx, a)
			b.enqueue(ctx, a)
		}
	}
}

// enqueue lets arrivals of one channel wait in its lane. Whoever loses a place by that is told.
func (b *Bot) enqueue(ctx context.Context, all ...arrival) {
	run := context.WithoutCancel(ctx)
	for _, skipped := range b.lanes.put(func(l *lane) { b.drive(run, l) }, all...) {
		b.tell(skipped.Event, tooBusy, skipped.claim())
	}
}

// keptEvent is what a restart needs of an arrival.
type keptEvent struct {
	turn.Event
	Character string `json:",omitempty"`
	Earlier   string `json:",omitempty"` // turn whose button asked for this one
	GoesOn    bool   `json:",omitempty"` // the rest of that turn's reply is wanted
}

// encodeArrival writes an arrival for a restart. Nothing in it cannot be encoded.
func encodeArrival(a arrival) string {
	kept := keptEvent{Event: a.Event, Character: a.character}
	if a.pressed() {
		kept.Earlier, kept.GoesOn = a.earlier.Request.ID, a.goesOnWith
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return ""
	}
	return string(text)
}

// deleted forgets a message: at once, and then in the records. A turn that waits for it, or answers it, is over, and the answers to it
// go too, unless a proxy has written it anew.
func (b *Bot) deleted(ctx context.Context, e turn.Event) {
	if !e.Rewritten {
		b.withdraw(ctx, errDeleted, func(a turn.Event) bool { return a.Message.ID == e.Message.ID })
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("delete a message", b.Store.DeleteMessage(limited, e.Message.ID))
	b.commands.Go(func() {
		if !e.Rewritten {
			b.retract(ctx, e.Message)
		}
		b.forget(ctx)
	})
}

// forget takes deleted messages out of the records. What a bot that stops leaves of that, the next one does.
func (b *Bot) forget(ctx context.Context) {
	if err := b.Traces.Forget(ctx); ctx.Err() == nil {
		b.logged("take deleted messages out of the records", err)
	}
}

// gone ends what is going on in a channel or, where the event names none, in a server.
func (b *Bot) gone(ctx context.Context, e turn.Event) {
	b.withdraw(ctx, errGone, func(a turn.Event) bool {
		channel := e.Message.ChannelID
		return channel == "" && a.GuildID == e.GuildID || channel != "" && (a.Message.ChannelID == channel || a.ParentID == channel)
	})
	if e.Message.ChannelID == "" && e.GuildID != "" { // what is kept of the server goes after a while
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
		defer cancel()
		b.logged("leave a server", b.Store.LeaveGuild(ctx, e.GuildID, time.Now()))
	}
}

func (b *Bot) withdraw(ctx context.Context, cause error, match func(turn.Event) bool) {
	var ids []string
	for _, a := range b.lanes.withdraw(cause, match) {
		if len(a.posts) > 0 {
			b.markInterrupted(ctx, a)
			continue
		}
		ids = append(ids, a.claim())
	}
	b.closeClaims(ctx, ids...)
}

// closeClaims notes that nothing more is to come to these messages.
func (b *Bot) closeClaims(ctx context.Context, ids ...string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("settle claims", b.Store.Settle(ctx, ids...))
}
