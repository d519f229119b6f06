package bot

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/text/calendar"

	"github.com/oklog/ulid/v2"
)

// What /catchup says.
const (
	catchUpHeading sentence = "What you have missed here:"
	nothingMissed  sentence = "You have missed nothing here that I know of."
	noServerHere   sentence = "There is nothing to catch up with here: I do that in the channels of a server."
	serverNotRead  sentence = "I don't look through the messages of servers: whoever runs me has switched that off."
	spanNotRead    sentence = "I don't understand how far back %s is. Try 3h, 2 days, yesterday, or since Monday."
)

const (
	catchUpLine     = "- **%s** %s: %s [→](<%s>)"
	catchUpAuthor   = 40  // characters of a name
	catchUpQuote    = 140 // of a message, at first
	catchUpShortest = 60  // the same, where there is less room
)

// catchUp answers /catchup: what its giver has missed in the channel, with the link of each message. Only the giver sees it, so what they
// may read is what counts.
func (b *Bot) catchUp(ctx context.Context, e turn.Event) turn.Answer {
	if e.GuildID == "" {
		return b.respond(e, noServerHere)
	}
	actor := b.speaker(ctx, e)
	if actor.Past == nil {
		return b.respond(e, serverNotRead)
	}
	now := time.Now().In(actor.zone())
	span := strings.TrimSpace(e.Command.Options["span"])
	from, ok := since(span, now)
	if !ok {
		return b.respond(e, spanNotRead, outgoing.Inert(span, 40))
	}
	t := &turn.Trace{Began: now, Phase: turn.Begun, Model: NoModel}
	e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: strings.TrimSpace("/catchup " + span), At: now}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent, t.Request.Private, t.Request.Addressed = nil, nil, true, turn.ByDirect
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(e, err)
	}
	l := actor.Past.Missed(ctx, t.Request, from)
	t.Outcomes = []turn.Outcome{{Provider: actor.Past.Name(), Status: turn.OK, Took: l.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: actor.Past.Name(), Lookup: &l}}}}
	t.Reply, t.Phase, t.Took = missedAnswer(actor, language(e), &l), turn.Answered, time.Since(t.Began)
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(e, err)
	}
	return turn.Answer{Text: t.Reply}
}

// missedAnswer lists what was missed, as much of each message as there is room for.
func missedAnswer(actor *Actor, language string, l *turn.Lookup) string {
	switch {
	case l.State == turn.Disabled:
		return serverNotRead.in(language)
	case l.State != turn.Found:
		return nothingMissed.in(language)
	}
	for length, n := catchUpQuote, len(l.Sources); ; {
		lines := []string{catchUpHeading.in(language)}
		for i, s := range l.Sources[:n] {
			who, _, _ := strings.Cut(s.Site, " in #")
			lines = append(lines, fmt.Sprintf(catchUpLine, moment(s.Published), outgoing.Inert(who, catchUpAuthor), outgoing.Inert(l.Summary[i].Quote, length), s.URL))
		}
		answer := strings.Join(lines, "\n")
		switch {
		case outgoing.Units(answer) <= answerUnits:
			return answer
		case length > catchUpShortest:
			length -= 20
		case n > 1:
			n--
		default:
			return outgoing.Head(answer, answerUnits)
		}
	}
}

// moment is a time as Discord's client shows it to each reader: in that reader's language and time zone.
// https://discord.com/developers/docs/reference#message-formatting-timestamp-styles
func moment(t time.Time) string { return fmt.Sprintf("<t:%d:f>", t.Unix()) }

// zone is the one in which the character tells times.
func (a *Actor) zone() *time.Location { return cmp.Or(a.Location, time.UTC) }

// since reads how far back somebody wants to look: "3h", "2 days", "yesterday", "since Monday". Nothing is the zero time.
func since(span string, now time.Time) (time.Time, bool) {
	if span == "" {
		return time.Time{}, true
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(span, " ", "")); err == nil && d > 0 {
		return now.Add(-d), true
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(span, "d")); err == nil && n > 0 && n < 1000 {
		return now.AddDate(0, 0, -n), true
	}
	for _, s := range []string{span, "last " + span, "the last " + strings.TrimPrefix(strings.ToLower(span), "last ")} {
		if found, _, ok := calendar.Past(s, text.Words(s), now); ok {
			return found.From, true
		}
	}
	return time.Time{}, false
}
