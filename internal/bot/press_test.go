package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// TestButtonsCostNoRequest streams the same reply with buttons and without.
func TestButtonsCostNoRequest(t *testing.T) {
	keys := map[string]string{stopButton: "s", whyButton: "w", deleteButton: "d"}
	said := func(keys map[string]string) *recorder {
		door := &recorder{}
		speaking(t, door, func(d *delivery) deliveryResult {
			d.keys = keys
			for range 600 {
				d.add("word ")
				time.Sleep(10 * time.Millisecond)
			}
			return d.finish(strings.Repeat("word ", 600)+"\n\n-# sources: [1] example.org", whyButton, deleteButton)
		})
		return door
	}
	with, without := said(keys), said(nil)
	if len(with.calls) != len(without.calls) {
		t.Errorf("%d requests with buttons, %d without", len(with.calls), len(without.calls))
	}
	under := map[string]string{} // by post, what stands under it
	for i, c := range with.calls {
		id := c.post.ID
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

// TestPressElsewhere presses a button whose reply is in another channel, and one that shows to a member what a member may see.
func TestPressElsewhere(t *testing.T) {
	b := resting(t, &board{})
	ctx := t.Context()
	record := &turn.Trace{
		Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", GuildID: "hall", ChannelID: "secret", Message: turn.Message{ID: "1", Author: turn.Author{ID: "ana"}, Text: "what is the plan?"}},
		Phase:   turn.Answered, Reply: "The plan is this.", ReplyIDs: []string{"2"}, Prompt: []turn.Rendered{{Role: "system", Text: "You are an owl."}}, Began: time.Now(),
	}
	if err := b.save(ctx, record); err != nil {
		t.Fatal(err)
	}
	keys := b.keys(record.Request.ID, stopButton, sourcesButton, whyButton, regenerateButton, continueButton, deleteButton)
	press := func(channel, who, id string, admin bool) turn.Answer {
		return b.press(ctx, turn.Event{Kind: turn.Ordered, GuildID: "hall", Message: turn.Message{ChannelID: channel},
			Command: &turn.Command{Button: id, By: turn.Author{ID: who}, Admin: admin, Deletes: admin}})
	}
	for kind, key := range keys {
		if a := press("general", "ana", key, true); a.Text != string(unknownButton) || len(a.Buttons) > 0 || a.File != nil {
			t.Errorf("%s from another channel: %+v", kind, a)
		}
	}
	for _, id := range []string{"", "x", ":1", keys[whyButton] + "x", strings.ToLower(keys[whyButton]), record.Request.ID} {
		if a := press("secret", "ana", id, true); a.Text != string(unknownButton) {
			t.Errorf("forged %q: %+v", id, a)
		}
	}
	names := func(a turn.Answer) (all string) {
		for _, button := range a.Buttons {
			all += button.Label + " "
		}
		return all
	}
	if a := press("secret", "ben", keys[whyButton], false); names(a) != "Overview Reply " || a.File != nil || !strings.Contains(fmt.Sprint(a), "what is the plan?") {
		t.Errorf("to a member: %s %+v", names(a), a)
	}
	for _, page := range []string{":1", ":99", ":-1", ":next", ":1:next"} {
		if a := press("secret", "ben", keys[whyButton]+page, false); strings.Contains(fmt.Sprint(a), "owl") || len(a.Sections) == 0 {
			t.Errorf("page %s to a member: %+v", page, a)
		}
	}
	if a := press("secret", "ana", keys[whyButton]+":1", true); !strings.Contains(fmt.Sprint(a.Sections), "owl") || a.File == nil {
		t.Errorf("to who manages: %+v", a)
	}
	if a := press("secret", "ana", keys[continueButton], false); strings.Contains(a.Text, "below") {
		t.Errorf("a reply that was not cut: %+v", a)
	}
	if a := press("secret", "ana", keys[stopButton], false); !strings.Contains(a.Text, "over already") {
		t.Errorf("a reply that is complete: %+v", a)
	}
}

// TestAPressOutlivesTheProcess presses buttons that ask for a turn, and kills the bot before its end: the next start knows what was
// asked for, each press by itself.
func TestAPressOutlivesTheProcess(t *testing.T) {
	b := resting(t, &board{})
	ctx := t.Context()
	e := asks("1", "general", "ana")
	if _, err := b.Store.Arrive(ctx, store.Arrival{Message: b.stored(e, e.Message)}); err != nil {
		t.Fatal(err)
	}
	record := &turn.Trace{Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", GuildID: "hall", ChannelID: "general", Message: e.Message},
		Phase: turn.Answered, Reply: "Half of it", ReplyIDs: []string{"2"}, Cut: true, Began: time.Now()}
	if err := b.save(ctx, record); err != nil {
		t.Fatal(err)
	}
	b.lanes.put(func(*lane) {}, arrival{Event: asks("3", "general", "ben")}) // a turn that does not end
	keys := b.keys(record.Request.ID, regenerateButton, continueButton)
	for _, kind := range []string{regenerateButton, continueButton} {
		b.press(ctx, turn.Event{Kind: turn.Ordered, GuildID: "hall", Message: turn.Message{ChannelID: "general"}, Command: &turn.Command{Button: keys[kind], By: turn.Author{ID: "ana"}}})
	}
	open, err := b.Store.Unanswered(ctx)
	if err != nil || len(open) != 2 {
		t.Fatalf("unanswered: %+v, %v", open, err)
	}
	for i, o := range open {
		if err := b.Store.SavePost(ctx, o.TurnID, 0, store.Post{ID: "4", Text: "Half an"}); err != nil {
			t.Fatal(err)
		}
		a, ok := b.reopened(ctx, o)
		if !ok || !a.pressed() || a.claim() != o.Claim || a.turnID != a.newID || a.earlier.Request.ID != record.Request.ID || a.goesOnWith != (i == 1) || a.Message.ID != "1" {
			t.Errorf("%+v became %+v", o, a)
		}
		again := &turn.Trace{Request: b.request(ctx, b.cast().Default, a.turnID, []arrival{a}), Phase: turn.Answered, Began: time.Now()}
		if err := b.save(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := b.Store.Unanswered(ctx); err != nil || len(open) != 0 {
		t.Errorf("unanswered: %+v, %v", open, err)
	}
}
