package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/search/backends"
	"familiar/internal/store"
	"familiar/internal/trace"
)

type backendsCommand struct {
	Probe bool `help:"Ask each that is on a question. It counts as any other."`
	JSON  bool `name:"json" help:"Print JSON."`
}

// Run shows every search backend. It works beside a running bot.
func (c backendsCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		a, err := c.open(ctx, p)
		if a != nil {
			defer a.close()
		}
		if err != nil {
			return err
		}
		list, err := a.listBackends(ctx, c.Probe)
		if err == nil && c.JSON {
			err = a.printJSON(p, list)
		} else if err == nil {
			_, err = fmt.Fprint(p.out, a.redact.String(viewBackends(list)))
		}
		return err
	})
}

// open opens what the list needs: without a probe nothing is asked or written, and a store that is not there yet is none.
func (c backendsCommand) open(ctx context.Context, p *program) (*app, error) {
	if c.Probe {
		a, err := open(ctx, p, toSearch)
		if err != nil {
			return nil, err
		}
		return a, a.needWeb()
	}
	a, err := open(ctx, p, toConfigure)
	if err != nil {
		return nil, err
	}
	a.store, err = store.Look(ctx, resolve(p.dir, a.config.get("FAMILIAR_DATA")))
	var trouble *store.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == store.Missing:
		a.store = nil // nothing has been asked yet
	case err != nil:
		return nil, err
	default:
		a.traces = &trace.Store{DB: a.store}
	}
	return a, a.openEngine(ctx, p)
}

// backend is one line of the table.
type backend struct {
	Name    string        `json:"name"`
	On      bool          `json:"on"`
	Why     string        `json:"why,omitempty"` // it is off, and what would switch it on
	Kind    string        `json:"kind"`          // "general": a wide index of its own; "web"; or "special": for a few intents
	Intents []turn.Intent `json:"intents"`       // that it serves; empty: all
	Best    []turn.Intent `json:"best,omitempty"`
	Last    []turn.Intent `json:"last,omitempty"` // intents for which it is asked last

	Health   search.HealthState `json:"health,omitempty"`
	Until    time.Time          `json:"until,omitzero"`
	Answers  int                `json:"answers"` // that P50 and P95 are of
	P50      time.Duration      `json:"p50,omitempty"`
	P95      time.Duration      `json:"p95,omitempty"`
	Left     int                `json:"left,omitempty"`
	Of       int                `json:"of,omitempty"` // 0: no limit known
	Resets   time.Time          `json:"resets,omitzero"`
	Failure  turn.Code          `json:"failure,omitempty"` // code of the last one
	Detail   string             `json:"detail,omitempty"`
	FailedAt time.Time          `json:"failed_at,omitzero"`
	Probe    *turn.Asked        `json:"probe,omitempty"`
}

// listBackends is the table: what is configured, what the records say, and what the engine knows, also from asking now.
func (a *app) listBackends(ctx context.Context, probe bool) ([]backend, error) {
	list := a.tableOfBackends()
	if probe {
		a.probe(ctx, list)
	}
	past, err := a.past(ctx)
	if err != nil {
		return nil, err
	}
	a.knowBackends(ctx, list, past)
	return list, nil
}

// tableOfBackends is what is configured.
func (a *app) tableOfBackends() (list []backend) {
	for _, l := range backends.Table() {
		b := backend{Name: l.Name, Kind: "web", Intents: l.Only, Best: l.Best, Last: l.Last}
		switch {
		case l.Only != nil:
			b.Kind = "special"
		case l.General:
			b.Kind = "general"
		}
		if i := slices.IndexFunc(a.backends.Off, func(d backends.Disabled) bool { return d.Name == l.Name }); i >= 0 {
			b.Why = a.backends.Off[i].Why
		} else {
			b.On = true
		}
		list = append(list, b)
	}
	return list
}

