package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
)

// TestPressElsewhere presses a button whose reply is in another channel, and one that shows members what they may see.
func TestPressElsewhere(t *testing.T) {
	b := resting(t)
	ctx := t.Context()
	record := &turn.Trace{
		Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", GuildID: "hall", ChannelID: "secret", Message: turn.Message{ID: "1", Author: turn.Author{ID: "ana"}, Text: "what is the plan?"}},
		Phase:   turn.Answered, Reply: "The plan is this.", ReplyIDs: []string{"2"}, Prompt: []turn.Rendered{{Role: "system", Text: "You are an owl."}}, Began: time.Now(),
	}
	if err := b.Bot.Traces.Save(ctx, record); err != nil {
		t.Fatal(err)
	}
	keys := keys(b, record.Request.ID, reply.StopButton, reply.SourcesButton, reply.WhyButton, reply.RegenerateButton, reply.ContinueButton, reply.DeleteButton)
	press := func(channel, who, id string, admin bool) turn.Answer {
		return answered(t, b, turn.Event{Kind: turn.Ordered, GuildID: "hall", Message: turn.Message{ChannelID: channel},
			Command: &turn.Command{Button: id, By: turn.Author{ID: who}, Admin: admin, Deletes: admin}})
	}
	for kind, key := range keys {
		if a := press("general", "ana", key, true); a.Text != string(unknownButton) || len(a.Buttons) > 0 || a.File != nil {
			t.Errorf("%s from another channel: %+v", kind, a)
		}
	}
	for _, id := range []string{"x", ":1", keys[reply.WhyButton] + "x", strings.ToLower(keys[reply.WhyButton]), record.Request.ID} {
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
	if a := press("secret", "ben", keys[reply.WhyButton], false); names(a) != "Overview Reply " || a.File != nil || !strings.Contains(fmt.Sprint(a), "what is the plan?") {
		t.Errorf("to a member: %s %+v", names(a), a)
	}
	for _, page := range []string{":1", ":99", ":-1", ":next", ":1:next"} {
		if a := press("secret", "ben", keys[reply.WhyButton]+page, false); strings.Contains(fmt.Sprint(a), "owl") || len(a.Sections) == 0 {
			t.Errorf("page %s to a member: %+v", page, a)
		}
	}
	if a := press("secret", "ana", keys[reply.WhyButton]+":1", true); !strings.Contains(fmt.Sprint(a.Sections), "owl") || a.File == nil {
		t.Errorf("to who manages: %+v", a)
	}
	if a := press("secret", "ana", keys[reply.ContinueButton], false); strings.Contains(a.Text, "below") {
		t.Errorf("a reply that was not cut: %+v", a)
	}
	if a := press("secret", "ana", keys[reply.StopButton], false); !strings.Contains(a.Text, "over already") {
		t.Errorf("a reply that is complete: %+v", a)
	}
}
