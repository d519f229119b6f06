package gate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"
)

// These are the things that quotas count.
const (
	Turns   = "turns"
	Lookups = "lookups"
	Tokens  = "tokens"
	Dollars = "dollars"
)

// Quota limits use on one day of UTC: of each person, in each channel or server, or of all together.
type Quota struct {
	Scope string // "person", "channel", "server", "all"
	Most  float64
	Of    string // "turns", "lookups", "tokens", "dollars"
}

// ParseQuotas reads quotas such as "person 50 turns, server 2000000 tokens, all 5 dollars".
func ParseQuotas(text string) ([]Quota, error) {
	var all []Quota
	for one := range strings.SplitSeq(text, ",") {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		q := Quota{}
		if len(words) == 3 {
			q.Scope, q.Of = words[0], words[2]
			q.Most, _ = strconv.ParseFloat(words[1], 64)
		}
		if !slices.Contains([]string{store.OfPerson, store.OfChannel, store.OfServer, store.OfAll}, q.Scope) ||
			!slices.Contains([]string{Turns, Lookups, Tokens, Dollars}, q.Of) || !(q.Most > 0) || q.Most > 1e12 {
			return nil, fmt.Errorf("%q is no quota; write whose, how much and of what: person 50 turns, channel 20 lookups, server 2000000 tokens, all 5 dollars", strings.TrimSpace(one))
		}
		all = append(all, q)
	}
	return all, nil
}

// Used returns how much of what the quota limits was used.
func (q Quota) Used(u store.Usage) float64 {
	switch q.Of {
	case Turns:
		return float64(u.Turns)
	case Lookups:
		return float64(u.Lookups)
	case Tokens:
		return float64(u.Tokens)
	}
	return u.Cost
}

// Party returns the person, channel and server for which an event counts.
func Party(e turn.Event) store.Party {
	by := e.Message.Author.ID
	if e.Command != nil {
		by = e.Command.By.ID
	}
	return store.Party{Person: by, Channel: e.Message.ChannelID, Guild: e.GuildID}
}

// Pass is the right to one turn or lookup. Until it is returned, it holds a part of the quotas, so that turns at the same time cannot use
// the same rest of one. A nil pass holds nothing.
type Pass struct {
	of    *passes
	party store.Party
	holds store.Used // guarded by of.mu
	until time.Time  // a pass that was not returned holds nothing afterwards
}

// passes are the passes that are held. The zero value is ready. A restart empties it: what was begun is counted when it is over.
type passes struct {
	mu   sync.Mutex
	held map[*Pass]bool // guarded by mu
}

// LongestPass is longer than any turn takes, with the wait in its lane.
const LongestPass = 15 * time.Minute

// hold takes a turn's part of the quotas: the turn, and as many tokens as its prompt may have. If a quota is used up, it returns that
// instead.
func (g *Gate) hold(ctx context.Context, party store.Party, tokens int) (*Pass, *store.Usage) {
	p := &Pass{of: &g.passes, party: party, until: time.Now().Add(LongestPass)}
	if len(g.Quotas) == 0 {
		return p, nil
	}
	g.passes.mu.Lock()
	defer g.passes.mu.Unlock()
	used, err := g.Store.Quotas.Usage(ctx, g.now(), party)
	g.logged("read what was used today", err)
	if q := g.passes.exhausted(g.Quotas, party, used, Turns, Tokens, Dollars); q != nil {
		return nil, q
	}
	p.holds = store.Used{Turns: 1, Tokens: tokens}
	if all := used[store.OfAll]; all.Tokens > 0 { // the usual price
		p.holds.Cost = all.Cost / float64(all.Tokens) * float64(p.holds.Tokens)
	}
	g.passes.keep(p)
	return p, nil
}

