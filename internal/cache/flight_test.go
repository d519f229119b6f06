package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/cache"
)

// Callers share work. It outlives the caller who started it and is cancelled when the last one leaves.
func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g cache.Group[string, string]
		begun, cancelled := 0, 0
		work := func() (func(context.Context) string, error) {
			begun++
			return func(ctx context.Context) string {
				select {
				case <-time.After(time.Second):
					return "done"
				case <-ctx.Done():
					cancelled++
					return "cancelled"
				}
			}, nil
		}
		join := func(ctx context.Context) (<-chan string, func()) {
			got := make(chan string, 1)
			leave, err := g.Join(ctx, "key", func(v string) { got <- v }, work)
			if err != nil {
				t.Fatal(err)
			}
			return got, leave
		}
		ctx, cancel := context.WithCancel(t.Context())
		first, leaveFirst := join(ctx)
		second, leaveSecond := join(t.Context())
		cancel()
		leaveFirst()
		leaveFirst()
		if v := <-second; v != "done" || begun != 1 || len(first) > 0 {
			t.Errorf("the second caller got %q of %d, the first %d results", v, begun, len(first))
		}
		leaveSecond()

		abandoned, leave := join(t.Context())
		leave()
		next, leave := join(t.Context())
		if v := <-next; v != "done" || begun != 3 || cancelled != 1 || len(abandoned) > 0 {
			t.Errorf("after work that was abandoned: %q, %d begun, %d cancelled", v, begun, cancelled)
		}
		leave()
		g.Wait()

		refusal := errors.New("refused")
		if _, err := g.Join(t.Context(), "key", nil, func() (func(context.Context) string, error) { return nil, refusal }); err != refusal {
			t.Errorf("work that must not be done: %v", err)
		}
	})
}

// A caller waits at most until its own context ends.
func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g cache.Group[string, string]
		begun := 0
		work := func(ctx context.Context) string {
			begun++
			select {
			case <-time.After(time.Second):
				return "done"
			case <-ctx.Done():
				return "cancelled"
			}
		}
		impatience := errors.New("impatient")
		impatient, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, impatience)
		defer cancel()
		first := make(chan error, 1)
		go func() {
			_, err := g.Do(impatient, "key", work)
			first <- err
		}()
		synctest.Wait()
		if v, err := g.Do(t.Context(), "key", work); v != "done" || err != nil || begun != 1 {
			t.Errorf("the patient caller got %q, %v of %d", v, err, begun)
		}
		if err := <-first; err != impatience {
			t.Errorf("the impatient caller got %v", err)
		}

		time.AfterFunc(time.Millisecond, g.Close)
		if v, err := g.Do(t.Context(), "key", work); v != "cancelled" || err != nil {
			t.Errorf("closed under way: %q, %v", v, err)
		}
		if v, err := g.Do(t.Context(), "key", work); v != "" || err != cache.ErrClosed || begun != 2 {
			t.Errorf("closed before: %q, %v, %d begun", v, err, begun)
		}
	})
}
