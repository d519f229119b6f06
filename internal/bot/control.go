package bot

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Access says who may use the bot, by the ids of people, roles, channels and servers. Whoever or whatever is denied gets no answer; where
// anything is allowed, nothing else is.
type Access struct{ Allow, Deny map[string]bool }

// admits reports whether the bot answers to an event.
func (a Access) admits(e turn.Event) bool {
	by := e.Message.Author.ID
	if e.Command != nil {
		by = e.Command.By.ID
	}
	allowed := len(a.Allow) == 0
	for _, id := range append([]string{by, e.Message.ChannelID, e.ParentID, e.GuildID}, e.Reader.Roles...) {
		if id != "" && a.Deny[id] {
			return false
		}
		allowed = allowed || id != "" && a.Allow[id]
	}
	return allowed
}

// What is said about what people switch off.
const (
	notForYou     sentence = "Whoever runs me has not let me answer here."
	pausedChannel sentence = "I say nothing in this channel until somebody ends the pause."
	pausedServer  sentence = "I say nothing in this server until somebody ends the pause."
	pausedAll     sentence = "I say nothing anywhere until you end the pause."
	pauseOver     sentence = "I am back."
	lookupsServer sentence = "I look nothing up in this server any more."
	lookupsBack   sentence = "I look things up again, where nothing else keeps me from it."
	isPaused      sentence = "I am paused here."
	isNotPaused   sentence = "I am not paused here."
	lookupsAreOff sentence = "Lookups are off here."
	lookupsAreOn  sentence = "Lookups are on here."
	operatorAlone sentence = "Only the person who runs me can do that everywhere."
)

// pause shows or changes whether the bot answers in a channel, a server or anywhere. What is being answered there ends at once.
func (b *Bot) pause(ctx context.Context, e turn.Event) turn.Answer {
	done := map[string]sentence{"channel": pausedChannel, "server": pausedServer, "everywhere": pausedAll}
	a, off := b.switchOver(ctx, e, store.Answers, done, pauseOver, isPaused, isNotPaused)
	if off {
		where := e.Command.Options["where"]
		b.withdraw(ctx, errPaused, func(a turn.Event) bool {
			return where == "everywhere" || where == "server" && a.GuildID == e.GuildID || a.Message.ChannelID == e.Message.ChannelID || a.ParentID == e.Message.ChannelID
		})
	}
	return a
}

// lookups shows or changes whether anything is looked up in a channel, as /lookup does, or a server.
func (b *Bot) lookups(ctx context.Context, e turn.Event) turn.Answer {
	state, where := e.Command.Options["state"], e.Command.Options["where"]
	switch {
	case state != "" && where != "server":
		return b.setWeb(ctx, e, state)
	case state == "" && b.settings(ctx, b.speaker(ctx, e), e).WebOff:
		return b.respond(e, lookupsAreOff)
	}
	a, _ := b.switchOver(ctx, e, store.Lookups, map[string]sentence{"server": lookupsServer}, lookupsBack, lookupsAreOff, lookupsAreOn)
	return a
}

// switchOver shows or changes a switch, and reports whether it has switched something off. done is said then, by place, and back where it
// was switched on.
func (b *Bot) switchOver(ctx context.Context, e turn.Event, kind string, done map[string]sentence, back, isOff, isOn sentence) (a turn.Answer, off bool) {
	state, where := e.Command.Options["state"], e.Command.Options["where"]
	if where == "" {
		where = "channel"
	}
	s := store.Switch{Kind: kind, GuildID: e.GuildID, By: e.Command.By.ID, ByName: e.Command.By.Name, At: time.Now()}
	switch where {
	case "channel":
		s.Place = e.Message.ChannelID
	case "everywhere":
		s.Place, s.GuildID = store.Everywhere, ""
	}
	change, answer := b.Store.SwitchOn, back
	switch {
	case state == "":
		found, err := b.Store.Off(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
		if err != nil {
			return b.storeTrouble(e, err), false
		}
		if found[kind] {
			return b.respond(e, isOff), false
		}
		return b.respond(e, isOn), false
	case !e.Command.Admin && !e.Direct:
		return b.respond(e, settingsForManagers), false
	case where == "everywhere" && (b.Operator == "" || e.Command.By.ID != b.Operator):
		return b.respond(e, operatorAlone), false
	case state == "off" == (kind == store.Lookups): // to pause is to switch off
		change, answer, off = b.Store.SwitchOff, done[where], true
	}
	if err := change(ctx, s); err != nil {
		b.logged("keep a switch", err)
		return b.respond(e, couldNotBeSaved), false
	}
	if where == "everywhere" && kind == store.Answers {
		b.conditionChanged(func(c *condition) { c.paused = off })
	}
	b.Log.Info("switched", "what", kind, "off", off, "channel", e.Message.ChannelID, "server", e.GuildID, "where", where, "by", s.By)
	return b.respond(e, answer), off
}

// silenced reports whether the bot says nothing where something happened: it may not answer there, or it is paused.
func (b *Bot) silenced(ctx context.Context, e turn.Event) bool {
	if !b.Access.admits(e) {
		return true
	}
	off, err := b.Store.Off(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	b.logged("read what is switched off", err)
	return off[store.Answers]
}

// refuses reports whether a message that asks for a turn gets none: the bot is silenced, or as much as there may be was used today, which
// is said once.
func (b *Bot) refuses(ctx context.Context, e turn.Event) bool {
	if b.silenced(ctx, e) {
		return true
	}
	scope, id := b.spent(ctx, e, turns, tokens, dollars)
	if scope == "" {
		return false
	}
	if scope == store.OfAll {
		b.conditionChanged(func(c *condition) { c.spent = time.Now().UTC().Format(time.DateOnly) })
	}
	first, err := b.Store.TellOnce(ctx, time.Now(), scope, id)
	b.logged("note a used up quota", err)
	if first {
		b.Log.Info("a quota is used up", "of", scope, "id", id)
		b.tell(e, quotaUsedUp)
	}
	return true
}

// limitWeb takes the web from a turn where lookups are switched off, or used up for today.
func (b *Bot) limitWeb(ctx context.Context, r *turn.Request, e turn.Event) {
	if r.Web.Switch == turn.WebOff {
		return
	}
	off, err := b.Store.Off(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
	b.logged("read what is switched off", err)
	if off[store.Lookups] {
		r.Web.Switch, r.Web.Reason = turn.WebOff, turn.OffChannel
	} else if scope, _ := b.spent(ctx, e, lookups); scope != "" {
		r.Web.Switch, r.Web.Reason = turn.WebOff, turn.OffQuota
	}
}
