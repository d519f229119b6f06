package store

import (
	"context"
	"sync"
)

// background is what goes on beside everything else, from start to end.
type background struct {
	stop    context.CancelFunc // nil: it has not begun
	running sync.WaitGroup
}

// start has run go on until end, which ends its context.
func (b *background) start(run func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.running.Go(func() { run(ctx) })
}

// end returns when nothing goes on any more.
func (b *background) end() {
	if b.stop != nil {
		b.stop()
	}
	b.running.Wait()
}
