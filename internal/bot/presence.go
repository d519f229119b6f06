package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

const profileLimit = time.Minute

// refusedProfile marks a profile that Discord refused. It is not sent again before something changes.
const refusedProfile = "refused "

// DressAll gives the bot its profile in each server that has a character.
func (b *Bot) DressAll(ctx context.Context) {
	if b.Profile == nil {
		return
	}
	guilds, err := b.Store.Characters.Profiles(ctx)
	b.logged("read the servers' characters", err)
	for id, g := range guilds {
		b.logged("change the bot's profile in a server", b.dress(ctx, id, g.Character, g.Given))
	}
}

// Dress gives the bot its profile in one server.
func (b *Bot) Dress(ctx context.Context, guildID string) error {
	if b.Profile == nil {
		return nil
	}
	guilds, err := b.Store.Characters.Profiles(ctx)
	if err != nil {
		return err
	}
	g, ok := guilds[guildID]
	if !ok {
		return nil
	}
	return b.dress(ctx, guildID, g.Character, g.Given)
}

// dress shows the bot in a server as the server's character, if that character wants it, and otherwise as itself. given is what Discord was
// given before; the same is not sent twice.
func (b *Bot) dress(ctx context.Context, guildID, character, given string) error {
	var p turn.Profile
	want := ""
	if a := b.CurrentCast().Actor(character); a != nil && a.ServerProfile {
		p = turn.Profile{Name: a.Name, Picture: a.Picture}
		sum := sha256.Sum256(append([]byte(p.Name+"\n"), p.Picture...))
		want = hex.EncodeToString(sum[:])
	}
	if want == given || given == refusedProfile+want {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, profileLimit)
	defer cancel()
	refusal := b.Profile(ctx, guildID, p)
	if refusal != nil {
		if temporary(refusal) || ctx.Err() != nil {
			return refusal
		}
		want = refusedProfile + want
	}
	if err := b.Store.Characters.SetProfile(ctx, guildID, want); err != nil {
		return fmt.Errorf("keep the bot's profile: %w", err)
	}
	return refusal
}
