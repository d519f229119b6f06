package prompt

import (
	"context"
	"sync"
)

// strays counts the calls that were given up and are still running, so that a provider that hangs in every
// turn cannot gather goroutines without end, and so that shutdown can wait for them.
type strays struct {
	mu    sync.Mutex
	by    map[string]int // guarded by mu: provider → its strays; nil until the first
	total int            // guarded by mu
	none  chan struct{}  // guarded by mu: closed when total falls to 0; made when it leaves 0
}

// mayCall reports whether the provider has room for another call.
func (s *strays) mayCall(provider string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[provider] < maxStrays
}

// giveUp makes c a stray. It returns false if c has ended in the meantime.
func (s *strays) giveUp(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over {
		return false
	}
	c.givenUp = true
	if s.total == 0 {
		s.none = make(chan struct{})
	}
	if s.by == nil {
		s.by = make(map[string]int)
	}
	s.by[c.provider]++
	s.total++
	return true
}

// finish notes that c has ended. It returns false if c had been given up.
func (s *strays) finish(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.over = true
	if !c.givenUp {
		return true
	}
	s.by[c.provider]--
	s.total--
	if s.total == 0 {
		close(s.none)
	}
	return false
}

func (s *strays) wait(ctx context.Context) error {
	s.mu.Lock()
	none, total := s.none, s.total
	s.mu.Unlock()
	if total == 0 {
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
