package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

// unknownButton answers what is forged as it does what was pruned.
const unknownButton = "This button belongs to something that I no longer know."

// notComplete answers a press that came before the record of the reply was complete.
const notComplete = "This answer is not complete yet. Try again in a moment."

// maxMarked is how many sources get buttons: two each, and 25 fit under an answer.
const maxMarked = 12

// press carries out a button under a reply. Its id is a key, with a page behind a colon where the button turns pages. A reply of
// another channel is as unknown as none.
func (b *Bot) press(ctx context.Context, e turn.Event) turn.Answer {
	key, page, _ := strings.Cut(e.Command.Button, ":")
	button, err := b.Store.Button(ctx, key)
	var t *turn.Trace
	if err == nil {
		t, err = b.settledTurn(ctx, button.TurnID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && t.Request.ChannelID != e.Message.ChannelID:
		return turn.Answer{Text: unknownButton}
	case err != nil:
		return b.storeTrouble(err)
	}
	switch kind, number, _ := strings.Cut(button.Kind, ":"); kind {
	case stopButton:
		return b.pressStop(e, t)
	case sourcesButton:
		return b.showSources(ctx, t, "")
	case outdated, wrong:
		return b.markSource(ctx, e, t, kind, number)
	case whyButton:
		return b.show(t, key, pageNumber(page), e.Command.Admin)
	case regenerateButton, continueButton:
		return b.pressAgain(ctx, e, t, kind)
	case deleteButton:
		return b.pressDelete(ctx, e, t)
	}
	return turn.Answer{Text: unknownButton}
}

// settledTurn reads a record. One whose reply has just been completed gets the time to be complete, too.
func (b *Bot) settledTurn(ctx context.Context, id string) (*turn.Trace, error) {
	t, err := b.Traces.Get(ctx, id)
	if err != nil || ended(t) || b.lanes.streams(t.Request.ChannelID, id) {
		return t, err
	}
	b.settle(t.Request.ChannelID)
	return b.Traces.Get(ctx, id)
}

func ended(t *turn.Trace) bool { return t.Phase != turn.Begun && t.Phase != turn.Answering }

func asker(e turn.Event, t *turn.Trace) bool { return e.Command.By.ID == t.Request.Message.Author.ID }

func moderator(c *turn.Command) bool { return c.Deletes || c.Admin }

func (b *Bot) pressStop(e turn.Event, t *turn.Trace) turn.Answer {
	switch {
	case !asker(e, t) && !moderator(e.Command):
		return turn.Answer{Text: "Only the person who asked, or somebody who may manage messages here, can stop this."}
	case !b.lanes.stop(t.Request.ChannelID, t.Request.ID):
		return turn.Answer{Text: "This answer is over already."}
	}
	b.Log.Info("answer stopped", "turn", t.Request.ID, "by", e.Command.By.ID)
	return turn.Answer{Text: "Stopped."}
}

// pressDelete deletes a reply. The record says so first: what is deleted is on record in any case.
func (b *Bot) pressDelete(ctx context.Context, e turn.Event, t *turn.Trace) turn.Answer {
	switch {
	case !asker(e, t) && !moderator(e.Command):
		return turn.Answer{Text: "Only the person who asked, or somebody who may manage messages here, can delete this."}
	case !ended(t):
		return turn.Answer{Text: notComplete}
	}
	if err := b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: deleteButton, ByID: e.Command.By.ID, At: time.Now()}); err != nil {
		return b.storeTrouble(err)
	}
	for _, id := range slices.Backward(t.ReplyIDs) {
		if _, err := b.send(ctx, turn.Post{ID: id, ChannelID: t.Request.ChannelID}, true); err != nil {
			b.logged("delete a reply", err)
			return turn.Answer{Text: "I could not delete it. The operator's log says why."}
		}
	}
	b.Log.Info("reply deleted", "turn", t.Request.ID, "by", e.Command.By.ID)
	return turn.Answer{Text: "Deleted."}
}

