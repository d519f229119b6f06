package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// TestButtonsCostNoRequest streams the same reply with buttons and without.
func TestButtonsCostNoRequest(t *testing.T) {
	key := func(kind string) string {
		return map[string]string{reply.StopButton: "s", reply.WhyButton: "w", reply.DeleteButton: "d"}[kind]
	}
	said := func(key func(string) string) *recorder {
		door := &recorder{}
		speaking(t, door, func(d *delivery) deliveryResult {
			d.key = key
			for range 600 {
				d.add("word ")
				time.Sleep(10 * time.Millisecond)
			}
			return d.finish(strings.Repeat("word ", 600)+"\n\n-# sources: [1] example.org", reply.WhyButton, reply.DeleteButton)
		})
		return door
	}
	with, without := said(key), said(nil)
	if len(with.calls) != len(without.calls) {
		t.Errorf("%d requests with buttons, %d without", len(with.calls), len(without.calls))
	}
	under := map[string]string{} // buttons by post
	for i, c := range with.calls {
		id := c.id
		if id == "" {
			id = "post" + c.post.Nonce[len(c.post.Nonce)-1:]
		}
		under[id] = ""
		for _, b := range c.post.Buttons {
			under[id] += b.ID
		}
		if all := fmt.Sprint(under); strings.Count(all, ":s") > 1 || i == 0 && all != "map[post0:s]" {
			t.Errorf("after %d requests: %s", i+1, all)
		}
	}
	if got := fmt.Sprint(under); got != "map[post0: post1:wd]" {
		t.Errorf("in the end: %s", got)
	}
}

// TestPressSurvivesRestart presses buttons that ask for a turn, and kills the bot before its end. The next start knows what each press
// asked for.
func TestPressSurvivesRestart(t *testing.T) {
	b := resting(t, &recorder{})
	ctx := t.Context()
	e := asks("1", "general", "ana")
	if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: b.stored(e, e.Message)}); err != nil {
		t.Fatal(err)
	}
	record := &turn.Trace{Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", GuildID: "hall", ChannelID: "general", Message: e.Message},
		Phase: turn.Answered, Reply: "Half of it", ReplyIDs: []string{"2"}, Cut: true, Began: time.Now()}
	if err := b.save(ctx, record); err != nil {
		t.Fatal(err)
	}
	b.lanes.put(func(*lane) {}, arrival{Event: asks("3", "general", "ben")}) // a turn that does not end
	for _, kind := range []string{reply.RegenerateButton, reply.ContinueButton} {
		press := turn.Event{Kind: turn.Ordered, GuildID: "hall", Message: turn.Message{ChannelID: "general"}, Command: &turn.Command{By: turn.Author{ID: "ana"}}}
		if _, err := b.AnswerAgain(ctx, press, record, e.Message.Text, kind); err != nil {
			t.Fatal(err)
		}
	}
	open, err := b.Store.Claims.Open(ctx)
	if err != nil || len(open) != 2 {
		t.Fatalf("unanswered: %+v, %v", open, err)
	}
	for i, o := range open {
		if err := b.Store.Claims.SavePost(ctx, "", o.TurnID, 0, store.Post{ID: "4", Text: "Half an"}); err != nil {
			t.Fatal(err)
		}
		a, ok := b.reopened(ctx, o)
		if !ok || !a.pressed() || a.claim() != o.Claim || a.turnID != a.newID || a.earlier.Request.ID != record.Request.ID || a.goesOnWith != (i == 1) || a.Message.ID != "1" {
			t.Errorf("%+v became %+v", o, a)
		}
		again := &turn.Trace{Request: b.request(ctx, b.CurrentCast().Default, a.turnID, []arrival{a}), Phase: turn.Answered, Began: time.Now()}
		if err := b.save(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := b.Store.Claims.Open(ctx); err != nil || len(open) != 0 {
		t.Errorf("unanswered: %+v, %v", open, err)
	}
}
