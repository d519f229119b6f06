package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/llm"
	"familiar/internal/store"
)

// Meter holds what is asked of models beside the turns, for a channel, to the quotas: it counts for the channel, its server and all, and
// for no person, since none has asked for it. Its exported fields are set before first use and not changed after.
type Meter struct {
	Store  *store.DB
	Quotas []Quota
	Log    *slog.Logger

	mu    sync.Mutex
	noted map[string]string // by scope and id: the day of UTC on which it was noted that the quota is used up; guarded by mu
}

const countNoQuota = "not asked: quota"

// Allows reports whether a channel has tokens and dollars left today. That it has none is logged and counted once a day.
func (m *Meter) Allows(ctx context.Context, channelID, guildID string) bool {
	scope, id, err := spent(ctx, m.Store, m.Quotas, store.Party{Channel: channelID, Guild: guildID}, tokens, dollars)
	if err == nil && scope == "" {
		return true
	}
	if err == nil && m.first(scope+" "+id) {
		m.Log.Info("a quota is used up: summaries and memory wait until tomorrow", "of", scope, "id", id)
		err = m.Store.Tally(ctx, map[string]int{countNoQuota: 1})
	}
	if err != nil && ctx.Err() == nil {
		m.Log.Error("read what was used today", "err", err)
	}
	return false
}

// first reports whether something is noted for the first time today. What was noted on other days is dropped.
func (m *Meter) first(whose string) bool {
	today := time.Now().UTC().Format(time.DateOnly)
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

// Count adds what a request used to what was used today.
func (m *Meter) Count(ctx context.Context, channelID, guildID string, u llm.Usage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	used := store.Used{Tokens: u.Prompt + u.Completion, Cost: u.Cost}
	if err := m.Store.AddUsage(ctx, time.Now(), store.Party{Channel: channelID, Guild: guildID}, used); err != nil {
		m.Log.Error("count what was used", "err", err)
	}
}
