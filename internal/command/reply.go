package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// unknownButton answers a forged button as it does one whose turn is no longer kept.
const unknownButton sentence = "This button belongs to something that I no longer know."

// These are the answers to buttons under a reply.
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
	regenerateHere   sentence = "I answer it again in its place. ◀ and ▶ bring back the other answers."
	otherShown       sentence = "This is what we go on with."
	notSwiped        sentence = "Only the last message here can be changed for another answer."
	noSources        sentence = "This answer has no sources."
	sourcesHeading   sentence = "Sources:"
	sourcesNotCited  sentence = "Read for this, not cited:"
	labelOutdated    sentence = "Outdated [%d]"
	labelWrong       sentence = "Wrong [%d]"
)

// notComplete answers a press that came before the record of the reply was complete.
const notComplete sentence = "This answer is not complete yet. Try again in a moment."

// press carries out a button under a reply. Its id is a key, with a page behind a colon if the button turns pages. A reply in another
// channel is unknown, too.
func (c *call) press(ctx context.Context) turn.Answer {
	button, err := c.Bot.Traces.Button(ctx, c.variables["key"])
	if err == nil {
		c.turn, err = c.Bot.SettledTurn(ctx, button.TurnID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && c.turn.Request.ChannelID != c.Message.ChannelID:
		return c.say(unknownButton)
	case err != nil:
		return c.unread(err)
	}
	do, variables := replies().find(&turn.Command{Button: button.Kind})
	if do == nil {
		return c.say(unknownButton)
	}
	c.kind = button.Kind
	maps.Copy(c.variables, variables)
	return do(c, ctx)
}

// asked reports whether the person asked what the reply answers. Records have a pseudonym for people who opted out.
func (c *call) asked() bool {
	by, asked := c.Command.By.ID, c.turn.Request.Message.Author.ID
	return by == asked || c.Bot.Store.Privacy.Pseudonym(by) == asked
}

func (c *call) stop(context.Context) turn.Answer {
	if !c.Bot.Stop(c.turn.Request.ChannelID, c.turn.Request.ID) {
		return c.say(nothingToStop)
	}
	c.Bot.Log.Info("answer stopped", "turn", c.turn.Request.ID, "by", c.Command.By.ID)
	return c.say(stopDone)
}

func (c *call) deleteReply(ctx context.Context) turn.Answer {
	if err := c.Bot.DeleteReply(ctx, c.turn, c.Command.By.ID); err != nil {
		c.logged("delete a reply", err)
		return c.say(couldNotDelete)
	}
	return c.say(deleteDone)
}

// answerAgain has the question answered again, or a reply that was cut continued.
func (c *call) answerAgain(ctx context.Context) turn.Answer {
	goesOn := c.kind == reply.ContinueButton
	question, err := c.Bot.Store.Messages.Get(ctx, c.turn.Request.Message.ID) // it may have been edited
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c.say(questionGone)
	case err != nil:
		return c.unread(err)
	case goesOn && !c.turn.Cut:
		return c.say(answerIsWhole)
	case goesOn && slices.ContainsFunc(c.turn.Presses, func(p turn.Press) bool { return p.Kind == c.kind }):
		return c.say(continuedBefore)
	}
	select {
	case <-c.Bot.Stopping():
		return c.say(reply.Leaving)
	default:
	}
	inPlace, err := c.Bot.AnswerAgain(ctx, c.Event, c.turn, question.Text, c.kind)
	switch {
	case err != nil:
		return c.refused(err)
	case goesOn:
		return c.say(continueBelow)
	case inPlace:
		return c.say(regenerateHere)
	}
	return c.say(regenerateBelow)
}

// saidBelow answers after something was said aloud.
const saidBelow sentence = "I have said it below."

// speakReply says a reply aloud.
func (c *call) speakReply(ctx context.Context) turn.Answer {
	return c.spoken(c.Bot.SayAloud(ctx, c.Event, c.turn.Request.ID))
}

