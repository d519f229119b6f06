package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// These are the answers to /character.
const (
	saysCharacters   sentence = "Here speak: %s. There are: %s."
	saysNoCharacter  sentence = "There is no character “%s”. There are: %s."
	saysChosen       sentence = "From now on %s speak here."
	saysChosenAlone  sentence = "From now on %s speaks here."
	saysChosenServer sentence = "From now on %s speaks in this server, except in channels that have characters of their own."
	saysInherited    sentence = "This place has no characters of its own any more: %s speaks here."
	saysTooManyHere  sentence = "There may be at most 5 characters in a channel."
	saysNotHere      sentence = "%s does not speak here."
	saysOneServer    sentence = "A whole server has one character. Add others to channels."
	saysNoNames      sentence = "They post under my name, with theirs in front: %s."
	saysNamesake     sentence = "Somebody here is called like %s. So that nobody takes one for the other, the character posts with “(bot)” after its name."
	saysNoProfile    sentence = "I could not take on its name in this server: %s."
	saysNoServer     sentence = "This is not a server."
)

// showCharacters shows who speaks in the channel, and who could.
func (c *call) showCharacters(ctx context.Context) turn.Answer {
	return c.say(saysCharacters, c.list(actorNames(c.Bot.Speakers(ctx, c.Event))), c.list(c.characterNames()))
}

// changeCharacters changes who speaks in the channel or the server.
func (c *call) changeCharacters(ctx context.Context) turn.Answer {
	o := c.Command.Options
	use, add, remove, server := o["use"], o["add"], o["remove"], o["where"] == "server"
	given := strings.TrimSpace(use + add + remove)
	if given == "" {
		return c.showCharacters(ctx)
	}
	switch actor := c.characterCalled(given); {
	case actor == nil && remove == "": // a character that is not loaded any more can still be removed
		return c.say(saysNoCharacter, reply.Inert(given, longestEcho), c.list(c.characterNames()))
	case server && c.GuildID == "":
		return c.say(saysNoServer)
	case server && add != "":
		return c.say(saysOneServer)
	case actor != nil:
		given = actor.ID
	}
	missing := false
	ids, err := c.Bot.Store.Characters.Change(ctx, c.choice(server), c.inherited(ctx, server), func(ids []string) []string {
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
	})
	var answer turn.Answer
	switch {
	case errors.Is(err, store.ErrTooMany):
		answer = c.say(saysTooManyHere)
	case err != nil:
		answer = c.unsaved("change the characters of a place", err)
	case missing:
		answer = c.say(saysNotHere, given)
	default:
		answer = c.charactersChanged(ctx, server, ids)
	}
	if actor := c.Bot.CurrentCast().Actor(given); actor != nil && remove == "" && !server && slices.Contains(c.Bot.Speakers(ctx, c.Event), actor) {
		if words := c.begins(ctx, actor, c.option("greeting")); words != "" {
			answer.Text += "\n" + words
		}
	}
	return answer
}

// choice returns the place whose characters are changed, and who changes them.
func (c *call) choice(server bool) store.CharacterChoice {
	place := store.CharacterChoice{ChannelID: c.Message.ChannelID, GuildID: c.GuildID, By: c.Command.By.ID, ByName: c.Command.By.Name, At: time.Now()}
	if server {
		place.ChannelID = ""
	}
	return place
}

// inherited returns the characters with which a place begins that has no characters of its own.
func (c *call) inherited(ctx context.Context, server bool) (ids []string) {
	if server {
		return nil
	}
	for _, a := range c.Bot.Speakers(ctx, c.Event) {
		ids = append(ids, a.ID)
	}
	return ids
}

// charactersChanged lets Discord show the new characters, and answers who speaks now.
func (c *call) charactersChanged(ctx context.Context, server bool, ids []string) turn.Answer {
	c.Bot.Log.Info("characters changed", "channel", c.choice(server).ChannelID, "server", c.GuildID, "characters", strings.Join(ids, " "), "by", c.Command.By.ID)
	undressed := ""
	if server {
		if err := dressIn(ctx, c.Bot, c.GuildID); err != nil {
			c.logged("change the bot's profile in a server", err)
			undressed = "\n" + saysNoProfile.In(c.language, c.Bot.Redact.String(err.Error()))
		}
	}
	now := c.list(actorNames(c.Bot.Speakers(ctx, c.Event)))
	switch {
	case len(ids) == 0:
		return turn.Answer{Text: saysInherited.In(c.language, now) + undressed}
	case server:
		return turn.Answer{Text: saysChosenServer.In(c.language, c.list(c.namesOf(ids))) + undressed}
	case len(ids) > 1 && c.Prepare != nil:
		if err := c.Prepare(ctx, c.Message.ChannelID); err != nil {
			return turn.Answer{Text: saysChosen.In(c.language, now) + "\n" + saysNoNames.In(c.language, c.Bot.Redact.String(err.Error()))}
		}
		return turn.Answer{Text: saysChosen.In(c.language, now) + c.namesakes(ctx, ids)}
	case len(ids) == 1:
		return c.say(saysChosenAlone, now)
	}
	return c.say(saysChosen, now)
}

