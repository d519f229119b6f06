package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

// counted counts how often it is asked.
type counted struct {
	does
	n int // its users ask one question after the other
}

func countedAs(name string, reply func(n int) (Reply, error)) *counted {
	c := &counted{}
	c.does = does{name, func(context.Context, Query) (Reply, error) {
		c.n++
		if reply == nil {
			return Reply{Hits: one(name + ".org")}, nil
		}
		return reply(c.n)
	}}
	return c
}

// flood asks n different questions, one per interval, and returns the result of the last one.
func flood(t *testing.T, e *Engine, n int, every time.Duration, asker string) (last Result) {
	t.Helper()
	for i := range n {
		if i > 0 {
			time.Sleep(every)
		}
		last = e.Search(t.Context(), Query{Text: fmt.Sprint("question ", i, time.Now()), Caller: asker, PerMinute: 30})
		e.Wait()
	}
	return last
}

func refusal(r Result) string {
	if r.State != turn.LookupFailed || len(r.Asked) == 0 {
		return string(r.State)
	}
	return string(r.Failure) + ": " + r.Asked[0].Detail
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name    string
		limit   Limit
		asker   string
		n       int
		every   time.Duration
		asked   int
		refusal string
	}{
		{"its own bucket", Limit{PerSecond: 2, Burst: 5}, "", 20, 0, 5, "rate_limited: not asked: its limit of requests per second is reached"},
		{"which fills", Limit{PerSecond: 2, Burst: 5}, "", 21, 500 * time.Millisecond, 21, "found"},
		{"a default burst", Limit{PerSecond: 3}, "", 20, 0, 3, "rate_limited: not asked: its limit of requests per second is reached"},
		{"the bucket of all backends", Limit{}, "", 120, 0, 100, "rate_limited: not asked: the limit of requests per second to all backends is reached"},
		{"which fills too", Limit{}, "", 200, 100 * time.Millisecond, 200, "found"},
		{"an asker's minute", Limit{}, "sage", 40, 0, 30, "cap: not asked: the 30 searches a minute of this character are used up"},
		{"which passes", Limit{}, "sage", 80, 2 * time.Second, 80, "found"},
		{"a day", Limit{PerDay: 7}, "", 10, time.Second, 7, "quota: not asked: the 7 requests of this day are used up; set FAMILIAR_SEARCH_LIMITS to change that"},
		{"two days", Limit{PerDay: 7}, "", 48, time.Hour, 14, "quota: not asked: the 7 requests of this day are used up; set FAMILIAR_SEARCH_LIMITS to change that"},
		{"a month", Limit{PerMonth: 500, PerDay: 400}, "", 600, time.Second, 400, "quota: not asked: the 400 requests of this day are used up; set FAMILIAR_SEARCH_LIMITS to change that"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // at midnight UTC of a 1st of January
				b := countedAs("x", nil)
				e := &Engine{Backends: []Backend{b}, Profiles: profiles(map[string]Limit{"x": test.limit})}
				got := refusal(flood(t, e, test.n, test.every, test.asker))
				if b.n != test.asked || got != test.refusal {
					t.Errorf("asked %d times, then %s; want %d, then %s", b.n, got, test.asked, test.refusal)
				}
			})
		})
	}
}

// Cached and shared answers are free, and a refusal takes nothing from any other limit.
func TestCachedAndSharedAnswersAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, other := countedAs("x", nil), countedAs("y", nil)
		e := &Engine{Backends: []Backend{b}, Profiles: profiles(map[string]Limit{"x": {PerSecond: 0.001, Burst: 1, PerDay: 1}})}
		for range 50 {
			if got := e.Search(t.Context(), Query{Text: "q", Caller: "sage", PerMinute: 30}); got.State != turn.Found {
				t.Fatal(refusal(got))
			}
			e.Wait()
		}
		flood(t, e, 200, 0, "sage")
		e.sources = append(e.sources, e.newSource(other))
		if flood(t, e, 29, 0, "sage"); other.n != 29 || b.n != 1 {
			t.Errorf("asked x %d and y %d times, want once and 29", b.n, other.n)
		}
	})
}

func TestRefusedBackendIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Engine{FanOut: 1, Profiles: profiles(map[string]Limit{"a": {PerDay: 1}})}
		a, b, c := countedAs("a", nil), countedAs("b", nil), countedAs("c", nil)
		e.Backends = []Backend{a, b, c}
		var got []string
		for i := range 3 {
			got = append(got, statuses(e.Search(t.Context(), Query{Text: fmt.Sprint(i)})))
		}
		if want := "a ok; a quota, b ok; a quota, b ok"; strings.Join(got, "; ") != want || c.n != 0 {
			t.Errorf("got %s", strings.Join(got, "; "))
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	busy := func(wait time.Duration) func(int) (Reply, error) {
		return func(n int) (Reply, error) {
			if n == 1 {
				return Reply{}, &Error{Backend: "x", Code: turn.CodeRateLimited, RetryAfter: wait}
			}
			return Reply{Hits: one("x.org")}, nil
		}
	}
	for _, test := range []struct {
		name  string
		wait  time.Duration
		limit Limit
		asked int
		took  time.Duration
		want  string
	}{
		{"in time", time.Second, Limit{}, 2, time.Second, "x ok"},
		{"too late", 4 * time.Second, Limit{}, 1, 0, "x rate_limited, y ok"},
		{"not past our own limit", 2 * time.Second, Limit{PerSecond: 0.1}, 1, 2 * time.Second, "x rate_limited, y ok"},
		{"not past the day's", 2 * time.Second, Limit{PerDay: 1}, 1, 2 * time.Second, "x quota, y ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, y := countedAs("x", busy(test.wait)), countedAs("y", nil)
				e := &Engine{Backends: []Backend{x, y}, FanOut: 1, Profiles: profiles(map[string]Limit{"x": test.limit})}
				began := time.Now()
				got := e.Search(t.Context(), Query{Text: "q"})
				if took := time.Since(began); statuses(got) != test.want || took != test.took || x.n != test.asked {
					t.Errorf("after %s: %s, asked %d times; want after %s: %s, %d times", took, statuses(got), x.n, test.took, test.want, test.asked)
				}
				e.Wait()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		x := countedAs("x", busy(time.Minute))
		e := &Engine{Backends: []Backend{x}}
		flood(t, e, 50, time.Second, "")
		if x.n != 1 {
			t.Errorf("asked %d times in the minute it asked to wait", x.n)
		}
		time.Sleep(time.Minute)
		if got := flood(t, e, 1, 0, ""); got.State != turn.Found {
			t.Errorf("after it: %s", refusal(got))
		}
	})
}

