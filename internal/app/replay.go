package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/search"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/read"
)

// Again says how a turn is taken again.
type Again struct {
	Turn      string // its id or the beginning of one, or the id of a message
	Character string // the character that takes it; empty: the one of then
	Model     string // that is asked; empty: the configured one
	Answer    bool   // the model is asked again, about what was found then
	Live      bool   // the search services and the pages are asked again, too
}

// Replayed is a turn that was taken again.
type Replayed struct {
	Then, Now *turn.Trace
	Notes     []string // what could not be repeated
}

// Replay takes a turn again from its record, with the program and the character as they are now. It works beside a running bot, and writes
// nothing.
func Replay(ctx context.Context, p *Process, how Again) (done Replayed, err error) {
	own := *p
	own.Model = cmp.Or(how.Model, p.Model)
	how.Answer = how.Answer || how.Live || how.Model != ""
	a, err := openReplay(ctx, &own, how)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	old, err := FindTurn(ctx, a.Traces, how.Turn)
	if err != nil {
		return done, err
	}
	id := cmp.Or(how.Character, old.Request.Character)
	loaded, err := character.Load(Shelf(a.Config, p.Dir), id)
	if err != nil {
		return done, Problems{fmt.Sprintf("the character %s cannot be loaded:\n%v", id, err)}
	}
	if !how.Answer && old.Model != "" && old.Model != bot.NoModel { // its name decides how tokens are counted
		a.NameModel(old.Model)
	}
	actor, err := a.ActorOf(loaded, p.Far)
	if err != nil {
		return done, err
	}
	r := &replay{app: a, actor: actor, old: old, how: how}
	now, err := r.take(ctx)
	return Replayed{old, now, r.notes}, err
}

// openReplay opens what a replay needs. It asks models and services only as far as it is told to.
func openReplay(ctx context.Context, p *Process, how Again) (*App, error) {
	a, err := configure(p)
	if err != nil {
		return nil, err
	}
	if a.Store, err = store.Look(ctx, a.Config.Place(p.Dir)); err != nil {
		return nil, err
	}
	a.Memories, a.Vectors, a.Traces = memory.New(a.Store), memory.NewVectors(a.Store), &trace.Store{DB: a.Store}
	var parts []func(context.Context, *Process) error
	if how.Answer {
		parts = append(parts, a.openModels)
	}
	if how.Live {
		parts = append(parts, a.openReader, a.openEngine)
	}
	for _, open := range parts {
		if err := open(ctx, p); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	if a.Engine != nil {
		a.Engine.Ledger = nil // nothing is counted
	}
	return a, nil
}

// FindTurn returns the record of a turn, by its id or by one of its messages.
func FindTurn(ctx context.Context, traces *trace.Store, id string) (*turn.Trace, error) {
	t, err := traces.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		t, err = traces.ByMessage(ctx, id)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("there is no turn and no message %q; familiar trace lists the turns, of whose ids it takes at least four characters", id)
	}
	return t, err
}

// replay takes a turn again.
type replay struct {
	app   *App
	actor *bot.Actor
	old   *turn.Trace
	how   Again
	notes []string // what could not be repeated
}

const (
	replayDeadline = 30 * time.Second // for the prompt, if the mode of the turn no longer exists
	answerDeadline = 2 * time.Minute
)

// take returns the record of the turn as it would be now.
func (r *replay) take(ctx context.Context) (*turn.Trace, error) {
	req := r.old.Request
	req.Names = r.actor.Names()
	limits, known := r.actor.Modes[req.Mode]
	if known {
		req.Budget = turn.Budget{Total: limits.Total, Layers: limits.Layers}
	} else {
		r.notes = append(r.notes, fmt.Sprintf("the character has no mode %s any more: the budget is that of the record", req.Mode))
	}
	began := time.Now()
	req.Deadline = began.Add(cmp.Or(limits.Deadline, replayDeadline))
	if req.GuildID != "" {
		var err error
		if req.People, err = r.app.Store.People.Names(ctx, req.GuildID); err != nil {
			return nil, err
		}
	}
	r.stage()
	within, cancel := context.WithDeadline(ctx, req.Deadline)
	defer cancel()
	p := r.actor.Builder.Build(within, req)
	now := &turn.Trace{Request: req, Began: began, Outcomes: p.Outcomes, Layers: p.Layers, Dropped: p.Dropped, Prompt: p.Messages}
	r.answer(ctx, now, p)
	now.Took = time.Since(began)
	return now, ctx.Err()
}

