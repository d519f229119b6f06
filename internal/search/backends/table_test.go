package backends

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// stub is a backend that finds one page on a site of its name, or nothing, after a while.
type stub struct {
	name  string
	after time.Duration
	empty bool
	err   error
}

func (s *stub) Name() string { return s.name }

func (s *stub) Search(ctx context.Context, _ search.Query) (search.Reply, error) {
	select {
	case <-time.After(s.after):
	case <-ctx.Done():
		return search.Reply{}, ctx.Err()
	}
	if s.empty || s.err != nil {
		return search.Reply{}, s.err
	}
	return search.Reply{Hits: []turn.Hit{{URL: "https://" + s.name + ".org/", Title: s.name}}}, nil
}

// engine asks stubs by the profiles of the table, without its limits.
func engine(stubs ...*stub) *search.Engine {
	e := &search.Engine{Profiles: map[string]search.Profile{}}
	for _, entry := range Table() {
		entry.Limit = search.Limit{}
		e.Profiles[entry.Name] = entry.Profile
	}
	for _, s := range stubs {
		e.Backends = append(e.Backends, s)
	}
	return e
}

func statuses(r search.Result) string {
	var all []string
	for _, a := range r.Asked {
		all = append(all, fmt.Sprint(a.Backend, " ", a.Status))
	}
	return strings.Join(all, ", ")
}

// TestOneHangs: whichever of five hangs, it costs at most 50 ms, at the very first search too. One that nobody can stand
// in for costs the latency of its line in the table, or half of a short deadline, until it is known how long it usually
// takes.
func TestOneHangs(t *testing.T) {
	const others, extra = 400 * time.Millisecond, 50 * time.Millisecond
	for _, test := range []struct {
		intent   turn.Intent
		names    string
		deadline time.Duration
		before   int           // searches before one hangs
		forecast time.Duration // what a search takes without the only forecast
	}{
		{"", "a b c d e", time.Minute, 0, 0},
		{"", "searxng wikipedia duckduckgo a b", time.Minute, 0, 0},
		{"", "searxng tavily brave wikipedia duckduckgo", time.Minute, 0, 0},
		{turn.IntentPerson, "wikipedia searxng exa firecrawl a", time.Minute, 0, 0},
		{turn.IntentForum, "searxng reddit hackernews stackexchange a", time.Minute, 0, 0},
		{turn.IntentDocs, "searxng stackexchange github wikipedia duckduckgo", time.Minute, 0, 0},
		{turn.IntentWeather, "openmeteo openweathermap searxng a b", time.Minute, 0, 0},
		{turn.IntentWeather, "openmeteo a b c d", time.Minute, 0, time.Second},
		{turn.IntentWeather, "openmeteo a b c d", 1200 * time.Millisecond, 0, 600 * time.Millisecond},
		{turn.IntentWeather, "openmeteo a b c d", time.Minute, 5, others + 40*time.Millisecond},
	} {
		for _, hanging := range strings.Fields(test.names) {
			synctest.Test(t, func(t *testing.T) {
				var stubs []*stub
				for name := range strings.FieldsSeq(test.names) {
					stubs = append(stubs, &stub{name: name, after: others})
				}
				e := engine(stubs...)
				ask := func() (search.Result, time.Duration) {
					ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
					defer cancel()
					began := time.Now()
					got := e.Search(ctx, search.Query{Text: began.String(), Intent: test.intent})
					return got, time.Since(began)
				}
				for range test.before {
					ask()
				}
				e.Wait()
				for _, s := range stubs {
					if s.name == hanging {
						s.after = time.Hour
					}
				}
				got, took := ask()
				alone := hanging == "openmeteo" && test.forecast > 0
				if alone && took != test.forecast || !alone && took > others+extra || len(got.Hits) != 4 {
					t.Errorf("%s of %s after %d in %s: %s, %s", hanging, test.names, test.before, test.deadline, took, statuses(got))
				}
				e.Wait()
			})
		}
	}
}

// TestFallback: wttr.in is asked for the weather where the others fail or find nothing, and only there.
func TestFallback(t *testing.T) {
	for _, test := range []struct {
		name  string
		first []*stub
		want  string
	}{
		{"found", []*stub{{name: "openmeteo"}}, "openmeteo ok"},
		{"found elsewhere", []*stub{{name: "openmeteo", empty: true}, {name: "openweathermap"}}, "openmeteo empty, openweathermap ok"},
		{"nothing found", []*stub{{name: "openmeteo", empty: true}, {name: "searxng", empty: true}}, "openmeteo empty, searxng empty, wttr ok"},
		{"failed", []*stub{{name: "openmeteo", err: &search.Error{Code: turn.CodeUnreachable}}}, "openmeteo unreachable, wttr ok"},
		{"hangs", []*stub{{name: "openmeteo", after: time.Hour}}, "openmeteo timeout, wttr ok"},
		{"alone", nil, "wttr ok"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := engine(append([]*stub{{name: "wttr"}}, test.first...)...)
			if got := statuses(e.Search(t.Context(), search.Query{Text: "q", Intent: turn.IntentWeather})); got != test.want {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
			if got := e.Search(t.Context(), search.Query{Text: "q"}); strings.Contains(statuses(got), "wttr") {
				t.Errorf("%s: asked for no weather: %s", test.name, statuses(got))
			}
			e.Wait()
		})
	}
}
