package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
	"familiar/internal/test/bulk"
	"familiar/internal/test/discordtest"
)

const (
	creates = "POST channels/*/messages"
	changes = "PATCH channels/*/messages/*"
)

// failed returns the rest.Error of a request that must fail.
func failed(t *testing.T, err error) *rest.Error {
	t.Helper()
	var e *rest.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a rest.Error", err)
	}
	return e
}

// harmless checks that a request pings nobody and embeds no link.
func harmless(t *testing.T, r discordtest.Request) {
	t.Helper()
	var body struct {
		Allowed json.RawMessage `json:"allowed_mentions"`
		Flags   int             `json:"flags"`
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || string(body.Allowed) != `{"parse":[]}` || body.Flags&^(1<<15) != 4 {
		t.Errorf("%s %s has %s", r.Method, r.Path, r.Body)
	}
}

func TestPostAndEdit(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil) // no session is needed to send
		general := far.ID("general")
		question := far.Say("general", "ada", "?")
		id, err := s.Post(t.Context(), turn.Post{ChannelID: general, ReplyTo: question, Text: "@everyone <@" + far.UserID("ada") + "> hi"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"hello", "hello @here <@" + far.UserID("ada") + ">"} {
			if err := s.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: general, ID: id}, Text: text, Final: true}); err != nil {
				t.Fatalf("edit: %v", err)
			}
		}
		m := far.Messages("general")[1]
		if m.ID != id || m.ReplyTo != question || !strings.HasPrefix(m.Text, "hello @here") || m.Pinged != nil || m.Nonce == "" {
			t.Errorf("got %+v", m)
		}
		for _, r := range append(far.Requests(creates), far.Requests(changes)...) {
			harmless(t, r)
		}
		if n := len(far.Requests(changes)); n != 2 {
			t.Errorf("%d edits, want 2", n)
		}
		far.Delete(question)
		if _, err := s.Post(t.Context(), turn.Post{ChannelID: general, ReplyTo: question, Text: "too late, but here"}); err != nil {
			t.Errorf("reply to a deleted message: %v", err)
		}
		if err := s.Typing(t.Context(), general); err != nil {
			t.Errorf("typing: %v", err)
		}
	})
}

// TestAnIncompleteCallChangesNothing checks that an edit without a text is not a deletion. No call guesses which message is
// meant.
func TestAnIncompleteCallChangesNothing(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Accept("Unknown Message")
		s := prepare(t, far, nil)
		general, moss := far.ID("general"), &turn.Persona{Name: "Moss"}
		id, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "an answer"})
		if err != nil {
			t.Fatal(err)
		}
		ref, nameless, nowhere := turn.Ref{ChannelID: general, ID: id}, turn.Ref{ChannelID: general}, turn.Ref{ID: id}
		before := len(far.Requests(""))
		for name, call := range map[string]func(context.Context) error{
			"edit without a text":    func(ctx context.Context) error { return s.Edit(ctx, turn.Edit{Ref: ref, Final: true}) },
			"edit with a blank text": func(ctx context.Context) error { return s.Edit(ctx, turn.Edit{Ref: ref, Text: " \n"}) },
			"persona's edit without a text": func(ctx context.Context) error {
				return s.Edit(ctx, turn.Edit{Ref: turn.Ref{ChannelID: general, ID: id, Persona: moss}})
			},
			"edit without an id":             func(ctx context.Context) error { return s.Edit(ctx, turn.Edit{Ref: nameless, Text: "x"}) },
			"deletion without an id":         func(ctx context.Context) error { return s.Delete(ctx, nameless) },
			"deletion without a channel":     func(ctx context.Context) error { return s.Delete(ctx, nowhere) },
			"reaction without an id":         func(ctx context.Context) error { return s.React(ctx, nameless, "👍") },
			"thread without an id":           func(ctx context.Context) error { _, err := s.OpenThread(ctx, nameless, "x"); return err },
			"persona's deletion without one": func(ctx context.Context) error { return s.Delete(ctx, turn.Ref{ChannelID: general, Persona: moss}) },
		} {
			err := call(t.Context())
			if e := failed(t, err); e.Kind != rest.Rejected || !errors.Is(err, turn.ErrIncomplete) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if all := far.Messages("general"); len(all) != 1 || all[0].Text != "an answer" || len(far.Requests("")) != before {
			t.Errorf("messages %+v, %d requests", all, len(far.Requests(""))-before)
		}
		for range 2 { // the second time the message is gone
			if err := s.Delete(t.Context(), ref); err != nil {
				t.Errorf("delete: %v", err)
			}
		}
		if all := far.Messages("general"); len(all) != 0 {
			t.Errorf("left %+v", all)
		}
	})
}

