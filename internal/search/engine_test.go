package search

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// fake is a backend that answers after a while.
type fake struct {
	name  string
	after time.Duration
	hits  []turn.Hit
	err   error
	deaf  bool // ignores cancellation
	panic any
	asked *atomic.Int32
}

func (f fake) Name() string { return f.name }

func (f fake) Search(ctx context.Context, _ Query) (Reply, error) {
	if f.asked != nil {
		f.asked.Add(1)
	}
	done := ctx.Done()
	if f.deaf {
		done = nil
	}
	select {
	case <-time.After(f.after):
	case <-done:
		return Reply{}, ctx.Err()
	}
	if f.panic != nil {
		panic(f.panic)
	}
	return Reply{Hits: f.hits}, f.err
}

// does is a backend whose behaviour a test defines.
type does struct {
	name   string
	search func(context.Context, Query) (Reply, error)
}

func (d does) Name() string { return d.name }

func (d does) Search(ctx context.Context, q Query) (Reply, error) { return d.search(ctx, q) }

// profiles returns the profiles of some backends, with other limits for the names in limits.
func profiles(limits map[string]Limit) map[string]Profile {
	topical := []turn.Intent{turn.IntentWeather, turn.IntentNews, turn.IntentImage, turn.IntentVideo, turn.IntentForum}
	weather := []turn.Intent{turn.IntentWeather}
	all := map[string]Profile{
		"searxng":    {Latency: 2 * time.Second},
		"openmeteo":  {Weight: 2, Only: weather, Limit: Limit{PerDay: 4000}},
		"wttr":       {Only: weather, Last: weather},
		"wikipedia":  {Weight: 0.9, Last: topical, Best: []turn.Intent{turn.IntentPerson}},
		"duckduckgo": {Weight: 0.6, Last: topical},
	}
	for name, l := range limits {
		p := all[name]
		p.Limit = l
		all[name] = p
	}
	return all
}

func hit(address, title string) turn.Hit { return turn.Hit{URL: address, Title: title} }

func one(site string) []turn.Hit { return []turn.Hit{hit("https://"+site+"/", site)} }

func statuses(r Result) string {
	var all []string
	for _, a := range r.Asked {
		all = append(all, a.Backend+" "+string(a.Status))
	}
	return strings.Join(all, ", ")
}

