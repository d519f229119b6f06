package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// HasButtons reports whether replies in a channel have buttons.
func (b *Bot) HasButtons(actor *Actor, settings store.Channel) bool {
	return b.Pace.Buttons && actor.Buttons && !settings.Bare
}

// finalButtons returns the kinds of buttons under the complete reply of a turn.
func (b *Bot) finalButtons(t *turn.Trace) []string {
	actor := b.CurrentCast().Actor(t.Request.Character)
	return reply.FinalButtons(t, actor != nil && b.speaks(actor) && !actor.Voice.Habit)
}

// ButtonKeys returns what gives the keys of buttons under a turn's reply, by kind.
func (b *Bot) ButtonKeys(turnID string) func(kind string) string {
	return func(kind string) string { return b.Traces.ButtonKey(trace.Button{TurnID: turnID, Kind: kind}) }
}

// SettledTurn reads the record of a turn. If the reply has just been completed, it first waits a moment for the record to be complete too.
// The error is [store.ErrNotFound] if there is no such record.
func (b *Bot) SettledTurn(ctx context.Context, id string) (*turn.Trace, error) {
	t, err := b.Traces.Get(ctx, id)
	if err != nil || t.Phase.Over() || b.lanes.streams(t.Request.ChannelID, id) {
		return t, err
	}
	b.Settle(t.Request.ChannelID)
	return b.Traces.Get(ctx, id)
}

// DeleteReply deletes the reply of a turn for a person. The record says so first.
func (b *Bot) DeleteReply(ctx context.Context, t *turn.Trace, by string) error {
	if err := b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: reply.DeleteButton, ByID: by, At: time.Now()}); err != nil {
		return err
	}
	if err := b.deleteSpeech(ctx, t.Request.ID); err != nil {
		return err
	}
	for _, id := range slices.Backward(t.ReplyIDs) {
		if err := b.sendDelete(ctx, t.Request.Ref(id)); err != nil {
			return err
		}
		b.logged("forget a reply", b.Store.Messages.Delete(ctx, id))
	}
	b.Log.Info("reply deleted", "turn", t.Request.ID, "by", by)
	return nil
}

// AnswerAgain has the question of a turn answered in a new turn. The event's author pressed a button of that kind. With [reply.ContinueButton] the
// new reply goes on where the earlier one was cut. The new reply takes the place of the last messages of the channel, if those are the earlier
// one. Else it is posted below, and the earlier one stays: people may have replied to it. While the new turn is not over, another press does
// nothing. The error is the store's, or a [*gate.Refusal].
func (b *Bot) AnswerAgain(ctx context.Context, e turn.Event, t *turn.Trace, question, kind string) (inPlace bool, err error) {
	b.pressing.Lock()
	defer b.pressing.Unlock()
	inPlace = b.inPlace(ctx, t, question, kind)
	if begun, err := b.answersAgain(ctx, t.Request.ID, kind); begun || err != nil {
		return inPlace, err
	}
	by := e.Command.By.ID
	a := arrival{Event: e, at: b.now(), addressed: true, character: t.Request.Character, earlier: t, goesOnWith: kind == reply.ContinueButton, newID: ulid.Make().String()}
	a.Kind, a.Command, a.Message, a.Mentioned = turn.Edited, nil, t.Request.Message, true
	if len(t.Request.Burst) == 0 {
		a.Message.Text = question
	}
	var no *gate.Refusal
	if a.pass, no = b.Gate.Pass(ctx, e, gate.Passage{Tokens: b.actor(ctx, a).PromptTokens(), Posts: true, Rated: true}); no != nil {
		return false, no
	}
	if inPlace {
		a.posts = b.standing(ctx, t)
	}
	err = b.Traces.Press(ctx, t.Request.ID, turn.Press{Kind: kind, ByID: by, At: a.at, TurnID: a.newID})
	if err == nil && b.Resume {
		err = b.Store.Claims.Reopen(ctx, a.GuildID, a.claim(), a.newID, encodeArrival(a), a.posts...)
	}
	if err != nil {
		giveBack(a)
		return false, err
	}
	b.enqueue(ctx, a)
	return inPlace, nil
}