func TestOnce(t *testing.T) {
	each(t, map[string]struct {
		fault discordtest.Fault
		waits time.Duration // minimum wait before the request that succeeds
	}{
		"answer lost":     {discordtest.Fault{After: true, Cut: true}, rest.FirstResend / 2},
		"bad gateway":     {discordtest.Fault{After: true, Status: 502, Body: "<html>"}, rest.FirstResend / 2},
		"server error":    {discordtest.Fault{Status: 500}, rest.FirstResend / 2},
		"twice":           {discordtest.Fault{Times: 2, After: true, Status: 503}, 3 * rest.FirstResend / 2},
		"limited":         {discordtest.TooMany("", 2, 5*time.Second), 10 * time.Second},
		"limited by page": {discordtest.Cloudflare("", 1, 7), 7 * time.Second},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		fault discordtest.Fault
		waits time.Duration
	}) {
		s := prepare(t, far, nil)
		c.fault.Route = creates
		far.Fail(c.fault)
		begun := time.Now()
		id, err := s.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "once", Nonce: "turn-1-part-1"})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < c.waits || took > 2*c.waits {
			t.Errorf("waited %v, want %v at least", took, c.waits)
		}
		if all := far.Messages("general"); len(all) != 1 || all[0].ID != id || all[0].Nonce != "turn-1-part-1" {
			t.Errorf("got %+v, want one message %s", all, id)
		}
		if n := len(far.Requests(creates)); n != max(c.fault.Times, 1)+1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestLimits holds that the session stays within the limits that headers announce.
func TestLimits(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		far.Limit(2, 3*time.Second)
		begun := time.Now()
		for range 5 {
			if _, err := s.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range far.Requests(creates) {
			if r.Status == http.StatusTooManyRequests {
				t.Error("ran into the limit that the headers announced")
			}
		}
		if took := time.Since(begun).Round(time.Second); took != 6*time.Second {
			t.Errorf("five messages in %v, two in three seconds are allowed", took)
		}
	})
}

func TestLimitThatIsNotWaitedOut(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		general := far.ID("general")
		far.Fail(discordtest.TooMany(creates, 1, 10*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := s.Post(ctx, turn.Post{ChannelID: general, Text: "x"})
		if e := failed(t, err); e.Kind != rest.RateLimited || e.RetryAfter != 10*time.Second || time.Since(begun) > 0 {
			t.Errorf("longer than the deadline: after %v: %+v", time.Since(begun), e)
		}
		far.Fail(discordtest.Fault{Route: changes, Status: 429, Body: `{"message":"Maximum number of edits","retry_after":60,"code":30046}`})
		err = s.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: general, ID: "1"}, Text: "x"})
		if e := failed(t, err); e.Kind != rest.RateLimited || e.Code != 30046 || e.RetryAfter != time.Minute {
			t.Errorf("old message: got %+v", e)
		}
	})
}

