package fetch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// limiter bounds how many fetches run at once, in all and per host. A fetch holds at most one host at a time, so there
// is no deadlock.
type limiter struct {
	global  *semaphore.Weighted
	perHost int64

	mu    sync.Mutex
	hosts map[string]*hostLimiter // by canonical host, only hosts in use; guarded by mu
}

type hostLimiter struct {
	users int // holders and waiters; guarded by limiter.mu
	sem   *semaphore.Weighted
}

// acquire waits for a place in all; the error is ctx's. release must be called once if there was no error.
func (g *limiter) acquire(ctx context.Context) (release func(), err error) {
	if err := g.global.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return func() { g.global.Release(1) }, nil
}

// acquireHost waits for a place at host.
func (g *limiter) acquireHost(ctx context.Context, host string) (release func(), err error) {
	g.mu.Lock()
	h, ok := g.hosts[host]
	if !ok {
		h = &hostLimiter{sem: semaphore.NewWeighted(g.perHost)}
		g.hosts[host] = h
	}
	h.users++
	g.mu.Unlock()
	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(g.hosts, host)
		}
	}
	if err := h.sem.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() {
		h.sem.Release(1)
		leave()
	}, nil
}