func TestState(t *testing.T) {
	down := &Error{Backend: "searxng", Code: turn.CodeUnreachable, Detail: "connection refused", RetryAfter: time.Minute}
	tests := []struct {
		name     string
		backends []Backend
		query    Query
		state    turn.State
		failure  turn.Code
		reason   string
		asked    string
	}{
		{"found", []Backend{fake{name: "a", hits: one("a.org")}, fake{name: "b"}}, Query{}, turn.Found, "", "", "a ok, b empty"},
		{"found in spite of a failure", []Backend{fake{name: "searxng", err: down}, fake{name: "b", hits: one("b.org")}}, Query{},
			turn.Found, "", "", "searxng unreachable, b ok"},
		{"all looked", []Backend{fake{name: "a"}, fake{name: "b"}}, Query{}, turn.Empty, "", "", "a empty, b empty"},
		{"one could not look", []Backend{fake{name: "a"}, fake{name: "searxng", err: down}}, Query{},
			turn.LookupFailed, turn.CodeUnreachable, "searxng: unreachable", "a empty, searxng unreachable"},
		{"none could", []Backend{fake{name: "a", panic: "secret"}, fake{name: "b", err: errors.New("secret")}, fake{name: "c", err: context.Canceled}}, Query{},
			turn.LookupFailed, turn.CodeMalformed, "a: malformed, b: upstream, c: timeout", "a malformed, b upstream, c timeout"},
		{"hits beside an error", []Backend{fake{name: "a", hits: one("a.org"), err: down}}, Query{}, turn.Found, "", "", "a ok"},
		{"no backend", nil, Query{}, turn.LookupFailed, turn.CodeNotConfigured, "no search backend is switched on", ""},
		{"nothing on the sites asked for", []Backend{fake{name: "a", hits: one("a.org")}}, Query{Include: []string{"b.org"}}, turn.Empty, "", "", "a ok"},
		{"sites that are none", []Backend{fake{name: "a", hits: one("a.org")}}, Query{Exclude: []string{"b org"}},
			turn.LookupFailed, turn.CodeRejected, "a domain to include or exclude is not a host name", ""},
		{"addresses that nobody may open", []Backend{fake{name: "a", hits: []turn.Hit{hit("http://10.0.0.1/", ""), hit("javascript:alert(1)", ""), hit("", "")}}},
			Query{}, turn.Empty, "", "", "a empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := &Engine{Backends: test.backends}
			got := e.Search(t.Context(), test.query)
			if got.State != test.state || got.Failure != test.failure || got.Reason != test.reason || statuses(got) != test.asked {
				t.Errorf("got %s %q %q, asked %s; want %s %q %q, asked %s",
					got.State, got.Failure, got.Reason, statuses(got), test.state, test.failure, test.reason, test.asked)
			}
			for _, a := range got.Asked {
				if strings.Contains(a.Detail, "secret") {
					t.Errorf("detail %q shows what a backend said", a.Detail)
				}
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	found := func(name string, after time.Duration) fake {
		return fake{name: name, after: after, hits: one(name + ".org")}
	}
	tests := []struct {
		name     string
		backends []Backend
		took     time.Duration
		asked    string
	}{
		{"for all", []Backend{found("wikipedia", time.Second), found("searxng", 100*time.Millisecond+900*time.Millisecond)}, time.Second, "wikipedia ok, searxng ok"},
		{"a little longer once the leader has found something", []Backend{found("searxng", 600*time.Millisecond), found("wikipedia", 3*time.Second), found("duckduckgo", 800*time.Millisecond)},
			900 * time.Millisecond, "searxng ok, wikipedia timeout, duckduckgo ok"},
		{"for the others if the leader finds nothing", []Backend{fake{name: "searxng"}, found("wikipedia", 3*time.Second)}, 3 * time.Second, "searxng empty, wikipedia ok"},
		{"for the others if the leader fails", []Backend{fake{name: "searxng", err: &Error{Code: turn.CodeBlocked}}, found("wikipedia", 3*time.Second)}, 3 * time.Second, "searxng blocked, wikipedia ok"},
		{"for the leader even if another has answered", []Backend{found("searxng", 1900*time.Millisecond), found("wikipedia", time.Second)}, 1900 * time.Millisecond, "searxng ok, wikipedia ok"},
		{"for the leader as long as it usually takes by the table", []Backend{fake{name: "wikipedia", after: time.Hour}, found("duckduckgo", 500*time.Millisecond)}, time.Second, "wikipedia timeout, duckduckgo ok"},
		{"for one that asks others itself half of the time there is", []Backend{fake{name: "searxng", after: time.Hour}, found("wikipedia", time.Second)}, 2 * time.Second, "searxng timeout, wikipedia ok"},
		{"no longer than the time of a backend", []Backend{fake{name: "searxng", after: time.Hour}, fake{name: "wikipedia", after: time.Second}}, 4 * time.Second, "searxng timeout, wikipedia empty"},
		{"for those that follow, if the first find nothing", []Backend{fake{name: "a", after: time.Second}, fake{name: "b"}, fake{name: "c"}, fake{name: "d"}, fake{name: "e"}, found("f", 700*time.Millisecond), found("g", 900*time.Millisecond)},
			1900 * time.Millisecond, "a empty, b empty, c empty, d empty, e empty, f ok, g ok"},
		{"for those that follow, if the first take long and have found nothing", []Backend{fake{name: "a", after: time.Hour}, fake{name: "b"}, fake{name: "c"}, fake{name: "d"}, fake{name: "e"}, found("f", time.Second)},
			3040 * time.Millisecond, "a timeout, b empty, c empty, d empty, e empty, f ok"},
		{"for nobody that follows, if one has found something", []Backend{found("a", time.Second), fake{name: "b"}, fake{name: "c"}, fake{name: "d"}, fake{name: "e"}, found("f", time.Second)},
			time.Second, "a ok, b empty, c empty, d empty, e empty"},
		{"not for the deaf", []Backend{fake{name: "searxng", after: 10 * time.Second, deaf: true}}, 4 * time.Second, "searxng timeout"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &Engine{Backends: test.backends, Profiles: profiles(nil)}
				began := time.Now()
				got := e.Search(t.Context(), Query{Text: "x"})
				if took := time.Since(began); took != test.took || statuses(got) != test.asked {
					t.Errorf("after %s: %s; want after %s: %s", took, statuses(got), test.took, test.asked)
				}
				e.Wait()
			})
		})
	}
}