func TestRefusals(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Accept("Unknown", "Missing Permissions", "archived", "empty message")
		s := prepare(t, far, nil)
		for _, name := range []string{"secret", "doomed"} {
			far.AddChannel("hall", name)
		}
		far.Deny("secret", true)
		doomed := far.ID("doomed")
		far.DeleteChannel("doomed")
		thread := far.AddThread("general", "old", false)
		far.Archive("old", true)
		general := far.ID("general")
		fail := func(status int, body string) func() {
			return func() {
				far.Fail(discordtest.Fault{Route: "POST channels/*/messages", Times: rest.MaxFailures, Status: status, Body: body})
			}
		}
		post := func(p turn.Post) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.Post(ctx, p)
				return err
			}
		}
		edit := func(id string) func(context.Context) error {
			return func(ctx context.Context) error {
				return s.Edit(ctx, turn.Edit{Ref: turn.Ref{ChannelID: general, ID: id}, Text: "x"})
			}
		}
		for name, c := range map[string]struct {
			before func()
			call   func(context.Context) error
			kind   rest.Kind
			code   int
		}{
			"deleted channel": {call: post(turn.Post{ChannelID: doomed, Text: "x"}), kind: rest.Gone, code: 10003},
			"deleted message": {call: edit("12"), kind: rest.Gone, code: 10008},
			"no permission":   {call: post(turn.Post{ChannelID: far.ID("secret"), Text: "x"}), kind: rest.Forbidden, code: 50013},
			"archived thread": {call: post(turn.Post{ChannelID: thread, Text: "x"}), kind: rest.ClosedThread, code: 50083},
			"too long":        {call: post(turn.Post{ChannelID: general, Text: strings.Repeat("🦉", 1001)}), kind: rest.TooLong},
			"empty":           {call: post(turn.Post{ChannelID: general}), kind: rest.Rejected, code: 50006},
			"overloaded":      {before: fail(503, `{"code":130000,"message":"overloaded"}`), call: post(turn.Post{ChannelID: general, Text: "x"}), kind: rest.Unavailable, code: 130000},
			"slow mode":       {before: fail(429, `{"code":20016,"message":"slow","retry_after":30}`), call: post(turn.Post{ChannelID: general, Text: "x"}), kind: rest.RateLimited, code: 20016},
		} {
			if c.before != nil {
				c.before()
			}
			if e := failed(t, c.call(t.Context())); e.Kind != c.kind || e.Code != c.code {
				t.Errorf("%s: got %+v", name, e)
			}
			far.ClearFaults()
		}
	})
}

func TestForbiddenIsRemembered(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Accept("Missing Permissions")
		d := open(t, far, nil)
		far.Deny("general", true)
		synctest.Wait() // CHANNEL_UPDATE, which ends what is remembered, has been read
		general := far.ID("general")
		for range 5 {
			_, err := d.Post(t.Context(), turn.Post{ChannelID: general, Text: "x"})
			if e := failed(t, err); e.Kind != rest.Forbidden {
				t.Errorf("got %+v", e)
			}
			if e := failed(t, d.Typing(t.Context(), general)); e.Kind != rest.Forbidden {
				t.Errorf("typing: got %+v", e)
			}
		}
		if n := len(far.Requests("POST channels/*/*")); n != 1 {
			t.Errorf("asked %d times, want 1", n)
		}
		far.Deny("general", false) // CHANNEL_UPDATE follows
		await(t, "permission", func() bool {
			_, err := d.Post(t.Context(), turn.Post{ChannelID: general, Text: "x"})
			return err == nil
		})
	})
}

func TestReplyWithoutReference(t *testing.T) {
	each(t, map[string]string{
		"no history": `{"code":160002,"message":"Cannot reply without permission to read message history"}`,
		"malformed":  `{"code":50035,"message":"Invalid Form Body","errors":{"message_reference":{"_errors":[{"code":"REPLIES_UNKNOWN_MESSAGE","message":"Unknown message"}]}}}`,
		"unknown":    `{"code":10008,"message":"Unknown Message"}`,
	}, func(t *testing.T, far *discordtest.Server, refusal string) {
		s := prepare(t, far, nil)
		question := far.Say("general", "ada", "?")
		far.Fail(discordtest.Fault{Route: creates, Status: 400, Body: refusal})
		if _, err := s.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), ReplyTo: question, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		if all := far.Messages("general"); len(all) != 2 || all[1].ReplyTo != "" {
			t.Errorf("got %+v", all)
		}
	})
}

func TestCancelled(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		far.Fail(discordtest.Fault{Route: creates, Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := s.Post(ctx, turn.Post{ChannelID: far.ID("general"), Text: "x"})
		if e := failed(t, err); e.Kind != rest.Unavailable || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("after %v: %+v", time.Since(begun), e)
		}
	})
}

