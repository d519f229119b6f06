package discord

import (
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// A proxy's message is paired once with the latest message it may be a repost of. It keeps that message's author.
func TestPair(t *testing.T) {
	t.Parallel()
	at := time.Now()
	var o originals
	write := func(id, channel, text string, after time.Duration) {
		e := turn.Event{Message: turn.Message{ID: id, ChannelID: channel, At: at.Add(after), Author: turn.Author{ID: "of " + id, Name: "account"}, ReplyTo: "above"}, Mentioned: true}
		o.pair(&e, &message{Content: text})
	}
	write("1", "general", "L: hello", 0)
	write("2", "lobby", "L: hello", time.Second)
	write("3", "general", "hello there", 2*time.Second)
	write("4", "general", "L: bye", 3*time.Second)
	if o.deleted("4") {
		t.Error("4 was rewritten")
	}
	for _, c := range []struct {
		id, text      string
		after         time.Duration
		original, who string
	}{
		{"5", "hello there", 4 * time.Second, "3", "of 3"},
		{"6", "hello", 4 * time.Second, "1", "of 1"},
		{"6", "hello", 4 * time.Second, "1", "of 1"}, // it came twice
		{"7", "hello", 4 * time.Second, "", "hook"},  // both are taken
		{"8", "bye", 5 * time.Second, "", "of 4"},    // deleted before
		{"9", "something else", 5 * time.Second, "", "hook"},
	} {
		e := turn.Event{Proxied: true, Message: turn.Message{ID: c.id, ChannelID: "general", At: at.Add(c.after), Author: turn.Author{ID: "hook", Name: "Luna"}}}
		o.pair(&e, &message{Content: c.text})
		if e.Original != c.original || e.Message.Author != (turn.Author{ID: c.who, Name: "Luna"}) || e.Mentioned != (c.who != "hook") {
			t.Errorf("%s %q: original %q, %+v", c.id, c.text, e.Original, e.Message.Author)
		}
	}
	if !o.deleted("1") || o.deleted("2") || o.deleted("unknown") {
		t.Error("1 alone was rewritten and deleted")
	}
	late := turn.Event{Proxied: true, Message: turn.Message{ID: "10", ChannelID: "lobby", At: at.Add(proxySpan + time.Second)}}
	if o.pair(&late, &message{Content: "hello"}); late.Original != "" {
		t.Error("paired too late")
	}
}