// stage replaces what cannot be repeated by the record: the channel's messages, memories and attachments. The character and the way from the
// message to the prompt are those of now.
func (r *replay) stage() {
	builder, has := r.actor.Builder, map[string]bool{}
	for i, p := range builder.Providers {
		has[p.Name()] = true
		switch p.Name() {
		case "character":
		case "websearch":
			builder.Providers[i] = r.web(p)
		default:
			builder.Providers[i] = r.recorded(p.Name())
		}
	}
	for _, o := range r.old.Outcomes {
		if !has[o.Provider] {
			builder.Providers = append(builder.Providers, r.recorded(o.Provider))
		}
	}
}

// recorded returns a provider that answers as one did then.
func (r *replay) recorded(name string) prompt.Provider {
	for _, o := range r.old.Outcomes {
		if o.Provider != name {
			continue
		}
		o.Contributions = slices.Clone(o.Contributions)
		for i := range o.Contributions {
			if c := &o.Contributions[i]; !c.Web {
				c.Tokens = 0 // they are counted again
			}
		}
		return fromRecord{o}
	}
	return fromRecord{turn.Outcome{Provider: name}}
}

// fromRecord is a provider whose answer is known.
type fromRecord struct{ outcome turn.Outcome }

func (f fromRecord) Name() string { return f.outcome.Provider }

func (f fromRecord) Contribute(context.Context, turn.Request) ([]turn.Contribution, error) {
	if f.outcome.Err != "" {
		return f.outcome.Contributions, errors.New(f.outcome.Err)
	}
	return f.outcome.Contributions, nil
}

// web returns what looks up again. Unless the replay is live, search services and pages answer as they did then.
func (r *replay) web(p prompt.Provider) prompt.Provider {
	l := r.old.LookupBy(p.Name())
	lookup := r.actor.Lookup
	lookup.Store = nil // nothing is counted
	lookup.Policy.PerMinute, lookup.Policy.PerSession, lookup.Policy.PerDay = 0, 0, 0
	if r.how.Live {
		return p
	}
	lookup.Side = nil
	lookup.Now = func() time.Time { return r.old.Began }
	lookup.Eager = r.old.Model == bot.NoModel
	switch {
	case l == nil:
	case l.Reused != nil:
		r.notes = append(r.notes, "the lookup of then used the pages of an earlier one: it is taken from the record")
		return r.recorded(p.Name())
	case len(l.Hits) == 0 && len(l.Pages) > 0:
		r.notes = append(r.notes, "pages that a person named are read again by --live alone: the lookup is taken from the record")
		return r.recorded(p.Name())
	case r.assisted():
		r.notes = append(r.notes, "a side model took part in the lookup of then; it is asked by --live alone")
	}
	lookup.Policy.Backends, lookup.Policy.Depth = nil, search.DepthBasic
	lookup.Search = &search.Engine{Backends: []search.Backend{memoryOf{l}}}
	lookup.Reader = &read.Reader{}
	return rereading{p, r.recorded(p.Name()), l, r.assisted()}
}

// assisted reports whether a side model took part in the lookup of then.
func (r *replay) assisted() bool {
	return r.old.Spent(turn.ForNeed, turn.ForReword, turn.ForSelect).Calls > 0
}

// rereading looks up in a record, by the rules of now. The recorded block is used if the result is the same as then, or if a model chose
// the quotes. Pages and search services write dates differently.
type rereading struct {
	prompt.Provider
	recorded prompt.Provider
	lookup   *turn.Lookup // of then; nil: there was none
	assisted bool         // a side model took part in it
}

