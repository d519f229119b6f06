package bot

import (
	"context"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// condition is what keeps the bot from answering as usual anywhere. Everybody sees it beside its name.
type condition struct {
	mu      sync.Mutex
	paused  bool           // everywhere; guarded by mu, as is all that follows
	spent   string         // the day on which all together have used as much as they may
	failing bool           // the model did not answer the last turn
	shown   *turn.Presence // nil: nothing yet
}

const (
	showsPaused  = "paused"
	showsSpent   = "has given all answers of today"
	showsFailing = "cannot reach its model"
)

// conditionChanged notes a change, and shows it.
func (b *Bot) conditionChanged(change func(*condition)) {
	if b.Present == nil {
		return
	}
	c := &b.condition
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
	var now turn.Presence
	switch {
	case c.paused:
		now.Text = showsPaused
	case c.spent == time.Now().UTC().Format(time.DateOnly):
		now.Text = showsSpent
	case c.failing:
		now.Text = showsFailing
	}
	if c.shown == nil && now.Text == "" || c.shown != nil && *c.shown == now {
		return
	}
	c.shown = &now
	b.Present(now)
}

// pausedEverywhere shows at the start whether the bot is paused everywhere.
func (b *Bot) pausedEverywhere(ctx context.Context) {
	off, err := b.Store.Off(ctx, "", "", "")
	b.logged("read what is switched off", err)
	b.conditionChanged(func(c *condition) { c.paused = off[store.Answers] })
}
