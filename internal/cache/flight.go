package cache

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrClosed is the error of [Group.Join] and [Group.Do] after [Group.Close].
var ErrClosed = errors.New("closed")

// Group runs work once for all concurrent callers with the same key. The zero value is ready. A Group is safe for
// concurrent use.
//
// It differs from golang.org/x/sync/singleflight when callers leave. The work outlives the caller who started it, and
// its context is cancelled when the last caller leaves.
type Group[K comparable, V any] struct {
	Timeout time.Duration // limit of each piece of work; 0: none

	running sync.WaitGroup // one per flight

	mu      sync.Mutex
	closed  bool             // guarded by mu
	flights map[K]*flight[V] // guarded by mu
}

// flight is one piece of work.
type flight[V any] struct {
	cancel  context.CancelFunc
	waiting []*func(V) // guarded by Group.mu: receivers of the result
}

// Join adds a caller to the work for key. deliver receives the result once, unless leave was called first; it must not
// block. If no work for key is running, begin returns it, or an error that Join returns. The work's context has the
// values of ctx, but ends only after Timeout or when all callers have left. Neither deliver nor begin may call the
// group. Leaving twice, or after the result, does nothing.
func (g *Group[K, V]) Join(ctx context.Context, key K, deliver func(V), begin func() (work func(context.Context) V, err error)) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	f := g.flights[key]
	if f == nil {
		work, err := begin()
		if err != nil {
			return nil, err
		}
		f = g.start(ctx, key, work)
	}
	f.waiting = append(f.waiting, &deliver)
	return func() { g.leave(key, f, &deliver) }, nil
}

// Do runs work once for all concurrent callers with the same key and returns its result. ctx limits this caller's wait;
// the work's context is as for Join. The error is the cause of ctx's end, or ErrClosed.
func (g *Group[K, V]) Do(ctx context.Context, key K, work func(context.Context) V) (V, error) {
	var none V
	result := make(chan V, 1)
	begin := func() (func(context.Context) V, error) { return work, nil }
	leave, err := g.Join(ctx, key, func(v V) { result <- v }, begin)
	if err != nil {
		return none, err
	}
	defer leave()
	select {
	case v := <-result:
		return v, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// start starts a flight. g.mu is held.
func (g *Group[K, V]) start(ctx context.Context, key K, work func(context.Context) V) *flight[V] {
	ctx = context.WithoutCancel(ctx)
	var cancel context.CancelFunc
	if g.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, g.Timeout)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	f := &flight[V]{cancel: cancel}
	if g.flights == nil {
		g.flights = map[K]*flight[V]{}
	}
	g.flights[key] = f
	g.running.Go(func() {
		defer cancel()
		v := work(ctx)
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, deliver := range f.waiting {
			(*deliver)(v)
		}
		f.waiting = nil
		g.forget(key, f)
	})
	return f
}

// leave removes a caller and cancels the work if it was the last. The next caller starts the work again.
func (g *Group[K, V]) leave(key K, f *flight[V], deliver *func(V)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.waiting = slices.DeleteFunc(f.waiting, func(d *func(V)) bool { return d == deliver })
	if len(f.waiting) == 0 {
		f.cancel()
		g.forget(key, f)
	}
}

// forget removes a flight, so that the next caller starts new work. g.mu is held.
func (g *Group[K, V]) forget(key K, f *flight[V]) {
	if g.flights[key] == f {
		delete(g.flights, key)
	}
}

// Wait returns when no work is running. Abandoned work may continue until it notices the cancellation.
func (g *Group[K, V]) Wait() { g.running.Wait() }

// Close cancels all work and waits for it. Waiting callers still get a result; later callers get ErrClosed.
func (g *Group[K, V]) Close() {
	g.mu.Lock()
	g.closed = true
	for _, f := range g.flights {
		f.cancel()
	}
	g.mu.Unlock()
	g.running.Wait()
}