func (r rereading) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	all, err := r.Provider.Contribute(ctx, req)
	i := slices.IndexFunc(all, func(c turn.Contribution) bool { return c.Lookup != nil })
	if err != nil || i < 0 || r.lookup == nil || r.lookup.State != turn.Found {
		return all, err
	}
	now := all[i].Lookup
	if now.State == turn.NotNeeded || now.State == turn.Disabled || !r.assisted && !sameFinds(r.lookup, now) {
		return all, nil
	}
	then, err := r.recorded.Contribute(ctx, req)
	for i := range then {
		if then[i].Lookup == r.lookup {
			decided := *r.lookup
			decided.Reason, decided.Need, decided.Score, decided.Cues, decided.Intent = now.Reason, now.Need, now.Score, now.Cues, now.Intent
			decided.Question, decided.Query, decided.Scrubbed, decided.Steps = now.Question, now.Query, now.Scrubbed, now.Steps
			then[i].Lookup = &decided
		}
	}
	return then, err
}

// sameFinds reports whether two lookups quote the same sentences of the same pages.
func sameFinds(a, b *turn.Lookup) bool {
	return a.State == b.State && slices.EqualFunc(a.Sources, b.Sources, func(x, y turn.Source) bool { return x.URL == y.URL }) &&
		slices.EqualFunc(a.Summary, b.Summary, func(x, y turn.Claim) bool { return x.Text == y.Text && x.Cited() == y.Cited() })
}

// memoryOf is a search service that finds what a lookup found then, with the pages that were read.
type memoryOf struct{ lookup *turn.Lookup }

func (memoryOf) Name() string { return "record" }

func (m memoryOf) Search(context.Context, search.Query) (search.Reply, error) {
	if m.lookup == nil || m.lookup.State == turn.NotNeeded || m.lookup.State == turn.Disabled {
		return search.Reply{}, &search.Error{Backend: m.Name(), Code: turn.CodeNotConfigured, Detail: "nothing was looked up then; --live asks the services"}
	}
	if m.lookup.State == turn.LookupFailed {
		return search.Reply{}, &search.Error{Backend: m.Name(), Code: cmp.Or(m.lookup.Failure, turn.CodeUnreachable), Detail: "as it failed then"}
	}
	var hits []turn.Hit
	for _, h := range m.lookup.Hits {
		for _, p := range m.lookup.Pages {
			if p.Text != "" && !p.Snippet() && (p.URL == h.URL || p.Final == h.URL) {
				h.Text, h.Title, h.Age = p.Text, cmp.Or(p.Title, h.Title), max(0, m.lookup.Began.Sub(p.Fetched))
				if !p.Published.IsZero() {
					h.Published = p.Published
				}
			}
		}
		if h.Text == "" && !slices.ContainsFunc(m.lookup.Pages, turn.Page.Snippet) {
			continue // its page was not read, and is not in the record
		}
		hits = append(hits, h)
	}
	return search.Reply{Hits: hits}, nil
}

// answer guards and marks the reply: what the model says now, or what was delivered then.
func (r *replay) answer(ctx context.Context, now *turn.Trace, p prompt.Prompt) {
	rules := reply.RulesFor(now.Request, p.Lookup, r.app.Redact)
	rules.Own = r.actor.Written()
	if !r.how.Answer || r.actor.Model == nil {
		if r.how.Answer {
			r.notes = append(r.notes, "no model is configured: the guard is shown the reply of then")
		}
		var more []turn.Guarded
		now.Reply, more = rules.Guard(reply.OwnWords(r.old.Reply))
		now.Guarded, now.Unsupported, now.Model = slices.Concat(r.old.Guarded, more), r.old.Unsupported, r.old.Model
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerDeadline)
	defer cancel()
	messages := slices.Clone(now.Prompt)
	for i := range messages {
		messages[i].Images = nil // the record does not have them
	}
	answer, err := r.actor.Model.Complete(ctx, llm.Request{Messages: messages, Lane: "replay"})
	now.Model, now.Finish = answer.Model, answer.Finish
	now.Usage = answer.Usage
	if err != nil {
		now.Err = err.Error()
	}
	now.Reply, now.Guarded = rules.Guard(strings.TrimSpace(answer.Text))
	marker := &reply.Marker{Lookup: p.Lookup}
	now.Reply, now.Unsupported, _ = marker.Mark(now.Reply, false)
}
