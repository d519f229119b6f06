package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	noticeAfter = 300 * time.Millisecond // to gather people with the same notice
	noticeEvery = 8 * time.Second        // between two notices of one kind in a channel
	brokenEvery = time.Second            // the same for [reply.OutOfOrder]: no answers are posted besides
	noticeLimit = time.Minute            // to post a notice
)

// notices tell people why they get no answer. One message in a channel names everybody with the same reason, without a
// ping.
type notices struct {
	posting sync.WaitGroup // one for each open notice
	told    idSet          // messages whose authors know that the store is out of order

	mu   sync.Mutex
	open map[noticeKey]*notice   // notices that still gather names; guarded by mu
	last map[noticeKey]time.Time // when the last notice was posted; guarded by mu
}

type noticeKey struct {
	channel string
	what    sentence
}

type notice struct {
	event  turn.Event // of the first message
	names  []string
	ids    []string // of the messages
	claims []string // claims to close when the notice is posted
}

// add adds an event to the open notice, or opens a notice. It returns how long a new notice should wait, or -1 if one
// was open.
func (ns *notices) add(key noticeKey, e turn.Event, claims []string, now time.Time) time.Duration {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n, wait := ns.open[key], time.Duration(-1)
	if n == nil {
		n = &notice{event: e}
		if ns.open == nil {
			ns.open = map[noticeKey]*notice{}
		}
		ns.open[key] = n
		every := noticeEvery
		if key.what == reply.OutOfOrder {
			every = brokenEvery
		}
		wait = max(noticeAfter, every-now.Sub(ns.last[key]))
	}
	if name := e.Message.Author.Name; !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
	n.ids = append(n.ids, e.Message.ID)
	n.claims = append(n.claims, claims...)
	return wait
}

func (ns *notices) take(key noticeKey, now time.Time) *notice {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n := ns.open[key]
	delete(ns.open, key)
	if ns.last == nil || len(ns.last) > 1000 {
		ns.last = map[noticeKey]time.Time{}
	}
	ns.last[key] = now
	return n
}

// tell tells the author of a message soon why there is no answer, and then closes the claims. It does not wait. Of a greeting nobody is told.
func (b *Bot) tell(e turn.Event, what sentence, claims ...string) {
	if e.Message.Author == program() { // nobody has asked
		return
	}
	key := noticeKey{e.Message.ChannelID, what}
	if what == reply.OutOfOrder && !b.notices.told.add(e.Message.ID) { // a store that hangs may fail in the end
		return
	}
	wait := b.notices.add(key, e, claims, time.Now())
	if wait < 0 {
		return
	}
	if b.Pace.Close { // a person at a terminal waits for every answer
		wait = 0
	}
	b.notices.posting.Go(func() {
		defer func() { b.recovered("post a notice", recover()) }()
		select {
		case <-time.After(wait):
		case <-b.stopping:
		}
		n := b.notices.take(key, time.Now())
		b.postNotice(key, n)
	})
}

// watchStuck has those told who wait behind a turn that gets stuck. end ends that.
func (b *Bot) watchStuck(l *lane) (end func()) {
	told := make(chan struct{})
	later := time.AfterFunc(stuckAfter, func() {
		defer close(told)
		b.tellBehind(l)
	})
	return func() {
		if !later.Stop() {
			<-told
		}
	}
}

// tellBehind tells those who wait behind a turn that is stuck, for example because the model hangs. They wait on.
func (b *Bot) tellBehind(l *lane) {
	for _, e := range l.stuck() {
		b.tell(e, reply.Waits)
	}
}

// Overdue tells people that what they wrote waits because the store does not answer. It asks the store nothing, and takes as meant for the bot what
// surely is. It may still be answered.
func (b *Bot) Overdue(events []turn.Event) {
	for _, e := range events {
		if e.Kind == turn.Created && (e.Mentioned || e.Direct) && b.Gate.Access.Admits(e) {
			b.tell(e, reply.OutOfOrder)
		}
	}
}

// tellAbove explains in the parent channel why there is no answer in the thread. If the thread was opened for a message,
// that message has the thread's id.
func (b *Bot) tellAbove(e turn.Event, what sentence) {
	if e.ParentID != "" {
		e.Message.ID, e.Message.ChannelID, e.ParentID = e.Message.ChannelID, e.ParentID, ""
		b.tell(e, what)
	}
}