// answersAgain reports whether a press of that kind has its turn already. A cut reply is continued once. A question is answered again as
// often as somebody asks for it, one turn after the other.
func (b *Bot) answersAgain(ctx context.Context, id, kind string) (bool, error) {
	t, err := b.Traces.Get(ctx, id)
	if err != nil {
		return false, err
	}
	for _, p := range t.Presses {
		if p.Kind != kind || p.TurnID == "" {
			continue
		}
		if kind == reply.ContinueButton {
			return true, nil
		}
		again, err := b.Traces.Get(ctx, p.TurnID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			if time.Since(p.At) < gate.LongestPass { // it waits
				return true, nil
			}
		case err != nil:
			return false, err
		case !again.Phase.Over():
			return true, nil
		}
	}
	return false, nil
}

// These reactions under a reply mean something. Skin tones and variants do not matter.
const (
	crossOut  = "❌" // from the person who asked, or a moderator: stop or delete the reply
	thumbUp   = "👍"
	thumbDown = "👎"
)

var opinions = map[string]string{thumbUp: "good", thumbDown: "bad"}

// reacted handles a reaction under a message, or one that was taken back.
func (b *Bot) reacted(ctx context.Context, e turn.Event) {
	defer func() { b.recovered("take a reaction", recover()) }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	emoji, on := reply.PlainEmoji(e.Reaction.Emoji), e.Kind == turn.Reacted
	verdict := opinions[emoji]
	if verdict == "" && !(emoji == crossOut && on) {
		return
	}
	id, err := b.Store.Messages.TurnOf(ctx, e.Message.ID)
	t := &turn.Trace{}
	switch {
	case err == nil && id == "":
		return
	case err == nil:
		t, err = b.Traces.Get(ctx, id)
	case errors.Is(err, store.ErrNotFound): // its turn may have ended just now
		t, err = b.Traces.ByMessage(ctx, e.Message.ID)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && id == "" && !slices.Contains(t.ReplyIDs, e.Message.ID) {
		return
	}
	if err != nil {
		b.logged("find the reply under a reaction", err)
		return
	}
	id = t.Request.ID
	actor := b.CurrentCast().Actor(t.Request.Character)
	switch {
	case actor != nil && !actor.Reactions.Follow:
	case verdict == "":
		b.tasks.Go(func() { b.crossedOut(context.WithoutCancel(ctx), e, id) })
	case on:
		err = b.Store.Ratings.SaveOpinion(ctx, store.Opinion{TurnID: id, By: e.Reaction.By.ID, GuildID: e.GuildID, Verdict: verdict, At: time.Now()})
	default:
		err = b.Store.Ratings.DropOpinion(ctx, id, e.Reaction.By.ID, verdict)
	}
	b.logged("keep an opinion", err)
}

// crossedOut stops a growing reply and deletes a complete one, for the person who asked and for moderators.
func (b *Bot) crossedOut(ctx context.Context, e turn.Event, turnID string) {
	defer func() { b.recovered("take back a reply", recover()) }()
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	t, err := b.SettledTurn(ctx, turnID)
	if err != nil {
		b.logged("read a record", err)
		return
	}
	if by := e.Reaction.By.ID; by != t.Request.Message.Author.ID && !e.Reaction.Deletes {
		return
	}
	if b.Stop(t.Request.ChannelID, turnID) {
		b.Log.Info("answer stopped", "turn", turnID, "by", e.Reaction.By.ID)
		return
	}
	if t.Phase.Over() {
		b.logged("delete a reply", b.DeleteReply(ctx, t, e.Reaction.By.ID))
	}
}

// seen shows on a message that its turn has begun, if the character has a sign for that. It does not wait.
func (b *Bot) seen(actor *Actor, guildID, channelID, messageID string) {
	sign := actor.Reactions.Seen
	if sign == "" || b.Pace.Units == 0 || channelID == messageID {
		return
	}
	b.notices.posting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), noticeLimit)
		defer cancel()
		if err := b.sendReaction(ctx, turn.Ref{GuildID: guildID, ChannelID: channelID, ID: messageID}, sign, false); err != nil {
			b.Log.Debug("react to a message that is read", "err", b.Redact.String(err.Error()))
		}
	})
}

// mayReact reports whether a reply of one emoji becomes a reaction.
func (b *Bot) mayReact(actor *Actor) bool { return actor.Reactions.Reply && b.Pace.Units > 0 }

