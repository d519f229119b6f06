// Package gate decides who may have a turn or a lookup. Whatever causes one passes it first: a message, an edit, a button, a command, a menu,
// joining in. A test of package house names the functions that begin turns, and those that may call them.
package gate

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
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
	Quotas    []Quota // until SetQuotas replaces them
	PerPerson int     // how many turns a person may ask for in a minute; 0 is any number

	changed atomic.Pointer[[]Quota]

	turns  rates // of each person
	passes passes
	noted  noted
}

// SetQuotas replaces the quotas. Parts that turns hold still count.
func (g *Gate) SetQuotas(all []Quota) { g.changed.Store(&all) }

// Limits returns the quotas that are in force.
func (g *Gate) Limits() []Quota {
	if all := g.changed.Load(); all != nil {
		return *all
	}
	return g.Quotas
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

func (r *Refusal) Error() string { return closed[r.Why] }

// closed is what a program is told. People are told by the character.
var closed = map[Why]string{
	NotAdmitted: "this person or place may not use the bot", MayNotPost: "the bot may not post there", Paused: "answers are paused (/pause)",
	UsedUp: "today's quota is used up (FAMILIAR_QUOTAS)", TooOften: "too many turns in a minute (FAMILIAR_TURNS_PER_MINUTE)",
}

// Passage says how an event wants to pass.
type Passage struct {
	Tokens  int  // that the turn's prompt may have
	Posts   bool // the answer is posted, instead of being given to the person who gave a command
	Unasked bool // nobody asks, so it counts for no person
	Rated   bool // it counts among the turns that a person may ask for in a minute
	Further bool // an event of the same message has passed: only the quotas are asked
}

// Pass returns a pass for one turn, or why there is none. It asks whether this person may use the bot, whether the bot may write there, and
// whether it is paused. Then it asks whether the quotas leave something and whether the person asks too often, in this order.
func (g *Gate) Pass(ctx context.Context, e turn.Event, how Passage) (*Pass, *Refusal) {
	party := Party(e)
	if how.Unasked {
		party.Person = ""
	}
	if !how.Further {
		switch {
		case !g.Access.Admits(e):
			return nil, &Refusal{Why: NotAdmitted}
		case how.Posts && g.MayPost != nil && !g.MayPost(e.Message.ChannelID):
			return nil, &Refusal{Why: MayNotPost}
		case g.off(ctx, e)[store.Answers]:
			return nil, &Refusal{Why: Paused}
		}
	}
	p, used := g.hold(ctx, party, how.Tokens)
	if used != nil {
		return nil, &Refusal{Why: UsedUp, Quota: *used}
	}
	if how.Rated && !how.Further && g.PerPerson > 0 {
		if allowed, first := g.rated(ctx, party.Person); !allowed {
			p.GiveBack()
			return nil, &Refusal{Why: TooOften, First: first}
		}
	}
	return p, nil
}

// Speaks reports whether the bot may say something without a turn to the author of an event, where that happened.
func (g *Gate) Speaks(ctx context.Context, e turn.Event) bool {
	return g.Access.Admits(e) && (g.MayPost == nil || g.MayPost(e.Message.ChannelID)) && !g.off(ctx, e)[store.Answers]
}

// off returns what is switched off where an event happened: answers, lookups.
func (g *Gate) off(ctx context.Context, e turn.Event) map[string]bool {
	off, err := g.Store.Settings.SwitchedOff(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	g.logged("read what is switched off", err)
	return off
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

// Access says who may use the bot, by ids of people, roles, channels and servers. An id in Deny gets no answer. If Allow has any ids, only
// those are answered.
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

// Party returns the person, channel and server for which an event counts.
func Party(e turn.Event) store.Party {
	by := e.Message.Author.ID
	if e.Command != nil {
		by = e.Command.By.ID
	}
	return store.Party{Person: by, Channel: e.Message.ChannelID, Guild: e.GuildID}
}

// Pass is the right to one turn or lookup. Until it is returned, it holds a part of the quotas. So turns at the same time cannot use the
// same rest of one. A nil pass holds nothing.
type Pass struct {
	of    *Gate
	id    int64 // among those of this process
	party store.Party
	holds store.Used // guarded by of.passes.mu
	until time.Time  // a pass that was not returned holds nothing afterwards
}

// passes are the passes that are held. The zero value is ready. A restart empties it: what was begun is counted when it is over. Where
// processes share a database, that has them, too.
type passes struct {
	mu   sync.Mutex
	held map[*Pass]bool // guarded by mu
	last int64          // id of a pass; guarded by mu
}

// LongestPass is longer than any turn takes, with the wait in its lane.
const LongestPass = 15 * time.Minute

// hold takes a turn's part of the quotas: the turn, and as many tokens as its prompt may have. If a quota is used up, it returns that
// instead.
func (g *Gate) hold(ctx context.Context, party store.Party, tokens int) (*Pass, *store.Usage) {
	p := &Pass{of: g, party: party, until: time.Now().Add(LongestPass)}
	if len(g.Limits()) == 0 {
		return p, nil
	}
	up := g.take(ctx, p, party, func(used map[string]store.Usage) store.Used {
		holds := store.Used{Turns: 1, Tokens: tokens}
		if all := used[store.OfAll]; all.Tokens > 0 { // the usual price
			holds.Cost = all.Cost / float64(all.Tokens) * float64(tokens)
		}
		return holds
	}, Turns, Tokens, Dollars)
	if up != nil {
		return nil, up
	}
	return p, nil
}

// HoldLookup takes a lookup's part of the quotas for a turn that has a pass. It returns why nothing may be looked up, or "". Lookups may be
// switched off where the event happened, or none is left for today.
func (g *Gate) HoldLookup(ctx context.Context, p *Pass, e turn.Event) turn.OffReason {
	if g.off(ctx, e)[store.Lookups] {
		return turn.OffChannel
	}
	if len(g.Limits()) == 0 {
		return ""
	}
	var held store.Used
	if p != nil {
		g.passes.mu.Lock()
		held = p.holds
		g.passes.mu.Unlock()
		if held.Lookups > 0 { // an attempt before this one took it
			return ""
		}
	}
	held.Lookups = 1
	if g.take(ctx, p, Party(e), func(map[string]store.Usage) store.Used { return held }, Lookups) != nil {
		return turn.OffQuota
	}
	return ""
}

// take has a pass hold a part of the quotas. If one of some kinds has nothing left, it returns that. want is told what was used and is held
// today. A nil pass holds nothing.
func (g *Gate) take(ctx context.Context, p *Pass, party store.Party, want func(map[string]store.Usage) store.Used, of ...string) (up *store.Usage) {
	if p != nil && g.Store.Leases.Shared() {
		return g.takeAmong(ctx, p, party, want, of...)
	}
	g.passes.mu.Lock()
	defer g.passes.mu.Unlock()
	used, err := g.Store.Quotas.Usage(ctx, g.now(), party)
	g.logged("read what was used today", err)
	if up = g.exhausted(g.withHeld(used, party), party, of...); up == nil && p != nil {
		p.holds = want(used)
		g.passes.keep(p)
	}
	return up
}

// takeAmong is take where other processes take, too.
func (g *Gate) takeAmong(ctx context.Context, p *Pass, party store.Party, want func(map[string]store.Usage) store.Used, of ...string) (up *store.Usage) {
	g.passes.mu.Lock()
	further := g.passes.held[p]
	g.passes.keep(p)
	g.passes.mu.Unlock()
	err := g.Store.Quotas.Hold(ctx, g.now(), p.id, party, LongestPass, func(used map[string]store.Usage) (holds store.Used, ok bool) {
		if up = g.exhausted(used, party, of...); up != nil {
			return holds, false
		}
		holds = want(used)
		g.passes.mu.Lock()
		defer g.passes.mu.Unlock()
		p.holds = holds
		return holds, true
	})
	g.logged("hold a part of the quotas", err)
	if up != nil && !further { // it is not a pass
		p.drop()
	}
	return up
}

// withHeld adds what passes hold to what was used. Its caller holds passes.mu.
func (g *Gate) withHeld(used map[string]store.Usage, party store.Party) map[string]store.Usage {
	all, now := map[string]store.Usage{}, time.Now()
	for scope, id := range scopes(party) {
		one := used[scope]
		for p := range g.passes.held {
			if p.until.Before(now) {
				delete(g.passes.held, p)
			} else if p.counts(scope, id) {
				one.Used = one.Plus(p.holds)
			}
		}
		all[scope] = one
	}
	return all
}

// scopes returns the ids of a party by their scopes.
func scopes(p store.Party) map[string]string {
	return map[string]string{store.OfAll: "", store.OfPerson: p.Person, store.OfChannel: p.Channel, store.OfServer: p.Guild}
}

// exhausted returns the use of the first scope that has used up a quota of some kinds, or nil.
func (g *Gate) exhausted(used map[string]store.Usage, party store.Party, of ...string) *store.Usage {
	ids := scopes(party)
	for _, q := range g.Limits() {
		id := ids[q.Scope]
		if !slices.Contains(of, q.Of) || id == "" && q.Scope != store.OfAll {
			continue
		}
		all := used[q.Scope]
		if all.Scope == "" {
			all.Scope, all.ID = q.Scope, id
		}
		if q.Used(all) >= q.Most {
			return &all
		}
	}
	return nil
}

// counts reports whether a pass is for a party with that id in a scope.
func (p *Pass) counts(scope, id string) bool {
	switch scope {
	case store.OfPerson:
		return p.party.Person == id
	case store.OfChannel:
		return p.party.Channel == id
	case store.OfServer:
		return p.party.Guild == id
	}
	return true
}

// keep keeps a pass. Its caller holds mu.
func (ps *passes) keep(p *Pass) {
	if ps.held == nil {
		ps.held = map[*Pass]bool{}
	}
	if p.id == 0 {
		ps.last++
		p.id = ps.last
	}
	ps.held[p] = true
}

// Held returns how many turns and lookups hold a part of the quotas now.
func (g *Gate) Held() int {
	g.passes.mu.Lock()
	defer g.passes.mu.Unlock()
	return len(g.passes.held)
}

// drop takes a pass out of those that are held, and reports whether it was among them.
func (p *Pass) drop() (held bool) {
	if p == nil {
		return false
	}
	p.of.passes.mu.Lock()
	defer p.of.passes.mu.Unlock()
	held = p.of.passes.held[p]
	delete(p.of.passes.held, p)
	return held
}

// Counted returns a pass whose turn is over, when what [Gate.Counted] returned is committed.
func (p *Pass) Counted() { p.drop() }

// GiveBack returns a pass that is not counted, unless it was returned already.
func (p *Pass) GiveBack() {
	if p.drop() && p.of.Store.Leases.Shared() {
		p.of.logged("give a part of the quotas back", p.of.Store.Quotas.LetGo(context.Background(), p.id))
	}
}
