package bot

import (
	"context"
	"encoding/json"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// arrival is an event on its way through a lane.
type arrival struct {
	turn.Event
	at        time.Time
	addressed bool         // it asks for a turn
	knows     bool         // its author was told that it waits
	pass      *gate.Pass   // of the gate; nil: an earlier process gave it
	character string       // id of the character that must answer; empty: the channel's
	second    bool         // another character answers the same message first
	turnID    string       // of the turn that an earlier process began for it; empty if none did
	posts     []store.Post // of that turn
	created   int          // posts that were made for it, including deleted ones

	unasked    turn.Address   // why the bot joins in unasked; empty: somebody asked
	considered *consideration // what a side model said about joining in
	recalled   []turn.Outcome // what is remembered that caused it
	left       bool           // an earlier process claimed it and left it
	again      bool           // the question was edited after it was answered: the new answer replaces the old one
	parse      memory.Parser  // finds what the message orders of the memory; nil: order.Parse

	// These describe a turn that a button asked for. They are the turn's id and the turn whose reply has the button. The third says whether
	// only the rest of that reply is wanted.
	newID      string
	earlier    *turn.Trace
	goesOnWith bool
}

// claim returns the id under which the store knows what asks for the turn.
func (a arrival) claim() string {
	switch {
	case a.pressed():
		return a.Message.ID + pressClaim + a.newID
	case a.unasked == turn.ByGreeting:
		return a.ID
	case a.second:
		return a.Message.ID + secondClaim + a.character
	}
	return a.Message.ID
}

// pressed reports whether a button asked for the turn.
func (a arrival) pressed() bool { return a.earlier != nil && !a.again }

// These separate the message's id in a claim from what follows. That is the second character that must answer, or the id of the turn that a
// button asked for.
const (
	secondClaim = "/"
	pressClaim  = "+"
)

// arrivals returns what an event puts into its lane: one arrival, or one for each character that must answer.
func (b *Bot) arrivals(ctx context.Context, e turn.Event) []arrival {
	a := arrival{Event: e, at: b.now()}
	var s scene
	var called []addressee
	if e.Original == "" || !b.replacesProxied(ctx, e) {
		s = b.scene(ctx, e)
		called = s.addressees(e)
	}
	if granted := b.rounds.Grant(e, len(called)); granted < len(called) {
		b.Log.Info("a proxy's message gets no answer: no person has written here since the last ones", "channel", e.Message.ChannelID, "message", e.Message.ID)
		called = called[:max(0, granted)]
	}
	if len(called) > 0 && called[0].how == turn.ByChannel && e.Kind == turn.Created && s.kept {
		return []arrival{a}
	}
	var all []arrival
	for i, s := range called {
		p, no := b.Gate.Pass(ctx, e, gate.Passage{Tokens: s.actor.PromptTokens(), Posts: true, Rated: !e.Late, Further: i > 0})
		if no != nil {
			b.refuse(ctx, e, no)
			break
		}
		if i == 0 {
			a.Language = b.spoken(ctx, e)
			a.parse = b.parseEarly(e.Message.Text, s.actor.Names())
		}
		a.addressed, a.character, a.second, a.pass = true, s.actor.ID, i > 0, p
		all = append(all, a)
	}
	b.noteMute(ctx, e, s)
	if len(all) == 0 {
		return []arrival{a}
	}
	return all
}

// parseEarly begins to look for orders in a message. Its parser has the result.
func (b *Bot) parseEarly(message string, names []string) memory.Parser {
	begin, parser := memory.ParseEarly(message, names)
	b.tasks.Go(func() {
		defer func() { b.recovered("look for orders", recover()) }() // the turn that asks for the result panics, too
		begin()
	})
	return parser
}

// replacesProxied puts a message that a proxy wrote in the place of its original. The original must have asked for a turn. It is answered
// once, as it is now. Posts of an answer that are visible stay. It reports whether the original asked for a turn.
func (b *Bot) replacesProxied(ctx context.Context, e turn.Event) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	rows := []store.Incoming{{Message: b.stored(e, e.Message), Claim: e.Message.ID}}
	var claims, before []string
	waiting := b.lanes.unseen(e.Original)
	for i, a := range waiting {
		before = append(before, a.claim())
		a = a.rewritten(e)
		claims = append(claims, a.claim())
		row := store.Incoming{Message: b.stored(e, a.Message), Claim: a.claim()}
		if b.Resume {
			row.Event = encodeArrival(a)
		}
		rows = append(rows[:i], row)
	}
	claimed, err := b.Store.Messages.Replace(ctx, e.Original, rows...) // the proxy is about to delete it; no prompt has both
	b.logged("replace the original of a message", err)
	if !claimed {
		return false
	}
	if len(waiting) > 0 && !b.lanes.rewrite(e) {
		before = claims // part of the answer is visible: that is finished, and this message is not answered
	}
	b.closeClaims(ctx, e.GuildID, before...)
	return true
}

