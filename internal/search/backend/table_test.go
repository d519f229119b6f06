package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

func TestConfig(t *testing.T) {
	client := replies(nil).Client
	// This list does not change with a new backend that needs a key.
	known := strings.Fields("searxng openmeteo wttr hackernews stackexchange github wikipedia duckduckgo")
	names := func(set *Set) string { // the backends that need no key
		var all []string
		for _, b := range set.On {
			if slices.Contains(known, b.Name()) {
				all = append(all, b.Name())
			}
		}
		for _, d := range set.Off {
			if line, _ := entryOf(d.Name); line.Keys == nil && slices.Contains(known, d.Name) {
				all = append(all, "-"+d.Name+": "+d.Why)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct {
		name   string
		config Config
		want   string
		check  string // part of the error
	}{
		{"nothing set", Config{}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", ""},
		{"all", Config{SearXNG: "https://search.example.org/searxng/search"}, "searxng, openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo", ""},
		{"switched off", Config{Off: []string{"duckduckgo", "openmeteo"}},
			"wttr, hackernews, stackexchange, github, wikipedia, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org, -openmeteo: switched off, -duckduckgo: switched off", ""},
		{"one wanted that cannot be", Config{Only: []string{"searxng"}},
			"-searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off, -wikipedia: switched off, -duckduckgo: switched off",
			"searxng: wanted, but SEARXNG_URL"},
		{"one wanted that is off", Config{Only: []string{"wikipedia", "duckduckgo"}, Off: []string{"wikipedia"}},
			"duckduckgo, -wikipedia: switched off, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", "wikipedia: wanted, but switched off"},
		{"only some, in this order", Config{Only: []string{"duckduckgo", "wikipedia"}},
			"duckduckgo, wikipedia, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", ""},
		{"no address", Config{SearXNG: "localhost:8888"},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: its address is not an http or https URL", "searxng: its address"},
		{"no such depth", Config{Depth: "deep"}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", `"deep"`},
		{"no such backend", Config{Off: []string{"googol"}, Base: map[string]string{"wikipaedia": "x"}},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", `"wikipaedia"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Client = client
			set, err := Open(test.config)
			if got := names(set); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if (err != nil) != (test.check != "") || err != nil && !strings.Contains(err.Error(), test.check) {
				t.Errorf("%v, want %q", err, test.check)
			}
		})
	}
}

// The operator's limits replace the table's.
func TestLimits(t *testing.T) {
	open := func(limits ...string) (*Set, error) { return Open(Config{Client: replies(nil).Client, Limits: limits}) }
	set, err := open("wikipedia=5/second", "wikipedia=0/month", "duckduckgo=100/day")
	if err != nil || set.Profiles["wikipedia"].Limit != (search.Limit{PerSecond: 5}) || set.Profiles["duckduckgo"].Limit != (search.Limit{PerDay: 100}) ||
		set.Profiles["wttr"].Limit != (search.Limit{PerSecond: 1, Burst: 50}) {
		t.Errorf("got %+v, %v", set.Profiles, err)
	}
	for word, want := range map[string]string{
		"wikipedia": "must be as in", "wikipedia=5": "must be as in", "wikipedia=-1/day": "must be as in", "wikipedia=5/hour": "must be as in",
		"wikipaedia=5/day": "known: searxng",
	} {
		if _, err := open(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", word, err, want)
		}
	}
}

// Answers depend on the SearXNG instance and its depth, and not on the login.
func TestSetup(t *testing.T) {
	usual := Config{SearXNG: "https://search.example.org/a"}
	for _, test := range []struct {
		config Config
		same   bool
	}{
		{Config{SearXNG: "https://me:secret@search.example.org/a"}, true},
		{Config{SearXNG: "https://search.example.org/b"}, false},
		{Config{SearXNG: "https://other.example.org/a"}, false},
		{Config{SearXNG: "https://search.example.org/a", Depth: search.DepthAdvanced}, false},
	} {
		if got := test.config.setup(); (got == usual.setup()) != test.same || strings.Contains(got, "secret") {
			t.Errorf("%+v: %q", test.config, got)
		}
	}
}

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

// engine asks stubs with the profiles of the table, without its limits.
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

// If any of five backends hangs, the search takes at most 50 ms longer, even the first one. A backend that no other can replace costs the
// latency of its profile until its usual latency is known. If the deadline is short, it costs half of it.
func TestOneHangs(t *testing.T) {
	const others, extra = 400 * time.Millisecond, 50 * time.Millisecond
	for _, test := range []struct {
		intent   turn.Intent
		names    string
		deadline time.Duration
		before   int           // searches before one hangs
		forecast time.Duration // duration of a search without the only forecast
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

// wttr.in is asked for the weather only if the others fail or find nothing.
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
