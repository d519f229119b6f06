package bot

import (
	"sync"
	"time"

	"familiar/internal/context/turn"
)

// condition is why the bot does not answer as usual anywhere. Everybody sees it next to the bot's name.
type condition struct {
	mu      sync.Mutex
	paused  bool           // everywhere; guarded by mu, as are the fields below
	spent   string         // the day on which the quota of all together is used up
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
	case c.spent == b.now().UTC().Format(time.DateOnly):
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
