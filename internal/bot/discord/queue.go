package discord

import (
	"context"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

// queue stands between the gateway's reader, which must not wait, and the bot, which may be busy. When it is full the
// oldest event is lost and counted: an answer to it would come too late anyway.
//
// It also knows how far the bot has followed the gateway, so that after a restart nothing is left out.
type queue struct {
	wake chan struct{} // holds one token while there may be something to take

	mu      sync.Mutex
	waiting []queued // guarded by mu, as is all that follows
	max     int
	dropped int
	current *queued     // is being handed to the bot; nil: none
	latest  []handedOut // were handed to the bot, which may not have kept them yet; the oldest first
	reached position    // of the gateway's reader
	holds   []snowflake // marks of the gaps that are being filled
}

// queued is one event that waits.
type queued struct {
	event turn.Event
	from  position // where the gateway's reader was; the zero position: an event that would not come again
}

// position is a place in what the gateway sends.
type position struct {
	session int       // counts the sessions; noSession: of none of them, but of a gap between two
	seq     int64     // the event's number in it
	mark    snowflake // the latest message that was seen before
}

const noSession = -1

// handedOut is an event that the bot has.
type handedOut struct {
	from position
	at   time.Time
}

// An event that was handed out may not be on disk yet: it is, when this much time has passed, or more where no other followed.
const (
	settled     = 10 * time.Second
	settledLast = time.Minute
)

func newQueue(size int) *queue { return &queue{wake: make(chan struct{}, 1), max: size} }

// put adds an event and reports whether another one was lost for it.
func (q *queue) put(e queued) (lost bool) {
	q.mu.Lock()
	if lost = len(q.waiting) >= q.max; lost {
		q.waiting = q.waiting[1:]
		q.dropped++
	}
	q.waiting = append(q.waiting, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return lost
}

// take waits until there is an event and returns it; false when ctx is done. handOut must follow when the bot has it.
func (q *queue) take(ctx context.Context) (turn.Event, bool) {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 {
			next := q.waiting[0]
			q.waiting[0] = queued{}
			q.waiting, q.current = q.waiting[1:], &next
			q.mu.Unlock()
			return next.event, true
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return turn.Event{}, false
		case <-q.wake:
		}
	}
}

// handOut notes that the bot has the event that was taken.
func (q *queue) handOut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settle()
	q.latest = append(q.latest, handedOut{q.current.from, time.Now()})
	q.current = nil
}

// settle forgets the events that the bot surely has kept. Its caller holds mu.
func (q *queue) settle() {
	for len(q.latest) > 1 && time.Since(q.latest[0].at) >= settled || len(q.latest) == 1 && time.Since(q.latest[0].at) >= settledLast {
		q.latest = q.latest[1:]
	}
}

// reach notes how far the gateway's reader is. All events before that have been put.
func (q *queue) reach(p position) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reached = p
}

// hold keeps the position at a gap that is being filled, until release is called.
func (q *queue) hold(mark snowflake) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holds = append(q.holds, mark)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if i := slices.Index(q.holds, mark); i >= 0 {
			q.holds = slices.Delete(q.holds, i, i+1)
		}
	}
}

// position returns how far the bot has followed the gateway: every event after it comes again when the session is resumed there,
// and every message after its mark when none is. whole is false where a RESUME would leave something out, because events of an
// older session or of a gap are not with the bot yet.
func (q *queue) position() (p position, whole bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, whole = q.reached, len(q.holds) == 0
	for _, mark := range q.holds {
		p.mark = min(p.mark, mark)
	}
	consider := func(from position) {
		switch {
		case from.session == 0:
			return
		case from.session != p.session:
			whole = false
		default:
			p.seq = min(p.seq, from.seq-1)
		}
		p.mark = min(p.mark, from.mark)
	}
	q.settle()
	for _, e := range q.latest {
		consider(e.from)
	}
	if q.current != nil {
		consider(q.current.from)
	}
	for i := range q.waiting {
		consider(q.waiting[i].from)
	}
	return p, whole
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
