package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

// hush is a secret that a faulty backend puts wherever it can.
const hush = "secret-of-the-operator"

// fault is the behaviour of a backend for one question.
type fault struct {
	kind  string
	after time.Duration
	wait  time.Duration // Retry-After
}

// faulty is a backend that plays one fault after the other and records when it was asked.
type faulty struct {
	name   string
	faults []fault

	mu    sync.Mutex
	asked []time.Time // guarded by mu
	wrong []string    // guarded by mu: fields of the query that it must not see
}

func (f *faulty) Name() string { return f.name }

func (f *faulty) Search(ctx context.Context, q Query) (Reply, error) {
	f.mu.Lock()
	what := f.faults[len(f.asked)%len(f.faults)]
	f.asked = append(f.asked, time.Now())
	if q.Caller != "" || q.PerMinute != 0 || q.Backends != nil || q.Type != "" {
		f.wrong = append(f.wrong, fmt.Sprintf("%+v", q))
	}
	f.mu.Unlock()
	done := ctx.Done()
	if what.kind == "deaf" {
		done = nil
	}
	select {
	case <-time.After(what.after):
	case <-done:
		return Reply{}, ctx.Err()
	}
	switch what.kind {
	case "hits", "deaf":
		return Reply{Hits: one(f.name + ".org")}, nil
	case "error":
		return Reply{}, &Error{Backend: f.name, Code: turn.CodeUnreachable, RetryAfter: what.wait}
	case "foreign":
		return Reply{}, errors.New("GET /?key=" + hush)
	case "busy":
		return Reply{Allowance: Allowance{Left: 0, Of: 10, Resets: time.Now().Add(what.wait)}}, &Error{Backend: f.name, Code: turn.CodeRateLimited, RetryAfter: what.wait}
	case "partial":
		return Reply{Hits: one(f.name + ".org")}, &Error{Backend: f.name, Code: turn.CodeMalformed}
	case "junk":
		return Reply{Hits: []turn.Hit{{URL: "http://10.0.0.1/"}, {URL: "\x00\xff", Title: "\xfe"}, {}, {URL: "https://" + f.name + ".org/%zz", Snippet: strings.Repeat("天", 9000)}}}, nil
	case "panic":
		panic("key " + hush)
	}
	return Reply{}, nil // "nothing"
}

// Whatever the backends do, a search ends in time and does not report a failure as empty. No backend is asked more often than its limits
// allow, or sees more than its part of the query. No secret leaks.
func TestFaults(t *testing.T) {
	kinds := []string{"hits", "deaf", "error", "foreign", "busy", "partial", "junk", "panic", "nothing"}
	rapid.Check(t, func(rt *rapid.T) {
		ms := func(label string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
		}
		var all []*faulty
		limits := map[string]Limit{}
		for i := range rapid.IntRange(1, 8).Draw(rt, "backends") {
			f := &faulty{name: []string{"searxng", "wikipedia", "openmeteo", "duckduckgo", "a", "b", "c", "d"}[i]}
			for range rapid.IntRange(1, 4).Draw(rt, "faults") {
				f.faults = append(f.faults, fault{rapid.SampledFrom(kinds).Draw(rt, "kind"), ms("after", 6000), ms("wait", 20000)})
			}
			all = append(all, f)
			limits[f.name] = Limit{PerSecond: rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(rt, "rate"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst"), PerDay: rapid.SampledFrom([]int{0, 0, 3, 60}).Draw(rt, "day")}
		}
		depth := rapid.SampledFrom([]string{"", DepthAdvanced}).Draw(rt, "depth")
		intent := rapid.SampledFrom([]turn.Intent{"", turn.IntentWeather, turn.IntentNews}).Draw(rt, "intent")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 40000), 1, 12).Draw(rt, "pauses")
		limit := ms("limit", 9000) + time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			e := &Engine{Profiles: profiles(limits), Read: func(ctx context.Context, _, address string) (Page, error) {
				<-ctx.Done()
				return Page{Text: hush}, errors.New(hush)
			}}
			for _, f := range all {
				e.Backends = append(e.Backends, f)
			}
			var searches sync.WaitGroup
			for i, pause := range pauses {
				searches.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					defer cancel()
					began := time.Now()
					got := e.Search(ctx, Query{Text: fmt.Sprint("погода в Москве ", i%3), Intent: intent, Depth: depth, Caller: "sage", Type: typeGeneral})
					if took := time.Since(began); took > limit || depth == "" && took > defaultTimeout {
						t.Errorf("took %s of %s", took, limit)
					}
					checkHonest(t, got)
				})
				time.Sleep(time.Duration(pause) * time.Millisecond)
			}
			searches.Wait()
			for _, h := range e.Health(t.Context()) {
				if strings.Contains(fmt.Sprintf("%+v", h), hush) {
					t.Errorf("health tells a secret: %+v", h)
				}
			}
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for _, f := range all {
				checkRates(t, f, limits[f.name])
			}
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// checkHonest compares the state of a result with its report of each backend.
func checkHonest(t *testing.T, r Result) {
	looked, missing := len(r.Asked) > 0, false
	for _, a := range r.Asked {
		if a.Status != "ok" && a.Status != "empty" {
			looked, missing = false, true
		}
	}
	text := fmt.Sprintf("%+v", r)
	switch {
	case r.State == turn.Empty && !looked:
		t.Errorf("empty, though not all have looked: %s", text)
	case r.State == turn.LookupFailed && (!missing && len(r.Asked) > 0 || r.Failure == "" || r.Reason == ""):
		t.Errorf("failed for no reason: %s", text)
	case (r.State == turn.Found) != (len(r.Hits) > 0):
		t.Errorf("%s with %d hits", r.State, len(r.Hits))
	case strings.Contains(text, hush):
		t.Errorf("a secret in %s", text)
	}
}

// checkRates checks the times at which a backend was asked against its limits.
func checkRates(t *testing.T, f *faulty, l Limit) {
	if len(f.wrong) > 0 {
		t.Errorf("%s was told %s", f.name, f.wrong)
	}
	days := map[string]int{}
	for i, at := range f.asked {
		if days[at.UTC().Format(time.DateOnly)]++; l.PerDay > 0 && days[at.UTC().Format(time.DateOnly)] > l.PerDay {
			t.Errorf("%s was asked more than %d times a day", f.name, l.PerDay)
		}
		if l.PerSecond == 0 {
			continue
		}
		for j := range i + 1 {
			if n, most := i-j+1, float64(l.Burst)+l.PerSecond*at.Sub(f.asked[j]).Seconds()+1e-6; float64(n) > most {
				t.Errorf("%s was asked %d times in %s", f.name, n, at.Sub(f.asked[j]))
			}
		}
	}
}

// A thousand concurrent callers with the same question cause one request.
func TestManyAskTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := countedAs("x", nil)
		x.search = func(ctx context.Context, q Query) (Reply, error) {
			x.n++
			return fake{after: time.Second, hits: one("x.org")}.Search(ctx, q)
		}
		e := &Engine{Backends: []Backend{x}}
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if got := e.Search(t.Context(), Query{Text: "q", Caller: "sage"}); got.State != turn.Found || len(got.Hits) != 1 {
					t.Errorf("got %+v", got)
				}
			})
		}
		all.Wait()
		if want := (Stats{Searches: 1000, Requests: 1, Shared: 999}); x.n != 1 || e.Stats() != want {
			t.Errorf("asked %d times: %+v", x.n, e.Stats())
		}
	})
}
