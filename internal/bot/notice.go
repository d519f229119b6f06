package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
)

const (
	noticeAfter = 300 * time.Millisecond // to gather people with the same notice
	noticeEvery = 10 * time.Second       // between two notices of one kind in a channel
	noticeLimit = time.Minute            // to post a notice
)

// notices tell people why they get no answer. One message in a channel names everybody with the same reason, without a
// ping.
type notices struct {
	posting sync.WaitGroup // one for each open notice

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
	n      int      // number of messages
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
		wait = max(noticeAfter, noticeEvery-now.Sub(ns.last[key]))
	}
	if name := reply.PlainName(e.Message.Author.Name); !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
	n.n++
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

// tell tells the author of a message soon why there is no answer, and then closes the claims. It does not wait.
func (b *Bot) tell(e turn.Event, what sentence, claims ...string) {
	key := noticeKey{e.Message.ChannelID, what}
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
		b.postNotice(key, b.notices.take(key, time.Now()))
	})
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
	p := turn.Post{ChannelID: key.channel, Final: true}
	language := language(n.event)
	text := b.speaker(ctx, n.event).say(language, key.what)
	if n.n == 1 {
		p.ReplyTo = n.event.Message.ID
	} else if several, ok := toSeveral[key.what]; ok {
		text = several.In(language, List(language, n.names))
	}
	pieces := []string{text}
	if b.Pace.Units > 0 {
		pieces = reply.Split(text, b.Pace.Units)
	}
	for i, piece := range pieces {
		p.Text, p.Nonce = piece, nonce(n.event.Message.ID, 90+i)
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
	b.closeClaims(ctx, n.claims...)
}