// knowBackends adds what the records say, and what the engine does.
func (a *app) knowBackends(ctx context.Context, list []backend, past map[string]seen) {
	for _, now := range a.engine.Health(ctx) {
		i := slices.IndexFunc(list, func(b backend) bool { return b.Name == now.Backend })
		list[i].know(past[now.Backend], now)
	}
}

// know takes what the records and the engine say.
func (b *backend) know(past seen, now search.Health) {
	b.Health, b.Until, b.Left, b.Of, b.Resets = now.State, now.Until, now.Left, now.Of, now.Resets
	if b.Health == search.Untried && past.state != "" {
		b.Health = past.state
	}
	b.Failure, b.Detail, b.FailedAt = past.failure.Status, past.failure.Detail, past.failedAt
	if now.Failure != "" {
		b.Failure, b.Detail, b.FailedAt = now.Failure, now.Detail, now.FailedAt
	}
	took := past.took
	if p := b.Probe; p != nil && answered(*p) {
		took = append(took, p.Took)
	}
	slices.Sort(took)
	if b.Answers = len(took); b.Answers > 0 {
		b.P50, b.P95 = took[(len(took)-1)/2], took[(len(took)*95+99)/100-1]
	}
}

// seen is what the records say of a backend.
type seen struct {
	state    search.HealthState // of the last time
	took     []time.Duration
	failure  turn.Asked // the last one
	failedAt time.Time
}

// pastTurns is how many records are gone through.
const pastTurns = 200

// past reads what the last lookups say of their backends.
func (a *app) past(ctx context.Context) (map[string]seen, error) {
	all := map[string]seen{}
	if a.traces == nil {
		return all, nil
	}
	list, err := a.traces.Recent(ctx, "", pastTurns)
	if err != nil {
		return nil, err
	}
	for _, s := range list { // newest first
		if s.Lookup == "" || s.Lookup == turn.NotNeeded || s.Lookup == turn.Disabled {
			continue
		}
		t, err := a.traces.Get(ctx, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, a := range t.Lookup().Asked {
			was := all[a.Backend]
			was.add(a, t.Began)
			all[a.Backend] = was
		}
	}
	return all, nil
}

// add takes an older answer. One that was kept, or one that was not asked for, says nothing.
func (s *seen) add(a turn.Asked, at time.Time) {
	state := search.Failing
	switch {
	case search.FromCache(a) || a.Took == 0:
		return
	case answered(a):
		state = search.Healthy
		s.took = append(s.took, a.Took)
	case s.failure.Status == "":
		s.failure, s.failedAt = a, at
	}
	if s.state == "" {
		s.state = state
	}
}

func answered(a turn.Asked) bool { return a.Status == turn.CodeOK || a.Status == turn.CodeEmpty }

// probes are questions that have an answer everywhere, by intent.
var probes = map[turn.Intent]search.Query{
	turn.IntentWeather: {Text: "weather in Berlin", Intent: turn.IntentWeather, Place: "Berlin"},
	turn.IntentNews:    {Text: "technology", Intent: turn.IntentNews},
	turn.IntentForum:   {Text: "linux", Intent: turn.IntentForum},
	turn.IntentDocs:    {Text: "json parser", Intent: turn.IntentDocs},
}

// probe asks each backend that is on one question, all at once.
func (a *app) probe(ctx context.Context, list []backend) {
	ctx, cancel := context.WithTimeout(ctx, searchPatience)
	defer cancel()
	var asking sync.WaitGroup
	for i := range list {
		b := &list[i]
		if !b.On {
			continue
		}
		q := search.Query{Text: "Ada Lovelace", Intent: turn.IntentGeneral}
		if len(b.Intents) > 0 {
			q = probes[b.Intents[0]]
		}
		q.Backends, q.Limit = []string{b.Name}, 3
		asking.Go(func() {
			if r := a.engine.Search(ctx, q); len(r.Asked) > 0 {
				b.Probe = &r.Asked[0]
			}
		})
	}
	asking.Wait()
}