// TestTypingLeavesRoom sends answers to 1,200 questions at Discord's limit. Typing must not delay them.
func TestTypingLeavesRoom(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		many := bulk.Of(300, 1200)
		s := prepare(t, far, nil)
		far.Pace(50)
		for n := range 40 {
			far.AddChannel("hall", fmt.Sprint("room-", n))
		}
		begun := time.Now()
		var all sync.WaitGroup
		var failures atomic.Int32
		for n := range many {
			channel := far.ID(fmt.Sprint("room-", n%40))
			ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
			t.Cleanup(cancel)
			all.Go(func() {
				for range 3 {
					if err := s.Typing(ctx, channel); err != nil {
						failures.Add(1)
					}
				}
			})
			all.Go(func() {
				if _, err := s.Post(ctx, turn.Post{ChannelID: channel, Text: "an answer", Nonce: fmt.Sprint("n", n)}); err != nil {
					failures.Add(1)
					t.Log(err)
				}
			})
		}
		all.Wait()
		if n := len(far.Requests(creates)); n != many || failures.Load() != 0 {
			t.Errorf("%d of %d were sent, %d calls failed", n, many, failures.Load())
		}
		if took := time.Since(begun); took > time.Duration(many/40+1)*time.Second {
			t.Errorf("they took %v", took)
		}
		for _, r := range far.Requests("") {
			if r.Status == http.StatusTooManyRequests {
				t.Fatal("ran into the limit")
			}
		}
	})
}

// TestPassingEdits edits a growing reply. Edits that others follow must leave the channel's last request in five seconds to the last words.
// They are not sent again.
func TestPassingEdits(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		far.Limit(3, 5*time.Second)
		general := far.ID("general")
		id, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "one"})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		edit := func(text string, final bool) error {
			return s.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: general, ID: id}, Text: text, Passing: !final, Final: final})
		}
		for _, text := range []string{"one two", "one two three"} {
			if err := edit(text, false); err != nil {
				t.Error(err)
			}
		}
		if e := failed(t, edit("one two three four", false)); e.Kind != rest.RateLimited {
			t.Errorf("one edit is left: %+v", e)
		}
		if err := edit("one two three four five", true); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("the last words came after %v", took)
		}
		time.Sleep(5 * time.Second)
		far.Fail(discordtest.Fault{Route: "PATCH channels/*/messages/*", Status: 500})
		if e := failed(t, edit("one", false)); e.Kind != rest.Unavailable || len(far.Requests("PATCH channels/*/messages/*")) != 4 {
			t.Errorf("after a failure: %+v", e)
		}
	})
}

// TestGlobalLimit sets limits over all routes. Discord's own limit does not apply to responses to interactions, which
// have three seconds. Cloudflare's limit does.
func TestGlobalLimit(t *testing.T) {
	for name, c := range map[string]struct {
		fault discordtest.Fault
		wait  time.Duration
	}{
		"discord": {discordtest.Global("GET users/@me", 1, 2*time.Second), 0}, "cloudflare": {discordtest.Cloudflare("GET users/@me", 1, 2), 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, far *discordtest.Server) {
				s := prepare(t, far, nil)
				far.Fail(c.fault)
				_, err := s.rest.Call(t.Context(), rest.Request{Method: http.MethodGet, URL: discordgo.EndpointUser("@me"), Once: true})
				failed(t, err)
				begun := time.Now()
				if err := s.rest.Pacer.Wait(t.Context(), rest.Bucket(http.MethodPost, "interactions/1/token/callback"), rest.Create); err != nil || time.Since(begun) != c.wait {
					t.Errorf("an interaction waited %v, %v", time.Since(begun), err)
				}
				if err := s.rest.Pacer.Wait(t.Context(), "x", rest.Create); err != nil || time.Since(begun) != 2*time.Second {
					t.Errorf("another request waited %v, %v", time.Since(begun), err)
				}
			})
		})
	}
}

// TestHang leaves requests unanswered. Each is sent once more, and the message exists once.
func TestHang(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		general := far.ID("general")
		far.Fail(discordtest.Fault{Route: creates, After: true, Delay: time.Minute})
		begun := time.Now()
		id, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "x", Nonce: "n"})
		if took := time.Since(begun); err != nil || took != rest.AttemptLimit || len(far.Messages("general")) != 1 {
			t.Errorf("create: %v after %v: %+v", err, took, far.Messages("general"))
		}
		far.Fail(discordtest.Fault{Route: changes, Times: 9, Delay: time.Minute})
		begun = time.Now()
		err = s.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: general, ID: id}, Text: "y"})
		if e := failed(t, err); e.Kind != rest.Unavailable || time.Since(begun) != 2*rest.AttemptLimit {
			t.Errorf("edit: %+v after %v", e, time.Since(begun))
		}
	})
}