// speakLatest says the newest reply in the channel aloud.
func (c *call) speakLatest(ctx context.Context) turn.Answer {
	c.Bot.Settle(c.Message.ChannelID)
	list, err := c.Bot.Traces.Recent(ctx, c.Message.ChannelID, latestTurns)
	for _, one := range list {
		t, err := c.Bot.Traces.Get(ctx, one.ID)
		if err == nil && t.Phase.Over() && len(t.ReplyIDs) > 0 {
			return c.spoken(c.Bot.SayAloud(ctx, c.Event, one.ID))
		}
	}
	if err != nil {
		return c.unread(err)
	}
	return c.say(noTurns)
}

// speakWords says a person's words aloud.
func (c *call) speakWords(ctx context.Context) turn.Answer {
	return c.spoken(c.Bot.SayWords(ctx, c.Event, c.variables["words"]))
}

func (c *call) spoken(err error) turn.Answer {
	if why, ok := errors.AsType[bot.Unsaid](err); ok {
		return c.say(sentence(why))
	}
	if err != nil {
		return c.refused(err)
	}
	return c.say(saidBelow)
}

// swipe shows another answer in place of the reply.
func (c *call) swipe(ctx context.Context) turn.Answer {
	done, err := c.Bot.Swipe(ctx, c.turn, c.number("number"), c.Command.By.ID)
	switch {
	case err != nil:
		return c.refused(err)
	case !done:
		return c.say(notSwiped)
	}
	return c.say(otherShown)
}

func (c *call) why(ctx context.Context) turn.Answer {
	return c.show(ctx, c.turn, c.variables["key"], c.number("page"))
}

// maxMarked is how many sources get buttons: two each, and 25 fit under an answer.
const maxMarked = 12

// showSources lists what a reply cites, with the addresses, and buttons to say what is wrong with each.
func (c *call) showSources(ctx context.Context) turn.Answer { return c.sources(ctx, "") }

// sources does the same below a note, which may be empty.
func (c *call) sources(ctx context.Context, note string) turn.Answer {
	look, body := c.turn.Lookup(), reply.Body(c.turn.Reply)
	lines, cited := reply.Sources(look, body, c.language, c.Bot.Redact)
	if len(lines) == 0 {
		return c.say(noSources)
	}
	shown, complete := c.readable(ctx, c.turn)
	readable := shown.Lookup().Sources
	switch {
	case len(readable) == 0:
		return c.say(unreadableLeftOut)
	case !complete:
		note = strings.TrimLeft(note+"\n\n"+unreadableLeftOut.In(c.language), "\n")
	}
	heading := sourcesNotCited
	if cited {
		heading = sourcesHeading
	}
	a := turn.Answer{Text: strings.TrimLeft(note+"\n\n"+heading.In(c.language), "\n")}
	all, _ := reply.Cited(look, body)
	for i, s := range all {
		if !slices.ContainsFunc(readable, func(one turn.Source) bool { return one.N == s.N }) {
			continue
		}
		if reply.Units(a.Text+lines[i]) >= reply.AnswerUnits {
			a.Text += "\n…"
			break
		}
		a.Text += "\n" + lines[i]
		if i < maxMarked && look.Intent != turn.IntentServer { // people's messages are not sites
			a.Buttons = append(a.Buttons, c.mark(outdated, labelOutdated, s.N), c.mark(wrong, labelWrong, s.N))
		}
	}
	return a
}

// mark returns the button that gives a verdict on a source.
func (c *call) mark(verdict string, label sentence, n int) turn.Button {
	return turn.Button{ID: c.key(c.turn.Request.ID, fmt.Sprintf("%s:%d", verdict, n)), Label: label.In(c.language, n)}
}

// markSource keeps a person's verdict on one of the reply's sources.
func (c *call) markSource(ctx context.Context) turn.Answer {
	verdict, n := c.variables["verdict"], c.number("source")
	if l := c.turn.Lookup(); l != nil {
		if i := slices.IndexFunc(l.Sources, func(s turn.Source) bool { return s.N == n }); i >= 0 {
			domain, err := c.saveFeedback(ctx, c.turn.Request.Character, l.Sources[i].URL, verdict)
			if err != nil {
				return c.notSaved(err)
			}
			return c.sources(ctx, noted(c.language, domain, verdict))
		}
	}
	return c.say(unknownButton)
}
