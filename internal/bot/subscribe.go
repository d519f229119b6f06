package bot

import (
	"context"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// What is said about subscribed channels.
const (
	subscribedOn        sentence = "From now on I take every message in %s as meant for me, unless it is for somebody else."
	subscribedOff       sentence = "From now on I answer in %s only who speaks to me."
	isSubscribed        sentence = "I take every message in %s as meant for me, unless it is for somebody else."
	isNotSubscribed     sentence = "I answer in %s only who speaks to me."
	subscribedBlind     sentence = "From now on I take every message in %s as meant for me, but I cannot read what does not mention me: whoever runs me has to switch on the Message Content Intent for that."
	noChannelThere      sentence = "That is no channel of this server that you may read."
	subscribedElsewhere sentence = "In direct messages I answer everything anyway."
)

// subscribed reports whether a message is for the bot because of where it was written. What was found later, when the bot was away, is
// not: nobody asked it anything. Nor is a message that Discord does not let it read.
func (b *Bot) subscribed(ctx context.Context, e turn.Event) bool {
	if e.GuildID == "" || e.Late || forOthers(e) || e.Message.Text == "" && len(e.Message.Files) == 0 && len(e.Message.Quotes) == 0 {
		return false
	}
	return b.conduct(ctx, e).Subscribed
}

// cameBefore reports whether a new message is kept already. A RESUME after a restart brings some again, which may be older than the
// subscription.
func (b *Bot) cameBefore(ctx context.Context, e turn.Event) bool {
	if e.Kind != turn.Created {
		return false
	}
	_, err := b.Store.Message(ctx, e.Message.ID)
	return err == nil
}

// subscribe shows or changes whether every message in a channel is for the bot.
func (b *Bot) subscribe(ctx context.Context, e turn.Event) turn.Answer {
	state := e.Command.Options["state"]
	switch {
	case e.GuildID == "":
		return b.respond(e, subscribedElsewhere)
	case state != "" && !e.Command.Admin:
		return b.respond(e, settingsForManagers)
	}
	if named := e.Command.Options["where"]; named != "" {
		if !b.isChannel(ctx, e, named) {
			return b.respond(e, noChannelThere)
		}
		e.Message.ChannelID, e.ParentID = named, ""
	}
	channel := conductChannel(e)
	where, now := "<#"+channel+">", b.conduct(ctx, e).Subscribed
	switch {
	case state == "" && now:
		return b.respond(e, isSubscribed, where)
	case state == "":
		return b.respond(e, isNotSubscribed, where)
	case state != "on" && state != "off":
		return b.respond(e, oneOfThese)
	}
	if err := b.Store.ChangeConduct(ctx, channel, e.GuildID, giver(e), func(c *store.Conduct) { c.Subscribed = state == "on" }); err != nil {
		b.logged("change how to take part in a channel", err)
		return b.respond(e, couldNotBeSaved)
	}
	b.Log.Info("channel changed", "channel", channel, "subscribed", state, "by", e.Command.By.ID)
	switch {
	case state == "off":
		return b.respond(e, subscribedOff, where)
	case b.Contentless != nil && b.Contentless():
		return b.respond(e, subscribedBlind, where)
	}
	return b.respond(e, subscribedOn, where)
}

// isChannel reports whether a channel is one of the server that whoever gave a command may read.
func (b *Bot) isChannel(ctx context.Context, e turn.Event, id string) bool {
	return b.Servers != nil &&
		slices.ContainsFunc(b.Servers.Platform.Channels(e.GuildID), func(c turn.Channel) bool { return c.ID == id }) &&
		b.Servers.Platform.Readable(ctx, e.GuildID, e.Reader, "", id)[id]
}
