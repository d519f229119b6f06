package backends

import (
	"context"
	"sync"
	"time"
)

// token is what a service gives for a key, for a while. One search fetches it, and those that come meanwhile share what
// that one gets, be it a refusal.
type token struct {
	// fetch asks the service. It is called by one search at a time, under that search's deadline.
	fetch func(ctx context.Context) (value string, lasts time.Duration, err error)
	// fetching holds one element while a search fetches: a lock that a search waits for no longer than it lasts.
	fetching chan struct{}

	mu      sync.Mutex
	value   string    // guarded by mu
	expires time.Time // guarded by mu
	err     error     // guarded by mu: of the last fetch
	fetches int       // guarded by mu: those that ended, so that a search that waited can tell whether err is new
}

func newToken(fetch func(ctx context.Context) (string, time.Duration, error)) *token {
	return &token{fetch: fetch, fetching: make(chan struct{}, 1)}
}

// get returns a token other than the one that was refused.
func (t *token) get(ctx context.Context, refused string) (string, error) {
	value, before, _ := t.last(refused)
	if value != "" {
		return value, nil
	}
	select {
	case t.fetching <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.fetching }()
	value, now, err := t.last(refused)
	if value != "" || now != before && err != nil {
		return value, err
	}
	value, lasts, err := t.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return "", err // this search ended, which says nothing to the others
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.expires, t.err = value, time.Now().Add(lasts), err
	t.fetches++
	return value, err
}

// last is the token if it is good, how many fetches have ended, and the error of the last.
func (t *token) last(refused string) (value string, fetches int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value != refused && time.Now().Before(t.expires) {
		value = t.value
	}
	return value, t.fetches, t.err
}
