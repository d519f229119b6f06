package bot

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
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
	catchUpLine     = "- **%s** %s: %s [→](<%s>)" // who, when, what and where
	catchUpAuthor   = 40                          // characters of a name
	catchUpQuote    = 140                         // of a message, at first
	catchUpShortest = 60                          // the same, where there is less room
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
	var from time.Time // since they last wrote
	ok := span == ""
	if !ok {
		from, ok = calendar.Back(span, now)
	}
	if !ok {
		return b.respond(e, spanNotRead, outgoing.Inert(span, 40))
	}
	if actor.Side != nil && !b.allows(e.Command.By) {
		return b.respond(e, tooMany)
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
	topics := b.topics(ctx, actor, e, t, &l)
	t.Reply, t.Phase, t.Took = missedAnswer(language(e), &l, topics), turn.Answered, time.Since(t.Began)
	if len(t.Processed) > 0 {
		b.count(ctx, t)
	}
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(e, err)
	}
	return turn.Answer{Text: t.Reply}
}

// missedAnswer lists what was missed, topic by topic, as much of each message as there is room for.
func missedAnswer(language string, l *turn.Lookup, topics []topic) string {
	switch {
	case l.State == turn.Disabled:
		return serverNotRead.in(language)
	case l.State != turn.Found:
		return nothingMissed.in(language)
	}
	for length, n := catchUpQuote, len(l.Sources); ; {
		answer := missedLines(language, l, topics, length, n)
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

// missedLines lists the first n messages, with so many characters of each.
func missedLines(language string, l *turn.Lookup, topics []topic, length, n int) string {
	lines := []string{catchUpHeading.in(language)}
	for _, t := range topics {
		title := t.title
		for _, i := range t.messages {
			if i >= n {
				continue
			}
			if title != "" {
				lines, title = append(lines, "__"+outgoing.Inert(title, topicTitle)+"__"), ""
			}
			s := l.Sources[i]
			who, _, _ := strings.Cut(s.Site, " in #")
			lines = append(lines, fmt.Sprintf(catchUpLine, outgoing.Inert(who, catchUpAuthor), moment(s.Published), outgoing.Inert(l.Summary[i].Quote, length), s.URL))
		}
	}
	return strings.Join(lines, "\n")
}

// moment is a time as Discord's client shows it to each reader: in that reader's language and time zone.
// https://discord.com/developers/docs/reference#message-formatting-timestamp-styles
func moment(t time.Time) string { return fmt.Sprintf("<t:%d:f>", t.Unix()) }

// zone is the one in which the character tells times.
func (a *Actor) zone() *time.Location { return cmp.Or(a.Location, time.UTC) }