// admit stores messages, claims those that ask for a turn, and queues them. Once ctx is done no turn begins.
func (b *Bot) admit(ctx context.Context, all ...arrival) {
	if len(all) == 0 {
		return
	}
	defer func() { b.recovered("admit messages", recover()) }()
	leaves := ctx.Err() != nil
	if leaves && b.leaves() { // another process gets them, too
		for _, a := range all {
			giveBack(a)
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	rows := make([]store.Incoming, len(all))
	for i, a := range all {
		rows[i].Message = b.stored(a.Event, a.Message)
		if a.addressed {
			rows[i].Claim = a.claim()
		}
		if a.addressed && b.Resume && !leaves {
			rows[i].Event = encodeArrival(a)
		}
	}
	first, err := b.Store.Messages.SaveIncoming(ctx, rows...)
	b.logged("keep messages", err)
	for i, a := range all {
		if err != nil || !first[i] || leaves {
			giveBack(a)
		}
		switch {
		case err != nil && a.addressed: // without a claim there might be a second answer
			b.tell(a.Event, reply.OutOfOrder)
		case err != nil || !first[i]:
		case leaves && a.addressed:
			b.Log.Warn("a message came too late to be answered", "channel", a.Message.ChannelID, "message", a.Message.ID)
			b.tell(a.Event, reply.Leaving)
		case !leaves:
			b.overhear(ctx, a)
			b.enqueue(ctx, a)
		}
	}
}

func (b *Bot) stored(e turn.Event, m turn.Message) store.Message {
	return store.Message{
		ID: m.ID, ChannelID: m.ChannelID, GuildID: e.GuildID, AuthorID: m.Author.ID, AuthorName: m.Author.Name,
		Text: m.Text, Note: m.Note, ReplyTo: m.ReplyTo, At: m.At, Own: m.Own,
	}
}

// enqueue puts arrivals of one channel into its lane. An author whose message loses its place, or waits behind a turn that is stuck, is told.
func (b *Bot) enqueue(ctx context.Context, all ...arrival) {
	run := context.WithoutCancel(ctx)
	l, lost := b.lanes.put(func(l *lane) { b.drive(run, l) }, all...)
	for _, skipped := range lost {
		giveBack(skipped)
		b.tell(skipped.Event, reply.TooBusy, skipped.claim())
	}
	b.tellBehind(l)
}

// keptEvent is what a restart needs to rebuild an arrival.
type keptEvent struct {
	turn.Event
	Character string `json:",omitempty"`
	Earlier   string `json:",omitempty"` // the turn whose reply has the button
	GoesOn    bool   `json:",omitempty"` // only the rest of that turn's reply is wanted
}

// encodeArrival writes an arrival for a restart. Encoding cannot fail.
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

// giveBack returns the passes of arrivals.
func giveBack(all ...arrival) {
	for _, a := range all {
		a.pass.GiveBack()
	}
}
