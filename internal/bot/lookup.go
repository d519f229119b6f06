package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"

	"github.com/oklog/ulid/v2"
)

// lookUp answers /lookup.
func (b *Bot) lookUp(ctx context.Context, e turn.Event) turn.Answer {
	if verdict := e.Command.Options["feedback"]; verdict != "" {
		return b.feedback(ctx, e, verdict, strings.TrimSpace(e.Command.Options["source"]))
	}
	question := strings.TrimSpace(e.Command.Options["query"])
	switched := ""
	if web := e.Command.Options["web"]; web != "" {
		switched = b.setWeb(ctx, e, web).Text
		if question == "" {
			return turn.Answer{Text: switched}
		}
		switched += "\n\n"
	}
	if question == "" {
		return turn.Answer{Text: "What shall I look up? Or shall I stop looking things up here: web off?"}
	}
	l, err := b.lookUpFor(ctx, b.speaker(ctx, e), e, question, "")
	if err != nil {
		return b.storeTrouble(err)
	}
	return turn.Answer{Text: switched + b.LookupAnswer(l)}
}

// LookUp looks a message's question up, whether or not it seems to need it: anywhere or, with docs, in that site of
// documentation alone. What leaves the machine must be on record, so it is recorded like a turn; the error is the store's.
func (b *Bot) LookUp(ctx context.Context, m turn.Message, docs string) (*turn.Lookup, error) {
	return b.lookUpFor(ctx, b.cast().Default, turn.Event{ID: m.ID, Message: m}, m.Text, docs)
}

func (b *Bot) lookUpFor(ctx context.Context, actor *Actor, e turn.Event, question, docs string) (*turn.Lookup, error) {
	t := &turn.Trace{Began: time.Now(), Phase: turn.Begun, Model: NoModel}
	if e.Command != nil {
		e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: question, At: t.Began}
	}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent, t.Request.Web.Docs = nil, nil, docs
	t.Request.Addressed = turn.ByDirect // also from a command line, which is no event
	if t.Request.Web.Switch == turn.WebAuto {
		t.Request.Web.Switch = turn.WebAlways
	}
	if err := b.save(ctx, t); err != nil {
		return nil, err
	}
	l := turn.Lookup{State: turn.Disabled, Reason: offReason(t.Request.Web), Question: question, Began: t.Began}
	if t.Request.Web.Switch != turn.WebOff { // else it does not matter whether there is anything to look up
		l = actor.Lookup.Lookup(ctx, t.Request)
	}
	o := turn.Outcome{Provider: actor.Lookup.Name(), Status: turn.OK, Took: l.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: actor.Lookup.Name(), Lookup: &l}}}
	if l.State == turn.LookupFailed {
		o.Status = turn.Failed
	}
	t.Outcomes, t.Phase, t.Took, t.Reply = []turn.Outcome{o}, turn.Answered, time.Since(t.Began), b.LookupAnswer(&l)
	return &l, b.save(ctx, t)
}

// LookupAnswer says what was found, with its sources, in one message of Discord.
func (b *Bot) LookupAnswer(l *turn.Lookup) string {
	switch l.State {
	case turn.Found:
		return b.foundAnswer(l)
	case turn.Empty:
		if l.Query == "" {
			return "I looked and found nothing that answers it."
		}
		return "I looked for " + view.Queries(l.Query) + " and found nothing that answers it."
	case turn.Disabled:
		return "The web is switched off here (" + l.Reason + ")."
	case turn.LookupFailed:
		words := failureWords(l)
		if l.Failure == turn.CodeUnreadable {
			_, words = unreadable(l)
		}
		return "I could not look: " + words + "."
	}
	return "There was nothing to look up (" + l.Reason + ")."
}

// foundAnswer returns as many whole claims as fit beside their sources.
func (b *Bot) foundAnswer(l *turn.Lookup) string {
	text, _ := outgoing.RulesFor(turn.Request{}, l, b.Redact).Guard(extracts(l))
	claims := strings.Split(text, "\n")
	for n := len(claims); ; n-- {
		body := strings.Join(claims[:n], "\n")
		lines := sourceNotes(l, body, b.Redact)
		if slices.ContainsFunc(l.Pages, turn.Page.Snippet) {
			lines = append([]string{outgoing.SmallType + b.say(onlySnippets)}, lines...)
		}
		if l.Unanswered {
			lines = append([]string{outgoing.SmallType + b.say(onlyOutline)}, lines...)
		}
		tail := "\n\n" + strings.Join(lines, "\n")
		if n < len(claims) {
			tail = fmt.Sprintf("\n(%d more: /context)", len(claims)-n) + tail
		}
		room := answerUnits - outgoing.Units(tail)
		if n > 1 && outgoing.Units(body) > room {
			continue
		}
		if outgoing.Units(body) > room { // one claim too long to be whole
			body = outgoing.Head(body, room-1) + "…"
		}
		return outgoing.Head(body+tail, answerUnits)
	}
}

// offReason tells people who switched the web off.
func offReason(w turn.Web) string {
	switch w.Reason {
	case turn.OffChannel:
		return "in this channel; the command lookup switches it on again"
	case turn.OffMode:
		return "by this channel's mode"
	case turn.OffCharacter:
		return "for this character"
	}
	return "by the operator"
}
