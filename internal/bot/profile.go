package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// What /character adds where the bot could not take on the character's profile.
const saysNoProfile sentence = "I could not take on its name in this server: %s."

const profileLimit = time.Minute

// refusedProfile stands in the store before a profile that Discord refused: it is not asked again before something changes.
const refusedProfile = "refused "

// DressAll gives the bot, in each server that has a character, the profile that it should have there now.
func (b *Bot) DressAll(ctx context.Context) {
	if b.Profile == nil {
		return
	}
	guilds, err := b.Store.Profiles(ctx)
	b.logged("read the servers' characters", err)
	for id, g := range guilds {
		b.logged("change the bot's profile in a server", b.dress(ctx, id, g.Character, g.Given))
	}
}

// dressServer gives the bot the profile that it should have in one server.
func (b *Bot) dressServer(ctx context.Context, guildID string) error {
	if b.Profile == nil {
		return nil
	}
	guilds, err := b.Store.Profiles(ctx)
	if err != nil {
		return err
	}
	g, ok := guilds[guildID]
	if !ok {
		return nil
	}
	return b.dress(ctx, guildID, g.Character, g.Given)
}

// dress has the bot look in a server as the server's character does, if that wants it, and else as itself. given is what Discord
// was given before; the same is not sent twice.
func (b *Bot) dress(ctx context.Context, guildID, character, given string) error {
	var p turn.Profile
	want := ""
	if a := b.cast().Actor(character); a != nil && a.ServerProfile {
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
	if err := b.Store.SetProfile(ctx, guildID, want); err != nil {
		return fmt.Errorf("keep the bot's profile: %w", err)
	}
	return refusal
}