// namesakes warns of characters that are called like a member of the server.
func (c *call) namesakes(ctx context.Context, ids []string) (warning string) {
	if c.Namesake == nil || c.GuildID == "" {
		return ""
	}
	for _, id := range ids {
		actor := c.Bot.CurrentCast().Actor(id)
		if actor == nil {
			continue
		}
		taken, err := c.Namesake(ctx, c.GuildID, actor.Name)
		if c.logged("look for members with a character's name", err); taken {
			warning += "\n" + saysNamesake.In(c.language, reply.PlainName(actor.Name))
		}
	}
	return warning
}

// list joins names in the language of the answer.
func (c *call) list(names []string) string { return reply.List(c.language, names) }

// characterCalled returns the character with an id or a name, in any case, or nil.
func (c *call) characterCalled(name string) *bot.Actor {
	for _, a := range c.Bot.CurrentCast().All() {
		if strings.EqualFold(a.ID, name) || strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

func (c *call) characterNames() []string { return actorNames(c.Bot.CurrentCast().All()) }

// namesOf returns the names of those characters that are loaded.
func (c *call) namesOf(ids []string) []string {
	var all []*bot.Actor
	for _, id := range ids {
		if a := c.Bot.CurrentCast().Actor(id); a != nil {
			all = append(all, a)
		}
	}
	return actorNames(all)
}

func actorNames(all []*bot.Actor) []string {
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// suggestCharacters completes the id of a character: one that speaks here to be removed, any other to be added.
func (c *call) suggestCharacters(ctx context.Context) turn.Answer {
	here := c.Bot.Speakers(ctx, c.Event)
	var ids []string
	for _, a := range c.Bot.CurrentCast().All() {
		speaks := slices.ContainsFunc(here, func(one *bot.Actor) bool { return one.ID == a.ID })
		if c.Command.Focused != "remove" && !speaks || c.Command.Focused != "add" && speaks {
			ids = append(ids, a.ID)
		}
	}
	return c.matching(ids)
}

// These are the answers about greetings.
const (
	saysGreetings  sentence = "It has %d greetings. Say which one it begins with: greeting:0 to greeting:%d."
	saysNoGreeting sentence = "There is no greeting %s."
	saysUngreeted  sentence = "Its greeting could not be posted: %s."
)

// begins has a character that came to a channel say its greeting. If the command names no greeting, it returns how to ask for one.
func (c *call) begins(ctx context.Context, actor *bot.Actor, asked string) string {
	in := c.language
	number, _, _ := strings.Cut(strings.TrimSpace(asked), ":")
	n, err := strconv.Atoi(number)
	most := c.greetings(ctx, actor)
	switch {
	case asked == "" && most == 0:
		return ""
	case asked == "":
		return saysGreetings.In(in, most, most-1)
	case err != nil || n < 0 || n >= most:
		return saysNoGreeting.In(in, reply.PlainName(asked))
	}
	if err := c.Bot.Greet(ctx, c.Event, actor, n, c.Command.By); err != nil {
		c.logged("post a greeting", err)
		return saysUngreeted.In(in, c.Bot.Redact.String(err.Error()))
	}
	return ""
}

// greetings returns how many greetings a character has here. Those for groups count if several characters speak.
func (c *call) greetings(ctx context.Context, actor *bot.Actor) int {
	n := len(actor.Greetings.Texts)
	if len(c.Bot.Speakers(ctx, c.Event)) > 1 {
		n += len(actor.Greetings.Group)
	}
	return n
}

// suggestGreetings suggests the greetings of the character that is being chosen, by number.
func (c *call) suggestGreetings(context.Context) turn.Answer {
	actor := c.characterCalled(strings.TrimSpace(c.option("use") + c.option("add")))
	if actor == nil {
		return turn.Answer{}
	}
	var all []string
	for n := range len(actor.Greetings.Texts) + len(actor.Greetings.Group) {
		text, _ := actor.Greeting(n, turn.Request{Message: turn.Message{At: time.Now()}})
		all = append(all, strconv.Itoa(n)+": "+reply.CutUnits(strings.Join(strings.Fields(text), " "), 80))
	}
	return c.matching(all)
}

// Imported is what became of a card that was sent.
type Imported struct {
	ID, Name string   // of the new character
	Pictures int      // of its moods; 0: it is new
	Refused  sentence // why there is none; empty: there is
	Fault    string   // of Unread, in English: what is wrong with the file
}

// These are why a card makes no character.
const (
	ImportsOff  sentence = "My operator has not let characters be imported here."
	ImportsFull sentence = "I have as many characters as I may have."
	Taken       sentence = "That is there already, and I replace nothing. Rename yours, or ask my operator."
	Unnamed     sentence = "I cannot make the name of a folder from its name. Give it one with Latin letters or digits."
	Book        sentence = "This is a lorebook without a character. My operator can add it to one."
	Faulty      sentence = "The character that this would make is not in order. My operator can see in the log why."
	Unread      sentence = "I cannot read this as a card: %s."
	WhosePack   sentence = "These are pictures of moods. Call the file after an imported character, such as fox.zip. My operator can add them to others."
)

// These are the other answers about imports.
const (
	saysPictures  sentence = "%s has %d pictures of its moods now. /mode pictures:on shows them in a channel."
	saysImported  sentence = "%s is one of my characters now. /character use:%s has it speak here."
	saysByCommand sentence = "Here “familiar import FILE” does that, outside of the chat."
	saysNoFile    sentence = "Attach a character's card (PNG, JSON or CHARX), or a zip of pictures of its moods."
	saysNoImport  sentence = "I could not take the file over. Please try again later."
)

// importCharacter makes a character of the card that was sent along.
func (c *call) importCharacter(ctx context.Context) turn.Answer {
	switch {
	case c.Bot.OperatorOnly:
		return c.say(saysByCommand)
	case c.Import == nil:
		return c.say(ImportsOff)
	case c.Command.File == nil:
		return c.say(saysNoFile)
	}
	got, err := c.Import(ctx, *c.Command.File)
	switch {
	case err != nil:
		c.logged("import a character", err)
		return c.say(saysNoImport)
	case got.Refused == Unread:
		return c.say(Unread, reply.Inert(got.Fault, longestEcho))
	case got.Refused != "":
		return c.say(got.Refused)
	}
	if got.Pictures > 0 {
		c.Bot.Log.Info("pictures of moods were imported", "character", got.ID, "pictures", got.Pictures, "server", c.GuildID, "by", c.Command.By.ID)
		return c.say(saysPictures, reply.PlainName(got.Name), got.Pictures)
	}
	c.Bot.Log.Info("a character was imported", "character", got.ID, "server", c.GuildID, "by", c.Command.By.ID)
	return c.say(saysImported, reply.PlainName(got.Name), got.ID)
}

const profileLimit = time.Minute

// refusedProfile marks a profile that Discord refused. It is not sent again before something changes.
const refusedProfile = "refused "

// DressAll gives the bot its profile in each server that has a character.
func DressAll(ctx context.Context, b *bot.Bot) {
	if b.Profile == nil {
		return
	}
	guilds, err := b.Store.Characters.Profiles(ctx)
	for id, g := range guilds {
		err = errors.Join(err, dress(ctx, b, id, g.Character, g.Given))
	}
	if err != nil && ctx.Err() == nil {
		b.Log.Error("change the bot's profile in servers", "err", b.Redact.String(err.Error()))
	}
}

// dressIn gives the bot its profile in one server.
func dressIn(ctx context.Context, b *bot.Bot, guildID string) error {
	if b.Profile == nil {
		return nil
	}
	guilds, err := b.Store.Characters.Profiles(ctx)
	if err != nil {
		return err
	}
	g, ok := guilds[guildID]
	if !ok {
		return nil
	}
	return dress(ctx, b, guildID, g.Character, g.Given)
}

// dress shows the bot in a server as the server's character, if that character wants it, and otherwise as itself. given is what Discord was
// given before; the same is not sent twice.
func dress(ctx context.Context, b *bot.Bot, guildID, character, given string) error {
	var p turn.Profile
	want := ""
	if a := b.CurrentCast().Actor(character); a != nil && a.ServerProfile {
		p = turn.Profile{Name: a.Name, Picture: a.Picture}
		sum := sha256.Sum256(append([]byte(p.Name+"\n"), p.Picture...))
		want = hex.EncodeToString(sum[:])
	}
	if want == given || given == refusedProfile+want {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, profileLimit)
	defer cancel()
	refusal := b.Profile(ctx, guildID, p)
	if refusal != nil {
		if bot.Temporary(refusal) || ctx.Err() != nil {
			return refusal
		}
		want = refusedProfile + want
	}
	if err := b.Store.Characters.SetProfile(ctx, guildID, want); err != nil {
		return fmt.Errorf("keep the bot's profile: %w", err)
	}
	return refusal
}
