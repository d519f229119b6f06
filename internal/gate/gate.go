package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// The gate. Whatever causes a turn or a lookup passes it first: a message, an edit, a button, a command, a menu, joining in. It asks, in this
// order: may this person use the bot, may the bot write there, is it paused, do the quotas leave something, does the person ask too often. A
// test of package house names the functions that begin turns, and those that may call them.

// pass is the right to one turn or lookup. Until it is returned, it holds a part of the quotas, so that turns at the same time cannot use
// the same rest of one. A nil pass holds nothing.
type pass struct {
	of    *passes
	party store.Party
	holds store.Used // guarded by of.mu
	until time.Time  // a pass that was not returned holds nothing afterwards
}

// passes are the passes that are held. The zero value is ready. A restart empties it: what was begun is counted when it is over.
type passes struct {
	mu   sync.Mutex
	held map[*pass]bool // guarded by mu
}

// longestPass is longer than any turn takes, with the wait in its lane.
const longestPass = 15 * time.Minute

// refusal says why the gate is closed.
type refusal struct {
	why   sentence
	quota store.Usage // that is used up
	first bool        // the person has not been refused for asking too often within the last minute
}

// Refused is the error of a command that the gate refused.
type Refused struct{ Why sentence }

func (r *Refused) Error() string { return string(r.Why) }

// Says returns what an actor says when the gate refuses a command.
func (a *Actor) Says(language string, r *Refused) string { return a.say(language, r.Why) }

// passage says how an event wants to pass.
type passage struct {
	posts   bool // the answer is posted, instead of being given to the person who gave a command
	unasked bool // nobody asks, so it counts for no person
	rated   bool // it counts among the turns that a person may ask for in a minute
	further bool // an event of the same message has passed: only the quotas are asked
}

// gate returns a pass for one turn of an actor, or why there is none.
func (b *Bot) gate(ctx context.Context, e turn.Event, actor *Actor, how passage) (*pass, *refusal) {
	if !how.further {
		switch {
		case !b.Access.Admits(e):
			return nil, &refusal{why: notAdmitted}
		case how.posts && !b.Door.MayPost(e.Message.ChannelID):
			return nil, &refusal{why: mayNotPost}
		case b.pausedAt(ctx, e):
			return nil, &refusal{why: pausedHere}
		}
	}
	party := Party(e)
	if how.unasked {
		party.Person = ""
	}
	p, used := b.hold(ctx, party, actor)
	if used != nil {
		return nil, &refusal{why: quotaUsedUp, quota: *used}
	}
	if how.rated && !how.further && b.PerPerson > 0 {
		if allowed, first := b.turns.allow(party.Person, b.PerPerson, time.Now()); !allowed {
			p.giveBack()
			return nil, &refusal{why: TooMany, first: first}
		}
	}
	return p, nil
}

// refuse tells the author of a message why there is no turn, once: when a quota is used up or somebody asks too often. Who may not use the
// bot, and a place where it is paused or may not write, hears nothing.
func (b *Bot) refuse(ctx context.Context, e turn.Event, r *refusal) {
	switch {
	case r.why == TooMany && r.first:
		b.tell(e, TooMany)
	case r.why == quotaUsedUp:
		if r.quota.Scope == store.OfAll {
			b.conditionChanged(func(c *condition) { c.spent = b.now().UTC().Format(time.DateOnly) })
		}
		first, err := b.Store.Quotas.NotifyOnce(ctx, b.now(), r.quota.Scope, r.quota.ID)
		b.logged("note a used up quota", err)
		if first {
			b.Log.Info("a quota is used up", "of", r.quota.Scope, "id", r.quota.ID)
			b.tell(e, quotaUsedUp)
		}
	case r.why == mayNotPost:
		b.Log.Warn("a message gets no turn: the bot may not write there", "channel", e.Message.ChannelID, "message", e.Message.ID)
	}
}

// hold takes a turn's part of the quotas: the turn, and as many tokens as its prompt may have. If a quota is used up, it returns that
// instead.
func (b *Bot) hold(ctx context.Context, party store.Party, actor *Actor) (*pass, *store.Usage) {
	p := &pass{of: &b.passes, party: party, until: time.Now().Add(longestPass)}
	if len(b.Quotas) == 0 {
		return p, nil
	}
	b.passes.mu.Lock()
	defer b.passes.mu.Unlock()
	used, err := b.Store.Quotas.Usage(ctx, b.now(), party)
	b.logged("read what was used today", err)
	if q := b.passes.exhausted(b.Quotas, party, used, Turns, Tokens, Dollars); q != nil {
		return nil, q
	}
	p.holds = store.Used{Turns: 1, Tokens: actor.Modes[actor.Mode].Total}
	if all := used[store.OfAll]; all.Tokens > 0 { // the usual price
		p.holds.Cost = all.Cost / float64(all.Tokens) * float64(p.holds.Tokens)
	}
	b.passes.keep(p)
	return p, nil
}

// holdLookup takes a lookup's part of the quotas for a turn that has a pass, and reports whether there was one left.
func (b *Bot) holdLookup(ctx context.Context, p *pass, party store.Party) bool {
	if len(b.Quotas) == 0 {
		return true
	}
	b.passes.mu.Lock()
	defer b.passes.mu.Unlock()
	if p != nil && p.holds.Lookups > 0 { // an attempt before this one took it
		return true
	}
	used, err := b.Store.Quotas.Usage(ctx, b.now(), party)
	b.logged("read what was used today", err)
	if b.passes.exhausted(b.Quotas, party, used, Lookups) != nil {
		return false
	}
	if p != nil {
		p.holds.Lookups = 1
		b.passes.keep(p)
	}
	return true
}

// exhausted returns the quota, of one of some kinds, that what was used and what is held leave nothing of. Its caller holds mu.
func (ps *passes) exhausted(quotas []Quota, party store.Party, used map[string]store.Usage, of ...string) *store.Usage {
	ids := map[string]string{store.OfAll: "", store.OfPerson: party.Person, store.OfChannel: party.Channel, store.OfServer: party.Guild}
	now := time.Now()
	for _, q := range quotas {
		id := ids[q.Scope]
		if !slices.Contains(of, q.Of) || id == "" && q.Scope != store.OfAll {
			continue
		}
		all := used[q.Scope]
		if all.Scope == "" {
			all.Scope, all.ID = q.Scope, id
		}
		for p := range ps.held {
			if p.until.Before(now) {
				delete(ps.held, p)
			} else if p.counts(q.Scope, id) {
				all.Used = all.Plus(p.holds)
			}
		}
		if q.Used(all) >= q.Most {
			return &all
		}
	}
	return nil
}

// counts reports whether a pass is for a party with that id in a scope.
func (p *pass) counts(scope, id string) bool {
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
func (ps *passes) keep(p *pass) {
	if ps.held == nil {
		ps.held = map[*pass]bool{}
	}
	ps.held[p] = true
}

// giveBack returns a pass when its turn is over and counted, or does not begin.
func (p *pass) giveBack() {
	if p == nil {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.held, p)
}

// giveBack returns the passes of arrivals.
func giveBack(all ...arrival) {
	for _, a := range all {
		a.pass.giveBack()
	}
}

// pausedAt reports whether answers are switched off where an event happened.
func (b *Bot) pausedAt(ctx context.Context, e turn.Event) bool {
	off, err := b.Store.Settings.SwitchedOff(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	b.logged("read what is switched off", err)
	return off[store.Answers]
}
