package bot

import (
	"cmp"
	"context"
	"strings"
	"time"

	"familiar/card"
	"familiar/internal/api"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/draft"
	"familiar/internal/factcheck"
	"familiar/internal/llm"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/providers/websearch"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// Actor is one character and everything its turns need. It never changes: a reload makes another one.
type Actor struct {
	*character.Character
	Builder  *prompt.Builder
	Lookup   *websearch.Provider
	Past     *recall.ServerProvider // finds earlier messages in the server; nil: nothing is known of them
	Model    *llm.Client            // nil: no model is configured
	Side     *llm.Client            // for questions beside the answer; nil: none
	Pictures *attachment.Provider   // reads attached pictures; nil: none are read
	Verifier *factcheck.Verifier    // judges citations; nil: rules alone do
	Tokens   *llm.Counter           // counts its prompts, and keeps parts of them; may be nil
}

// unlabelled takes off the name that a model puts before its words. The name may be the character's or its nickname.
func (a *Actor) unlabelled(text string) (rest string, undecided bool) {
	rest, undecided = reply.Unlabelled(text, a.Name)
	if a.Called != "" && a.Called != a.Name && !undecided && rest == strings.TrimLeft(text, " \n") {
		return reply.Unlabelled(text, a.Called)
	}
	return rest, undecided
}

// promptTokens is how many tokens a prompt of the character may have.
func (a *Actor) promptTokens() int { return a.Modes[a.Mode].Total }

// modelHost returns the host that runs the character's models, empty if it has none.
func (a *Actor) modelHost() string {
	for _, c := range []*llm.Client{a.Model, a.Side} {
		if c != nil {
			return api.Host(c.BaseURL)
		}
	}
	return ""
}

// Cast is the characters that can speak, as they were loaded at one time. It never changes.
type Cast struct {
	Default *Actor   // speaks where nobody has chosen a character
	Others  []*Actor // sorted by id
	Faults  []string // what is wrong with files: characters, or their latest versions, are missing because of it
}

// Actor returns the character with an id, or nil.
func (c *Cast) Actor(id string) *Actor {
	for _, a := range c.All() {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// All lists the characters, the default one first. A nil cast has none.
func (c *Cast) All() []*Actor {
	if c == nil {
		return nil
	}
	return append([]*Actor{c.Default}, c.Others...)
}

// SetCast replaces the characters. Turns that have begun keep their character.
func (b *Bot) SetCast(c *Cast) { b.reloaded.Store(c) }

func (b *Bot) CurrentCast() *Cast { return cmp.Or(b.reloaded.Load(), b.Cast) }

// persona returns the name and picture under which a character posts: its own if several characters speak there, else nil.
func (b *Bot) persona(ctx context.Context, actor *Actor, e turn.Event) *turn.Persona {
	if !b.Pace.Names || e.GuildID == "" || len(b.Speakers(ctx, e)) == 1 {
		return nil
	}
	return &turn.Persona{Name: actor.Name, Avatar: actor.Avatar}
}

// Greet posts a character's n-th greeting, and keeps it as a message of the character.
func (b *Bot) Greet(ctx context.Context, e turn.Event, actor *Actor, n int, to turn.Author) error {
	now := time.Now()
	text, ok := actor.Greeting(n, card.Macros{User: character.UserName(turn.Request{Message: turn.Message{Author: to}}), Now: now, Chat: e.Message.ChannelID, Turn: e.ID})
	text, _ = reply.RulesFor(turn.Request{GuildID: e.GuildID, ChannelID: e.Message.ChannelID}, nil, b.Redact).Guard(draft.Rewritten(actor.Character, turn.Request{Message: turn.Message{Author: to, At: now}}, text))
	if !ok || strings.TrimSpace(text) == "" {
		return nil
	}
	pieces := []string{text}
	if units := b.Pace.Units; units > 0 {
		pieces = reply.Split(text, units-personaUnits)
	}
	for i, piece := range pieces {
		p := turn.Post{ChannelID: e.Message.ChannelID, Text: piece, Final: true, Persona: b.persona(ctx, actor, e), Nonce: nonce(e.ID, 70+i)}
		id, err := b.sendPost(ctx, p, true)
		if err != nil {
			return err
		}
		b.keepReply(ctx, []store.Message{b.stored(e, turn.Message{
			ID: id, ChannelID: p.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: reply.OwnWords(piece), At: now.Add(time.Duration(i) * time.Millisecond), Own: true,
		})})
	}
	b.logged("keep a greeting", b.Store.Characters.SetGreeting(ctx, e.Message.ChannelID, e.GuildID, actor.ID, n))
	return nil
}

// personaUnits are left for a name in front of a post // room for a name in front of a post
const personaUnits = 80