// react posts a reply of one emoji as a reaction, if nothing of it is posted yet. It reports whether it did.
func (b *Bot) react(ctx context.Context, l *lane, actor *Actor, t *turn.Trace, text string, posted int) bool {
	if !b.mayReact(actor) || t.Request.Message.ID == t.Request.ChannelID || posted > 0 || !reply.IsEmoji(text) || !l.show() {
		return false
	}
	pending := *t
	pending.Phase, pending.Reply, pending.Reacted = turn.Answering, text, true
	if b.save(ctx, &pending) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamLimit)
	defer cancel()
	question := turn.Ref{GuildID: t.Request.GuildID, ChannelID: t.Request.ChannelID, ID: t.Request.Message.ID}
	err := b.sendReaction(ctx, question, strings.TrimSpace(text), true)
	b.logged("react in place of a reply", err)
	t.Reacted = err == nil
	return t.Reacted
}

// Answers to one question may take turns in the same posts. The newest reply of a channel is answered again in its place, and
// buttons below it change between the answers. What is there is the history with which the channel goes on. All answers are on record.
//
// A shorter answer has the surplus posts deleted, and a longer one gets new posts at the end. So nothing may stand below or between the
// posts: an answer would be torn there. People may also have replied to what they saw.

// mostPosts is more posts than a reply has.
const mostPosts = 64

// alternatives returns the answers to the question of a turn that begin in the same post, the oldest first.
func (b *Bot) alternatives(ctx context.Context, t *turn.Trace) []*turn.Trace {
	if len(t.ReplyIDs) == 0 {
		return nil
	}
	return slices.DeleteFunc(b.answers(ctx, t.Request.Message.ID), func(one *turn.Trace) bool {
		return !one.Phase.Over() || one.Reply == "" || one.Reacted || len(one.ReplyIDs) == 0 || one.ReplyIDs[0] != t.ReplyIDs[0] || one.Request.Message.Text != t.Request.Message.Text
	})
}

// standing returns the posts that stand where a turn's reply begins, if they are the last messages of the channel. They may be another answer's.
func (b *Bot) standing(ctx context.Context, t *turn.Trace) (posts []store.Post) {
	recent, err := b.Store.Messages.Recent(ctx, t.Request.ChannelID, mostPosts)
	b.logged("read the last messages of a channel", err)
	// Posts are dated as their turn ended, so what was written meanwhile has an earlier date. The ids have the order of Discord.
	slices.SortStableFunc(recent, func(x, y store.Message) int { return cmp.Or(len(x.ID)-len(y.ID), strings.Compare(x.ID, y.ID)) })
	i := slices.IndexFunc(recent, func(m store.Message) bool { return len(t.ReplyIDs) > 0 && m.ID == t.ReplyIDs[0] })
	for _, m := range recent[max(i, 0):] {
		if i < 0 || m.TurnID == "" || m.TurnID != recent[i].TurnID {
			return nil
		}
		posts = append(posts, store.Post{ID: m.ID, Text: m.Text})
	}
	return posts
}

// inPlace reports whether a question is answered again in the posts of a reply. The question must be the same, and the reply no receipt.
func (b *Bot) inPlace(ctx context.Context, t *turn.Trace, question, kind string) bool {
	same := len(t.Request.Burst) > 0 || question == t.Request.Message.Text
	return kind == reply.RegenerateButton && b.Pace.Buttons && same && t.Memory == nil && len(b.standing(ctx, t)) > 0 && len(b.alternatives(ctx, t)) > 0
}

// inPlace reports whether the turn that a button asked for answers in the posts of the earlier reply.
func (a arrival) inPlace() bool {
	return a.pressed() && len(a.posts) > 0 && len(a.earlier.ReplyIDs) > 0 && a.posts[0].ID == a.earlier.ReplyIDs[0]
}

// endingOf returns the kinds of buttons under the complete text of a turn, which may be one answer of several.
func (b *Bot) endingOf(ctx context.Context, t *turn.Trace, of arrival) []string {
	kinds := b.finalButtons(t)
	if of.inPlace() {
		n := len(b.alternatives(ctx, of.earlier))
		kinds = append(kinds, reply.Swipes(n, n+1)...)
	}
	return kinds
}

