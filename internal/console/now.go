package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/trace"
)

// Gateway is how the connection to Discord does.
type Gateway struct {
	Connected bool
	Since     time.Time // when that last changed
	Latency   time.Duration
	Servers   int
	Resumes   int
	Trouble   string // why it is not connected
}

// Lane is a channel in which something is to be done.
type Lane struct {
	ChannelID string
	TurnID    string // of the turn that is being taken, or empty
	Waiting   int
}

// Quota is a limit, and how much of it is used.
type Quota struct {
	Name   string // whose and of what: "all, tokens today"
	Used   float64
	Most   float64
	Resets time.Time // zero: not known
}

// Share is how much is used, from 0 to 1.
func (q Quota) Share() float64 {
	if q.Most <= 0 {
		return 0
	}
	return min(1, q.Used/q.Most)
}

// state is what the page shows beside turns.
type state struct {
	Gateway *Gateway
	Lanes   []Lane
	Quotas  []Quota
	Waiting int
	Today   struct {
		Turns, Lookups, Tokens int
		Cost                   float64
	}
	Trouble string
}

func (k *Console) state(ctx context.Context) (s state) {
	if k.Gateway != nil {
		g := k.Gateway()
		s.Gateway = &g
	}
	if k.Lanes != nil {
		s.Lanes = k.Lanes()
		slices.SortFunc(s.Lanes, func(a, b Lane) int { return strings.Compare(a.ChannelID, b.ChannelID) })
		for _, l := range s.Lanes {
			s.Waiting += l.Waiting
		}
	}
	if k.Quotas != nil {
		var err error
		if s.Quotas, err = k.Quotas(ctx); err != nil && ctx.Err() == nil {
			s.Trouble = err.Error()
		}
	}
	days, err := k.Store.UsageByDay(ctx, time.Now())
	if err != nil && ctx.Err() == nil {
		s.Trouble = err.Error()
	}
	for _, d := range days {
		s.Today.Turns, s.Today.Lookups, s.Today.Tokens, s.Today.Cost = d.Turns, d.Lookups, d.Tokens, d.Cost
	}
	return s
}

// recentTurns is how many turns that are over stand under those that run.
const recentTurns = 12

// rows are the turns that run, and the last of those that are over.
type rows struct {
	Running []liveRow
	Recent  []trace.Summary
}

func (k *Console) rows(ctx context.Context) (all rows) {
	running := k.Feed.Running()
	for _, p := range running {
		all.Running = append(all.Running, k.row(ctx, p))
	}
	recent, err := k.Traces.Recent(ctx, "", recentTurns+len(running))
	if err != nil && ctx.Err() == nil {
		k.Log.Error("console: list turns", "err", k.Redact(err.Error()))
	}
	for _, t := range recent {
		runs := slices.ContainsFunc(all.Running, func(r liveRow) bool { return r.ID == t.ID })
		if !runs && len(all.Recent) < recentTurns {
			all.Recent = append(all.Recent, t)
		}
	}
	return all
}

type nowPage struct {
	State state
	Rows  rows
}

func (k *Console) now(w http.ResponseWriter, r *http.Request) {
	k.render(w, r, http.StatusOK, "now", "Now", nowPage{k.state(r.Context()), k.rows(r.Context())})
}