// Whatever the backends do, a search ends with its context and keeps what arrived by then. It does not report a silent backend as empty.
func TestDeadline(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"searxng", "wikipedia", "duckduckgo", "x", "y"}
		fakes := make([]fake, rapid.IntRange(1, 5).Draw(rt, "backends"))
		for i := range fakes {
			f := fake{name: names[i], after: time.Duration(rapid.IntRange(0, 6000).Draw(rt, "ms"))*time.Millisecond + 1, deaf: rapid.Bool().Draw(rt, "deaf")}
			switch rapid.SampledFrom([]string{"hits", "nothing", "error", "foreign", "panic", "partial"}).Draw(rt, "does") {
			case "hits":
				f.hits = one(names[i] + ".org")
			case "error":
				f.err = &Error{Backend: names[i], Code: turn.CodeRateLimited}
			case "foreign":
				f.err = errors.New("foreign")
			case "panic":
				f.panic = errors.New("panic")
			case "partial":
				f.hits, f.err = one(names[i]+".org"), &Error{Backend: names[i], Code: turn.CodeUpstream}
			}
			fakes[i] = f
		}
		limit := time.Duration(rapid.IntRange(1, 5000).Draw(rt, "limit")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			e := &Engine{Profiles: profiles(nil), Grace: time.Hour}
			for _, f := range fakes {
				e.Backends = append(e.Backends, f)
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			got := e.Search(ctx, Query{Text: "x"})
			if took := time.Since(began); took > min(limit, defaultTimeout) {
				t.Errorf("took %s of %s", took, limit)
			}
			checkState(t, got, fakes, min(limit, defaultTimeout))
			e.Wait()
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func checkState(t *testing.T, got Result, fakes []fake, limit time.Duration) {
	found, failed := false, false
	for _, f := range fakes {
		late := f.after > limit
		found = found || !late && f.panic == nil && len(f.hits) > 0
		failed = failed || late || f.panic != nil || f.err != nil
	}
	want := turn.Empty
	switch {
	case found:
		want = turn.Found
	case failed:
		want = turn.LookupFailed
	}
	if got.State != want || (got.State == turn.LookupFailed) != (got.Failure != "") || len(got.Asked) != len(fakes) {
		t.Errorf("state %s, failure %q, %s; want %s of %+v", got.State, got.Failure, statuses(got), want, fakes)
	}
}

func TestRoute(t *testing.T) {
	all := []Backend{fake{name: "searxng"}, fake{name: "openmeteo"}, fake{name: "wikipedia"}, fake{name: "duckduckgo"}, fake{name: "own"}}
	for _, test := range []struct {
		query    Query
		backends []Backend
		want     string
	}{
		{Query{}, all, "searxng wikipedia duckduckgo own"},
		{Query{Intent: "person"}, all, "wikipedia searxng duckduckgo own"},
		{Query{Intent: "never heard of"}, all, "searxng wikipedia duckduckgo own"},
		{Query{Intent: "weather"}, all, "openmeteo searxng own, then wikipedia duckduckgo"},
		{Query{Intent: "news"}, all, "searxng own, then wikipedia duckduckgo"},
		{Query{Intent: "news"}, all[1:4], "then wikipedia duckduckgo"},
		{Query{Intent: "weather"}, all[1:4], "openmeteo, then wikipedia duckduckgo"},
		{Query{Intent: "weather"}, append(all[1:4:4], fake{name: "wttr"}), "openmeteo, then wikipedia duckduckgo wttr"},
		{Query{Intent: "person"}, all[1:2], ""},
		{Query{Backends: []string{"own", "openmeteo", "nobody"}}, all, "own"},
	} {
		e := &Engine{Backends: test.backends, Profiles: profiles(nil)}
		e.open()
		way := e.route(test.query)
		var got []string
		for _, s := range way.main {
			got = append(got, s.Name())
		}
		if len(way.fallback) > 0 {
			if len(got) > 0 {
				got[len(got)-1] += ","
			}
			got = append(got, "then")
		}
		for _, s := range way.fallback {
			got = append(got, s.Name())
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: %v, want %s", test.query, got, test.want)
		}
	}
}

func TestOrderIsFixed(t *testing.T) {
	quick := func(first, second time.Duration) []string {
		var got []string
		synctest.Test(t, func(t *testing.T) {
			e := &Engine{Backends: []Backend{
				fake{name: "x", after: first, hits: []turn.Hit{hit("https://a.org/", "A"), hit("https://b.org/", "B")}},
				fake{name: "y", after: second, hits: []turn.Hit{hit("https://c.org/", "C"), hit("https://b.org/", "B")}},
			}}
			for _, h := range e.Search(t.Context(), Query{Text: "q"}).Hits {
				got = append(got, h.Backend+" "+h.URL)
			}
			e.Wait()
		})
		return got
	}
	want := []string{"x https://b.org/", "x https://a.org/", "y https://c.org/"}
	for _, got := range [][]string{quick(1, 900*time.Millisecond), quick(900*time.Millisecond, 1)} {
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestCache(t *testing.T) {
	var asked atomic.Int32
	now := time.Unix(1e9, 0)
	good := fake{name: "x", hits: one("a.org"), asked: &asked}
	tests := []struct {
		name   string
		f      fake
		first  Query
		later  time.Duration
		second Query
		want   int32
	}{
		{"kept", good, Query{Text: "Go  Release"}, 29 * time.Minute, Query{Text: "go release"}, 1},
		{"kept by the backend's name", good, Query{Text: "q"}, 59 * time.Minute, Query{Text: "q"}, 1},
		{"over", good, Query{Text: "q"}, time.Hour, Query{Text: "q"}, 2},
		{"weather is over sooner", good, Query{Text: "q", Intent: "weather"}, 15 * time.Minute, Query{Text: "q", Intent: "weather"}, 2},
		{"another alphabet", good, Query{Text: "天気"}, 0, Query{Text: "地震"}, 2},
		{"another language", good, Query{Text: "q", Language: "de"}, 0, Query{Text: "q", Language: "fr"}, 2},
		{"another place", good, Query{Text: "q", Place: "Berlin"}, 0, Query{Text: "q", Place: "Paris"}, 2},
		{"another site", good, Query{Text: "q"}, 0, Query{Text: "q", Include: []string{"a.org"}}, 2},
		{"a site not wanted", good, Query{Text: "q"}, 0, Query{Text: "q", Exclude: []string{"b.org"}}, 2},
		{"another depth", good, Query{Text: "q"}, 0, Query{Text: "q", Depth: "advanced"}, 2},
		{"without a filter", good, Query{Text: "q"}, 0, Query{Text: "q", Safe: "off"}, 2},
		{"as many as it was", good, Query{Text: "q"}, 0, Query{Text: "q", Limit: 10, Caller: "somebody", PerMinute: 1}, 1},
		{"asked again", good, Query{Text: "q"}, 0, Query{Text: "q", NoCache: true}, 2},
		{"kept after asking again", good, Query{Text: "q", NoCache: true}, 0, Query{Text: "q"}, 1},
		{"more of them", good, Query{Text: "q"}, 0, Query{Text: "q", Limit: 11}, 2},
		{"one spelling of many", good, Query{Text: "CAFE\u0301  über"}, 0, Query{Text: "café Über"}, 1},
		{"emptiness is not kept", fake{name: "x", asked: &asked}, Query{Text: "q"}, 0, Query{Text: "q"}, 2},
		{"failure is not kept", fake{name: "x", asked: &asked, err: &Error{Code: turn.CodeBlocked}}, Query{Text: "q"}, 0, Query{Text: "q"}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked.Store(0)
			at := now
			e := &Engine{Backends: []Backend{test.f}, Now: func() time.Time { return at }}
			first := e.Search(t.Context(), test.first)
			e.Wait()
			at = at.Add(test.later)
			second := e.Search(t.Context(), test.second)
			if got := asked.Load(); got != test.want {
				t.Errorf("asked %d times, want %d", got, test.want)
			}
			if first.Cached || second.Cached != (test.want == 1) {
				t.Errorf("cached: %t, then %t", first.Cached, second.Cached)
			}
			if diff := cmp.Diff(first.Hits, second.Hits, cmpopts.IgnoreFields(turn.Hit{}, "Age")); diff != "" {
				t.Errorf("hits differ:\n%s", diff)
			}
		})
	}
}

// A result made from an old answer does not outlive that answer.
func TestOldResultIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := countedAs("x", nil)
		e := &Engine{Backends: []Backend{x}}
		for range 12 {
			if got := e.Search(t.Context(), Query{Text: "q"}); got.Hits[0].Age >= keepAnswer {
				t.Fatalf("a hit is %s old", got.Hits[0].Age)
			}
			e.Wait()
			time.Sleep(10 * time.Minute)
		}
		if want := (Stats{Searches: 12, Free: 10, Whole: 8, Requests: 2, Cached: 2}); x.n != 2 || e.Stats() != want {
			t.Errorf("asked %d times; %+v, want %+v", x.n, e.Stats(), want)
		}
	})
}

