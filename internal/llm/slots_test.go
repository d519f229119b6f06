package llm_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
)

func in(lane string) llm.Request {
	r := hello()
	r.Lane = lane
	return r
}

// One lane asks twenty times before another asks once.
func TestSlotsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, script(t, "wait 1s\nsay hi"))
		c.Slots = &llm.Slots{Limit: 2}
		var wg sync.WaitGroup
		ask := func(lane string, within time.Duration) {
			wg.Go(func() {
				began := time.Now()
				if _, err := c.Complete(t.Context(), in(lane)); err != nil {
					t.Error(err)
				} else if took := time.Since(began); took > within {
					t.Errorf("%s took %v, want at most %v", lane, took, within)
				}
			})
			synctest.Wait()
		}
		for range 20 {
			ask("busy", 11*time.Second)
		}
		ask("quiet", 2*time.Second) // both slots are taken for a second; then it is among the first two
		wg.Wait()
	})
}

// Many channels ask with the default limit.
func TestManyRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := script(t, "wait 1s\nsay hi")
		c := connect(t, srv)
		var wg sync.WaitGroup
		for range 80 {
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := srv.Busiest(); n != 64 {
			t.Errorf("%d requests at once, want 64", n)
		}
	})
}

// All slots are taken by requests that the server never answers.
func TestHangingRequestGivesUpItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, script(t, "when \"hang\"\nwait 1h\nwhen \"Hello\"\nsay hi"))
		c.Slots = &llm.Slots{Limit: 4}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				r := llm.Request{Messages: []turn.Rendered{{Role: "user", Text: "hang"}}}
				if _, err := c.Complete(t.Context(), r); kindOf(err) != llm.Timeout {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if a, err := c.Complete(t.Context(), hello()); err != nil || a.Text != "hi" {
			t.Errorf("%q, %v", a.Text, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		wg.Wait()
	})
}

// Requests are cancelled in every state; then all slots are needed at once.
func TestSlotsAreAllGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := script(t, "wait 1s\nsay hi")
		c := connect(t, srv)
		c.Slots = &llm.Slots{Limit: 3}
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*500*time.Millisecond)
				defer cancel()
				if _, err := c.Complete(ctx, in(strings.Repeat("x", i%5))); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		began := time.Now()
		for range 3 {
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("three requests took %v together", took)
		}
	})
}

func TestFirstToken(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		took   time.Duration // 0: answered
	}{
		"nothing":                         {"wait 1h\nsay late", 20 * time.Second},
		"the headers and nothing":         {"comment 1\nwait 1h\nsay late", 20 * time.Second},
		"a slow word after the first":     {"say one\nwait 50s\nsay two", 0},
		"comments, and at last an answer": {strings.Repeat("comment 1\nwait 15s\n", 4) + "say here", 0},
		"thoughts, and at last an answer": {"think hm\nwait 50s\nsay here", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := connect(t, script(t, c.script)).Complete(t.Context(), hello())
				if c.took == 0 && err != nil {
					t.Error(err)
				}
				if took := time.Since(began); c.took != 0 && (kindOf(err) != llm.Timeout || took != c.took) {
					t.Errorf("took %v, error %v", took, err)
				}
			})
		})
	}
}
