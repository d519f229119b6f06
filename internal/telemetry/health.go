package telemetry

import (
	"context"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	fresh         = time.Second     // lifetime of a result, so that frequent requests cost nothing
	checkLimit    = 2 * time.Second // for all checks together
	turnHolds     = 2 * time.Minute // lifetime of what a turn showed about the model
	probeEvery    = 30 * time.Second
	probePatience = 1500 * time.Millisecond
)

// Health decides whether the process can answer people. Set its fields before the first call.
type Health struct {
	Gateway func() turn.Gateway
	Store   func(ctx context.Context) error // returns an error if nothing can be stored
	// Probe sends the model's server a request that costs nothing. nil: no model is configured, and answers come from
	// lookups alone.
	Probe  func(ctx context.Context) error
	Redact func(string) string

	checks sync.WaitGroup // running checks of the store

	mu     sync.Mutex // held during checks, so that they run once for all callers
	last   Readiness  // guarded by mu
	asked  time.Time  // guarded by mu: time of last
	asking chan error // guarded by mu: result of a running check of the store; nil: none is running
	probed time.Time  // guarded by mu
	probe  string     // guarded by mu: error of the last probe; empty: none

	seen  sync.Mutex
	model string    // guarded by seen: error of the last turn's model; empty: none
	heard time.Time // guarded by seen: time of that turn
}

// Readiness says whether the bot can answer people.
type Readiness struct {
	Ready  bool             `json:"ready"`
	Checks map[string]Check `json:"checks"` // by name: gateway, store, model
}

// Check is the result of one check.
type Check struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// Turn records what a finished turn shows about the model.
func (h *Health) Turn(t *turn.Trace) {
	if t.Phase == turn.Interrupted || t.Finish == "" && t.Err == "" {
		return
	}
	h.seen.Lock()
	defer h.seen.Unlock()
	h.heard, h.model = time.Now(), ""
	if t.Finish == "" {
		h.model = t.Err
	}
}

// Ready checks whether the bot can answer people.
func (h *Health) Ready(ctx context.Context) Readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) < fresh && !h.asked.IsZero() {
		return h.last
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	r := Readiness{Ready: true, Checks: map[string]Check{"gateway": h.gateway(), "store": h.store(ctx), "model": h.modelCheck(ctx)}}
	for name, c := range r.Checks {
		r.Ready = r.Ready && c.OK
		if h.Redact != nil {
			c.Reason = h.Redact(c.Reason)
			r.Checks[name] = c
		}
	}
	if ctx.Err() == nil { // the caller may have left
		h.last, h.asked = r, time.Now()
	}
	return r
}

func (h *Health) gateway() Check {
	g := h.Gateway()
	switch {
	case g.Connected:
		return Check{OK: true}
	case g.Trouble != "":
		return Check{Reason: "not connected to Discord: " + g.Trouble}
	}
	return Check{Reason: "not connected to Discord yet"}
}

// store checks the store until ctx ends. A slower check continues, and the next call waits for it. h.mu is held.
func (h *Health) store(ctx context.Context) Check {
	if h.asking == nil {
		said := make(chan error, 1)
		h.asking = said
		h.checks.Go(func() { said <- h.Store(context.WithoutCancel(ctx)) })
	}
	select {
	case err := <-h.asking:
		h.asking = nil
		if err != nil {
			return Check{Reason: err.Error()}
		}
		return Check{OK: true}
	case <-ctx.Done():
		return Check{Reason: "the database takes no writes: it has not answered in time"}
	}
}

// Wait returns when no check is running.
func (h *Health) Wait() { h.checks.Wait() }

// modelCheck uses the last turn if it is recent, else an occasional probe. h.mu is held.
func (h *Health) modelCheck(ctx context.Context) Check {
	if h.Probe == nil {
		return Check{OK: true, Reason: "none is configured: answers are made from lookups alone"}
	}
	h.seen.Lock()
	failure, heard := h.model, h.heard
	h.seen.Unlock()
	if !heard.IsZero() && time.Since(heard) < turnHolds {
		return checked("the last answer failed: ", failure)
	}
	if h.probed.IsZero() || time.Since(h.probed) >= probeEvery {
		ctx, cancel := context.WithTimeout(ctx, probePatience)
		defer cancel()
		err := h.Probe(ctx)
		h.probed, h.probe = time.Now(), ""
		if err != nil {
			h.probe = err.Error()
		}
	}
	return checked("its server: ", h.probe)
}

func checked(what, failure string) Check {
	if failure == "" {
		return Check{OK: true}
	}
	return Check{Reason: what + failure}
}