// If all backends fail, hits of the last day are used and show their age.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func(n int) (Reply, error) {
			if n > 1 {
				return Reply{}, &Error{Backend: "x", Code: turn.CodeUnreachable, Detail: "connection refused"}
			}
			return Reply{Hits: one("x.org")}, nil
		}
		y := countedAs("y", func(n int) (Reply, error) {
			if n == 2 {
				return Reply{}, nil
			}
			return Reply{}, &Error{Backend: "y", Code: turn.CodeBlocked}
		})
		e := &Engine{Backends: []Backend{countedAs("x", down), y}}
		ask := func() Result { return e.Search(t.Context(), Query{Text: "q"}) }
		if got := ask(); got.State != turn.Found || got.Stale != 0 || got.Hits[0].Age != 0 {
			t.Errorf("fresh: %s, %s old", got.State, got.Stale)
		}
		time.Sleep(3 * time.Hour)
		got := ask() // y has looked, x could not
		if got.State != turn.Found || got.Stale != 3*time.Hour || got.Hits[0].Age != 3*time.Hour || got.Cached || got.Failure != "" ||
			got.Reason != "x: unreachable" || statuses(got) != "x unreachable, y empty" || got.Asked[0].Stale != 3*time.Hour || got.Asked[0].Hits != 1 {
			t.Errorf("after 3 h: %+v", got)
		}
		time.Sleep(21*time.Hour - time.Second)
		if got := ask(); got.State != turn.Found || got.Stale != 24*time.Hour-time.Second {
			t.Errorf("after a day less a second: %+v", got)
		}
		time.Sleep(time.Second)
		if got := ask(); got.State != turn.LookupFailed || got.Stale != 0 || statuses(got) != "x unreachable, y blocked" {
			t.Errorf("after a day: %+v", got)
		}
		if got := e.Search(t.Context(), Query{Text: "another"}); got.State != turn.LookupFailed {
			t.Errorf("another question: %+v", got)
		}
		e.Wait()
	})
}

