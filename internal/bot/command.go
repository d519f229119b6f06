package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// answerUnits limits an answer to a command, in UTF-16 units. Discord allows 2,000.
const answerUnits = 1900

// command carries out a command, once. Only the person who gave it sees the answer.
func (b *Bot) command(ctx context.Context, e turn.Event) {
	defer func() { b.recovered("carry out a command", recover()) }()
	if e.Command.Focused != "" {
		b.suggest(ctx, e)
		return
	}
	first, err := b.Store.Claim(ctx, e.ID)
	b.logged("claim a command", err)
	if err == nil && !first { // a RESUME after a restart brought it again
		return
	}
	a := b.carryOut(ctx, e)
	a.Text = b.Redact.String(a.Text)
	b.logged("answer a command", b.Door.Respond(ctx, *e.Command, a))
}

func (b *Bot) carryOut(ctx context.Context, e turn.Event) turn.Answer {
	switch button := e.Command.Button; {
	case strings.HasPrefix(button, "context:"):
		return b.turnPage(ctx, e)
	case button != "":
		return b.press(ctx, e)
	}
	if c, ok := commandOf(*e.Command); ok {
		return c.run(b, ctx, e)
	}
	return b.help(ctx, e)
}

// suggest shows values for the option of a command that is being typed. It changes nothing, so it may come twice; and it is
// not an error that it comes too late.
func (b *Bot) suggest(ctx context.Context, e turn.Event) {
	var a turn.Answer
	if c, ok := commandOf(*e.Command); ok && c.suggest != nil {
		a.Choices = c.suggest(b, ctx, e)
	}
	if err := b.Door.Respond(ctx, *e.Command, a); err != nil {
		b.Log.Debug("suggestions were not shown", "command", e.Command.Name, "err", b.Redact.String(err.Error()))
	}
}

// setMode shows or changes the channel's mode.
func (b *Bot) setMode(ctx context.Context, e turn.Event) turn.Answer {
	want := turn.Mode(e.Command.Options["mode"])
	if buttons := e.Command.Options["buttons"]; buttons != "" {
		return b.setButtons(ctx, e, buttons)
	}
	if want == "" {
		actor := b.speaker(ctx, e)
		settings := b.settings(ctx, actor, e)
		mode, _ := actor.mode(settings)
		return turn.Answer{Text: fmt.Sprintf("This channel is in %s mode, the web is %s, buttons are %s. Modes: %s.", mode, onOff(!settings.WebOff), onOff(b.buttoned(actor, settings)), modeList())}
	}
	if !slices.Contains(turn.Modes(), want) {
		return turn.Answer{Text: fmt.Sprintf("There is no mode %q. Modes: %s.", want, modeList())}
	}
	return b.set(ctx, e, "This channel is now in "+string(want)+" mode.", func(c *store.Channel) { c.Mode = string(want) })
}

// setButtons switches the buttons under replies in the channel on or off.
func (b *Bot) setButtons(ctx context.Context, e turn.Event, buttons string) turn.Answer {
	if buttons != "on" && buttons != "off" {
		return turn.Answer{Text: "The buttons can be switched on or off."}
	}
	if buttons == "on" && !b.speaker(ctx, e).Buttons {
		return turn.Answer{Text: "Whoever runs me has switched the buttons off everywhere."}
	}
	return b.set(ctx, e, "In this channel the buttons under my replies are now "+buttons+".", func(c *store.Channel) { c.Bare = buttons == "off" })
}

// setWeb switches lookups in the channel on or off.
func (b *Bot) setWeb(ctx context.Context, e turn.Event, web string) turn.Answer {
	if web != "on" && web != "off" {
		return turn.Answer{Text: "The web can be switched on or off."}
	}
	return b.set(ctx, e, "In this channel the web is now "+web+".", func(c *store.Channel) { c.WebOff = web == "off" })
}

// set changes the channel's settings, for somebody who may. Those of a thread begin as what it inherited.
func (b *Bot) set(ctx context.Context, e turn.Event, done string, change func(*store.Channel)) turn.Answer {
	if !e.Command.Admin && !e.Direct {
		return turn.Answer{Text: "Only people who may manage this server can change that."}
	}
	inherited := b.settings(ctx, b.speaker(ctx, e), e)
	inherited.ID, inherited.GuildID = e.Message.ChannelID, e.GuildID
	settings, err := b.Store.ChangeChannel(ctx, inherited, change)
	if err != nil {
		b.logged("change a channel's settings", err)
		return turn.Answer{Text: "That could not be saved. The operator's log says why."}
	}
	b.Log.Info("channel changed", "channel", settings.ID, "mode", settings.Mode, "web", onOff(!settings.WebOff), "buttons", onOff(!settings.Bare), "by", e.Command.By.ID)
	return turn.Answer{Text: done}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func modeList() string {
	var names []string
	for _, m := range turn.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}
