package fetch

import (
	"context"
	"familiar/internal/context/turn"
	"sync"
)

// flights lets callers that want the same thing at the same time share the work. A flight belongs to everybody who
// waits for it: it outlives the caller who started it, and ends when the last one leaves.
type flights[V any] struct {
	base    context.Context // parent of every flight's
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool                  // guarded by mu
	m      map[string]*flight[V] // guarded by mu
}

type flight[V any] struct {
	waiting int // guarded by flights.mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when v is set
	v       V
}

func newFlights[V any]() *flights[V] {
	g := &flights[V]{m: make(map[string]*flight[V])}
	g.base, g.stop = context.WithCancel(context.Background())
	return g
}

// close ends every flight and waits for them; do fails afterwards.
func (g *flights[V]) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.running.Wait()
}

// do returns what work returns, run once for all concurrent callers with this key. work's context is not ctx, which
// only bounds the wait. The error says why this caller stopped waiting.
func (g *flights[V]) do(ctx context.Context, key string, work func(context.Context) V) (V, *Error) {
	var none V
	fl := g.join(key, work)
	if fl == nil {
		return none, fail(turn.CodeCanceled)
	}
	defer g.leave(key, fl)
	select {
	case <-fl.done:
		return fl.v, nil
	case <-ctx.Done():
		return none, fromContext(ctx)
	}
}

func (g *flights[V]) join(key string, work func(context.Context) V) *flight[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	if fl, ok := g.m[key]; ok {
		fl.waiting++
		return fl
	}
	ctx, cancel := context.WithCancel(g.base)
	fl := &flight[V]{waiting: 1, cancel: cancel, done: make(chan struct{})}
	g.m[key] = fl
	g.running.Go(func() {
		defer close(fl.done)
		fl.v = work(ctx)
		g.forget(key, fl)
	})
	return fl
}

// leave cancels a flight that nobody waits for and makes room for a new one: its own result is but a cancellation.
func (g *flights[V]) leave(key string, fl *flight[V]) {
	g.mu.Lock()
	fl.waiting--
	last := fl.waiting == 0
	g.mu.Unlock()
	if last {
		g.forget(key, fl)
		fl.cancel()
	}
}

func (g *flights[V]) forget(key string, fl *flight[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m[key] == fl {
		delete(g.m, key)
	}
}