// Swipe shows another answer in the posts of a turn's reply, for a person. It reports false if that is not possible any more: something was
// said below, or there is no such answer. The error is Discord's, the store's, or a [*gate.Refusal].
func (b *Bot) Swipe(ctx context.Context, t *turn.Trace, number int, by string) (done bool, err error) {
	b.Settle(t.Request.ChannelID) // its buttons are there before its turn is over
	b.pressing.Lock()
	defer b.pressing.Unlock()
	all, posts := b.alternatives(ctx, t), b.standing(ctx, t)
	if number >= len(all) || len(posts) == 0 || b.lanes.busy(t.Request.ChannelID) {
		return false, nil
	}
	defer b.lockPost(posts[len(posts)-1].ID)()
	id := all[number].Request.ID
	if err := b.Traces.Press(ctx, id, turn.Press{Kind: turn.PressShown, ByID: by, At: time.Now()}); err != nil {
		return false, err
	}
	one, err := b.Traces.Get(ctx, id)
	if err == nil {
		err = b.show(ctx, one, posts)
	}
	if err != nil {
		if unsent(err) {
			b.notices.posting.Go(func() { b.showLater(id) })
		}
		return false, fmt.Errorf("show another answer: %w", err)
	}
	for _, other := range all {
		if other.Request.ID != id {
			b.logged("take back a voice message", b.deleteSpeech(ctx, other.Request.ID))
		}
	}
	b.Log.Info("another answer shown", "turn", id, "by", by)
	return true, nil
}

// showLater shows an answer that could not be shown whole, unless another one was chosen meanwhile.
func (b *Bot) showLater(id string) {
	defer func() { b.recovered("show another answer", recover()) }()
	if !b.outlast(doubtLasts) { // the next start does it
		return
	}
	b.pressing.Lock()
	defer b.pressing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), landLimit)
	defer cancel()
	posts, err := b.Store.Claims.Posts(ctx, id)
	t, failed := b.Traces.Get(ctx, id)
	if err = errors.Join(err, failed); err == nil && len(posts) > 0 {
		b.putRight(ctx, t, posts)
	}
	b.logged("show another answer", err)
}

// show makes posts hold the reply of a turn that is over. They are kept as the turn's until they do, so that the next start can go on.
func (b *Bot) show(ctx context.Context, t *turn.Trace, posts []store.Post) error {
	first, err := b.Store.Messages.Get(ctx, posts[0].ID)
	if err != nil {
		return err
	}
	all, id := b.alternatives(ctx, t), t.Request.ID
	d := &delivery{
		bot: b, rules: reply.Rules{Secrets: b.Redact}, marker: &reply.Marker{Lookup: t.Lookup()}, request: t.Request, result: resumed(arrival{posts: posts}),
		again: true, shown: true, claim: fmt.Sprint("shown ", id, len(t.Presses)), spoken: t.Request.Mode == turn.ImitateVoice,
		key: b.ButtonKeys(id), picture: b.pictureOf(ctx, t.Request.Character, t.Mood),
		ending: append(b.finalButtons(t), reply.Swipes(slices.IndexFunc(all, func(one *turn.Trace) bool { return one.Request.ID == id }), len(all))...),
	}
	d.request.Buttons = true
	if len(d.pieces(t.Reply, true)) > len(posts) && !b.Door.MayPost(t.Request.ChannelID) {
		return &gate.Refusal{Why: gate.MayNotPost}
	}
	if b.Resume {
		err = b.Store.Claims.MovePosts(ctx, t.Request.GuildID, id, posts...)
	}
	if err == nil {
		err = d.carry(ctx, t.Reply, true)
	}
	if err == nil {
		err = d.clear(ctx, d.result.wanted)
	}
	if err != nil {
		return err
	}
	var ids []string
	var own []store.Message
	for _, p := range d.result.posts {
		m := first
		m.ID, m.Text, m.TurnID = p.id, reply.OwnWords(p.text), id
		ids, own = append(ids, p.id), append(own, m)
	}
	err = errors.Join(b.Traces.Repost(ctx, id, ids), b.Store.Messages.Save(ctx, own...))
	if err == nil {
		err = b.Store.Claims.DropPosts(ctx, id)
	}
	return err
}

// vacate notes that a post is about to be deleted because an answer to a question is shorter. The other answers that were in it keep their
// words.
func (b *Bot) vacate(ctx context.Context, question, post string) {
	for _, t := range b.answers(ctx, question) {
		if i := slices.Index(t.ReplyIDs, post); i >= 0 {
			b.logged("note where an answer is", b.Traces.Repost(ctx, t.Request.ID, slices.Delete(t.ReplyIDs, i, i+1)))
		}
	}
	b.logged("forget a post", b.Store.Messages.Delete(ctx, post))
}
