package command

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// These are the answers about a channel's settings.
const (
	channelSettings      sentence = "This channel is in %s mode, the web is %s, buttons are %s. Modes: %s."
	noSuchMode           sentence = "There is no mode “%s”. Modes: %s."
	modeSet              sentence = "This channel is now in %s mode."
	buttonsUsage         sentence = "The buttons can be switched on or off."
	buttonsOffEverywhere sentence = "My operator has switched the buttons off everywhere."
	buttonsOn            sentence = "In this channel the buttons under my replies are now on."
	buttonsOff           sentence = "In this channel the buttons under my replies are now off."
	webUsage             sentence = "The web can be switched on or off."
	webOn                sentence = "In this channel the web is now on."
	webOff               sentence = "In this channel the web is now off."
	chattyOn             sentence = "In this channel I may now join in unasked."
	chattyOnNoSide       sentence = "In this channel I may now join in unasked, but I never do without a side model, which I lack."
	chattyOff            sentence = "In this channel I no longer join in unasked."
	threadsOn            sentence = "In this channel each mention of me now gets a thread of its own."
	threadsOff           sentence = "In this channel mentions of me no longer get threads of their own."
	postsOn              sentence = "In this forum I now answer each new post."
	postsOff             sentence = "In this forum I no longer answer each new post."
	greetsOn             sentence = "In this channel I may now greet, once a day at most: in the morning when people here usually begin, and on birthdays that I was told here."
	greetsOff            sentence = "In this channel I no longer greet."
	picturesOn           sentence = "In this channel my replies now show my mood by a small picture."
	picturesOff          sentence = "In this channel my replies no longer show my mood by a picture."
	picturesNone         sentence = "In this channel my replies may now show my mood by a picture, but I have no pictures for that. My operator can add some."
	wordOn               sentence = "on"
	wordOff              sentence = "off"
)

// showMode shows the channel's settings.
func (c *call) showMode(ctx context.Context) turn.Answer {
	actor := c.speaker(ctx)
	settings := c.Bot.Settings(ctx, actor, c.Event)
	mode, _ := actor.ModeFor(settings)
	return c.say(channelSettings, mode, onOff(!settings.WebOff).In(c.language), onOff(c.Bot.HasButtons(actor, settings)).In(c.language), modeList())
}

func (c *call) setMode(ctx context.Context) turn.Answer {
	want := turn.Mode(c.variables["mode"])
	if !slices.Contains(turn.Modes(), want) {
		return c.say(noSuchMode, reply.Inert(string(want), longestEcho), modeList())
	}
	return c.set(ctx, c.say(modeSet, want), func(s *store.Channel) { s.Mode = string(want) })
}

// setButtons switches the buttons under replies in the channel on or off.
func (c *call) setButtons(ctx context.Context) turn.Answer {
	switch {
	case !c.on():
		return c.set(ctx, c.say(buttonsOff), func(s *store.Channel) { s.Bare = true })
	case !c.speaker(ctx).Buttons:
		return c.say(buttonsOffEverywhere)
	}
	return c.set(ctx, c.say(buttonsOn), func(s *store.Channel) { s.Bare = false })
}

// setWeb switches lookups in the channel on or off.
func (c *call) setWeb(ctx context.Context) turn.Answer {
	done := webOff
	if c.on() {
		done = webOn
	}
	return c.set(ctx, c.say(done), func(s *store.Channel) { s.WebOff = !c.on() })
}

// setPictures switches pictures of the character's mood below replies on or off.
func (c *call) setPictures(ctx context.Context) turn.Answer {
	state := c.variables["state"]
	err := c.changeConduct(ctx, "pictures", func(s *store.Conduct) { s.Pictures = state })
	switch {
	case err != nil:
		return c.unsaved("change how to take part in a channel", err)
	case !c.on():
		return c.say(picturesOff)
	case !slices.ContainsFunc(c.Bot.Speakers(ctx, c.Event), func(a *bot.Actor) bool { return a.Expressions.Any() }):
		return c.say(picturesNone)
	}
	return c.say(picturesOn)
}

