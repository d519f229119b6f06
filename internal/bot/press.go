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
const unknownButton sentence = "This button belongs to something that I no longer know."

// notComplete answers a press that came before the record of the reply was complete.
const notComplete sentence = "This answer is not complete yet. Try again in a moment."

// What a press is answered with.
const (
	stopIsForAsker   sentence = "Only the person who asked, or somebody who may manage messages here, can stop this."
	nothingToStop    sentence = "This answer is over already."
	stopDone         sentence = "Stopped."
	deleteIsForAsker sentence = "Only the person who asked, or somebody who may manage messages here, can delete this."
	couldNotDelete   sentence = "I could not delete it. The operator's log says why."
	deleteDone       sentence = "Deleted."
	againIsForAsker  sentence = "Only the person who asked can do that. Ask me yourself, and I answer you."
	questionGone     sentence = "The question is gone, so I can't answer it again."
	answerIsWhole    sentence = "This answer is whole."
	continuedBefore  sentence = "I have gone on with this already."
	continueBelow    sentence = "I go on with it below."
	regenerateBelow  sentence = "I answer it again below."
	noSources        sentence = "This answer has no sources."
	sourcesHeading   sentence = "Sources:"
	sourcesNotCited  sentence = "Read for this, not cited:"
	labelOutdated    sentence = "Outdated [%d]"
	labelWrong       sentence = "Wrong [%d]"
)

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
		return b.respond(e, unknownButton)
	case err != nil:
		return b.storeTrouble(e, err)
	}
	switch kind, number, _ := strings.Cut(button.Kind, ":"); kind {
	case stopButton:
		return b.pressStop(e, t)
	case sourcesButton:
		return b.showSources(ctx, e, t, "")
	case outdated, wrong:
		return b.markSource(ctx, e, t, kind, number)
	case whyButton:
		return b.show(ctx, e, t, key, pageNumber(page))
	case regenerateButton, continueButton:
		return b.pressAgain(ctx, e, t, kind)
	case deleteButton:
		return b.pressDelete(ctx, e, t)
	}
	return b.respond(e, unknownButton)
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

// asker reports whether who gave a command asked what the turn answers. Of those who opted out records name the pseudonym.
func (b *Bot) asker(e turn.Event, t *turn.Trace) bool {
	by, asked := e.Command.By.ID, t.Request.Message.Author.ID
	return by == asked || b.Store.Pseudonym(by) == asked
}

func moderator(c *turn.Command) bool { return c.Deletes || c.Admin }

func (b *Bot) pressStop(e turn.Event, t *turn.Trace) turn.Answer {
	switch {
	case !b.asker(e, t) && !moderator(e.Command):
		return b.respond(e, stopIsForAsker)
	case !b.lanes.stop(t.Request.ChannelID, t.Request.ID):
		return b.respond(e, nothingToStop)
	}
	b.Log.Info("answer stopped", "turn", t.Request.ID, "by", e.Command.By.ID)
	return b.respond(e, stopDone)
}

// pressDelete deletes a reply. The record says so first: what is deleted is on record in any case.
func (b *Bot) pressDelete(ctx context.Context, e turn.Event, t *turn.Trace) turn.Answer {
	switch {
	case !b.asker(e, t) && !moderator(e.Command):
		return b.respond(e, deleteIsForAsker)
	case !ended(t):
		return b.respond(e, notComplete)
	}
	if err := b.removeReply(ctx, t, e.Command.By.ID); err != nil {
		b.logged("delete a reply", err)
		return b.respond(e, couldNotDelete)
	}
	return b.respond(e, deleteDone)
}

// removeReply deletes a reply because somebody said so, which is on record first.
func (b *Bot) removeReply(ctx context.Context, t *turn.Trace, by string) error {
	if err := b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: deleteButton, ByID: by, At: time.Now()}); err != nil {
		return err
	}
	for _, id := range slices.Backward(t.ReplyIDs) {
		if _, err := b.send(ctx, turn.Post{ID: id, ChannelID: t.Request.ChannelID, Persona: t.Request.Persona}, true); err != nil {
			return err
		}
	}
	b.Log.Info("reply deleted", "turn", t.Request.ID, "by", by)
	return nil
}

