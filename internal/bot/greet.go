package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

// The bot may greet in channels where people want that, once a day at most. It does so in the morning, when people there usually begin to
// write. It does so on the birthdays of people who had it remember them there, too.
const (
	habitDays    = 14 // days that show when people usually begin to write
	habitLeast   = 5  // days of these on which somebody wrote
	dayBegins    = 4  // hour at which their day begins
	morningFirst = 5 * time.Hour
	morningLast  = 11 * time.Hour
	usualMorning = 9 * time.Hour    // for a birthday where people have no such habit
	greetLate    = 30 * time.Minute // after which it is too late for a good morning
	wishLate     = 12 * time.Hour   // after which it is too late for a birthday
	greetAgain   = 5 * time.Second  // while the server is not connected
)

const (
	morningPlease  = "Nobody has written to you. Wish the people in this channel a good morning, in one or two short sentences of your own, in %s. Say nothing of what was written before."
	birthdayPlease = "Nobody has written to you. Today is the birthday of %s. Wish them a happy birthday, in one or two short sentences of your own, in %s. Say nothing of their age, nor of what was written before."
)

// program is the author of what makes the bot greet.
func program() turn.Author { return turn.Author{Name: "The program", Machine: true} }

// greetDue greets in the channels where it is time, and returns how long to wait until it may be again.
func (b *Bot) greetDue(ctx context.Context) (wait time.Duration) {
	defer func() { b.recovered("greet", recover()) }()
	wait = longestWait
	if b.Servers == nil { // the channels are of another door
		return wait
	}
	all, err := b.Store.Settings.Greeted(ctx)
	b.logged("read where to greet", err)
	for _, place := range all {
		wait = min(wait, b.greetIn(ctx, place))
	}
	return wait
}

// greetIn greets in a channel if it is time, and returns how long to wait until it may be again. A greeting is a turn that nobody asked for.
// Its message has the channel's id.
func (b *Bot) greetIn(ctx context.Context, place store.Channel) (wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, noticeLimit)
	defer cancel()
	e := turn.Event{Kind: turn.Edited, GuildID: place.GuildID, Message: turn.Message{
		ID: place.ID, ChannelID: place.ID, At: b.now(), Author: program(),
	}}
	actor := b.speaker(ctx, e)
	now := text.InZone(b.now(), actor.Location)
	begin, usual := b.habit(ctx, place.ID, now)
	until := time.Date(now.Year(), now.Month(), now.Day(), 0, int(begin.Minutes()), 0, 0, now.Location()).Sub(now)
	switch {
	case until > 0:
		return until
	case until < -wishLate:
		return longestWait
	case b.Servers.Readable(ctx, place.GuildID, turn.Reader{ID: place.GuildID, RolesKnown: true}, "", place.ID) == nil: // not connected yet
		return greetAgain
	}
	recent, err := b.Store.Messages.Recent(ctx, place.ID, earlierMessages)
	b.logged("read recent messages", err)
	born, theirs := b.bornOn(ctx, e, now, recent)
	if len(born) == 0 && (!usual || until < -greetLate || len(recent) == 0 || recent[len(recent)-1].Own) { // nobody has said a word since the last greeting
		return longestWait
	}
	a := arrival{at: b.now(), addressed: true, character: actor.ID, newID: ulid.Make().String(), unasked: turn.ByGreeting}
	e.ID, e.Language = "greeting/"+place.ID+"/"+now.Format(time.DateOnly), cmp.Or(theirs, languageOf(recent), reply.LanguageOf(b.Servers.Platform.Locale(place.GuildID)))
	e.Message.Text = fmt.Sprintf(morningPlease, text.EnglishName(e.Language))
	if len(born) > 0 {
		e.Message.Text = fmt.Sprintf(birthdayPlease, reply.List(reply.English, namesOf(born)), text.EnglishName(e.Language))
		a.recalled = []turn.Outcome{{Provider: turn.Greeting, Status: turn.OK, Contributions: []turn.Contribution{{Source: turn.Greeting, Recalled: born}}}}
	}
	var no *gate.Refusal
	if a.pass, no = b.Gate.Pass(ctx, e, gate.Passage{Tokens: actor.PromptTokens(), Posts: true, Unasked: true}); no != nil {
		return longestWait
	}
	first, err := b.Store.Claims.ClaimIn(ctx, place.GuildID, e.ID)
	b.logged("claim a greeting", err)
	if a.Event = e; err != nil || !first {
		giveBack(a)
		return longestWait
	}
	b.enqueue(ctx, a)
	return longestWait
}

