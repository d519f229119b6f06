package bot

import (
	"context"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/lookup/recall"

	"github.com/oklog/ulid/v2"
)

// What /lookup says of links to messages, which no web page can tell of.
const (
	linkNotOpened sentence = "I cannot open that message: it is not there, or not for you to read."
	linkElsewhere sentence = "That is a message of a server, which I open in that server alone, for those who may read it."
	linkBeside    sentence = "*What this links to is a message here. To look something up, ask without the link.*"
)

// isLinked reports whether what is to be looked up is in a message that is linked to.
func (o lookupOrder) isLinked() bool {
	return o.docs == "" && o.site == "" && o.intent == "" && len(recall.Links(o.question)) > 0
}

// openLinked shows the messages that a person who gave a command links to, as that person may read them.
func (b *Bot) openLinked(ctx context.Context, actor *Actor, e turn.Event, o lookupOrder) turn.Answer {
	switch {
	case actor.Past == nil || actor.Past.Off:
		return b.respond(e, serverNotRead)
	case e.GuildID == "":
		return b.respond(e, linkElsewhere)
	}
	t := &turn.Trace{Began: time.Now(), Phase: turn.Begun, Model: NoModel}
	e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: o.question, At: t.Began}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent, t.Request.Private, t.Request.Addressed = nil, nil, true, turn.ByDirect
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(e, err)
	}
	within, cancel := context.WithDeadline(ctx, t.Request.Deadline)
	defer cancel()
	contributions, err := actor.Past.Contribute(within, t.Request)
	outcome := turn.Outcome{Provider: actor.Past.Name(), Status: turn.OK, Took: time.Since(t.Began), Contributions: contributions}
	if b.logged("open a linked message", err); err != nil {
		outcome.Status = turn.Failed
	}
	t.Outcomes, t.Phase, t.Took = []turn.Outcome{outcome}, turn.Answered, time.Since(t.Began)
	t.Reply = linkNotOpened.in(language(e))
	if l := t.Lookup(); l != nil && l.State == turn.Found {
		t.Reply = linkedAnswer(language(e), l)
	}
	if err := b.save(ctx, t); err != nil {
		return b.storeTrouble(e, err)
	}
	return turn.Answer{Text: t.Reply}
}

// linkedAnswer quotes the messages, with their links.
func linkedAnswer(language string, l *turn.Lookup) string {
	const longest = 600 // characters of a message
	var lines []string
	for i, s := range l.Sources {
		who, where, _ := strings.Cut(s.Site, " in #")
		lines = append(lines, "**"+outgoing.Inert(who, catchUpAuthor)+"** · #"+outgoing.Inert(where, catchUpAuthor)+" · "+moment(s.Published)+
			" [→](<"+s.URL+">)\n"+outgoing.Inert(l.Summary[i].Quote, longest))
	}
	note := linkBeside.in(language)
	return outgoing.Head(strings.Join(lines, "\n"), answerUnits-outgoing.Units(note)-2) + "\n\n" + note
}