// A backend that keeps failing is paused, longer each time. After each pause a single request checks whether it is
// back.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(200 * time.Second)
		x := countedAs("x", func(int) (Reply, error) {
			if time.Now().Before(back) {
				return Reply{}, &Error{Backend: "x", Code: turn.CodeUnreachable, Detail: "connection refused"}
			}
			return Reply{Hits: one("x.org")}, nil
		})
		e := &Engine{Backends: []Backend{x}}
		last := flood(t, e, 4, time.Second, "")
		if want := "unreachable: not asked again for 14s"; x.n != 3 || refusal(last) != want {
			t.Errorf("asked %d times, then %s; want 3 times, then %s", x.n, refusal(last), want)
		}
		flood(t, e, 190, time.Second, "") // asked again after 15, 30 and 60 s
		if x.n != 6 {
			t.Errorf("asked %d times, want 6", x.n)
		}
		flood(t, e, 60, time.Second, "")
		if got := flood(t, e, 1, 0, ""); got.State != turn.Found {
			t.Errorf("it is back: %s", refusal(got))
		}
	})
}

// While one request checks whether a backend is back, no other is sent. An abandoned check does not count.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		x := countedAs("x", nil)
		x.search = func(ctx context.Context, q Query) (Reply, error) {
			x.n++
			if slow {
				return fake{after: time.Second, hits: one("x.org")}.Search(ctx, q)
			}
			return Reply{}, errors.New("down")
		}
		e := &Engine{Backends: []Backend{x}}
		flood(t, e, 3, 0, "")
		time.Sleep(16 * time.Second)
		slow = true
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.Search(impatient, Query{Text: "probe, given up"})
		e.Wait()
		time.Sleep(31 * time.Second)
		done := make(chan Result, 1)
		go func() { done <- e.Search(t.Context(), Query{Text: "probe"}) }()
		synctest.Wait()
		if got := refusal(e.Search(t.Context(), Query{Text: "another"})); got != "timeout: not asked while one question finds out whether it is back" {
			t.Errorf("another question: %s", got)
		}
		if got := <-done; got.State != turn.Found || x.n != 5 {
			t.Errorf("the probe: %s after %d questions", refusal(got), x.n)
		}
		if got := flood(t, e, 1, 0, ""); got.State != turn.Found {
			t.Errorf("afterwards: %s", refusal(got))
		}
	})
}

// Requests that were taken and not returned are lost, as after a crash. Returned ones are not.
func TestQuotaSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &memoryLedger{used: map[string]int{}}
		asked := 0
		start := func(n int) *Engine {
			x := countedAs("x", nil)
			e := &Engine{Backends: []Backend{x}, Profiles: profiles(map[string]Limit{"x": {PerMonth: 200}}), Ledger: ledger}
			flood(t, e, n, time.Second, "")
			asked += x.n
			return e
		}
		start(5) // took 8, crashed
		if err := start(5).Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		start(300)
		if want := 200 - 3; asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	})
}

// several is the ledger of processes that ask more often together than they may.
type several struct{ memoryLedger }

func (*several) Within(_ context.Context, name string, most int, span time.Duration) (bool, error) {
	return name != "search/x" || most != 3 || span != 1500*time.Millisecond, nil
}

// TestProcessesShareALimit checks that a search is refused if all processes together ask too often.
func TestProcessesShareALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := countedAs("x", nil)
		e := &Engine{Backends: []Backend{x}, Profiles: profiles(map[string]Limit{"x": {PerSecond: 2, Burst: 3}}), Ledger: &several{}}
		if got := flood(t, e, 1, 0, ""); x.n > 0 || got.Failure != turn.CodeRateLimited {
			t.Errorf("it was asked %d times: %s", x.n, refusal(got))
		}
	})
}

// A backend that reports an exhausted limit is not asked before the limit resets.
func TestReportedLimitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := countedAs("x", func(n int) (Reply, error) {
			return Reply{Hits: one("x.org"), Allowance: Allowance{Left: max(0, 2-n), Of: 2, Resets: time.Now().Add(time.Hour)}}, nil
		})
		e := &Engine{Backends: []Backend{x}}
		last := flood(t, e, 10, time.Minute, "")
		if x.n != 2 || last.Failure != turn.CodeQuota {
			t.Errorf("asked %d times, then %s", x.n, refusal(last))
		}
		time.Sleep(time.Hour)
		if flood(t, e, 1, 0, ""); x.n != 3 {
			t.Errorf("asked %d times, want 3", x.n)
		}
	})
}