// TestLongLimit sets a limit that is too long to wait for. That request and the next fail at once.
func TestLongLimit(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		general := far.ID("general")
		far.Fail(discordtest.TooMany(creates, 1, 2000*time.Second))
		begun := time.Now()
		for n, want := range []time.Duration{2000 * time.Second, rest.MaxClosed} {
			_, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "x"})
			if e := failed(t, err); e.Kind != rest.RateLimited || e.RetryAfter != want || time.Since(begun) > 0 {
				t.Errorf("try %d: %+v after %v", n, e, time.Since(begun))
			}
		}
		if n := s.Limited(); n != 1 {
			t.Errorf("Discord refused once: %d", n)
		}
		if n := len(far.Requests(creates)); n != 1 {
			t.Errorf("asked %d times, want 1", n)
		}
		time.Sleep(rest.MaxClosed)
		if _, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "x"}); err != nil {
			t.Errorf("after %v: %v", rest.MaxClosed, err)
		}
	})
}

// TestRefusedToken refuses the token with an unusual status.
func TestRefusedToken(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Fail(discordtest.Fault{Route: creates, Status: 400, Body: `{"code":40001,"message":"Unauthorized"}`})
		_, err := d.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "x"})
		if e := failed(t, err); e.Kind != rest.Unauthorized {
			t.Errorf("got %+v", e)
		}
		var f *gateway.Fatal
		if err := d.result(t); !errors.As(err, &f) || f.Code != 401 {
			t.Errorf("Run gave %v", err)
		}
	})
}

// TestNonceOfAnOlderMessage posts with the nonce of an existing message that has other words.
func TestNonceOfAnOlderMessage(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		general := far.ID("general")
		var ids []string
		for _, text := range []string{"the first", " the  first\n", "the first and the second"} {
			id, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: text, Nonce: "n"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		all := far.Messages("general")
		if len(all) != 1 || all[0].Text != "the first and the second" || ids[0] != all[0].ID || ids[2] != all[0].ID {
			t.Errorf("ids %v, messages %+v", ids, all)
		}
		if n := len(far.Requests(changes)); n != 1 {
			t.Errorf("%d edits, want 1", n)
		}
	})
}

// TestButtonsUnderAPost checks that an edit sets all buttons, even to none. Only the presser sees the answer to a press.
func TestButtonsUnderAPost(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		p := turn.Post{ChannelID: far.ID("general"), Text: "first", Nonce: "n", Buttons: []turn.Button{{ID: "a", Label: "Stop"}}}
		post := func() (m discordtest.Message) {
			t.Helper()
			id, err := d.Post(t.Context(), p)
			if all := far.Messages("general"); err != nil || len(all) != 1 || all[0].ID != id {
				t.Fatalf("posted %q, %v: %+v", id, err, all)
			}
			return far.Messages("general")[0]
		}
		post()
		if post(); len(far.Requests(changes)) != 0 {
			t.Error("the same post was edited")
		}
		p.Buttons = []turn.Button{{ID: "b", Label: "Why"}, {ID: "c", Label: "Delete"}} // the existing message has other buttons
		m := post()
		if len(m.Buttons) != 2 || m.Buttons[1].ID != "c" || len(far.Requests(changes)) != 1 {
			t.Errorf("buttons %+v", m.Buttons)
		}
		press := far.Press("bo", m, "c", discordtest.ManageMessages)
		if _, hidden, ok := press.WaitAck(soon); !ok || !hidden {
			t.Errorf("acknowledged %v, to the presser alone %v", ok, hidden)
		}
		e := d.next(t)
		if !e.Command.Deletes || e.Command.Admin || e.Command.Button != "c" {
			t.Errorf("got %+v", e.Command)
		}
		if err := d.Respond(t.Context(), *e.Command, turn.Answer{Text: "no"}); err != nil {
			t.Fatal(err)
		}
		if shown, ok := press.WaitAnswer(1, soon); !ok || !shown.Ephemeral || shown.ID == m.ID || shown.Text != "no" {
			t.Errorf("answered %+v", shown)
		}
		if err := d.Edit(t.Context(), turn.Edit{Ref: turn.Ref{ChannelID: p.ChannelID, ID: m.ID}, Text: "second"}); err != nil {
			t.Fatal(err)
		}
		if m = far.Messages("general")[0]; len(m.Buttons) != 0 || m.Text != "second" {
			t.Errorf("edited to %+v", m)
		}
	})
}

