package rest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(50)
		begun := time.Now()
		for range 30 {
			if err := p.Wait(t.Context(), "GET x", Create); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun).Round(time.Millisecond); took != 500*time.Millisecond { // ten at once, then 40 a second
			t.Errorf("30 requests in %v", took)
		}
	})
}

func TestBucket(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"channels/1/messages/2":             "PATCH channels/1/messages/*",
		"channels/1/messages":               "PATCH channels/1/messages",
		"webhooks/1/tok/messages/@original": "PATCH webhooks/1/tok/messages/@original",
		"interactions/1/tok/callback":       "interactions/",
	} {
		if got := Bucket("PATCH", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestRanks has requests of all ranks wait at once.
func TestRanks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(5) // four a second, one at once
		if !p.Try("POST typing") || p.Try("POST typing") {
			t.Error("one request is allowed at once")
		}
		var mu sync.Mutex
		var order []Rank
		var all sync.WaitGroup
		for _, r := range []Rank{Back, Edit, Create, Edit, Final, Create} {
			all.Go(func() {
				if err := p.Wait(t.Context(), "x", r); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, r)
			})
		}
		synctest.Wait()
		given, cancel := context.WithCancel(t.Context())
		for range 100 { // they leave before they are admitted
			all.Go(func() { _ = p.Wait(given, "x", Create) })
		}
		synctest.Wait()
		cancel()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := p.Wait(short, "x", Back); !errors.As(err, new(*Error)) || time.Since(begun) > 0 {
			t.Errorf("a place that comes too late: %v after %v", err, time.Since(begun))
		}
		all.Wait()
		if !slices.Equal(order, []Rank{Create, Create, Final, Edit, Edit, Back}) {
			t.Errorf("order %v", order)
		}
		if took := time.Since(begun); took != 1500*time.Millisecond {
			t.Errorf("six requests in %v", took)
		}
	})
}
