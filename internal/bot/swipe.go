package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/reply"
)

// Answers to one question may stand in the same post, one at a time. The newest reply of a channel is answered again in its place, and
// buttons below it change between the answers. What stands there is the history with which the channel goes on. All answers are on record.

// SwipeButton is the beginning of the kinds of these buttons. Then come the number of the answer that it shows, and its place in the row.
const SwipeButton = "swipe"

const (
	swipeBack = "back"
	swipeOn   = "on"
)

// swipes returns the kinds of the buttons under the answer with a number, of n. There are none under a single answer.
func swipes(number, n int) []string {
	if n < 2 {
		return nil
	}
	to := func(i int, place string) string { return fmt.Sprintf("%s:%d:%s", SwipeButton, (i+n)%n, place) }
	return []string{to(number-1, swipeBack), to(number, fmt.Sprintf("%d-%d", number+1, n)), to(number+1, swipeOn)}
}

// swipeLabel returns what a button of such a kind shows, and whether it only shows that.
func swipeLabel(kind string) (label string, still bool) {
	switch place := kind[strings.LastIndexByte(kind, ':')+1:]; place {
	case swipeBack:
		return "◀", false
	case swipeOn:
		return "▶", false
	default:
		return strings.ReplaceAll(place, "-", "/"), true
	}
}

// alternatives returns the answers to the question of a turn that stood in its only post, the oldest first.
func (b *Bot) alternatives(ctx context.Context, t *turn.Trace) []*turn.Trace {
	if len(t.ReplyIDs) != 1 {
		return nil
	}
	return slices.DeleteFunc(b.answers(ctx, t.Request.Message.ID), func(one *turn.Trace) bool {
		return !one.Phase.Over() || one.Reply == "" || one.Reacted || !slices.Equal(one.ReplyIDs, t.ReplyIDs) || one.Request.Message.Text != t.Request.Message.Text
	})
}

// stays reports whether the only post of a reply is the last message of its channel.
func (b *Bot) stays(ctx context.Context, t *turn.Trace) bool {
	recent, err := b.Store.Messages.Recent(ctx, t.Request.ChannelID, 1)
	b.logged("read the last message of a channel", err)
	return len(recent) == 1 && len(t.ReplyIDs) == 1 && recent[0].ID == t.ReplyIDs[0]
}

// inPlace reports whether a question is answered again in the post of a reply. The question must be the same, and the reply no receipt.
func (b *Bot) inPlace(ctx context.Context, t *turn.Trace, question, kind string) bool {
	same := len(t.Request.Burst) > 0 || question == t.Request.Message.Text
	return kind == RegenerateButton && b.Pace.Buttons && same && t.Memory == nil && b.stays(ctx, t) && len(b.alternatives(ctx, t)) > 0
}

// endingOf returns the kinds of buttons under the complete text of a turn, which may be one answer of several.
func (b *Bot) endingOf(ctx context.Context, d *delivery, t *turn.Trace, of arrival, text string) []string {
	kinds := b.finalButtons(t)
	if of.pressed() && len(of.posts) > 0 && len(reply.Split(text, d.units())) == 1 && (!d.spoken || spoken(text) == nil) {
		n := len(b.alternatives(ctx, of.earlier))
		kinds = append(kinds, swipes(n, n+1)...)
	}
	return kinds
}

// Swipe shows another answer in the post of a turn's reply, for a person. It reports false if that is not possible any more: something was
// said below, or there is no such answer.
func (b *Bot) Swipe(ctx context.Context, t *turn.Trace, number int, by string) (done bool, err error) {
	b.pressing.Lock()
	defer b.pressing.Unlock()
	all := b.alternatives(ctx, t)
	if number >= len(all) || !b.stays(ctx, t) || b.lanes.busy(t.Request.ChannelID) {
		return false, nil
	}
	one, id := all[number], t.ReplyIDs[0]
	defer b.lockPost(id)()
	if err := b.Traces.Press(ctx, one.Request.ID, turn.Press{Kind: turn.PressShown, ByID: by, At: time.Now()}); err != nil {
		return false, err
	}
	units, text := b.Pace.Units, one.Reply
	if p := t.Request.Persona; p != nil {
		units -= reply.Units(discord.Labelled(p.Name, ""))
	}
	if !reply.ForAddress(one.Lookup()) && one.Request.Mode != turn.ImitateVoice {
		text = reply.Linked(text, one.Lookup(), b.Redact, units)
	}
	kinds := append(b.finalButtons(one), swipes(number, len(all))...)
	err = b.sendEdit(ctx, turn.Edit{
		Ref:  turn.Ref{ChannelID: t.Request.ChannelID, ID: id, Persona: t.Request.Persona},
		Text: text, Buttons: row(t.Request.Language, b.ButtonKeys(one.Request.ID), kinds...), Final: true,
		Picture: b.pictureOf(ctx, one.Request.Character, one.Mood),
	}, true)
	if err != nil {
		return false, fmt.Errorf("show another answer: %w", err)
	}
	shown, err := b.Store.Messages.Get(ctx, id)
	if err == nil {
		shown.Text, shown.TurnID = reply.OwnWords(text), one.Request.ID
		err = b.Store.Messages.Save(ctx, shown)
	}
	if err != nil {
		return false, fmt.Errorf("keep which answer is shown: %w", err)
	}
	b.Log.Info("another answer shown", "turn", one.Request.ID, "by", by)
	return true, nil
}
