package main

import (
	"context"
	"sync"
	"time"
)

// leaseIdle is how long the program stays open when nobody uses it.
const leaseIdle = 3 * time.Second

// lease is a program that is open while somebody uses it and a little longer. A server that runs for days must not keep the data from
// `familiar run`.
type lease struct {
	open  func(context.Context) (*app, error)
	using sync.WaitGroup // those who have taken it

	mu    sync.Mutex // guards what follows; held while the program is opened or closed
	app   *app       // nil: it is closed
	users int
	idle  *time.Timer // closes it; nil: nobody has used it yet
	ended bool
}

// take opens the program, or returns the one that is open. The caller must give it back.
func (l *lease) take(ctx context.Context) (*app, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, context.Canceled
	}
	if l.app == nil {
		a, err := l.open(ctx)
		if err != nil {
			return nil, err
		}
		l.app = a
	}
	l.users++
	l.using.Add(1)
	return l.app, nil
}

func (l *lease) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.using.Done()
	if l.users--; l.users > 0 || l.ended {
		return
	}
	if l.idle == nil {
		l.idle = time.AfterFunc(leaseIdle, l.rest)
	} else {
		l.idle.Reset(leaseIdle)
	}
}

// rest closes the program if nobody uses it.
func (l *lease) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == 0 {
		l.close()
	}
}

// end waits until nobody uses the program any more, and closes it for good. Those who do must have been told to stop.
func (l *lease) end() error {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.using.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		l.idle.Stop()
	}
	return l.close()
}

// close is called with mu held.
func (l *lease) close() error {
	if l.app == nil {
		return nil
	}
	a := l.app
	l.app = nil
	err := a.close()
	if err != nil {
		a.log.Error("close the data", "err", err)
	}
	return err
}
