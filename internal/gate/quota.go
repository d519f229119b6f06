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
			return nil, fmt.Errorf("%q is not a quota; write whose, how much and of what: person 50 turns, channel 20 lookups, server 2000000 tokens, all 5 dollars", strings.TrimSpace(one))
		}
		all = append(all, q)
	}
	return all, nil
}

// String writes the quota as ParseQuotas reads it.
func (q Quota) String() string {
	return q.Scope + " " + strconv.FormatFloat(q.Most, 'f', -1, 64) + " " + q.Of
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
	return false, p.refuse(now)
}

// refuse reports whether a refusal is the first one within ratePeriod.
func (p *rate) refuse(now time.Time) (first bool) {
	if first = now.Sub(p.refused) >= ratePeriod; first {
		p.refused = now
	}
	return first
}

// Asks counts a turn for a person who gives a command, and reports whether they may have it.
func (g *Gate) Asks(ctx context.Context, personID string) bool {
	if g.PerPerson == 0 {
		return true
	}
	allowed, _ := g.rated(ctx, personID)
	return allowed
}

// rated is allow for all processes together: a person may write in servers of several. The first refusal is that of this process.
func (g *Gate) rated(ctx context.Context, personID string) (allowed, first bool) {
	now := time.Now()
	if allowed, first = g.turns.allow(personID, g.PerPerson, now); !allowed || !g.Store.Leases.Shared() {
		return allowed, first
	}
	allowed, err := g.Store.Quotas.Within(ctx, "turns/"+g.Store.Privacy.Pseudonym(personID), g.PerPerson, ratePeriod)
	g.logged("count the turns of a person", err)
	if allowed {
		return true, false
	}
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	if p := g.turns.people[personID]; p != nil {
		first = p.refuse(now)
	}
	return false, first
}

// countLimit is how long counting may take.
const countLimit = 10 * time.Second

// Counted returns what adds a turn to today's use, in the transaction that saves its record. Its pass holds nothing once that is committed.
func (g *Gate) Counted(t *turn.Trace, p *Pass) func(*store.Tx) error {
	r, at := t.Request, g.now().Add(-t.Took)
	return func(tx *store.Tx) error {
		err := g.Store.Quotas.AddUsageIn(tx, at, store.Party{Person: r.Message.Author.ID, Channel: r.ChannelID, Guild: r.GuildID}, used(t))
		if err == nil && p != nil && p.id > 0 && g.Store.Leases.Shared() {
			err = g.Store.Quotas.LetGoIn(tx, p.id)
		}
		g.Store.OnCommit(p.Counted) // at once: the turn counts only once
		return err
	}
}

// used returns what a turn used, of all models together.
func used(t *turn.Trace) store.Used {
	u, models := store.Used{Turns: 1}, t.Spent()
	if l := t.Lookup(); l != nil && l.Query != "" && l.Reused == nil {
		u.Lookups = 1
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
	limits := g.Limits()
	if !slices.ContainsFunc(limits, func(q Quota) bool { return q.Of == Tokens || q.Of == Dollars }) {
		return true
	}
	used, err := g.Store.Quotas.Usage(ctx, g.now(), store.Party{Channel: channelID, Guild: guildID})
	at := slices.IndexFunc(limits, func(q Quota) bool { return (q.Of == Tokens || q.Of == Dollars) && q.Used(used[q.Scope]) >= q.Most })
	if err == nil && at < 0 {
		return true
	}
	if err == nil {
		if scope := limits[at].Scope; g.noted.first(scope+" "+used[scope].ID, g.now()) {
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
func (g *Gate) CountAside(ctx context.Context, channelID, guildID string, u turn.Usage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countLimit)
	defer cancel()
	used := store.Used{Tokens: u.Prompt + u.Completion, Cost: u.Cost}
	g.logged("count what was used", g.Store.Quotas.AddUsage(ctx, g.now(), store.Party{Channel: channelID, Guild: guildID}, used))
}

// mostInARow is how many turns the bot takes in a channel before a person must write there again.
const mostInARow = 2

// Rounds counts the turns that were asked for in each channel since a person wrote there. A proxy may write for a person or for another bot.
// For a person the original message came before, unless the bot was away. It is for one goroutine.
type Rounds map[string]int

// Grant returns how many of the n turns that a message asks for are allowed, and counts them.
func (r Rounds) Grant(e turn.Event, n int) int {
	channel := e.Message.ChannelID
	if !e.Proxied || e.Late {
		delete(r, channel)
	}
	if n = min(n, mostInARow-r[channel]); n > 0 {
		r[channel] += n
	}
	return n
}
