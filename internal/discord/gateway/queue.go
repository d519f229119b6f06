package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

// Emit queues an event for the bot. Only the goroutine that reads the shard calls it.
func (s *Shard) Emit(e turn.Event) { s.enqueue(queued{event: e, from: s.at}) }

// Saw notes the id of a message. The next session asks for later ones. Only the goroutine that reads the shard calls it.
func (s *Shard) Saw(id Flake) { s.at.mark = max(s.at.mark, id) }

// EmitMissed queues an event after a mark that no session brought.
func (s *Shard) EmitMissed(e turn.Event, mark Flake) {
	s.enqueue(queued{event: e, from: position{shard: s, session: noSession, mark: mark}})
}

// EmitOnce queues an event that must not come again after a restart.
func (g *Gateway) EmitOnce(e turn.Event) { g.enqueue(queued{event: e}) }

func (g *Gateway) enqueue(e queued) {
	lost, full := g.waiting.put(e)
	if !full {
		return
	}
	g.Log.Warn("the bot does not keep up: the oldest event was dropped", "dropped", g.waiting.lost())
	if !lost.late && g.Overdue != nil {
		g.Overdue([]turn.Event{lost.event})
	}
}

// forward moves events from the queue to the bot until ctx is done.
func (g *Gateway) forward(ctx context.Context) {
	for {
		if g.waiting.holdsMissed() && !g.confirm(ctx) {
			return
		}
		batch := g.waiting.take(ctx)
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			g.Place(&batch[i])
		}
		if !g.handOut(ctx, batch) {
			return
		}
	}
}

// confirm hands out an empty batch, unless events come first. The bot takes it when it has stored missed messages. The keeper then saves
// that they need not be asked for again. A program that ends every few seconds would otherwise ask for ever more of them. It reports false
// when ctx is done.
func (g *Gateway) confirm(ctx context.Context) bool {
	for g.waiting.idle() {
		select {
		case <-ctx.Done():
			return false
		case <-g.waiting.wake:
		case g.events <- nil:
			g.waiting.stored()
			g.saveSoon()
			return true
		}
	}
	return true
}

// saveSoon asks the keeper to save the sessions.
func (g *Gateway) saveSoon() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// overdueAfter is how long an event may wait for the bot until the bot is told. overdueEvery is how often that is checked.
const (
	overdueAfter = 6 * time.Second
	overdueEvery = time.Second
)

// handOut waits until the bot takes a batch. It reports false when ctx is done.
func (g *Gateway) handOut(ctx context.Context, batch []turn.Event) bool {
	var check <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case g.events <- batch:
			g.waiting.handOut()
			return true
		default:
		}
		if check == nil { // most batches are taken at once
			ticks := time.NewTicker(overdueEvery)
			defer ticks.Stop()
			check = ticks.C
		}
		select {
		case <-ctx.Done():
			return false
		case g.events <- batch:
			g.waiting.handOut()
			return true
		case <-check:
			if late := g.waiting.overdue(batch); len(late) > 0 && g.Overdue != nil {
				g.Log.Warn("the bot takes no events", "waiting", len(late))
				g.Overdue(late)
			}
		}
	}
}

// queue is between the reader of the gateway, which must not wait, and the bot, which may be busy. When it is full the
// oldest event is dropped and counted, because an answer to it would come too late. Its author is told.
//
// It also tracks how far the bot has followed the gateway, so that a restart misses nothing.
type queue struct {
	wake chan struct{} // holds one token while the queue may not be empty

	mu      sync.Mutex
	waiting []queued // guarded by mu, as is all that follows
	max     int
	dropped int
	current []queued    // being handed to the bot
	latest  []handedOut // handed to the bot, which may not have stored them yet; oldest first
	holds   []*position // gaps that are being filled
}

// queued is one waiting event.
type queued struct {
	event turn.Event
	from  position // where the gateway's reader was; zero: a RESUME would not send the event again
	came  time.Time
	late  bool // it was returned by overdue
}

// position is a place in what the gateway sends.
type position struct {
	shard   *Shard
	session int   // number of the session; noSession: a gap between two sessions
	seq     int64 // the event's number in the session
	mark    Flake // the latest message seen before
}

const noSession = -1

// handedOut is a batch of events that the bot has taken.
type handedOut struct {
	events []queued // without the events themselves
	at     time.Time
}

// mostTogether is how many events the bot gets, and stores, at once.
const mostTogether = 100

// Times after which a batch that was handed out is certainly stored. settledLast is for the last batch, which no other
// followed.
const (
	settled     = 10 * time.Second
	settledLast = time.Minute
)

