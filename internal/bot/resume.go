package bot

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// resumeSpan is how old a question may be that is still answered after a restart.
const resumeSpan = 10 * time.Minute

// resume goes on with what an earlier process left: what waited gets its turn, and what was half said is answered anew in the
// same posts. Where that would come too late, half an answer is marked as that and everybody else is told.
func (b *Bot) resume(ctx context.Context) {
	open, err := b.Store.Unanswered(ctx)
	b.logged("read what is unanswered", err)
	now := time.Now()
	var again []arrival
	for _, o := range open {
		a, ok := b.reopened(ctx, o)
		switch {
		case !ok:
			b.closeClaims(ctx, o.Claim)
		case now.Sub(o.At) <= resumeSpan:
			again = append(again, a)
		case len(o.Posts) > 0:
			b.markInterrupted(ctx, a)
		default:
			b.tell(a.Event, missed, o.Claim)
		}
	}
	for _, group := range byChannel(again) {
		b.enqueue(ctx, group...)
	}
	if len(open) > 0 {
		b.Log.Info("an earlier run left messages unanswered", "messages", len(open))
	}
}

// byChannel groups arrivals by channel, in their order. What one turn answers, and answered half, stands together: that turn is taken
// once.
func byChannel(all []arrival) map[string][]arrival {
	groups := map[string][]arrival{}
	for _, a := range all {
		group := groups[a.Message.ChannelID]
		at := len(group)
		for at > 0 && a.turnID != "" && group[at-1].turnID != a.turnID {
			at--
		}
		if at == 0 { // none of its turn
			at = len(group)
		}
		groups[a.Message.ChannelID] = slices.Insert(group, at, a)
	}
	return groups
}

// reopened rebuilds an arrival. A message has the text that it was last given; one that is gone is not answered.
func (b *Bot) reopened(ctx context.Context, o store.Unanswered) (arrival, bool) {
	a := arrival{at: o.At, addressed: true, turnID: o.TurnID, posts: o.Posts}
	id, newID, _ := strings.Cut(o.Claim, pressClaim)
	id, _, a.second = strings.Cut(id, secondClaim)
	m, err := b.Store.Message(ctx, id)
	if err != nil {
		b.logged("read a message that is unanswered", err)
		return a, false
	}
	if o.Event == "" { // it joined a turn
		a.Event = turn.Event{Kind: turn.Created, ID: m.ID, GuildID: m.GuildID, Direct: m.GuildID == "", Message: messages([]store.Message{m}, a.character)[0]}
		return a, true
	}
	var kept keptEvent
	if err := json.Unmarshal([]byte(o.Event), &kept); err != nil {
		b.logged("read an event that is unanswered", err)
		return a, false
	}
	a.Event, a.character = kept.Event, kept.Character
	a.Message.Text = m.Text
	if kept.Earlier != "" {
		a.newID, a.goesOnWith = newID, kept.GoesOn
		a.earlier, err = b.Traces.Get(ctx, kept.Earlier)
		b.logged("read the record of a reply whose button was pressed", err)
	}
	return a, err == nil
}

// namesRoom is left for a character's name in front, which a post may need.
const namesRoom = 90

// markInterrupted ends half an answer that nobody finishes any more. Where that cannot be posted, the next start tries it again.
func (b *Bot) markInterrupted(ctx context.Context, a arrival) {
	last := a.posts[len(a.posts)-1]
	mark := "\n\n" + outgoing.SmallType + interrupted.in(language(a.Event))
	text := last.Text
	if b.Pace.Units > 0 {
		text = outgoing.Head(text, b.Pace.Units-len(mark)-namesRoom)
	}
	b.notices.posting.Go(func() {
		defer func() { b.recovered("mark an interrupted reply", recover()) }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeLimit)
		defer cancel()
		var buttons []turn.Button
		if actor := b.actor(ctx, a); b.buttoned(actor, b.settings(ctx, actor, a.Event)) {
			kinds := finalButtons(nil, false)
			buttons = row(language(a.Event), b.keys(a.turnID, kinds...), kinds...)
		}
		persona := b.persona(ctx, b.actor(ctx, a), a.Event)
		_, err := b.send(ctx, turn.Post{ID: last.ID, ChannelID: a.Message.ChannelID, Text: text + mark, Buttons: buttons, Final: true, Persona: persona}, true)
		b.logged("mark an interrupted reply", err)
		if unsent(err) {
			return
		}
		b.recordInterrupted(ctx, a)
		b.closeClaims(ctx, a.claim())
	})
}

// recordInterrupted completes the record of half an answer: it can be found by its posts.
func (b *Bot) recordInterrupted(ctx context.Context, a arrival) {
	t, err := b.Traces.Get(ctx, a.turnID)
	if err != nil {
		b.logged("read the record of an interrupted turn", err)
		return
	}
	t.Phase, t.ReplyIDs = turn.Interrupted, nil
	for _, p := range a.posts {
		t.ReplyIDs = append(t.ReplyIDs, p.ID)
	}
	b.save(ctx, t)
}
