package bot

import (
	"context"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/character/macro"
	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
	"familiar/internal/store"
)

// What /character says of greetings.
const (
	saysGreetings  sentence = "It has %d greetings. Say which one it begins with: greeting:0 to greeting:%d."
	saysNoGreeting sentence = "There is no greeting %s."
	saysUngreeted  sentence = "Its greeting could not be posted: %s."
)

// begins has a character that came to a channel say the greeting that was asked for. Where none was, it returns how to ask for one.
func (b *Bot) begins(ctx context.Context, e turn.Event, actor *Actor, asked string) string {
	in := language(e)
	number, _, _ := strings.Cut(strings.TrimSpace(asked), ":")
	n, err := strconv.Atoi(number)
	most := b.greetings(ctx, e, actor)
	switch {
	case asked == "" && most == 0:
		return ""
	case asked == "":
		return saysGreetings.in(in, most, most-1)
	case err != nil || n < 0 || n >= most:
		return saysNoGreeting.in(in, plainName(asked))
	}
	if err := b.greet(ctx, e, actor, n, e.Command.By); err != nil {
		b.logged("post a greeting", err)
		return saysUngreeted.in(in, b.Redact.String(err.Error()))
	}
	return ""
}

// greetings is how many a character has in a place: those for a group count where several characters speak.
func (b *Bot) greetings(ctx context.Context, e turn.Event, actor *Actor) int {
	n := len(actor.Greetings.Texts)
	if len(b.speakers(ctx, e)) > 1 {
		n += len(actor.Greetings.Group)
	}
	return n
}

// greet posts a greeting and keeps it as what the character said there.
func (b *Bot) greet(ctx context.Context, e turn.Event, actor *Actor, n int, to turn.Author) error {
	now := time.Now()
	text, ok := actor.Greeting(n, macro.Env{User: character.UserName(to), Now: now, Chat: e.Message.ChannelID, Turn: e.ID})
	text, _ = outgoing.RulesFor(turn.Request{GuildID: e.GuildID, ChannelID: e.Message.ChannelID}, nil, b.Redact).Guard(actor.rewritten(turn.Request{Message: turn.Message{Author: to, At: now}}, text))
	if !ok || strings.TrimSpace(text) == "" {
		return nil
	}
	pieces := []string{text}
	if units := b.Pace.Units; units > 0 {
		pieces = outgoing.Split(text, units-personaUnits)
	}
	for i, piece := range pieces {
		p := turn.Post{ChannelID: e.Message.ChannelID, Text: piece, Final: true, Persona: b.persona(ctx, actor, e), Nonce: nonce(e.ID, 70+i)}
		id, err := b.send(ctx, p, true)
		if err != nil {
			return err
		}
		b.keepReply(ctx, []store.Message{b.stored(e, turn.Message{
			ID: id, ChannelID: p.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: outgoing.OwnWords(piece), At: now.Add(time.Duration(i) * time.Millisecond), Own: true,
		})})
	}
	b.logged("keep a greeting", b.Store.SetGreeting(ctx, e.Message.ChannelID, e.GuildID, actor.ID, n))
	return nil
}

// personaUnits are left for a name in front of a post.
const personaUnits = 80

// suggestGreetings completes the number of a greeting of the character that is being chosen.
func (b *Bot) suggestGreetings(e turn.Event) []turn.Choice {
	actor := b.characterCalled(strings.TrimSpace(e.Command.Options["use"] + e.Command.Options["add"]))
	if actor == nil {
		return nil
	}
	var all []string
	for n := range len(actor.Greetings.Texts) + len(actor.Greetings.Group) {
		text, _ := actor.Greeting(n, macro.Env{Now: time.Now()})
		all = append(all, strconv.Itoa(n)+": "+outgoing.CutUnits(strings.Join(strings.Fields(text), " "), 80))
	}
	return matching(e.Command.Options[e.Command.Focused], all)
}
