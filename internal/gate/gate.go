// Package gate decides who may have a turn or a lookup. Whatever causes one passes it first: a message, an edit, a button, a command, a menu,
// joining in. A test of package house names the functions that begin turns, and those that may call them.
package gate

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Gate knows who may use the bot, and how much. Store and Log are required. The exported fields must not be changed after first use.
type Gate struct {
	Store     *store.DB
	Log       *slog.Logger
	MayPost   func(channelID string) bool // reports whether the bot may post in a channel; nil: everywhere
	Now       func() time.Time            // nil: time.Now
	Access    Access
	Quotas    []Quota
	PerPerson int // how many turns a person may ask for in a minute; 0 is any number

	turns  rates // of each person
	passes passes
	noted  noted
}

// Why says why the gate is closed. The set is closed.
type Why string

const (
	NotAdmitted Why = "not_admitted" // the person, their roles or the place may not use the bot
	MayNotPost  Why = "may_not_post"
	Paused      Why = "paused"
	UsedUp      Why = "used_up"   // a quota
	TooOften    Why = "too_often" // the person asks too often
)

// Refusal is the error of a turn or lookup that the gate does not allow.
type Refusal struct {
	Why   Why
	Quota store.Usage // that is used up
	First bool        // the person has not been refused for asking too often within the last minute
}

func (r *Refusal) Error() string { return string(r.Why) }

// Passage says how an event wants to pass.
type Passage struct {
	Tokens  int  // that the turn's prompt may have
	Posts   bool // the answer is posted, instead of being given to the person who gave a command
	Unasked bool // nobody asks, so it counts for no person
	Rated   bool // it counts among the turns that a person may ask for in a minute
	Further bool // an event of the same message has passed: only the quotas are asked
}

// Pass returns a pass for one turn, or why there is none. It asks, in this order: may this person use the bot, may the bot write there, is it
// paused, do the quotas leave something, does the person ask too often.
func (g *Gate) Pass(ctx context.Context, e turn.Event, how Passage) (*Pass, *Refusal) {
	if !how.Further {
		switch {
		case !g.Access.Admits(e):
			return nil, &Refusal{Why: NotAdmitted}
		case how.Posts && g.MayPost != nil && !g.MayPost(e.Message.ChannelID):
			return nil, &Refusal{Why: MayNotPost}
		case g.paused(ctx, e):
			return nil, &Refusal{Why: Paused}
		}
	}
	party := Party(e)
	if how.Unasked {
		party.Person = ""
	}
	p, used := g.hold(ctx, party, how.Tokens)
	if used != nil {
		return nil, &Refusal{Why: UsedUp, Quota: *used}
	}
	if how.Rated && !how.Further && g.PerPerson > 0 {
		if allowed, first := g.turns.allow(party.Person, g.PerPerson, time.Now()); !allowed {
			p.GiveBack()
			return nil, &Refusal{Why: TooOften, First: first}
		}
	}
	return p, nil
}

// paused reports whether answers are switched off where an event happened.
func (g *Gate) paused(ctx context.Context, e turn.Event) bool {
	off, err := g.Store.Settings.SwitchedOff(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	g.logged("read what is switched off", err)
	return off[store.Answers]
}

func (g *Gate) logged(what string, err error) {
	if err != nil {
		g.Log.Error(what, "err", err)
	}
}

func (g *Gate) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

// Access says who may use the bot, by ids of people, roles, channels and servers. What Deny has gets no answer. If Allow has anything, only
// that is answered.
type Access struct{ Allow, Deny map[string]bool }

// Admits reports whether the bot may answer an event.
func (a Access) Admits(e turn.Event) bool {
	by := e.Message.Author.ID
	if e.Command != nil {
		by = e.Command.By.ID
	}
	allowed := len(a.Allow) == 0
	for _, id := range append([]string{by, e.Message.ChannelID, e.ParentID, e.GuildID}, e.Reader.Roles...) {
		if id != "" && a.Deny[id] {
			return false
		}
		allowed = allowed || id != "" && a.Allow[id]
	}
	return allowed
}

// ratePeriod is the time in which the turns of a person are counted.
const ratePeriod = time.Minute

// rates counts the turns that each person asked for within ratePeriod. Its zero value is ready.
type rates struct {
	mu     sync.Mutex
	people map[string]*rate // guarded by mu
}

type rate struct {
	turns   []time.Time // within ratePeriod, oldest first
	refused time.Time   // when the person was last told
}

// allow reports whether a person may ask for another turn. If not, first reports whether it is the first refusal within ratePeriod.
func (r *rates) allow(id string, limit int, now time.Time) (allowed, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.people == nil || len(r.people) > 10_000 {
		r.people = map[string]*rate{}
	}
	p := r.people[id]
	if p == nil {
		p = &rate{}
		r.people[id] = p
	}
	p.turns = slices.DeleteFunc(p.turns, func(t time.Time) bool { return now.Sub(t) >= ratePeriod })
	if len(p.turns) < limit {
		p.turns = append(p.turns, now)
		return true, false
	}
	first = now.Sub(p.refused) >= ratePeriod
	if first {
		p.refused = now
	}
	return false, first
}

// Asks counts a turn for a person who gives a command, and reports whether they may have it.
func (g *Gate) Asks(personID string) bool {
	if g.PerPerson == 0 {
		return true
	}
	allowed, _ := g.turns.allow(personID, g.PerPerson, time.Now())
	return allowed
}
