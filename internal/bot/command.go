package bot

import (
	"context"
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
	a := b.respond(e, notForYou)
	if b.Access.admits(e) || aboutPrivacy(e.Command) {
		a = b.carryOut(ctx, e)
	}
	a.Text = b.Redact.String(a.Text)
	b.logged("answer a command", b.Door.Respond(ctx, *e.Command, a))
}

func (b *Bot) carryOut(ctx context.Context, e turn.Event) turn.Answer {
	switch button := e.Command.Button; {
	case strings.HasPrefix(button, "context:"):
		return b.turnPage(ctx, e)
	case strings.HasPrefix(button, memoryButton):
		return b.memoryPage(ctx, e)
	case strings.HasPrefix(button, privacyButton):
		return b.privacyPress(ctx, e)
	case strings.HasPrefix(button, changesButton):
		return b.showChanges(ctx, e, pageNumber(strings.TrimPrefix(button, changesButton)))
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

// What is said about a channel's settings.
const (
	channelSettings      sentence = "This channel is in %s mode, the web is %s, buttons are %s. Modes: %s."
	noSuchMode           sentence = "There is no mode %q. Modes: %s."
	modeSet              sentence = "This channel is now in %s mode."
	buttonsUsage         sentence = "The buttons can be switched on or off."
	buttonsOffEverywhere sentence = "Whoever runs me has switched the buttons off everywhere."
	buttonsOn            sentence = "In this channel the buttons under my replies are now on."
	buttonsOff           sentence = "In this channel the buttons under my replies are now off."
	webUsage             sentence = "The web can be switched on or off."
	webOn                sentence = "In this channel the web is now on."
	webOff               sentence = "In this channel the web is now off."
	settingsForManagers  sentence = "Only people who may manage this server can change that."
	nothingToSet         sentence = "I am here with you alone, so there is nothing to set."
	oneOfThese           sentence = "That can be switched on or off."
	chattyOn             sentence = "In this channel I may now join in unasked."
	chattyOnNoSide       sentence = "In this channel I may now join in unasked, but I never do without a side model, which I lack."
	chattyOff            sentence = "In this channel I no longer join in unasked."
	threadsOn            sentence = "In this channel each mention of me now gets a thread of its own."
	threadsOff           sentence = "In this channel mentions of me no longer get threads of their own."
	postsOn              sentence = "In this forum I now answer each new post."
	postsOff             sentence = "In this forum I no longer answer each new post."
	wordOn               sentence = "on"
	wordOff              sentence = "off"
)

// setMode shows or changes the channel's mode.
func (b *Bot) setMode(ctx context.Context, e turn.Event) turn.Answer {
	want := turn.Mode(e.Command.Options["mode"])
	if buttons := e.Command.Options["buttons"]; buttons != "" {
		return b.setButtons(ctx, e, buttons)
	}
	for _, name := range []string{"threads", "posts", "chatty"} {
		if value := e.Command.Options[name]; value != "" {
			return b.setConduct(ctx, e, name, value)
		}
	}
	if want == "" {
		actor := b.speaker(ctx, e)
		settings := b.settings(ctx, actor, e)
		mode, _ := actor.mode(settings)
		return b.respond(e, channelSettings, mode, onOff(!settings.WebOff).in(language(e)), onOff(b.buttoned(actor, settings)).in(language(e)), modeList())
	}
	if !slices.Contains(turn.Modes(), want) {
		return b.respond(e, noSuchMode, want, modeList())
	}
	return b.set(ctx, e, b.respond(e, modeSet, want), func(c *store.Channel) { c.Mode = string(want) })
}

// setButtons switches the buttons under replies in the channel on or off.
func (b *Bot) setButtons(ctx context.Context, e turn.Event, buttons string) turn.Answer {
	if buttons != "on" && buttons != "off" {
		return b.respond(e, buttonsUsage)
	}
	if buttons == "on" && !b.speaker(ctx, e).Buttons {
		return b.respond(e, buttonsOffEverywhere)
	}
	done := buttonsOn
	if buttons == "off" {
		done = buttonsOff
	}
	return b.set(ctx, e, b.respond(e, done), func(c *store.Channel) { c.Bare = buttons == "off" })
}

// setConduct switches on or off how the bot takes part in the channel.
func (b *Bot) setConduct(ctx context.Context, e turn.Event, name, value string) turn.Answer {
	on := value == "on"
	switch {
	case !on && value != "off":
		return b.respond(e, oneOfThese)
	case e.Command.Visiting:
		return b.respond(e, nothingToSet)
	case !e.Command.Admin && !e.Direct:
		return b.respond(e, settingsForManagers)
	}
	channel := conductChannel(e)
	err := b.Store.ChangeConduct(ctx, channel, e.GuildID, giver(e), func(c *store.Conduct) {
		switch name {
		case "threads":
			c.Threads = on
		case "posts":
			c.Posts = on
		case "chatty":
			c.Chatty = on
		}
	})
	if err != nil {
		b.logged("change how to take part in a channel", err)
		return b.respond(e, couldNotBeSaved)
	}
	b.Log.Info("channel changed", "channel", channel, name, value, "by", e.Command.By.ID)
	if name == "chatty" && on && !b.speaker(ctx, e).chatty() {
		return b.respond(e, chattyOnNoSide)
	}
	return b.respond(e, conductSaid[name][on])
}

// conductSaid is what is said of a change in how the bot takes part.
var conductSaid = map[string]map[bool]sentence{
	"chatty": {true: chattyOn, false: chattyOff}, "threads": {true: threadsOn, false: threadsOff}, "posts": {true: postsOn, false: postsOff},
}

// setWeb switches lookups in the channel on or off.
func (b *Bot) setWeb(ctx context.Context, e turn.Event, web string) turn.Answer {
	if web != "on" && web != "off" {
		return b.respond(e, webUsage)
	}
	done := webOn
	if web == "off" {
		done = webOff
	}
	return b.set(ctx, e, b.respond(e, done), func(c *store.Channel) { c.WebOff = web == "off" })
}

// set changes the channel's settings, for somebody who may, and then answers with done. Those of a thread begin as what it inherited.
func (b *Bot) set(ctx context.Context, e turn.Event, done turn.Answer, change func(*store.Channel)) turn.Answer {
	if e.Command.Visiting {
		return b.respond(e, nothingToSet)
	}
	if !e.Command.Admin && !e.Direct {
		return b.respond(e, settingsForManagers)
	}
	inherited := b.settings(ctx, b.speaker(ctx, e), e)
	inherited.ID, inherited.GuildID = e.Message.ChannelID, e.GuildID
	settings, err := b.Store.ChangeChannel(ctx, inherited, giver(e), change)
	if err != nil {
		b.logged("change a channel's settings", err)
		return b.respond(e, couldNotBeSaved)
	}
	b.Log.Info("channel changed", "channel", settings.ID, "mode", settings.Mode, "web", onOff(!settings.WebOff), "buttons", onOff(!settings.Bare), "by", e.Command.By.ID)
	return done
}

func onOff(on bool) sentence {
	if on {
		return wordOn
	}
	return wordOff
}

func modeList() string {
	var names []string
	for _, m := range turn.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}
