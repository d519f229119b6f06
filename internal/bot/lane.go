package bot

import (
	"context"
	"errors"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	laneLength  = 8                      // turns that may wait in a channel
	burstWindow = 600 * time.Millisecond // in which an author's next message belongs to the turn
)

var (
	errJoined  = errors.New("a further message joined the turn")
	errStopped = errors.New("a person stopped the answer")
)

// arrival is an event on its way through a lane.
type arrival struct {
	turn.Event
	at        time.Time
	addressed bool // asks for a turn
	skipped   bool // its turn was dropped because too many wait
}

// lanes gives each channel a lane while there is something to do in it.
type lanes struct {
	mu      sync.Mutex
	open    map[string]*lane // by channel; guarded by mu
	running sync.WaitGroup
}

// lane is one channel's queue: its arrivals are handled one by one, in order. Lanes don't wait for each other.
type lane struct {
	mu      sync.Mutex
	waiting []arrival   // guarded by mu
	active  *activeTurn // nil between turns; guarded by mu
	close   func() bool
}

// activeTurn is the turn that a lane is busy with. Its fields are guarded by lane.mu.
type activeTurn struct {
	author  string
	since   time.Time
	visible bool                    // a part of the reply has been posted: too late to start over
	joined  []arrival               // arrived since the attempt began
	cancel  context.CancelCauseFunc // ends the attempt; nil before the first
	over    chan struct{}           // closed when the turn is over and on record
}

// put hands an arrival to its channel's lane, opening the lane with drive if there is none.
func (ls *lanes) put(channelID string, a arrival, drive func(*lane)) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.open[channelID]; l != nil {
		l.put(a)
		return
	}
	if ls.open == nil {
		ls.open = make(map[string]*lane)
	}
	l := &lane{}
	l.close = func() bool { return ls.close(channelID, l) }
	l.put(a)
	ls.open[channelID] = l
	ls.running.Go(func() { drive(l) })
}

// close removes a lane, unless there is an arrival in it. It reports whether it did.
func (ls *lanes) close(channelID string, l *lane) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		return false
	}
	delete(ls.open, channelID)
	return true
}

// stop cancels the answer that is being given in a channel and reports whether there was one.
func (ls *lanes) stop(channelID string) (stopped bool) {
	ls.present(channelID, func(t *activeTurn) {
		if stopped = t.cancel != nil; stopped {
			t.cancel(errStopped)
		}
	})
	return stopped
}

// settled returns a channel that is closed when the turn that is being taken in a Discord channel is over; nil if there is none.
func (ls *lanes) settled(channelID string) (over <-chan struct{}) {
	ls.present(channelID, func(t *activeTurn) { over = t.over })
	return over
}

// present calls f with the turn that is being taken in a channel, under its lane's lock, if there is one.
func (ls *lanes) present(channelID string, f func(*activeTurn)) {
	ls.mu.Lock()
	l := ls.open[channelID]
	ls.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		f(l.active)
	}
}

func (ls *lanes) wait() { ls.running.Wait() }

func (l *lane) put(a arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.active; t != nil && t.accepts(a) {
		t.joined = append(t.joined, a)
		if t.cancel != nil {
			t.cancel(errJoined)
		}
		return
	}
	l.waiting = append(l.waiting, a)
	if a.addressed {
		l.dropOldest()
	}
}

// accepts reports whether an arrival belongs to the turn that is being taken: the author goes on writing.
func (t *activeTurn) accepts(a arrival) bool {
	return !t.visible && a.Kind == turn.Created && a.Message.Author.ID == t.author && a.at.Sub(t.since) <= burstWindow
}

// dropOldest marks the oldest waiting turn as skipped when too many wait. The message itself stays as history.
func (l *lane) dropOldest() {
	oldest, n := -1, 0
	for i := range l.waiting {
		if l.waiting[i].addressed && !l.waiting[i].skipped {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n > laneLength {
		l.waiting[oldest].skipped = true
	}
}

// next takes the arrivals that belong together out of the queue: one, or the burst of one author that an addressed message
// begins. What that author writes from now on joins the turn, until end or release.
func (l *lane) next() []arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		return nil
	}
	n, first := 1, l.waiting[0]
	if first.addressed && !first.skipped && first.Kind == turn.Created {
		for n < len(l.waiting) && first.goesOn(l.waiting[n]) {
			n++
		}
		l.active = &activeTurn{author: first.Message.Author.ID, since: first.at, over: make(chan struct{})}
	}
	batch := append([]arrival(nil), l.waiting[:n]...)
	l.waiting = append(l.waiting[:0], l.waiting[n:]...)
	return batch
}

func (a arrival) goesOn(next arrival) bool {
	return next.Kind == turn.Created && !next.skipped &&
		next.Message.Author.ID == a.Message.Author.ID && next.at.Sub(a.at) <= burstWindow
}

// begin starts an attempt at the turn and returns what joined it before. cancel ends the attempt when the author adds to
// the message or a person stops it.
func (l *lane) begin(cancel context.CancelCauseFunc) []arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil { // an edit asked for the turn: there is no burst to wait for
		l.active = &activeTurn{visible: true, over: make(chan struct{})}
	}
	joined := l.active.joined
	l.active.joined, l.active.cancel = nil, cancel
	return joined
}

// show reports whether the reply may be posted. From then on nothing joins the turn.
func (l *lane) show() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active.joined) > 0 {
		return false
	}
	l.active.visible = true
	return true
}

// end ends the turn, unless something joined it during the attempt. It reports whether it did.
func (l *lane) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active.joined) > 0 {
		return false
	}
	close(l.active.over)
	l.active = nil
	return true
}

// release gives up a turn that is not to be taken. What joined it waits again.
func (l *lane) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		l.waiting = append(l.active.joined, l.waiting...)
		close(l.active.over)
		l.active = nil
	}
}
