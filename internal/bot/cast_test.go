package bot

import (
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
	"familiar/internal/store"
)

// TestAddressees checks whom a message is for, by its words and by what the store knows.
func TestAddressees(t *testing.T) {
	other := &Actor{Character: &character.Character{ID: "other", Name: "Other"}}
	two := []*Actor{sage, other}
	says := func(text string) turn.Event {
		return turn.Event{Kind: turn.Created, GuildID: "hall", Message: turn.Message{ID: "1", ChannelID: "general", Text: text}}
	}
	thread := scene{speakers: two, latest: other, own: true}
	quiet := thread
	quiet.quiet = true
	subscribed := scene{speakers: two, latest: other, conduct: store.Conduct{Subscribed: true}}
	late := says("hello")
	late.Late = true
	reply := says("and you?")
	reply.Message.ReplyTo = "0"
	for name, c := range map[string]struct {
		scene scene
		event turn.Event
		actor *Actor
		how   turn.Address
	}{
		"nobody":                       {scene{speakers: two, latest: sage}, says("hello"), nil, ""},
		"a thread":                     {thread, says("hello"), other, turn.ByThread},
		"a thread that is to be quiet": {quiet, says("hello"), nil, ""},
		"stop":                         {thread, says("Stop!"), nil, ""},
		"a subscribed channel":         {subscribed, says("hello"), other, turn.ByChannel},
		"what came late":               {subscribed, late, nil, ""},
		"a reply":                      {scene{speakers: two, latest: sage, above: &store.Message{AuthorID: "other", Own: true}}, reply, other, turn.ByReply},
		"a reply to a person":          {scene{speakers: two, latest: sage, above: &store.Message{AuthorID: "ana"}}, reply, nil, ""},
	} {
		var actor *Actor
		var how turn.Address
		if called := c.scene.addressees(c.event); len(called) > 0 {
			actor, how = called[0].actor, called[0].how
		}
		if actor != c.actor || how != c.how {
			t.Errorf("%s: %v, %v", name, actor, how)
		}
	}
}