func TestCallersOwnTheirHits(t *testing.T) {
	e := &Engine{Backends: []Backend{
		fake{name: "x", hits: one("a.org")},
		fake{name: "y", hits: []turn.Hit{{URL: "http://www.a.org/", Text: "text", Answer: true}}},
	}}
	want := []turn.Hit{{Backend: "x", Also: []string{"y"}, Rank: 1, Title: "a.org", URL: "https://a.org/", Text: "text", Answer: true}}
	for range 2 {
		got := e.Search(t.Context(), Query{Text: "q"})
		if diff := cmp.Diff(want, got.Hits, cmpopts.IgnoreFields(turn.Hit{}, "Score", "Age")); diff != "" {
			t.Fatal(diff)
		}
		got.Hits[0].Title, got.Hits[0].Also[0] = "changed", "changed"
		e.Wait()
	}
}

// Callers with the same question share one call. It ends when the last of them leaves, not when the first does.
func TestCoalescing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		e := &Engine{Backends: []Backend{fake{name: "x", after: 2 * time.Second, hits: one("a.org"), asked: &asked}}}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := make(chan string, 5)
		for i := range 5 {
			ctx := t.Context()
			if i == 0 {
				ctx = impatient
			}
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				results <- statuses(e.Search(ctx, Query{Text: "q"}))
			}()
		}
		var got []string
		for range 5 {
			got = append(got, <-results)
		}
		if want := []string{"x timeout", "x ok", "x ok", "x ok", "x ok"}; !slices.Equal(got, want) || asked.Load() != 1 {
			t.Errorf("got %q after asking %d times, want %q after once", got, asked.Load(), want)
		}
		e.Wait()
	})
}

func TestAbandonedCallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		e := &Engine{Backends: []Backend{fake{name: "x", after: 3 * time.Second, hits: one("a.org"), asked: &asked}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.Search(ctx, Query{Text: "q"})
		began := time.Now()
		e.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("the call went on for %s", took)
		}
		if got := e.Search(t.Context(), Query{Text: "q"}); statuses(got) != "x ok" || asked.Load() != 2 {
			t.Errorf("next search: %s after asking %d times", statuses(got), asked.Load())
		}
		e.Wait()
	})
}