// A page with 403 is a refusal, and says nothing about the channel: the next post is sent.
func TestAPageClosesNoChannel(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		var log bytes.Buffer
		s := prepare(t, far, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		general := far.ID("general")
		far.Fail(discordtest.Page(creates, 1, http.StatusForbidden))
		_, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "one"})
		if f := failed(t, err); f.Kind != rest.Forbidden || !strings.Contains(log.String(), "a page refused a post") {
			t.Errorf("%v, and told %s", f, log.String())
		}
		if _, err := s.Post(t.Context(), turn.Post{ChannelID: general, Text: "two"}); err != nil || !s.MayPost(general) {
			t.Error(err)
		}
	})
}

// TestExplains holds that the error includes Discord's words about a malformed request.
func TestExplains(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, func(c *Config) {
			c.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
		})
		for body, want := range map[string]string{
			`{"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]}}`: "Invalid Form Body: content: Must be 2000 or fewer in length.",
			`{"a":{"0":{"b":{"_errors":[{"message":"hunter2 is bad"}]}}},"_errors":[{"message":"All wrong"}]}`:       "Invalid Form Body: All wrong; a.0.b: *** is bad",
			`{"_errors":[{"message":1},{},"y",{"message":"x"}]}`:                                                     "Invalid Form Body: x",
			`{"_errors":[` + strings.Repeat(`{"message":"x"},`, rest.MaxComplaints) + `{"message":"x"}]}`:            "Invalid Form Body: x; x; x; x; x; …",
			`{"content":{"_errors":[{"message":"` + strings.Repeat("é", 500) + `"}]}}`:                               "Invalid Form Body: content: " + strings.Repeat("é", rest.MaxComplaint-len("content: ")),
			`"odd"`: "Invalid Form Body",
		} {
			far.Fail(discordtest.Fault{Route: creates, Status: 400, Body: `{"code":50035,"message":"Invalid Form Body","errors":` + body + `}`})
			_, err := s.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "x"})
			if e := failed(t, err); e.Message != want {
				t.Errorf("%s: %q, want %q", body, e.Message, want)
			}
		}
	})
}

func TestPersonaName(t *testing.T) {
	for name, want := range map[string]string{
		"Moss": "Moss", "  Old\nMoss ": "OldMoss", "Discordia": "Disc·ordia", "clyde": "cly·de", "Everyone": "Everyone·",
		"@#:`": webhookName, strings.Repeat("ä", 100): strings.Repeat("ä", 80),
	} {
		if got := PersonaName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A channel that refuses the bot without one of Discord's codes is not asked again either, until permissions change.
func TestPlainRefusalIsRemembered(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Fail(discordtest.Fault{Route: creates, Status: 403, Body: `{"message":"Forbidden"}`})
		post := turn.Post{ChannelID: far.ID("general"), Text: "hello"}
		for range 3 {
			if _, err := d.Post(t.Context(), post); err == nil || !strings.HasPrefix(err.Error(), "discord: forbidden") {
				t.Errorf("got %v", err)
			}
		}
		if n := len(far.Requests(creates)); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// A page in place of Discord's JSON means that a server is starting, not that a message is gone.
func TestPageIsNoAnswer(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		for _, status := range []int{401, 404, 502} {
			far.Fail(discordtest.Page(creates, 2, status))
			if _, err := d.Post(t.Context(), turn.Post{ChannelID: far.ID("general"), Text: "hello"}); err != nil {
				t.Errorf("%d: %v", status, err)
			}
		}
	})
}
