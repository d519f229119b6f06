package backends

import (
	"sync"
	"time"

	"familiar/internal/context/turn"
)

// pause keeps a backend from asking while its service wants to be left alone. Some services lock out clients that go on
// asking, for longer each time.
type pause struct {
	mu    sync.Mutex
	until time.Time // guarded by mu
	code  turn.Code // guarded by mu: what it is for, Quota or RateLimited
}

// maxPause is how long a service may ask to be left alone: nonsense must not switch it off for good.
const maxPause = 24 * time.Hour

// hold starts a pause, or lengthens the one there is.
func (p *pause) hold(code turn.Code, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(min(wait, maxPause)); until.After(p.until) {
		p.until, p.code = until, code
	}
}

// check says why the service must not be asked now, or is nil.
func (p *pause) check(s *service) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := time.Until(p.until)
	if left <= 0 {
		return nil
	}
	failed := s.fail(p.code, "it asked to be left alone for a while")
	failed.RetryAfter = left.Round(time.Second)
	return failed
}
