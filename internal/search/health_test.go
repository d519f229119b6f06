package search

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
)

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // from the first second of 2000
		start := time.Now()
		down := &Error{Code: turn.CodeUnreachable, Detail: "connection refused"}
		n := 0
		e := &Engine{FanOut: 10, Grace: time.Hour, Profiles: profiles(map[string]Limit{"limited": {PerDay: 3, PerMonth: 100}, "monthly": {PerMonth: 100}}), Backends: []Backend{
			does{"slower", func(ctx context.Context, q Query) (Reply, error) {
				n++
				return fake{after: time.Duration(n) * 100 * time.Millisecond, hits: one("a.org")}.Search(ctx, q)
			}},
			fake{name: "down", err: down},
			countedAs("flaky", func(n int) (Reply, error) {
				if n == 4 {
					return Reply{}, &Error{Code: turn.CodeMalformed}
				}
				return Reply{}, nil
			}),
			countedAs("recovered", func(n int) (Reply, error) {
				if n == 2 {
					return Reply{}, &Error{Code: turn.CodeBlocked}
				}
				return Reply{}, nil
			}),
			fake{name: "limited"},
			fake{name: "monthly"},
			countedAs("says", func(n int) (Reply, error) {
				return Reply{Allowance: Allowance{Left: 100 - n, Of: 100, Resets: start.Add(time.Hour)}}, nil
			}),
			fake{name: "openmeteo"},
		}}
		for i := range 4 {
			e.Search(t.Context(), Query{Text: fmt.Sprint(i)})
			e.Wait()
		}
		now := time.Now()
		second := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
		february := time.Date(2000, 2, 1, 0, 0, 0, 0, time.UTC)
		want := []Health{
			{Backend: "slower", State: Healthy, Requests: 4, P50: 300 * time.Millisecond, P95: 400 * time.Millisecond},
			{Backend: "down", State: Resting, Until: start.Add(300*time.Millisecond + 15*time.Second), Failure: turn.CodeUnreachable, Detail: "connection refused",
				FailedAt: start.Add(300 * time.Millisecond), Requests: 3, Failures: 3},
			{Backend: "flaky", State: Failing, Failure: turn.CodeMalformed, FailedAt: start.Add(600 * time.Millisecond), Requests: 4, Failures: 1},
			{Backend: "recovered", State: Healthy, Failure: turn.CodeBlocked, FailedAt: start.Add(100 * time.Millisecond), Requests: 4, Failures: 1},
			{Backend: "limited", State: UsedUp, Requests: 3, Left: 0, Of: 3, Resets: second},
			{Backend: "monthly", State: Healthy, Requests: 4, Left: 96, Of: 100, Resets: february},
			{Backend: "says", State: Healthy, Requests: 4, Left: 96, Of: 100, Resets: start.Add(time.Hour)},
			{Backend: "openmeteo", State: Untried, Left: 4000, Of: 4000, Resets: second},
		}
		if diff := cmp.Diff(want, e.Health(t.Context())); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", now.Sub(start), diff)
		}
	})
}