// HoldLookup takes a lookup's part of the quotas for a turn that has a pass, and reports whether there was one left.
func (g *Gate) HoldLookup(ctx context.Context, p *Pass, party store.Party) bool {
	if len(g.Quotas) == 0 {
		return true
	}
	g.passes.mu.Lock()
	defer g.passes.mu.Unlock()
	if p != nil && p.holds.Lookups > 0 { // an attempt before this one took it
		return true
	}
	used, err := g.Store.Quotas.Usage(ctx, g.now(), party)
	g.logged("read what was used today", err)
	if g.passes.exhausted(g.Quotas, party, used, Lookups) != nil {
		return false
	}
	if p != nil {
		p.holds.Lookups = 1
		g.passes.keep(p)
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
	ps.held[p] = true
}

// Held returns how many turns and lookups hold a part of the quotas now.
func (g *Gate) Held() int {
	g.passes.mu.Lock()
	defer g.passes.mu.Unlock()
	return len(g.passes.held)
}

// GiveBack returns a pass when its turn is over and counted, or does not begin.
func (p *Pass) GiveBack() {
	if p == nil {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.held, p)
}

// countLimit is how long counting may take.
const countLimit = 10 * time.Second

// Count adds a turn to today's use.
func (g *Gate) Count(ctx context.Context, t *turn.Trace) {
	r := t.Request
	g.add(ctx, g.now().Add(-t.Took), store.Party{Person: r.Message.Author.ID, Channel: r.ChannelID, Guild: r.GuildID}, used(t))
}

func (g *Gate) add(ctx context.Context, at time.Time, p store.Party, used store.Used) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countLimit)
	defer cancel()
	g.logged("count what was used", g.Store.Quotas.AddUsage(ctx, at, p, used))
}

// used returns what a turn used, of all models together.
func used(t *turn.Trace) store.Used {
	u, models := store.Used{Turns: 1}, t.Usage
	for _, p := range t.Processed {
		models = models.Plus(p.Usage)
	}
	if l := t.Lookup(); l != nil {
		models = models.Plus(l.Usage)
		if l.Query != "" && l.Reused == nil {
			u.Lookups = 1
		}
	}
	if f := t.Filtered(); f != nil {
		models = models.Plus(f.Usage)
	}
	if t.Verified != nil {
		models = models.Plus(t.Verified.Usage)
	}
	u.Tokens, u.Cost = models.Prompt+models.Completion, models.Cost
	return u
}

// Requests to models that belong to no turn count for the channel, its server and all together. They count for no person, since nobody asked
// for them.

// noted are the used up quotas that were noted today. Its zero value is ready.
type noted struct {
	mu  sync.Mutex
	day map[string]string // by scope and id, the day of UTC on which it was noted; guarded by mu
}

const countNoQuota = "not asked: quota"

// Allows reports whether a channel has tokens and dollars left today. A refusal is logged and counted once a day.
func (g *Gate) Allows(ctx context.Context, channelID, guildID string) bool {
	if !slices.ContainsFunc(g.Quotas, func(q Quota) bool { return q.Of == Tokens || q.Of == Dollars }) {
		return true
	}
	used, err := g.Store.Quotas.Usage(ctx, g.now(), store.Party{Channel: channelID, Guild: guildID})
	at := slices.IndexFunc(g.Quotas, func(q Quota) bool { return (q.Of == Tokens || q.Of == Dollars) && q.Used(used[q.Scope]) >= q.Most })
	if err == nil && at < 0 {
		return true
	}
	if err == nil {
		if scope := g.Quotas[at].Scope; g.noted.first(scope+" "+used[scope].ID, g.now()) {
			g.Log.Info("a quota is used up: summaries and memory wait until tomorrow", "of", scope, "id", used[scope].ID)
			err = g.Store.Tallies.Add(ctx, map[string]int{countNoQuota: 1})
		}
	}
	if ctx.Err() == nil {
		g.logged("read what was used today", err)
	}
	return false
}

// first reports whether a used up quota is noted for the first time today. Notes of other days are dropped.
func (n *noted) first(whose string, now time.Time) bool {
	today := now.UTC().Format(time.DateOnly)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.day[whose] == today {
		return false
	}
	for key, day := range n.day {
		if day != today {
			delete(n.day, key)
		}
	}
	if n.day == nil {
		n.day = map[string]string{}
	}
	n.day[whose] = today
	return true
}

// CountAside adds a request that belongs to no turn to today's use.
func (g *Gate) CountAside(ctx context.Context, channelID, guildID string, u llm.Usage) {
	g.add(ctx, g.now(), store.Party{Channel: channelID, Guild: guildID}, store.Used{Tokens: u.Prompt + u.Completion, Cost: u.Cost})
}
