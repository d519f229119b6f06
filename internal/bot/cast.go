package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/api"
	"familiar/internal/character/macro"
	"familiar/internal/character/rewrite"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/lookup/verifier"
	"familiar/internal/providers/character"
	"familiar/internal/providers/server"
	"familiar/internal/providers/websearch"
)

// Actor is one character with all that its turns are made with. It is never changed: a reload makes another one.
type Actor struct {
	*character.Character
	Builder  *prompt.Builder
	Lookup   *websearch.Provider
	Past     *server.Provider   // what was said before in the server; nil: nothing is known of that
	Model    *llm.Client        // nil: no model is configured
	Side     *llm.Client        // for what is asked beside the answer; nil: none
	Verifier *verifier.Verifier // nil: words alone decide about citations
	Tokens   *llm.Counter       // of its prompts, parts of which it keeps; nil: there is none
}

// rewritten is a text of the character's as its own scripts leave it, before it is guarded.
func (a *Actor) rewritten(r turn.Request, text string) string {
	if !a.Rewrites.Runs(rewrite.OnReply) {
		return text
	}
	return a.Rewritten(rewrite.OnReply, text, 0, macro.Env{User: character.UserName(r.Message.Author), Now: r.Message.At, Chat: r.ChannelID, Turn: r.ID})
}

// unlabelled takes off the name that a model puts before its words, be it the character's or its nickname.
func (a *Actor) unlabelled(text string) (rest string, undecided bool) {
	rest, undecided = unlabelled(text, a.Name)
	if a.Called != "" && a.Called != a.Name && !undecided && rest == strings.TrimLeft(text, " \n") {
		return unlabelled(text, a.Called)
	}
	return rest, undecided
}

// modelHost is where the character's models are asked, empty if it has none.
func (a *Actor) modelHost() string {
	for _, c := range []*llm.Client{a.Model, a.Side} {
		if c != nil {
			return api.Host(c.BaseURL)
		}
	}
	return ""
}

// Cast is the characters that can speak, as they were loaded at one moment. It is never changed.
type Cast struct {
	Default *Actor   // speaks where nobody has chosen a character
	Others  []*Actor // in the order of their ids
	Faults  []string // what is wrong with the files: the characters, or their latest versions, that are missing for it
}

// Actor returns the character with an id, or nil.
func (c *Cast) Actor(id string) *Actor {
	if id == c.Default.ID {
		return c.Default
	}
	for _, a := range c.Others {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// ids lists the characters, the default one first.
func (c *Cast) ids() []string {
	ids := []string{c.Default.ID}
	for _, a := range c.Others {
		ids = append(ids, a.ID)
	}
	return ids
}

// SetCast has the bot take its turns with another cast from now on. Turns that have begun keep the character that they have.
func (b *Bot) SetCast(c *Cast) { b.reloaded.Store(c) }

func (b *Bot) cast() *Cast { return cmp.Or(b.reloaded.Load(), b.Cast) }

// speakers returns the characters that may speak where something happened: those of the channel, of the channel that a thread
// hangs on, or of the server. The first answers where none is named. There is always one.
func (b *Bot) speakers(ctx context.Context, e turn.Event) []*Actor {
	cast := b.cast()
	var found []*Actor
	if len(cast.Others) > 0 {
		ids, err := b.Store.Speakers(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
		b.logged("read which characters speak in a channel", err)
		for _, id := range ids {
			if a := cast.Actor(id); a != nil && !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	if found == nil {
		found = []*Actor{cast.Default}
	}
	return found
}

// persona is the name under which a character posts where something happened: its own, where several speak.
func (b *Bot) persona(ctx context.Context, actor *Actor, e turn.Event) *turn.Persona {
	if !b.Pace.Names || e.GuildID == "" || len(b.speakers(ctx, e)) == 1 {
		return nil
	}
	return &turn.Persona{Name: actor.Name, Avatar: actor.Avatar}
}

// speaker returns the character that answers where none is named.
func (b *Bot) speaker(ctx context.Context, e turn.Event) *Actor { return b.speakers(ctx, e)[0] }

// actor returns the character that takes the turn of an arrival. Where that is not loaded any more, the channel's does.
func (b *Bot) actor(ctx context.Context, a arrival) *Actor {
	if a.character != "" {
		if actor := b.cast().Actor(a.character); actor != nil {
			return actor
		}
	}
	return b.speaker(ctx, a.Event)
}