// habit returns when people usually begin to write in a channel, since midnight. usual is false if they have no such habit, or not in the
// morning. Then the time is that for birthdays.
func (b *Bot) habit(ctx context.Context, channelID string, now time.Time) (begin time.Duration, usual bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), dayBegins, 0, 0, 0, now.Location())
	firsts, err := b.Store.Messages.Firsts(ctx, channelID, today.AddDate(0, 0, -habitDays), today)
	b.logged("read when people write", err)
	if len(firsts) < habitLeast {
		return usualMorning, false
	}
	var hours []time.Duration
	for _, at := range firsts {
		at = at.In(now.Location())
		hours = append(hours, time.Duration(at.Hour())*time.Hour+time.Duration(at.Minute())*time.Minute)
	}
	slices.Sort(hours)
	if begin = hours[len(hours)/2]; begin < morningFirst || begin >= morningLast {
		return usualMorning, false
	}
	return begin, true
}

// bornOn returns what the people whose birthday is today said of it in the channel, and the bot remembers. It leaves out those who have opted
// out, may not use the bot, or may not read the channel. language is theirs, or "" if they have several.
func (b *Bot) bornOn(ctx context.Context, e turn.Event, today time.Time, recent []store.Message) (all []turn.Recalled, language string) {
	here := e.Message.ChannelID
	told, err := b.Memories.List(ctx, memory.FilterGuild(e.GuildID, []string{here}), memory.List{Kinds: []memory.Kind{memory.Person}})
	b.logged("read birthdays", err)
	greeted := map[string]bool{}
	for _, m := range told {
		who := m.Subject
		if !memory.BornOn(m, today) || m.Scope.ID != here || m.By != "" && m.By != who || m.Author != who || greeted[who] {
			continue
		}
		greeted[who] = true
		standing, err := b.Store.Privacy.Standing(ctx, who)
		b.logged("read a standing", err)
		mine := e
		mine.Message.Author = turn.Author{ID: who}
		if err != nil || !standing.OptedOut.IsZero() || !b.Gate.Access.Admits(mine) || !b.Servers.Readable(ctx, e.GuildID, turn.Reader{ID: who}, "", here)[here] {
			continue
		}
		if name, wanted := b.nameOf(ctx, e.GuildID, who); name != "" {
			if l := cmp.Or(wanted, newestLanguage(recent, who), text.ClearLanguage(m.Text)); len(all) == 0 || l == language {
				language = l
			} else {
				language = ""
			}
			all = append(all, turn.Recalled{ID: m.ID, Text: m.Text, Scope: string(m.Scope.Kind), Sources: m.Sources, By: name, At: m.SaidAt})
		}
	}
	return all, language
}

// nameOf returns how a person wants to be called, or else their name in a server. language is that in which they want answers, or "".
func (b *Bot) nameOf(ctx context.Context, guildID, personID string) (name, language string) {
	card, err := b.Memories.Card(ctx, personID)
	b.logged("read a person's card", err)
	names, err := b.Store.People.NamesByID(ctx, guildID, []string{personID})
	b.logged("read the name of a person", err)
	return reply.PlainName(cmp.Or(card[turn.CardName], names[personID])), text.LanguageNamed(card[turn.CardLanguage])
}

func namesOf(all []turn.Recalled) (names []string) {
	for _, one := range all {
		names = append(names, one.By)
	}
	return names
}

// languageOf returns the language of most messages of people whose language is clear, or "".
func languageOf(recent []store.Message) (most string) {
	count := map[string]int{}
	for _, m := range recent {
		if l := text.ClearLanguage(m.Text); l != "" && !m.Own {
			if count[l]++; count[l] >= count[most] {
				most = l
			}
		}
	}
	return most
}
