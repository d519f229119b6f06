package bot

import (
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
	catchUpHeading  = "What you have missed here:"
	nothingMissed   = "You have missed nothing here that I know of."
	noServerHere    = "There is nothing to catch up with here: I do that in the channels of a server."
	serverNotRead   = "I don't look through the messages of servers: whoever runs me has switched that off."
	spanNotRead     = "I don't understand how far back %s is. Try 3h, 2 days, yesterday, or since Monday."
	catchUpLine     = "- **%s** %s: %s [→](<%s>)"
	catchUpAuthor   = 40  // characters of a name
	catchUpQuote    = 140 // of a message, at first
	catchUpShortest = 60  // the same, where there is less room
)

// catchUp answers /catchup: what its giver has missed in the channel, with the link of each message. Only the giver sees it, so what they
// may read is what counts.
func (b *Bot) catchUp(ctx context.Context, e turn.Event) turn.Answer {
	if e.GuildID == "" {
		return turn.Answer{Text: noServerHere}
	}
	if b.Server == nil {
		return turn.Answer{Text: serverNotRead}
	}
	now := time.Now()
	if zone := b.Character.Location; zone != nil {
		now = now.In(zone)
	}
	span := strings.TrimSpace(e.Command.Options["span"])
	from, ok := since(span, now)
	if !ok {
		return turn.Answer{Text: fmt.Sprintf(spanNotRead, outgoing.Inert(span, 40))}
	}
	t := &turn.Trace{Began: now, Phase: turn.Begun, Model: NoModel}
	e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: strings.TrimSpace("/catchup " + span), At: now}
	t.Request = b.request(ctx, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent, t.Request.Private, t.Request.Addressed = nil, nil, true, turn.ByDirect
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(err)
	}
	l := b.Server.Missed(ctx, t.Request, from)
	t.Outcomes = []turn.Outcome{{Provider: b.Server.Name(), Status: turn.OK, Took: l.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: b.Server.Name(), Lookup: &l}}}}
	t.Reply, t.Phase, t.Took = b.missedAnswer(&l), turn.Answered, time.Since(t.Began)
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(err)
	}
	return turn.Answer{Text: t.Reply}
}

// missedAnswer lists what was missed, as much of each message as there is room for.
func (b *Bot) missedAnswer(l *turn.Lookup) string {
	switch {
	case l.State == turn.Disabled:
		return serverNotRead
	case l.State != turn.Found:
		return nothingMissed
	}
	for length, n := catchUpQuote, len(l.Sources); ; {
		lines := []string{catchUpHeading}
		for i, s := range l.Sources[:n] {
			who, _, _ := strings.Cut(s.Site, " in #")
			at := s.Published
			if zone := b.Character.Location; zone != nil {
				at = at.In(zone)
			}
			lines = append(lines, fmt.Sprintf(catchUpLine, at.Format("2 Jan 15:04"), outgoing.Inert(who, catchUpAuthor), outgoing.Inert(l.Summary[i].Quote, length), s.URL))
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
