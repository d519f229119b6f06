package fetch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// gate bounds how many fetches run at once, in all and per host. Nobody ever holds two hosts, so nobody can wait for
// another in a circle.
type gate struct {
	global  *semaphore.Weighted
	perHost int64

	mu    *sync.Mutex
	hosts map[string]*hostGate // by canonical host, only hosts in use; guarded by mu
}

type hostGate struct {
	users int // holders and waiters; guarded by gate.mu
	sem   *semaphore.Weighted
}

func newGate(global, perHost int) gate {
	return gate{
		global:  semaphore.NewWeighted(int64(global)),
		perHost: int64(perHost),
		mu:      new(sync.Mutex),
		hosts:   make(map[string]*hostGate),
	}
}

// enter waits for a place in all; the error is ctx's. leave must be called once if there was no error.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if err := g.global.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return func() { g.global.Release(1) }, nil
}

// enterHost waits for a place at host.
func (g *gate) enterHost(ctx context.Context, host string) (leave func(), err error) {
	h := g.use(host)
	if err := h.sem.Acquire(ctx, 1); err != nil {
		g.unuse(host, h)
		return nil, err
	}
	return func() {
		h.sem.Release(1)
		g.unuse(host, h)
	}, nil
}

func (g *gate) use(host string) *hostGate {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.hosts[host]
	if !ok {
		h = &hostGate{sem: semaphore.NewWeighted(g.perHost)}
		g.hosts[host] = h
	}
	h.users++
	return h
}

func (g *gate) unuse(host string, h *hostGate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(g.hosts, host)
	}
}
