package telemetry

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

func health() (h *Health, gateway *turn.Gateway, probes *int, probe *error) {
	gateway, probes, probe = &turn.Gateway{Shard: turn.Shard{Connected: true}}, new(int), new(error)
	h = &Health{
		Gateway: func() turn.Gateway { return *gateway }, Store: func(context.Context) error { return nil },
		Probe: func(context.Context) error { *probes++; return *probe },
	}
	return h, gateway, probes, probe
}

// Turns decide whether the model works. Without recent turns, an occasional probe does, and not every request.
func TestModelIsJudgedByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, probes, probe := health()
		for range 100 {
			if r := h.Ready(t.Context()); !r.Ready {
				t.Fatalf("%+v", r)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if *probes != 1 {
			t.Errorf("%d probes in ten seconds", *probes)
		}
		*probe = errors.New("connection refused")
		time.Sleep(probeEvery)
		if r := h.Ready(t.Context()); r.Ready || r.Checks["model"].Reason != "its server: connection refused" {
			t.Errorf("%+v", r)
		}
		h.Turn(&turn.Trace{Phase: turn.Answered, Finish: "stop"})
		time.Sleep(fresh)
		if r := h.Ready(t.Context()); !r.Ready {
			t.Errorf("after an answer: %+v", r)
		}
		h.Turn(&turn.Trace{Phase: turn.Broken, Err: "ask model main: unauthorized"})
		h.Turn(&turn.Trace{Phase: turn.Interrupted, Err: "stopped"}) // says nothing about the model
		h.Turn(&turn.Trace{Phase: turn.Answered})                    // no model was asked
		time.Sleep(fresh)
		if r := h.Ready(t.Context()); r.Ready || !strings.Contains(r.Checks["model"].Reason, "unauthorized") {
			t.Errorf("after a failure: %+v", r)
		}
		*probe = nil
		time.Sleep(turnHolds)
		if r := h.Ready(t.Context()); !r.Ready {
			t.Errorf("long after a failure, with a server that is there: %+v", r)
		}
	})
}

// The gateway and the store can each make the bot unready, and a store that hangs does not block.
func TestGatewayAndStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, gateway, _, _ := health()
		h.Redact = strings.NewReplacer("secret", "***").Replace
		gateway.Connected, gateway.Trouble = false, "no route with secret"
		if r := h.Ready(t.Context()); r.Ready || r.Checks["gateway"].Reason != "not connected to Discord: no route with ***" || !r.Checks["store"].OK {
			t.Errorf("%+v", r)
		}
		gateway.Connected = true
		release, calls := make(chan struct{}), 0
		h.Store = func(context.Context) error { calls++; <-release; return nil }
		time.Sleep(fresh)
		for range 3 {
			began := time.Now()
			if r := h.Ready(t.Context()); r.Ready || r.Checks["store"].OK || time.Since(began) > checkLimit {
				t.Errorf("%v: %+v", time.Since(began), r)
			}
		}
		close(release)
		h.Wait()
		time.Sleep(fresh)
		if r := h.Ready(t.Context()); !r.Ready || calls > 2 {
			t.Errorf("%d calls, %+v", calls, r)
		}
		h.Probe = nil
		time.Sleep(fresh)
		if r := h.Ready(t.Context()); !r.Ready || !strings.Contains(r.Checks["model"].Reason, "none is configured") {
			t.Errorf("without a model: %+v", r)
		}
	})
}

// Profiles are served only on loopback addresses.
func TestProfilesElsewhere(t *testing.T) {
	h, _, _, _ := health()
	for profiles, want := range map[bool]int{true: 200, false: 404} {
		r := httptest.NewRequest("GET", "http://127.0.0.1:9464/debug/pprof/", nil)
		r.RemoteAddr = "127.0.0.1:1234"
		w := httptest.NewRecorder()
		Handler(NewMetrics(State{}), h, profiles).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("profiles %t: %d", profiles, w.Code)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:80": true, "127.9.9.9": true, "0.0.0.0:1": false, ":9464": false, "10.0.0.1:1": false, "localhost.example.org:1": false} {
		if Loopback(address) != want {
			t.Errorf("Loopback(%s) is not %t", address, want)
		}
	}
}

// recorded returns a turn with a lookup.
func recorded() *turn.Trace {
	t := &turn.Trace{Phase: turn.Answered, Took: 3 * time.Second, Model: "main", Finish: "stop", Usage: turn.Usage{Prompt: 900, Cached: 400, Completion: 80, Calls: 1},
		Timings: turn.Timings{Prompt: time.Second, FirstToken: 2 * time.Second, FirstSeen: 2 * time.Second}}
	look := &turn.Lookup{State: turn.Found, Took: time.Second, Stages: []turn.Stage{{Name: "search", Took: time.Second / 2}, {Name: "read", Took: time.Second / 2}},
		Asked: []turn.Asked{{Backend: "searxng", Status: turn.CodeOK}}, Pages: []turn.Page{{}, {Failure: turn.CodeTimeout}}}
	for _, p := range []string{"character", "history", "memory", "server", "websearch"} {
		t.Outcomes = append(t.Outcomes, turn.Outcome{Provider: p, Status: turn.OK})
	}
	t.Outcomes[4].Contributions = []turn.Contribution{{Lookup: look}}
	return t
}

func BenchmarkMetricsTurn(b *testing.B) {
	m, t := NewMetrics(State{}), recorded()
	b.ReportAllocs()
	for b.Loop() {
		m.Turn(t)
	}
}

func BenchmarkScrape(b *testing.B) {
	m := NewMetrics(State{})
	m.Turn(recorded())
	h, _, _, _ := health()
	handler := Handler(m, h, false)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}

// A bot with several shards shows each. One with a single shard shows none.
func TestShards(t *testing.T) {
	gateway := turn.Gateway{Shard: turn.Shard{Connected: true}}
	m := NewMetrics(State{Gateway: func() turn.Gateway { return gateway }})
	scrape := func() string {
		w := httptest.NewRecorder()
		Handler(m, &Health{}, false).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	if got := scrape(); strings.Contains(got, "familiar_shard") {
		t.Errorf("one shard: %s", got)
	}
	gateway.Shards = []turn.Shard{{Number: 0, Connected: true, Guilds: 3, Latency: 50 * time.Millisecond}, {Number: 1}}
	got := scrape()
	for _, want := range []string{`familiar_shard_connected{shard="0"} 1`, `familiar_shard_connected{shard="1"} 0`, `familiar_shard_servers{shard="0"} 3`, `familiar_shard_latency_seconds{shard="0"} 0.05`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