func (b *Bot) postNotice(key noticeKey, n *notice) {
	ctx, cancel := context.WithTimeout(context.Background(), noticeLimit)
	defer cancel()
	p := turn.Post{GuildID: n.event.GuildID, ChannelID: key.channel, Final: true}
	speaker := b.CurrentCast().Default
	if key.what != reply.OutOfOrder { // else the store may not answer
		speaker = b.speaker(ctx, n.event)
	}
	names := n.names
	if len(n.ids) == 1 && key.what != reply.Waits { // a reply would look like the answer
		names, p.ReplyTo = nil, n.event.Message.ID
	}
	text := reply.Notice(speaker.Character, n.event, key.what, names)
	for i, piece := range b.split(text, nil) {
		p.Text, p.Nonce = piece, nonce(string(key.what)+strings.Join(n.ids, ","), i) // with other names it is another post
		_, err := b.sendPost(ctx, p, true)
		b.logged("post a notice", err)
		if unsent(err) { // a restart goes on with the claims
			return
		}
		if err != nil {
			break
		}
		p.ReplyTo = ""
	}
	b.closeClaims(ctx, n.event.GuildID, n.claims...)
}

// sentence is what the bot says if no model can say it.
type sentence = reply.Sentence

// refusals are what is said when the gate is closed.
var refusals = map[gate.Why]sentence{
	gate.NotAdmitted: reply.NotAdmitted, gate.Paused: reply.PausedHere, gate.MayNotPost: reply.MayNotPost, gate.UsedUp: reply.UsedUp, gate.TooOften: reply.TooMany,
}

// Refusal returns what an actor says when the gate refuses a command.
func (a *Actor) Refusal(language string, r *gate.Refusal) string {
	return reply.Say(a.Character, language, refusals[r.Why])
}

// spoken returns the code of the language in which a person is answered. An interaction has one, that of the person's client. A message has
// none. It is in the person's newest clear language, which is that of this message if it is clear. Then come the language of the server and
// what the message's own words seem to be. Discord gives each server English by default, so that does not count.
func (b *Bot) spoken(ctx context.Context, e turn.Event) string {
	if l := text.ClearLanguage(e.Message.Text); l != "" {
		return l
	}
	recent, err := b.Store.Messages.Recent(ctx, e.Message.ChannelID, earlierMessages)
	b.logged("read recent messages", err)
	if l := newestLanguage(recent, e.Message.Author.ID); l != "" {
		return l
	}
	chosen := e.Locale
	if strings.HasPrefix(chosen, reply.English) {
		chosen = ""
	}
	return cmp.Or(chosen, text.MessageLanguage(e.Message.Text), e.Locale)
}

// newestLanguage returns the language of the newest of some messages by a person whose language is clear, or "".
func newestLanguage(recent []store.Message, person string) string {
	for _, m := range slices.Backward(recent) {
		if l := text.ClearLanguage(m.Text); l != "" && m.AuthorID == person {
			return l
		}
	}
	return ""
}

// earlierMessages is how many messages of a channel are looked at for the language that a person speaks.
const earlierMessages = 30

// refuse tells the author of a message why there is no turn, once. A quota is used up, or somebody asks too often. People who may
// not use the bot are told nothing. Nor is anybody where it is paused or may not write, except at a terminal.
func (b *Bot) refuse(ctx context.Context, e turn.Event, r *gate.Refusal) {
	first := r.First || b.OperatorOnly // who waits for an answer at a terminal
	switch r.Why {
	case gate.UsedUp:
		if r.Quota.Scope == store.OfAll {
			b.conditionChanged(func(c *condition) { c.spent = b.now().UTC().Format(time.DateOnly) })
		}
		var err error
		first, err = b.Store.Quotas.NotifyOnce(ctx, b.now(), r.Quota.Scope, r.Quota.ID)
		b.logged("note a used up quota", err)
		if first {
			b.Log.Info("a quota is used up", "of", r.Quota.Scope, "id", r.Quota.ID)
		}
	case gate.MayNotPost:
		b.Log.Warn("a message gets no answer: the bot may not write there", "channel", e.Message.ChannelID, "message", e.Message.ID)
	}
	if first {
		b.tell(e, refusals[r.Why])
	}
}

// condition is why the bot does not answer as usual anywhere. Everybody sees it next to the bot's name.
type condition struct {
	mu      sync.Mutex
	paused  bool           // everywhere; guarded by mu, as are the fields below
	spent   string         // the day on which the quota of all together is used up
	failing bool           // the model did not answer the last turn
	shown   *turn.Presence // nil: nothing yet
}

const (
	showsPaused  = "paused"
	showsSpent   = "has given all answers of today"
	showsFailing = "cannot reach its model"
)

// conditionChanged notes a change, and shows it.
func (b *Bot) conditionChanged(change func(*condition)) {
	if b.Present == nil {
		return
	}
	c := &b.condition
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
	var now turn.Presence
	switch {
	case c.paused:
		now.Text = showsPaused
	case c.spent == b.now().UTC().Format(time.DateOnly):
		now.Text = showsSpent
	case c.failing:
		now.Text = showsFailing
	}
	if c.shown == nil && now.Text == "" || c.shown != nil && *c.shown == now {
		return
	}
	c.shown = &now
	b.Present(now)
}