func newQueue(size int) *queue { return &queue{wake: make(chan struct{}, 1), max: size} }

// put adds an event. full reports whether the oldest event, lost, was dropped for it.
func (q *queue) put(e queued) (lost queued, full bool) {
	q.mu.Lock()
	if full = len(q.waiting) >= q.max; full {
		lost = q.waiting[0]
		q.waiting = q.waiting[1:]
		q.dropped++
	}
	e.came = time.Now()
	q.waiting = append(q.waiting, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return lost, full
}

// take waits for events and returns them. It returns none when ctx is done. The caller must call handOut when the bot
// has them.
func (q *queue) take(ctx context.Context) (batch []turn.Event) {
	for {
		q.mu.Lock()
		n := min(len(q.waiting), mostTogether)
		q.current = slices.Clone(q.waiting[:n])
		clear(q.waiting[:n])
		q.waiting = q.waiting[n:]
		for i := range q.current {
			batch = append(batch, q.current[i].event)
			q.current[i].event = turn.Event{}
		}
		q.mu.Unlock()
		if n > 0 {
			return batch
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
	}
}

// overdue returns the events that have waited too long, each once. They are those of the batch that is being handed out, and those behind
// it.
func (q *queue) overdue(batch []turn.Event) (late []turn.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for i := range q.current {
		if e := &q.current[i]; !e.late && now.Sub(e.came) >= overdueAfter {
			e.late, late = true, append(late, batch[i])
		}
	}
	for i := range q.waiting {
		if e := &q.waiting[i]; !e.late && now.Sub(e.came) >= overdueAfter {
			e.late, late = true, append(late, e.event)
		}
	}
	return late
}

// handOut records that the bot has the events that were taken.
func (q *queue) handOut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settle()
	q.latest = append(q.latest, handedOut{q.current, time.Now()})
	q.current = nil
}

// holdsMissed reports whether the bot has been handed messages that no session brought, and may not have stored them.
func (q *queue) holdsMissed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.latest, func(batch handedOut) bool {
		return slices.ContainsFunc(batch.events, func(e queued) bool { return e.from.session == noSession })
	})
}

// idle reports whether no event waits.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) == 0
}

// stored records that the bot has stored all that it was handed.
func (q *queue) stored() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.latest = nil
}

// settle forgets events that the bot has certainly stored. The caller holds mu.
func (q *queue) settle() {
	for len(q.latest) > 1 && time.Since(q.latest[0].at) >= settled || len(q.latest) == 1 && time.Since(q.latest[0].at) >= settledLast {
		q.latest = q.latest[1:]
	}
}

// reach records how far a shard's reader is. All earlier events have been put.
func (q *queue) reach(s *Shard, p position) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.reached = p
}

// hold keeps the mark at a gap that is being filled, until release is called.
func (q *queue) hold(at position) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := &position{shard: at.shard, session: noSession, mark: at.mark}
	q.holds = append(q.holds, held)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.holds = slices.DeleteFunc(q.holds, func(other *position) bool { return other == held })
	}
}

// forget ends the gaps of a shard that were being filled when this process lost it.
func (q *queue) forget(s *Shard) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holds = slices.DeleteFunc(q.holds, func(held *position) bool { return held.shard == s })
}

// position returns how far the bot has followed a shard. If the session is resumed there, every later event comes again. Without a session,
// every message after the mark is asked for. whole is false if a RESUME would miss events. Some of an older session, a gap or another set
// of shards have not reached the bot yet.
func (q *queue) position(s *Shard) (p position, whole bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, whole = s.reached, true
	one := func(from position) {
		switch {
		case from.session == 0 || from.shard != s && from.shard.set == s.set:
			return
		case from.session != p.session:
			whole = false
		default:
			p.seq = min(p.seq, from.seq-1)
		}
		p.mark = min(p.mark, from.mark)
	}
	consider := func(events []queued) {
		for i := range events {
			one(events[i].from)
		}
	}
	for _, held := range q.holds {
		one(*held)
	}
	q.settle()
	for _, batch := range q.latest {
		consider(batch.events)
	}
	consider(q.current)
	consider(q.waiting)
	return p, whole
}

// mark returns the latest message that the bot certainly has from every shard of a set. It returns 0 if none had a session.
func (q *queue) mark(of *set) (mark Flake) {
	for _, member := range of.members {
		if p, _ := q.position(member); p.mark > 0 && (mark == 0 || p.mark < mark) {
			mark = p.mark
		}
	}
	return mark
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
