package llm

import (
	"context"
	"slices"
	"sync"
)

// Slots limits the concurrent requests to one server. A free slot goes to the lane that has waited longest for a turn,
// however many requests the other lanes have. Clients of one server share one Slots. The zero value is ready. A Slots
// must not be copied after first use.
type Slots struct {
	// Limit is the number of concurrent requests. 0: 64. It must not change after first use.
	Limit int

	mu      sync.Mutex
	running int         // guarded by mu
	lanes   []slotQueue // guarded by mu; lanes with waiting requests, the next to get a slot first
}

const defaultSlots = 64

// slotQueue holds the waiting requests of one lane, in order.
type slotQueue struct {
	lane    string
	waiting []chan struct{} // closed when the request gets its slot
}

// acquire waits for a slot. If the error is nil, the caller must release the slot.
func (s *Slots) acquire(ctx context.Context, lane string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ready := s.enter(lane)
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	if !s.leave(lane, ready) {
		s.release() // it arrived at the same moment
	}
	return ctx.Err()
}

// enter takes a free slot or joins the lane's queue. The channel is closed once the request has its slot.
func (s *Slots) enter(lane string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := make(chan struct{})
	limit := s.Limit
	if limit <= 0 {
		limit = defaultSlots
	}
	if s.running < limit {
		s.running++
		close(ready)
		return ready
	}
	i := slices.IndexFunc(s.lanes, func(q slotQueue) bool { return q.lane == lane })
	if i < 0 {
		i = len(s.lanes)
		s.lanes = append(s.lanes, slotQueue{lane: lane})
	}
	s.lanes[i].waiting = append(s.lanes[i].waiting, ready)
	return ready
}

// leave removes a request from its queue and reports whether it was still there.
func (s *Slots) leave(lane string, ready chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.lanes, func(q slotQueue) bool { return q.lane == lane })
	if i < 0 {
		return false
	}
	q := &s.lanes[i]
	place := slices.Index(q.waiting, ready)
	if place < 0 {
		return false
	}
	if q.waiting = slices.Delete(q.waiting, place, place+1); len(q.waiting) == 0 {
		s.lanes = slices.Delete(s.lanes, i, i+1)
	}
	return true
}

// release frees the slot or passes it to the next lane, which then goes to the end of the line.
func (s *Slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lanes) == 0 {
		s.running--
		return
	}
	q := s.lanes[0]
	s.lanes = slices.Delete(s.lanes, 0, 1)
	close(q.waiting[0])
	if q.waiting = q.waiting[1:]; len(q.waiting) > 0 {
		s.lanes = append(s.lanes, q)
	}
}
