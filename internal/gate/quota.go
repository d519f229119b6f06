package bot

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"
)

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

// Paused ends the turns where the bot was paused, and shows people that it is paused everywhere. ends says that the pause ended instead.
func (b *Bot) Paused(ctx context.Context, s store.Switch, ends bool) {
	if s.Place == store.Everywhere {
		b.conditionChanged(func(c *condition) { c.paused = !ends })
	}
	if ends {
		return
	}
	b.withdraw(ctx, errPaused, func(a turn.Event) bool {
		switch s.Place {
		case store.Everywhere:
			return true
		case "":
			return a.GuildID == s.GuildID
		}
		return a.Message.ChannelID == s.Place || a.ParentID == s.Place
	})
}

// limitWeb switches the web off for a turn if lookups are off here or used up for today.
func (b *Bot) limitWeb(ctx context.Context, r *turn.Request, e turn.Event, p *pass) {
	if r.Web.Switch == turn.WebOff {
		return
	}
	off, err := b.Store.Settings.SwitchedOff(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	b.logged("read what is switched off", err)
	if off[store.Lookups] {
		r.Web.Switch, r.Web.Reason = turn.WebOff, turn.OffChannel
	} else if !b.holdLookup(ctx, p, Party(e)) {
		r.Web.Switch, r.Web.Reason = turn.WebOff, turn.OffQuota
	}
}

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

// spent returns the scope and id of a quota, of one of some kinds, that is used up today; "" if there is none.
func spent(ctx context.Context, db *store.DB, now time.Time, quotas []Quota, p store.Party, of ...string) (scope, id string, err error) {
	if !slices.ContainsFunc(quotas, func(q Quota) bool { return slices.Contains(of, q.Of) }) {
		return "", "", nil
	}
	used, err := db.Quotas.Usage(ctx, now, p)
	for _, q := range quotas {
		if slices.Contains(of, q.Of) && q.Used(used[q.Scope]) >= q.Most {
			return q.Scope, used[q.Scope].ID, err
		}
	}
	return "", "", err
}

// count adds a turn to today's use.
func (b *Bot) count(ctx context.Context, t *turn.Trace) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	r := t.Request
	p := store.Party{Person: r.Message.Author.ID, Channel: r.ChannelID, Guild: r.GuildID}
	b.logged("count what was used", b.Store.Quotas.AddUsage(ctx, b.now().Add(-t.Took), p, used(t)))
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

// Meter applies the quotas to requests to models that belong to no turn. They count for the channel, its server and all together. They count for no person,
// since nobody asked for them. The exported fields must not be changed after first use.
type Meter struct {
	Store  *store.DB
	Quotas []Quota
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now

	mu    sync.Mutex
	noted map[string]string // by scope and id, the day of UTC on which it was noted; guarded by mu
}

func (m *Meter) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

const countNoQuota = "not asked: quota"

// Allows reports whether a channel has tokens and dollars left today. A refusal is logged and counted once a day.
func (m *Meter) Allows(ctx context.Context, channelID, guildID string) bool {
	scope, id, err := spent(ctx, m.Store, m.now(), m.Quotas, store.Party{Channel: channelID, Guild: guildID}, Tokens, Dollars)
	if err == nil && scope == "" {
		return true
	}
	if err == nil && m.first(scope+" "+id) {
		m.Log.Info("a quota is used up: summaries and memory wait until tomorrow", "of", scope, "id", id)
		err = m.Store.Tallies.Add(ctx, map[string]int{countNoQuota: 1})
	}
	if err != nil && ctx.Err() == nil {
		m.Log.Error("read what was used today", "err", err)
	}
	return false
}

// first reports whether a used up quota is noted for the first time today. Notes of other days are dropped.
func (m *Meter) first(whose string) bool {
	today := m.now().UTC().Format(time.DateOnly)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noted[whose] == today {
		return false
	}
	noted := map[string]string{whose: today}
	for key, day := range m.noted {
		if day == today {
			noted[key] = day
		}
	}
	m.noted = noted
	return true
}

// Count adds a request to today's use.
func (m *Meter) Count(ctx context.Context, channelID, guildID string, u llm.Usage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	used := store.Used{Tokens: u.Prompt + u.Completion, Cost: u.Cost}
	if err := m.Store.Quotas.AddUsage(ctx, m.now(), store.Party{Channel: channelID, Guild: guildID}, used); err != nil {
		m.Log.Error("count what was used", "err", err)
	}
}
