package bot

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
)

const (
	noticeAfter = 300 * time.Millisecond // to gather those whom the same befell
	noticeEvery = 10 * time.Second       // between two notices of one kind in a channel
	noticeLimit = time.Minute            // to post one
)

// notices tell people why they get no answer: one message in a channel for all whom the same befell, with their names and
// without a ping.
type notices struct {
	posting sync.WaitGroup // one for each open notice

	mu   sync.Mutex
	open map[noticeKey]*notice   // those that are still gathering names; guarded by mu
	last map[noticeKey]time.Time // when one was posted; guarded by mu
}

type noticeKey struct {
	channel string
	what    sentence
}

type notice struct {
	event  turn.Event // the first
	names  []string
	n      int      // messages
	claims []string // that are settled once the notice is posted
}

// add adds an event to the notice that is open, or opens one, and returns how long that should wait; -1 if it was open.
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
	if name := plainName(e.Message.Author.Name); !slices.Contains(n.names, name) {
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

// tell says to the author of a message why there is no answer, soon, and then settles the claims. It does not wait.
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
		b.post(key, b.notices.take(key, time.Now()))
	})
}

// tellAbove says, in the channel that a thread hangs on, why there is no answer in the thread. What the thread was opened for, if it was a
// message, has its id.
func (b *Bot) tellAbove(e turn.Event, what sentence) {
	if e.ParentID != "" {
		e.Message.ID, e.Message.ChannelID, e.ParentID = e.Message.ChannelID, e.ParentID, ""
		b.tell(e, what)
	}
}

func (b *Bot) post(key noticeKey, n *notice) {
	ctx, cancel := context.WithTimeout(context.Background(), noticeLimit)
	defer cancel()
	p := turn.Post{ChannelID: key.channel, Final: true}
	language := language(n.event)
	text := b.speaker(ctx, n.event).say(language, key.what)
	if n.n == 1 {
		p.ReplyTo = n.event.Message.ID
	} else if several, ok := toSeveral[key.what]; ok {
		text = several.in(language, list(language, n.names))
	}
	pieces := []string{text}
	if b.Pace.Units > 0 {
		pieces = outgoing.Split(text, b.Pace.Units)
	}
	for i, piece := range pieces {
		p.Text, p.Nonce = piece, nonce(n.event.Message.ID, 90+i)
		_, err := b.send(ctx, p, true)
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

// list joins names as in "Ana, Ben and Cy".
func list(language string, names []string) string {
	for i, name := range names {
		if name == "" {
			names[i] = somebody.in(language)
		}
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return lastName.in(language, strings.Join(names[:last], ", "), names[last])
}

// plainName takes what Discord reads as markup or as a mention out of a name. Nothing may be left.
func plainName(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~|`<>@#[]()\\\n\r", r) {
			return -1
		}
		return r
	}, name))
}