// set changes the channel's settings and then answers with done. A thread without its own settings begins with the inherited ones.
func (c *call) set(ctx context.Context, done turn.Answer, change func(*store.Channel)) turn.Answer {
	inherited := c.Bot.Settings(ctx, c.speaker(ctx), c.Event)
	inherited.ID, inherited.GuildID = c.Message.ChannelID, c.GuildID
	s, err := c.Bot.Store.Settings.ChangeChannel(ctx, inherited, c.by(), change)
	if err != nil {
		return c.unsaved("change a channel's settings", err)
	}
	c.Bot.Log.Info("channel changed", "channel", s.ID, "mode", s.Mode, "web", onOff(!s.WebOff), "buttons", onOff(!s.Bare), "by", c.Command.By.ID)
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

// conduct is one way in which the bot takes part in a channel. An option of /mode switches it.
type conduct struct {
	option  string
	field   func(*store.Conduct) *bool
	on, off sentence
}

func conducts() []conduct {
	return []conduct{
		{"threads", func(c *store.Conduct) *bool { return &c.Threads }, threadsOn, threadsOff},
		{"posts", func(c *store.Conduct) *bool { return &c.Posts }, postsOn, postsOff},
		{"greets", func(c *store.Conduct) *bool { return &c.Greets }, greetsOn, greetsOff},
		{"chatty", func(c *store.Conduct) *bool { return &c.Chatty }, chattyOn, chattyOff},
	}
}

// set switches the conduct on or off.
func (one conduct) set(c *call, ctx context.Context) turn.Answer {
	if err := c.changeConduct(ctx, one.option, func(changed *store.Conduct) { *one.field(changed) = c.on() }); err != nil {
		return c.unsaved("change how to take part in a channel", err)
	}
	switch {
	case !c.on():
		return c.say(one.off)
	case one.option == "chatty" && !c.speaker(ctx).Chatty():
		return c.say(chattyOnNoSide)
	}
	return c.say(one.on)
}

func (c *call) changeConduct(ctx context.Context, name string, change func(*store.Conduct)) error {
	err := c.Bot.Store.Settings.ChangeConduct(ctx, c.channel(), c.GuildID, c.by(), change)
	if err == nil {
		c.Bot.Log.Info("channel changed", "channel", c.channel(), name, c.variables["state"], "by", c.Command.By.ID)
	}
	return err
}

// These are the answers to /subscribe.
const (
	subscribedOn        sentence = "From now on I take every message in %s as meant for me, unless it is for somebody else."
	subscribedOff       sentence = "From now on I answer in %s only who speaks to me."
	isSubscribed        sentence = "I take every message in %s as meant for me, unless it is for somebody else."
	isNotSubscribed     sentence = "I answer in %s only who speaks to me."
	subscribedBlind     sentence = "From now on I take every message in %s as meant for me, but I cannot read what does not mention me: my operator has to switch on the Message Content Intent for that."
	noChannelThere      sentence = "That is not a channel of this server that you may read."
	subscribedElsewhere sentence = "In direct messages I answer everything anyway."
)

// inNamedChannel carries out a command in the channel that its option names. It may name only one that the person may read.
func inNamedChannel(next handler) handler {
	return func(c *call, ctx context.Context) turn.Answer {
		if named := c.option("where"); named != "" {
			if !c.isChannel(ctx, named) {
				return c.say(noChannelThere)
			}
			c.Message.ChannelID, c.ParentID = named, ""
		}
		return next(c, ctx)
	}
}

// isChannel reports whether an id is of a channel in the server that the person may read.
func (c *call) isChannel(ctx context.Context, id string) bool {
	return c.Bot.Servers != nil &&
		slices.ContainsFunc(c.Bot.Servers.Platform.Channels(c.GuildID), func(one turn.Channel) bool { return one.ID == id }) &&
		c.Bot.Servers.Platform.Readable(ctx, c.GuildID, c.Reader, "", id)[id]
}

// showSubscribed shows whether every message in a channel is for the bot.
func (c *call) showSubscribed(ctx context.Context) turn.Answer {
	if c.Bot.Conduct(ctx, c.Event).Subscribed {
		return c.say(isSubscribed, c.mention())
	}
	return c.say(isNotSubscribed, c.mention())
}

// subscribe changes whether every message in a channel is for the bot.
func (c *call) subscribe(ctx context.Context) turn.Answer {
	if err := c.changeConduct(ctx, "subscribed", func(changed *store.Conduct) { changed.Subscribed = c.on() }); err != nil {
		return c.unsaved("change how to take part in a channel", err)
	}
	switch {
	case !c.on():
		return c.say(subscribedOff, c.mention())
	case c.Contentless != nil && c.Contentless():
		return c.say(subscribedBlind, c.mention())
	}
	return c.say(subscribedOn, c.mention())
}

// mention writes the channel as Discord links it.
func (c *call) mention() string { return "<#" + c.channel() + ">" }

// These are the answers to /backdrop.
const (
	saysScene     sentence = "The scene here, as %s wrote it: %s"
	saysNoScene   sentence = "No scene is set here."
	saysSceneSet  sentence = "From now on this is the scene here: %s"
	saysSceneGone sentence = "This place has no scene of its own any more."
	saysSceneLong sentence = "A scene may have at most %d characters; this has %d."
	sceneTitle    sentence = "The scene of this channel"
	sceneField    sentence = "What the characters here know of it"
)

const (
	// backdropText is the option of /backdrop that its form fills in.
	backdropText = "text"
	// maxBackdrop is how long a scene may be, in characters: it is a part of every prompt.
	maxBackdrop = 1000
)

// setBackdrop sets the scene of the channel, which somebody wrote into the form that /backdrop opens. The scene is part of the system prompt,
// so only people who may manage the server set it.
func (c *call) setBackdrop(ctx context.Context) turn.Answer {
	text := strings.TrimSpace(strings.ReplaceAll(c.variables["text"], "\r\n", "\n"))
	n := utf8.RuneCountInString(text)
	if n > maxBackdrop {
		return c.say(saysSceneLong, maxBackdrop, n)
	}
	err := c.Bot.Store.Settings.SetBackdrop(ctx, store.Backdrop{
		ChannelID: c.Message.ChannelID, GuildID: c.GuildID, Text: text, ByID: c.Command.By.ID, ByName: c.Command.By.Name, At: time.Now(),
	})
	if err != nil {
		return c.unsaved("keep a scene", err)
	}
	c.Bot.Log.Info("backdrop changed", "channel", c.Message.ChannelID, "characters", n, "by", c.Command.By.ID)
	if text == "" {
		return c.say(saysSceneGone)
	}
	return c.say(saysSceneSet, text)
}

func (c *call) showBackdrop(ctx context.Context) turn.Answer {
	scene := c.Bot.Backdrop(ctx, c.Event)
	if scene == nil {
		return c.say(saysNoScene)
	}
	return c.say(saysScene, reply.PlainName(scene.By), scene.Text)
}

// backdropForm returns the form of /backdrop, which begins with the present scene.
func (c *call) backdropForm(ctx context.Context) turn.Form {
	form := turn.Form{Title: sceneTitle.In(c.language), Label: sceneField.In(c.language), Option: backdropText, Most: maxBackdrop}
	if scene := c.Bot.Backdrop(ctx, c.Event); scene != nil {
		form.Text = scene.Text
	}
	return form
}
