package backends

import (
	"context"
	"sync"
	"time"
)

// token is what a service gives for a key, for a while. One search fetches it and those that come meanwhile wait for
// that one: they share what it gets, be it a refusal.
type token struct {
	// fetch asks the service. It is called by one search at a time, under that search's deadline.
	fetch func(ctx context.Context) (value string, lasts time.Duration, err error)
	// turn holds one thing while somebody fetches.
	turn chan struct{}

	mu      sync.Mutex
	value   string    // guarded by mu
	expires time.Time // guarded by mu
	err     error     // guarded by mu: of the last fetch
	fetched int       // guarded by mu: how often there was an outcome, so that who waited knows one that is new
}

func newToken(fetch func(ctx context.Context) (string, time.Duration, error)) *token {
	return &token{fetch: fetch, turn: make(chan struct{}, 1)}
}

// get returns a token that is not the refused one.
func (t *token) get(ctx context.Context, refused string) (string, error) {
	value, before, _ := t.last(refused)
	if value != "" {
		return value, nil
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.turn }()
	value, now, err := t.last(refused)
	if value != "" || now != before && err != nil {
		return value, err
	}
	value, lasts, err := t.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return "", err // this search's own end, which is no news for the others
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.expires, t.err = value, time.Now().Add(lasts), err
	t.fetched++
	return value, err
}

// last is the token if it is good, how many fetches there were, and how the last of them failed.
func (t *token) last(refused string) (value string, fetched int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value != refused && time.Now().Before(t.expires) {
		value = t.value
	}
	return value, t.fetched, t.err
}
