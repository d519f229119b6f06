package llm

import (
	"context"
	"slices"
	"sync"
)

// Slots limits how many requests run at one server at once. It is fair between lanes: a freed slot goes to the lane that
// has waited longest for a turn, whoever else has more requests waiting. Clients of one server share one. The zero value
// is ready; it must not be copied after the first use.
type Slots struct {
	// Limit is how many requests may run at once. 0: 64. It must not change after the first use.
	Limit int

	mu      sync.Mutex
	running int         // guarded by mu
	lanes   []slotQueue // lanes with requests that wait, none empty; the first is the next to get a slot; guarded by mu
}

const defaultSlots = 64

// slotQueue is the requests of one lane that wait for a slot, in their order.
type slotQueue struct {
	lane    string
	waiting []chan struct{} // closed when the request has its slot
}

// acquire waits for a slot. The caller must release it, unless there is an error.
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
		s.release() // it came at the same moment
	}
	return ctx.Err()
}

// enter takes a slot, if one is free, or a place in the lane's queue. The channel is closed once there is a slot.
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

// leave gives up a place in a queue. It reports whether there still was one.
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

// release hands the slot to the next lane, which then waits behind all others, or frees it.
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
