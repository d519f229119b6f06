package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// What /character says.
const (
	saysCharacters   sentence = "Here speak: %s. There are: %s."
	saysNoCharacter  sentence = "There is no character %q. There are: %s."
	saysChosen       sentence = "From now on %s speak here."
	saysChosenAlone  sentence = "From now on %s speaks here."
	saysChosenServer sentence = "From now on %s speaks in this server, but for channels that have characters of their own."
	saysInherited    sentence = "This place has no characters of its own any more: %s speaks here."
	saysTooManyHere  sentence = "There may be at most 5 characters in a channel."
	saysNotHere      sentence = "%s does not speak here."
	saysOneServer    sentence = "A whole server has one character. Add others to channels."
	saysNoNames      sentence = "They post under my name, with theirs in front: %s."
	saysNoServer     sentence = "This is no server."
)

// setCharacter shows or changes who speaks in the channel or the server.
func (b *Bot) setCharacter(ctx context.Context, e turn.Event) turn.Answer {
	o := e.Command.Options
	use, add, remove, server := o["use"], o["add"], o["remove"], o["where"] == "server"
	given := strings.TrimSpace(use + add + remove)
	if given == "" {
		return b.respond(e, saysCharacters, list(language(e), actorNames(b.speakers(ctx, e))), list(language(e), b.characterNames()))
	}
	switch actor := b.characterCalled(given); {
	case !e.Command.Admin && !e.Direct:
		return b.respond(e, settingsForManagers)
	case actor == nil && remove == "": // one that is not loaded any more can still be removed
		return b.respond(e, saysNoCharacter, given, list(language(e), b.characterNames()))
	case server && e.GuildID == "":
		return b.respond(e, saysNoServer)
	case server && add != "":
		return b.respond(e, saysOneServer)
	case actor != nil:
		given = actor.ID
	}
	missing := false
	answer := b.changeSpeakers(ctx, e, server, func(ids []string) []string {
		at := slices.Index(ids, given)
		switch {
		case use != "":
			return []string{given}
		case add != "" && at < 0:
			return append(ids, given)
		case remove != "" && at >= 0:
			return slices.Delete(ids, at, at+1)
		}
		missing = remove != ""
		return ids
	}, func() string {
		if missing {
			return saysNotHere.in(language(e), given)
		}
		return ""
	})
	if actor := b.cast().Actor(given); actor != nil && remove == "" && !server && slices.Contains(b.speakers(ctx, e), actor) {
		if words := b.begins(ctx, e, actor, o["greeting"]); words != "" {
			answer.Text += "\n" + words
		}
	}
	return answer
}

// changeSpeakers changes who speaks in a place, puts the change on record, and says how it is now; refusal, where it returns
// one, is said in place of that.
func (b *Bot) changeSpeakers(ctx context.Context, e turn.Event, server bool, change func([]string) []string, refusal func() string) turn.Answer {
	c := store.Casting{ChannelID: e.Message.ChannelID, GuildID: e.GuildID, By: e.Command.By.ID, ByName: e.Command.By.Name, At: time.Now()}
	var inherited []string
	if server {
		c.ChannelID = ""
	} else {
		for _, a := range b.speakers(ctx, e) {
			inherited = append(inherited, a.ID)
		}
	}
	ids, err := b.Store.ChangeSpeakers(ctx, c, inherited, change)
	switch words := refusal(); {
	case errors.Is(err, store.ErrTooMany):
		return b.respond(e, saysTooManyHere)
	case err != nil:
		b.logged("change the characters of a place", err)
		return b.respond(e, couldNotBeSaved)
	case words != "":
		return turn.Answer{Text: words}
	}
	b.Log.Info("characters changed", "channel", c.ChannelID, "server", c.GuildID, "characters", strings.Join(ids, " "), "by", c.By)
	undressed := ""
	if server {
		if err := b.dressServer(ctx, e.GuildID); err != nil {
			b.logged("change the bot's profile in a server", err)
			undressed = "\n" + saysNoProfile.in(language(e), b.Redact.String(err.Error()))
		}
	}
	now := list(language(e), actorNames(b.speakers(ctx, e)))
	switch {
	case len(ids) == 0:
		return turn.Answer{Text: saysInherited.in(language(e), now) + undressed}
	case server:
		return turn.Answer{Text: saysChosenServer.in(language(e), list(language(e), b.namesOf(ids))) + undressed}
	case len(ids) > 1 && b.Prepare != nil:
		if err := b.Prepare(ctx, e.Message.ChannelID); err != nil {
			return turn.Answer{Text: saysChosen.in(language(e), now) + "\n" + saysNoNames.in(language(e), b.Redact.String(err.Error()))}
		}
	case len(ids) == 1:
		return b.respond(e, saysChosenAlone, now)
	}
	return b.respond(e, saysChosen, now)
}

// characterCalled returns the character with an id or a name, in any case, or nil.
func (b *Bot) characterCalled(name string) *Actor {
	cast := b.cast()
	for _, id := range cast.ids() {
		if a := cast.Actor(id); strings.EqualFold(id, name) || strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

func (b *Bot) characterNames() []string { return b.namesOf(b.cast().ids()) }

// namesOf are the names of characters, as far as they are there.
func (b *Bot) namesOf(ids []string) []string {
	var all []*Actor
	for _, id := range ids {
		if a := b.cast().Actor(id); a != nil {
			all = append(all, a)
		}
	}
	return actorNames(all)
}

func actorNames(all []*Actor) []string {
	var names []string
	for _, a := range all {
		names = append(names, plainName(a.Name))
	}
	return names
}

// suggestCharacters completes the id of a character: of one that speaks here to be removed, of any other to be added.
func (b *Bot) suggestCharacters(ctx context.Context, e turn.Event) []turn.Choice {
	if e.Command.Focused == "greeting" {
		return b.suggestGreetings(e)
	}
	here := b.speakers(ctx, e)
	ids := slices.DeleteFunc(b.cast().ids(), func(id string) bool {
		speaks := slices.ContainsFunc(here, func(a *Actor) bool { return a.ID == id })
		return e.Command.Focused == "remove" && !speaks || e.Command.Focused == "add" && speaks
	})
	return matching(e.Command.Options[e.Command.Focused], ids)
}
