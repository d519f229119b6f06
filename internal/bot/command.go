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
	first, err := b.Store.Claim(ctx, e.ID)
	b.logged("claim a command", err)
	if err == nil && !first { // a RESUME after a restart brought it again
		return
	}
	var a turn.Answer
	switch c := e.Command; {
	case strings.HasPrefix(c.Button, "context:"):
		a = b.turnPage(ctx, e)
	case c.Button != "":
		a = b.press(ctx, e)
	case c.Name == "context":
		a = b.lastTurn(ctx, e)
	case c.Name == "lookup":
		a = b.lookUp(ctx, e)
	case c.Name == "docs":
		a = b.lookUpDocs(ctx, e)
	case c.Name == "catchup":
		a = b.catchUp(ctx, e)
	case c.Name == "mode":
		a = b.setMode(ctx, e)
	default:
		a = turn.Answer{Text: b.help()}
	}
	a.Text = b.Redact.String(a.Text)
	b.logged("answer a command", b.Door.Respond(ctx, *e.Command, a))
}

// setMode shows or changes the channel's mode.
func (b *Bot) setMode(ctx context.Context, e turn.Event) turn.Answer {
	want := turn.Mode(e.Command.Options["mode"])
	if buttons := e.Command.Options["buttons"]; buttons != "" {
		return b.setButtons(ctx, e, buttons)
	}
	if want == "" {
		settings := b.settings(ctx, e)
		mode, _ := b.mode(settings)
		return turn.Answer{Text: fmt.Sprintf("This channel is in %s mode, the web is %s, buttons are %s. Modes: %s.", mode, onOff(!settings.WebOff), onOff(b.buttoned(settings)), modeList())}
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
	if buttons == "on" && !b.Character.Buttons {
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
	inherited := b.settings(ctx, e)
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

func (b *Bot) help() string {
	name := b.Character.Name
	return strings.Join([]string{
		"I am " + name + ". Mention me, reply to me, say my name, or write to me in private.",
		"If a question needs the web I look it up and name my sources. \"look up …\" makes me look, \"don't search\" keeps me from it.",
		"",
		"/context – what happened in the last turn here: providers, queries, pages, claims, prompt",
		"/lookup – look something up, without a conversation; switch the web on or off here; say what you think of a source",
		"/catchup – what you have missed in a channel, for you alone",
		"/docs – look something up in the documentation that I know, and nowhere else",
		"/mode – show or set how I talk here (" + modeList() + "); switch the buttons under my replies on or off",
		"/help – this",
	}, "\n")
}