// pressAgain has a question answered anew, or a reply that was cut gone on with, in a turn of its own. What it says is posted
// below, and the earlier reply stays: people may have answered it, and the new one need not be better.
func (b *Bot) pressAgain(ctx context.Context, e turn.Event, t *turn.Trace, kind string) turn.Answer {
	if !asker(e, t) {
		return turn.Answer{Text: "Only the person who asked can do that. Ask me yourself, and I answer you."}
	}
	if !ended(t) {
		return turn.Answer{Text: notComplete}
	}
	question, err := b.Store.Message(ctx, t.Request.Message.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return turn.Answer{Text: "The question is gone, so I can't answer it again."}
	case err != nil:
		return b.storeTrouble(err)
	case kind == continueButton && !t.Cut:
		return turn.Answer{Text: "This answer is whole."}
	case kind == continueButton && slices.ContainsFunc(t.Presses, func(p turn.Press) bool { return p.Kind == kind }):
		return turn.Answer{Text: "I have gone on with this already."}
	}
	if b.PerPerson > 0 {
		if allowed, _ := b.turns.allow(e.Command.By.ID, b.PerPerson, time.Now()); !allowed {
			return turn.Answer{Text: b.say(tooMany)}
		}
	}
	select {
	case <-b.stopping:
		return turn.Answer{Text: b.say(leaving)}
	default:
	}
	a := arrival{Event: e, at: time.Now(), addressed: true, earlier: t, goesOnWith: kind == continueButton, newID: ulid.Make().String()}
	a.Kind, a.Command, a.Message, a.Mentioned = turn.Edited, nil, t.Request.Message, true
	if len(t.Request.Burst) == 0 {
		a.Message.Text = question.Text // it may have been edited
	}
	if err := b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: kind, ByID: e.Command.By.ID, At: a.at, TurnID: a.newID}); err != nil {
		return b.storeTrouble(err)
	}
	b.enqueue(ctx, a)
	if kind == continueButton {
		return turn.Answer{Text: "I go on with it below."}
	}
	return turn.Answer{Text: "I answer it again below."}
}

// showSources lists what a reply cites, with the addresses, and buttons to say what is wrong with each. note stands above.
func (b *Bot) showSources(ctx context.Context, t *turn.Trace, note string) turn.Answer {
	body := outgoing.Body(t.Reply)
	lines, cited := outgoing.Sources(t.Lookup(), body, b.Redact)
	if len(lines) == 0 {
		return turn.Answer{Text: "This answer has no sources."}
	}
	heading := "Read for this, not cited:"
	if cited {
		heading = "Sources:"
	}
	text := strings.TrimLeft(note+"\n\n"+heading, "\n")
	var kinds, labels []string
	sources, _ := outgoing.Cited(t.Lookup(), body)
	for i, s := range sources {
		if outgoing.Units(text+lines[i]) >= answerUnits {
			text += "\n…"
			break
		}
		text += "\n" + lines[i]
		if i < maxMarked && t.Lookup().Intent != turn.IntentServer { // what people said is no site
			kinds = append(kinds, fmt.Sprintf("%s:%d", outdated, s.N), fmt.Sprintf("%s:%d", wrong, s.N))
			labels = append(labels, fmt.Sprintf("Outdated [%d]", s.N), fmt.Sprintf("Wrong [%d]", s.N))
		}
	}
	a := turn.Answer{Text: text}
	keys, err := b.Store.Buttons(ctx, t.Request.ID, kinds...)
	b.logged("keep the buttons of sources", err)
	for i, kind := range kinds {
		if keys[kind] != "" {
			a.Buttons = append(a.Buttons, turn.Button{ID: keys[kind], Label: labels[i]})
		}
	}
	return a
}

// markSource keeps what a person says of one of a reply's sources.
func (b *Bot) markSource(ctx context.Context, e turn.Event, t *turn.Trace, verdict, number string) turn.Answer {
	n, _ := strconv.Atoi(number)
	if l := t.Lookup(); l != nil {
		for _, s := range l.Sources {
			if s.N != n {
				continue
			}
			domain, err := b.saveFeedback(ctx, e, s.URL, verdict)
			if err != nil {
				return b.notSaved(err)
			}
			return b.showSources(ctx, t, noted(domain, verdict))
		}
	}
	return turn.Answer{Text: unknownButton}
}
