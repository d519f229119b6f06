package discord

import (
	"context"
	"sync"

	"familiar/internal/context/turn"
)

// queue stands between the gateway's reader, which must not wait, and the bot, which may be busy. When it is full the
// oldest event is lost and counted: an answer to it would come too late anyway.
type queue struct {
	wake chan struct{} // holds one token while there may be something to take

	mu      sync.Mutex
	events  []turn.Event // guarded by mu
	max     int
	dropped int // guarded by mu
}

func newQueue(size int) *queue { return &queue{wake: make(chan struct{}, 1), max: size} }

// put adds an event and reports whether another one was lost for it.
func (q *queue) put(e turn.Event) (lost bool) {
	q.mu.Lock()
	if lost = len(q.events) >= q.max; lost {
		q.events = q.events[1:]
		q.dropped++
	}
	q.events = append(q.events, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return lost
}

// take waits until there are events and returns all of them; nil when ctx is done.
func (q *queue) take(ctx context.Context) []turn.Event {
	for {
		q.mu.Lock()
		events := q.events
		q.events = nil
		q.mu.Unlock()
		if len(events) > 0 {
			return events
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
	}
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