func BenchmarkMerge(b *testing.B) {
	sources, replies := make([]*source, 5), make([][]turn.Hit, 5)
	for i := range sources {
		sources[i] = &source{Backend: fake{name: fmt.Sprint("b", i)}, Profile: Profile{Weight: 1}}
		for j := range 20 {
			replies[i] = append(replies[i], turn.Hit{
				URL:     fmt.Sprintf("https://www.site%d.example.com/path/%d?v=%d&utm_source=x", (i+j)%12, (i*7+j)%40, j%3),
				Title:   fmt.Sprintf("Result number %d about Ada Lovelace", j),
				Snippet: strings.Repeat("Augusta Ada King, Countess of Lovelace, was an English mathematician and writer. ", 3),
			})
		}
	}
	e, q := &Engine{}, Query{Text: "who was Ada Lovelace the mathematician", Limit: 10}
	for b.Loop() {
		answers := make([]answer, 5)
		for i := range replies {
			answers[i].hits = candidates(sources[i].Name(), replies[i])
		}
		if hits := top(e.rank(q, clean.Domains{}, sources, answers), q.Limit); len(hits) != 10 {
			b.Fatal(len(hits))
		}
	}
}

// BenchmarkSearch measures an uncached search with five backends that answer at once.
func BenchmarkSearch(b *testing.B) {
	at := time.Now()
	e := &Engine{Now: func() time.Time { return at }}
	for i := range 5 {
		var hits []turn.Hit
		for j := range 10 {
			hits = append(hits, turn.Hit{
				URL:   fmt.Sprintf("https://www.site%d.example.com/path/%d?v=%d&utm_source=x", (i+j)%12, (i*7+j)%40, j%3),
				Title: fmt.Sprintf("Result number %d about Ada Lovelace", j), Snippet: strings.Repeat(fmt.Sprintf("Mathematician and writer %d, ", i*j), 8),
			})
		}
		e.Backends = append(e.Backends, does{fmt.Sprint("b", i), func(context.Context, Query) (Reply, error) { return Reply{Hits: hits}, nil }})
	}
	for n := 0; b.Loop(); n++ {
		at = at.Add(time.Second) // to stay within the limits
		if r := e.Search(b.Context(), Query{Text: fmt.Sprint("who was Ada Lovelace ", n)}); r.State != turn.Found || r.Cached {
			b.Fatal(r.State, r.Reason)
		}
		e.Wait()
	}
}

func BenchmarkCacheHit(b *testing.B) {
	e := &Engine{}
	for i := range 4 {
		var hits []turn.Hit
		for j := range 10 {
			hits = append(hits, turn.Hit{URL: fmt.Sprintf("https://site%d.example.com/%d", i+j, j), Title: "Ada Lovelace", Snippet: strings.Repeat("mathematician and writer ", 10)})
		}
		e.Backends = append(e.Backends, fake{name: fmt.Sprint("b", i), hits: hits})
	}
	q := Query{Text: "who was Ada Lovelace the mathematician"}
	e.Search(b.Context(), q)
	e.Wait()
	for b.Loop() {
		if r := e.Search(b.Context(), q); !r.Cached {
			b.Fatal("not cached")
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A backend can reveal only what it sees. A field added here is one more thing that leaves the machine.
func TestBackendSeesOnlyTheQuestion(t *testing.T) {
	full := Query{NoCache: true, Limit: 5, PerMinute: 30, Include: []string{"a.org"}, Exclude: []string{"b.org"}, Backends: []string{"x"}}
	all := reflect.ValueOf(&full).Elem()
	for i := range all.NumField() {
		switch f := all.Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("word")
		case f.IsZero():
			t.Errorf("give %s a value here", all.Type().Field(i).Name)
		}
	}
	var fields []string
	seen := full.forBackend()
	for f, value := range reflect.ValueOf(seen).Fields() {
		if !value.IsZero() {
			fields = append(fields, f.Name)
		}
	}
	want := []string{"Text", "Intent", "Depth", "Safe", "Language", "Fresh", "Place", "Limit", "Include", "Exclude"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("what a backend sees of a query (-want +got):\n%s", diff)
	}
}