// pressAgain has a question answered anew, or a reply that was cut gone on with, in a turn of its own. What it says is posted
// below, and the earlier reply stays: people may have answered it, and the new one need not be better.
func (b *Bot) pressAgain(ctx context.Context, e turn.Event, t *turn.Trace, kind string) turn.Answer {
	if !b.asker(e, t) {
		return b.respond(e, againIsForAsker)
	}
	if !ended(t) {
		return b.respond(e, notComplete)
	}
	question, err := b.Store.Message(ctx, t.Request.Message.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return b.respond(e, questionGone)
	case err != nil:
		return b.storeTrouble(e, err)
	case kind == continueButton && !t.Cut:
		return b.respond(e, answerIsWhole)
	case kind == continueButton && slices.ContainsFunc(t.Presses, func(p turn.Press) bool { return p.Kind == kind }):
		return b.respond(e, continuedBefore)
	}
	if !b.allows(e.Command.By) {
		return b.respond(e, tooMany)
	}
	select {
	case <-b.stopping:
		return b.respond(e, leaving)
	default:
	}
	a := arrival{Event: e, at: time.Now(), addressed: true, character: t.Request.Character, earlier: t, goesOnWith: kind == continueButton, newID: ulid.Make().String()}
	a.Kind, a.Command, a.Message, a.Mentioned = turn.Edited, nil, t.Request.Message, true
	if len(t.Request.Burst) == 0 {
		a.Message.Text = question.Text // it may have been edited
	}
	if err := b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: kind, ByID: e.Command.By.ID, At: a.at, TurnID: a.newID}); err != nil {
		return b.storeTrouble(e, err)
	}
	if b.Resume {
		if err := b.Store.Reopen(ctx, a.claim(), a.newID, encodeArrival(a)); err != nil {
			return b.storeTrouble(e, err)
		}
	}
	b.enqueue(ctx, a)
	if kind == continueButton {
		return b.respond(e, continueBelow)
	}
	return b.respond(e, regenerateBelow)
}

// showSources lists what a reply cites, with the addresses, and buttons to say what is wrong with each. note stands above.
func (b *Bot) showSources(ctx context.Context, e turn.Event, t *turn.Trace, note string) turn.Answer {
	body := outgoing.Body(t.Reply)
	lines, cited := outgoing.Sources(t.Lookup(), body, language(e), b.Redact)
	if len(lines) == 0 {
		return b.respond(e, noSources)
	}
	shown, complete := b.readable(ctx, e, t)
	switch {
	case len(shown.Lookup().Sources) == 0:
		return b.respond(e, unreadableLeftOut)
	case !complete:
		note = strings.TrimLeft(note+"\n\n"+unreadableLeftOut.in(language(e)), "\n")
	}
	heading := sourcesNotCited
	if cited {
		heading = sourcesHeading
	}
	text := strings.TrimLeft(note+"\n\n"+heading.in(language(e)), "\n")
	var kinds, labels []string
	sources, _ := outgoing.Cited(t.Lookup(), body)
	for i, s := range sources {
		if !slices.ContainsFunc(shown.Lookup().Sources, func(left turn.Source) bool { return left.N == s.N }) {
			continue
		}
		if outgoing.Units(text+lines[i]) >= answerUnits {
			text += "\n…"
			break
		}
		text += "\n" + lines[i]
		if i < maxMarked && t.Lookup().Intent != turn.IntentServer { // what people said is no site
			kinds = append(kinds, fmt.Sprintf("%s:%d", outdated, s.N), fmt.Sprintf("%s:%d", wrong, s.N))
			labels = append(labels, labelOutdated.in(language(e), s.N), labelWrong.in(language(e), s.N))
		}
	}
	a := turn.Answer{Text: text}
	keys := b.keys(t.Request.ID, kinds...)
	for i, kind := range kinds {
		a.Buttons = append(a.Buttons, turn.Button{ID: keys[kind], Label: labels[i]})
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
			domain, err := b.saveFeedback(ctx, t.Request.Character, e, s.URL, verdict)
			if err != nil {
				return b.notSaved(e, err)
			}
			return b.showSources(ctx, e, t, noted(language(e), domain, verdict))
		}
	}
	return b.respond(e, unknownButton)
}
