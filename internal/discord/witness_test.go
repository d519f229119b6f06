package discord

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

// An edit that timed out takes effect after the final one. The post is read again and put right, whether the edit was repeated or not.
func TestLateEditIsCorrected(t *testing.T) {
	each(t, map[string]struct {
		late    time.Duration // until the server carries the edit out
		passing bool
		persona *turn.Persona
	}{
		"repeated":        {rest.AttemptLimit + 2*time.Second, false, nil},
		"of a stream":     {rest.AttemptLimit + 2*time.Second, true, nil},
		"very late":       {rest.AttemptLimit + 20*time.Second, true, nil},
		"after a refusal": {rest.AttemptLimit + 9*time.Second, false, nil},
		"of a persona":    {rest.AttemptLimit + 2*time.Second, true, &turn.Persona{Name: "Owl"}},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		late    time.Duration
		passing bool
		persona *turn.Persona
	}) {
		d := open(t, far, nil)
		general := far.ID("general")
		id, err := d.Post(t.Context(), turn.Post{ChannelID: general, Text: "one", Persona: c.persona})
		if err != nil {
			t.Fatal(err)
		}
		ref, route := turn.Ref{ChannelID: general, ID: id, Persona: c.persona}, changes
		if c.persona != nil {
			route = "PATCH webhooks/*/*/messages/*"
		}
		far.Fail(discordtest.Fault{Route: route, Delay: c.late, Deaf: true})
		_ = d.Edit(t.Context(), turn.Edit{Ref: ref, Text: "one two", Passing: c.passing})
		if err := d.Edit(t.Context(), turn.Edit{Ref: ref, Text: "one two three", Final: true}); err != nil {
			t.Fatal(err)
		}
		if !d.Doubted(id) {
			t.Error("nothing is in doubt")
		}
		time.Sleep(time.Minute)
		if got := far.Messages("general")[0].Text; got != "one two three" || d.Doubted(id) {
			t.Errorf("the post holds %q", got)
		}
	})
}

// Only Discord's own error codes mean that something is gone.
func TestNotFoundIsNotGone(t *testing.T) {
	each(t, map[string]struct {
		body string
		want rest.Kind
	}{
		"page":         {"<html>404 Not Found</html>", rest.Unavailable},
		"nothing":      {"", rest.Unavailable},
		"no code":      {`{"message":"404: Not Found","code":0}`, rest.Unavailable},
		"unknown post": {`{"message":"Unknown Message","code":10008}`, rest.Gone},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		body string
		want rest.Kind
	}) {
		s := prepare(t, far, nil)
		far.Fail(discordtest.Fault{Route: changes, Times: 9, Status: http.StatusNotFound, Body: c.body})
		err := s.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: far.ID("general"), ID: "1"}, Text: "x"})
		if e := failed(t, err); e.Kind != c.want {
			t.Errorf("%v, want %s", e, c.want)
		}
	})
}

// The machine's clock jumps by 40 days. The operator is told once, and the time is Discord's.
func TestTheClockFollowsDiscord(t *testing.T) {
	each(t, map[string]time.Duration{"ahead": -40 * 24 * time.Hour, "behind": 40 * 24 * time.Hour, "nearly right": 50 * time.Minute},
		func(t *testing.T, far *discordtest.Server, skew time.Duration) {
			var log bytes.Buffer
			s := prepare(t, far, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			far.SkewClock(skew)
			for range 2 {
				if _, err := s.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			<-s.Clocked()
			want, told := time.Now().Add(skew), 1
			if skew < rest.MostSkew && skew > -rest.MostSkew {
				want, told = time.Now(), 0
			}
			time.Sleep(time.Hour)
			if off := s.Now().Sub(want) - time.Hour; off.Abs() > 2*time.Second {
				t.Errorf("the time is off by %v", off)
			}
			if n := strings.Count(log.String(), "the clock of this machine is wrong"); n != told {
				t.Errorf("told %d times:\n%s", n, log.String())
			}
		})
}

// The bot's own replies to a message are found, and nobody else's.
func TestRepliesAreFound(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		general := far.ID("general")
		question, other := far.Say("general", "ada", "?"), far.Say("general", "ben", "?")
		stop := []turn.Button{{ID: "s", Label: "Stop"}}
		for _, p := range []turn.Post{{ReplyTo: other, Text: "to ben"}, {ReplyTo: question, Text: "half", Buttons: stop}, {Text: "to nobody"}} {
			p.ChannelID = general
			if _, err := s.Post(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		found, err := s.Replies(t.Context(), general, question)
		if err != nil || len(found) != 1 || found[0].Text != "half" || found[0].Buttons != 1 || found[0].Key != "" {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// The posts of personas, and those in direct messages, do not say what they reply to. Those with buttons are found.
func TestUnreferencedRepliesAreFound(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		for channel, persona := range map[string]*turn.Persona{"general": {Name: "Owl"}, "@ada": nil} {
			question := far.Say(channel, "ada", "?")
			at := d.next(t).Message.ChannelID
			for _, buttons := range [][]turn.Button{nil, {{ID: "s", Label: "Stop"}}} {
				if _, err := d.Post(t.Context(), turn.Post{ChannelID: at, Text: "half", Buttons: buttons, Persona: persona}); err != nil {
					t.Fatal(err)
				}
			}
			far.Post(discordtest.Post{Channel: channel, Author: "hook", Text: "half", Webhook: true})
			found, err := d.Replies(t.Context(), at, question)
			if err != nil || len(found) != 1 || found[0].Text != "half" || found[0].Buttons != 1 || found[0].Key != "s" {
				t.Errorf("%s: %+v, %v", channel, found, err)
			}
		}
	})
}

// One message of an odd shape does not hide the others of a page.
func TestOddMessageOnAPage(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		general, question := far.ID("general"), far.Say("general", "ada", "?")
		d.next(t)
		own := d.me().user.ID
		page := func(odd string) string {
			author := `"author":{"id":"` + own + `","username":"familiar","bot":true},"channel_id":"` + general + `","type":19`
			return `[{"id":"12","content":"half","mentions":{},"components":7,"message_reference":{"message_id":"` + question + `"},` + author + `},` +
				`{"id":"11","content":"odd",` + odd + `,` + author + `}]`
		}
		for _, odd := range []string{`"flags":"none"`, `"mentions":[7]`, `"author":"ada"`, `"message_reference":"x"`} {
			for range 2 {
				far.Fail(discordtest.Fault{Route: "GET channels/*/messages", Status: http.StatusOK, Body: page(odd)})
			}
			if found, err := d.Replies(t.Context(), general, question); err != nil || len(found) != 1 || found[0].Text != "half" {
				t.Errorf("%s: replies %+v, %v", odd, found, err)
			}
			if found, err := d.Earlier(t.Context(), general, question); err != nil || len(found) == 0 || found[len(found)-1].Text != "half" {
				t.Errorf("%s: earlier %+v, %v", odd, found, err)
			}
		}
	})
}
