package metrics

import (
	"context"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	fresh         = time.Second     // for which an answer about readiness holds: whoever asks often costs nothing
	checkLimit    = 2 * time.Second // for all checks together
	turnHolds     = 2 * time.Minute // for which what a turn showed of the model holds
	probeEvery    = 30 * time.Second
	probePatience = 1500 * time.Millisecond
)

// Health decides whether the process can answer people. Its fields are set before the first call.
type Health struct {
	Gateway func() Gateway
	Store   func(ctx context.Context) error // says why nothing can be kept
	// Probe asks the model's server something that costs nothing. nil: no model is configured, and answers are made from lookups alone.
	Probe  func(ctx context.Context) error
	Redact func(string) string

	checks sync.WaitGroup // of the store that go on

	mu     sync.Mutex // held while the checks run, so that they run once for all who ask
	last   Readiness  // guarded by mu
	asked  time.Time  // guarded by mu: when last was made
	asking chan error // guarded by mu: what the store says to a check that goes on; nil: none does
	probed time.Time  // guarded by mu
	probe  string     // guarded by mu: what the last probe failed from; empty: it did not

	seen  sync.Mutex
	model string    // guarded by seen: what the last turn's model failed from; empty: it did not
	heard time.Time // guarded by seen: when that was
}

// Readiness is whether people are answered, and if not, why.
type Readiness struct {
	Ready  bool             `json:"ready"`
	Checks map[string]Check `json:"checks"` // by name: gateway, store, model
}

// Check is one of its reasons.
type Check struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// Turn notes what a turn that is over shows of the model.
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

// Ready looks whether people are answered.
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
	if ctx.Err() == nil { // who asked may have left
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

// store waits for the store no longer than ctx. A check that takes longer goes on, and is waited for by the next. h.mu is held.
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

// Wait returns when no check goes on any more.
func (h *Health) Wait() { h.checks.Wait() }

// modelCheck goes by the last turn as long as that is not long ago, and else by a probe now and then. h.mu is held.
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
