// Package flight lets callers that want the same thing at the same time share the work.
//
// It differs from golang.org/x/sync/singleflight in what happens when callers leave. The work belongs to everybody who
// waits for it: it outlives the caller who began it, and its context is cancelled when the last one leaves.
package flight

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrClosed is the error of [Group.Join] and [Group.Do] after [Group.Close].
var ErrClosed = errors.New("closed")

// Group is the work under way, by key. The zero value is ready to use; a Group is safe for concurrent use.
type Group[K comparable, V any] struct {
	Timeout time.Duration // that a piece of work has; 0: no limit but its own

	running sync.WaitGroup // one for each flight

	mu      sync.Mutex
	closed  bool             // guarded by mu
	flights map[K]*flight[V] // guarded by mu
}

// flight is one piece of work.
type flight[V any] struct {
	cancel  context.CancelFunc
	waiting []*func(V) // guarded by Group.mu: where the result goes
}

// Join adds a caller to the work for key. deliver is called once with its result, unless leave was called before; it
// must not block. Where nobody is at it, begin returns the work, or an error if it must not be done, which Join
// returns. The context of the work has the values of ctx, but ends only with Timeout or when all callers have left.
// Neither deliver nor begin may call the group. Leaving twice, or after the result, does nothing.
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

// Do returns the result of work, which runs once for all callers with the same key at the same time. ctx bounds the
// wait of this caller; the context of the work is that of Join. The error is the cause of ctx's end, or ErrClosed.
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

// start begins a flight. g.mu is held.
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

// leave cancels work that nobody waits for any more. Whoever comes next begins anew.
func (g *Group[K, V]) leave(key K, f *flight[V], deliver *func(V)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.waiting = slices.DeleteFunc(f.waiting, func(d *func(V)) bool { return d == deliver })
	if len(f.waiting) == 0 {
		f.cancel()
		g.forget(key, f)
	}
}

// forget makes room for new work. g.mu is held.
func (g *Group[K, V]) forget(key K, f *flight[V]) {
	if g.flights[key] == f {
		delete(g.flights, key)
	}
}

// Wait returns when no work is under way. Work that everybody has left may go on for as long as it takes to notice.
func (g *Group[K, V]) Wait() { g.running.Wait() }

// Close cancels all work and waits for it. Its callers still get its result; later ones get ErrClosed.
func (g *Group[K, V]) Close() {
	g.mu.Lock()
	g.closed = true
	for _, f := range g.flights {
		f.cancel()
	}
	g.mu.Unlock()
	g.running.Wait()
}
