package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

func TestCommand(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		i := far.Interact("general", "ada", "lookup", map[string]string{"query": "owls"}, true)
		took, hidden, ok := i.WaitAck(3 * time.Second)
		if !ok || !hidden || took > time.Second {
			t.Errorf("acknowledged %t after %v, hidden %t", ok, took, hidden)
		}
		e := d.next(t)
		c := e.Command
		if e.Kind != turn.Ordered || e.ID != i.ID || c.Name != "lookup" || c.Options["query"] != "owls" || !c.Admin || c.By.Name != "ada" || e.Message.ChannelID != far.ID("general") {
			t.Fatalf("got %+v, command %+v", e, c)
		}
		answer := turn.Answer{Text: "page 1 @everyone", File: []byte("the record"), Name: "turn.json"}
		for n := range 7 {
			answer.Buttons = append(answer.Buttons, turn.Button{ID: "page:" + string(rune('a'+n)), Label: "Next", Disabled: n == 0})
		}
		if err := d.Respond(t.Context(), *c, answer); err != nil {
			t.Fatal(err)
		}
		shown, _ := i.WaitAnswer(1, time.Second)
		if shown.Text != answer.Text || !shown.Ephemeral || shown.Pinged != nil || shown.Files["turn.json"] != "the record" {
			t.Errorf("shown %+v", shown)
		}
		if len(shown.Buttons) != 7 || !shown.Buttons[0].Disabled || shown.Buttons[6].ID != "page:g" {
			t.Errorf("buttons %+v", shown.Buttons)
		}

		press := far.Press("ada", shown, "page:b", discordtest.Member)
		if _, _, ok := press.WaitAck(3 * time.Second); !ok {
			t.Error("button is not acknowledged")
		}
		e = d.next(t)
		if e.Command == nil || e.Command.Button != "page:b" || e.Command.Admin || e.Message.ID != shown.ID {
			t.Fatalf("got %+v", e)
		}
		if err := d.Respond(t.Context(), *e.Command, turn.Answer{Text: "page 2"}); err != nil {
			t.Fatal(err)
		}
		shown, _ = press.WaitAnswer(1, time.Second)
		if shown.Text != "page 2" || len(shown.Buttons) != 0 || len(shown.Files) != 0 || !shown.Ephemeral {
			t.Errorf("shown %+v", shown)
		}
		if all := far.Messages("general"); len(all) != 0 {
			t.Errorf("everybody sees %+v", all)
		}
		for _, r := range far.Requests("PATCH webhooks/*/*/messages/@original") {
			harmless(t, r)
		}
	})
}

func TestCommandInDirect(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Interact("@ada", "ada", "help", nil, true)
		if e := d.next(t); !e.Direct || e.Command.By.Name != "ada" || e.Command.Admin {
			t.Errorf("got %+v, command %+v", e, e.Command)
		}
	})
}

func TestRespondFails(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Accept("Unknown Webhook")
		s := prepare(t, far, nil)
		if e := failed(t, s.Respond(t.Context(), turn.Command{Token: "t"}, turn.Answer{Text: "x"})); e.Kind != rest.Unavailable {
			t.Errorf("before the session: %+v", e)
		}
		d := run(t, far, s)
		await(t, "connection", func() bool { return d.Health().Connected })
		err := d.Respond(t.Context(), turn.Command{Token: "long-forgotten"}, turn.Answer{Text: "x"})
		if e := failed(t, err); e.Kind != rest.Gone {
			t.Errorf("old token: %+v", e)
		}
		far.Fail(discordtest.Fault{Route: "PATCH webhooks/*/*/messages/@original", Times: rest.MaxFailures, Cut: true})
		err = d.Respond(t.Context(), turn.Command{Token: "very-secret"}, turn.Answer{Text: "x"})
		if e := failed(t, err); e.Kind != rest.Unavailable || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("cut: %+v", e)
		}
	})
}

// An interaction that comes so late that Discord takes no answer is not carried out.
func TestUnacknowledged(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Fail(discordtest.Fault{Route: callbacks, Status: http.StatusNotFound, Body: `{"code":10062,"message":"Unknown interaction"}`})
		far.Distort("INTERACTION_CREATE", func(p map[string]any) { p["id"] = gateway.FlakeAt(time.Now().Add(-4 * time.Second)).String() })
		far.Interact("general", "ada", "help", nil, true)
		await(t, "the callback", func() bool { return len(far.Requests(callbacks)) == 1 })
		d.none(t)
	})
}

const (
	callbacks = "POST interactions/*/*/callback"
	rewrites  = "PATCH webhooks/*/*/messages/@original"
)

// An answer that is there at once is the first response: one request. A slow one follows an acknowledgement. An interaction that comes twice
// is reported once.
func TestFirstResponse(t *testing.T) {
	each(t, map[string]struct {
		slow, lost, file bool
		edits            int
	}{
		"at once": {}, "slow": {slow: true, edits: 1}, "with a file": {file: true, edits: 1}, "the response got lost": {lost: true}, "the acknowledgement got lost": {slow: true, lost: true, edits: 1},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		slow, lost, file bool
		edits            int
	}) {
		d := open(t, far, nil)
		if c.lost {
			far.Accept("already been acknowledged")
			far.Fail(discordtest.Fault{Route: callbacks, Cut: true, After: true})
			if !c.slow {
				c.edits = 1
			}
		}
		i := far.Interact("general", "ada", "help", nil, true)
		i.Again()
		e := d.next(t)
		d.none(t)
		if c.slow {
			time.Sleep(time.Second)
			if took, hidden, ok := i.WaitAck(0); !ok || !hidden || took > ackAfter+500*time.Millisecond {
				t.Errorf("acknowledged %t after %v, hidden %t", ok, took, hidden)
			}
		}
		answer := turn.Answer{Text: "I help", Buttons: []turn.Button{{ID: "page:b", Label: "Next"}}}
		if c.file {
			answer.File = []byte("the record")
		}
		if err := d.Respond(t.Context(), *e.Command, answer); err != nil {
			t.Fatal(err)
		}
		shown, ok := i.WaitAnswer(1, time.Second)
		if !ok || shown.Text != "I help" || !shown.Ephemeral || len(shown.Buttons) != 1 {
			t.Fatalf("shown %+v", shown)
		}
		if n := len(far.Requests(rewrites)); n != c.edits {
			t.Errorf("%d edits, want %d", n, c.edits)
		}
		if !c.file && !c.slow && !c.lost && len(far.Requests(callbacks)) != 1 {
			t.Errorf("%d first responses", len(far.Requests(callbacks)))
		}
		press := far.Press("ada", shown, "page:b", discordtest.Member)
		if err := d.Respond(t.Context(), *d.next(t).Command, turn.Answer{Text: "page 2"}); err != nil {
			t.Fatal(err)
		}
		if shown, _ = press.WaitAnswer(1, time.Second); shown.Text != "page 2" || !shown.Ephemeral {
			t.Errorf("shown %+v", shown)
		}
		time.Sleep(3 * time.Second)
	})
}

// A disk that does not answer keeps nobody's command from being acknowledged.
func TestAcknowledgedBesideAFrozenDisk(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		thawed := make(chan struct{})
		d := open(t, far, func(c *Config) {
			c.Taken = func(context.Context, string) (bool, error) { <-thawed; return false, nil }
		})
		defer close(thawed)
		i := far.Interact("general", "ada", "help", nil, true)
		if took, _, ok := i.WaitAck(3 * time.Second); !ok || took > 2*time.Second {
			t.Errorf("acknowledged %t after %v", ok, took)
		}
		d.next(t)
	})
}

// A command that was carried out before a restart and comes again is not acknowledged again.
func TestCommandThatCameBefore(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, func(c *Config) {
			c.Taken = func(context.Context, string) (bool, error) { return true, nil }
		})
		far.Interact("general", "ada", "help", nil, true)
		d.none(t)
		if n := len(far.Requests("POST interactions/*/*/callback")); n != 0 {
			t.Errorf("acknowledged %d times", n)
		}
	})
}

// TestHungAcknowledgement leaves an acknowledgement unanswered, with and without an effect.
func TestHungAcknowledgement(t *testing.T) {
	each(t, map[string]bool{"lost": false, "taken": true}, func(t *testing.T, far *discordtest.Server, after bool) {
		far.Accept("already been acknowledged")
		const route = "POST interactions/*/*/callback"
		d := open(t, far, nil)
		if after {
			far.Fail(discordtest.Fault{Route: route, Status: 504, After: true})
		} else {
			far.Fail(discordtest.Fault{Route: route, Delay: time.Minute})
		}
		i := far.Interact("general", "ada", "help", nil, true)
		if took, _, ok := i.WaitAck(soon); !ok || took > ackLimit {
			t.Errorf("acknowledged %t after %v", ok, took)
		}
		if e := d.next(t); e.ID != i.ID {
			t.Errorf("got %+v", e)
		}
	})
}

func TestOptionKinds(t *testing.T) {
	t.Parallel()
	var from []option
	const data = `[{"name":"on","options":[{"name":"n","value":3},{"name":"yes","value":true},{"name":"text","value":"a \"b\""}]}]`
	if err := json.Unmarshal([]byte(data), &from); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	options(got, from)
	if got["n"] != "3" || got["yes"] != "true" || got["text"] != `a "b"` {
		t.Errorf("got %v", got)
	}
}

// A property that the server does not know costs the commands that have it, and no others. The next start sends them again.
func TestRegistrationRefused(t *testing.T) {
	each(t, map[string]string{"all but one": "autocomplete", "translations": "name_localizations"}, func(t *testing.T, far *discordtest.Server, property string) {
		var kept atomic.Value
		kept.Store("an earlier version's")
		begin := func(registered int) string {
			d := open(t, far, func(c *Config) {
				c.LoadHash = func(context.Context) (string, error) { return kept.Load().(string), nil }
				c.SaveHash = func(_ context.Context, hash string) error { kept.Store(hash); return nil }
				c.Commands = []turn.Definition{
					{Kind: turn.ChatInput, Name: "docs", Description: "Look there", Options: []turn.Option{{Name: "page", Description: "Which", Suggests: true}}, Places: []turn.Place{turn.InServer}, Installs: []turn.Install{turn.ServerInstall}},
					{Kind: turn.ChatInput, Name: "help", Names: turn.Localized{"de": "hilfe"}, Description: "What I can do", Places: []turn.Place{turn.InServer}, Installs: []turn.Install{turn.ServerInstall}},
				}
			})
			if !far.WaitCommands(registered, soon) {
				t.Fatalf("not registered: %v", far.Refusals())
			}
			d.none(t)
			synctest.Wait() // the answer to the registration has been read
			d.stop()
			d.result(t)
			raw, _ := far.Commands()
			return raw
		}
		far.Accept("commands: 400")
		far.RefuseProperty(property)
		if raw := begin(1); !strings.Contains(raw, `"help"`) || strings.Contains(raw, property) || kept.Load() != "" {
			t.Errorf("%s is kept as %q", raw, kept.Load())
		}
		far.RefuseProperty("")
		if raw := begin(2); !strings.Contains(raw, `"docs"`) || !strings.Contains(raw, property) || kept.Load() == "" {
			t.Errorf("%s is kept as %q", raw, kept.Load())
		}
	})
}

func TestRegistration(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		var kept atomic.Value
		kept.Store("")
		begin := func(commands []turn.Definition) *door {
			return open(t, far, func(c *Config) {
				c.Commands = commands
				c.LoadHash = func(context.Context) (string, error) { return kept.Load().(string), nil }
				c.SaveHash = func(_ context.Context, hash string) error { kept.Store(hash); return nil }
			})
		}
		end := func(d *door) {
			d.none(t) // READY has been handled
			synctest.Wait()
			d.stop()
			d.result(t)
		}
		docs := turn.Definition{
			Kind: turn.ChatInput, Name: "docs", Names: turn.Localized{"pt": "manual"}, Description: "Look there", Descriptions: turn.Localized{"es": "Mira ahí"}, Permission: turn.ManageServer,
			Options: []turn.Option{
				{Name: "page", Description: "Which", Required: true, Suggests: true},
				{Name: "site", Description: "Where", Choices: []turn.Choice{{Name: "Colony", Names: turn.Localized{"de": "Kolonie"}, Value: "colony"}, {Name: "Go", Value: "go"}}},
			},
			Places: []turn.Place{turn.InServer, turn.InDirect, turn.InPrivate}, Installs: []turn.Install{turn.ServerInstall, turn.UserInstall},
		}
		why := turn.Definition{Kind: turn.MessageMenu, Name: "Why this?", Places: []turn.Place{turn.InServer}, Installs: []turn.Install{turn.ServerInstall}}
		d := begin([]turn.Definition{docs, why})
		if !far.WaitCommands(1, soon) {
			t.Fatalf("not registered: %v", far.Refusals())
		}
		await(t, "the hash", func() bool { return kept.Load() != "" })
		far.Forget()
		far.Drop(0) // a second READY
		await(t, "a second session", func() bool { return d.Health().Identifies == 2 && d.Health().Connected })
		end(d)
		end(begin([]turn.Definition{docs, why}))
		raw, puts := far.Commands()
		if puts != 1 {
			t.Errorf("registered %d times, want once", puts)
		}
		const want = `[{"type":1,"name":"docs","name_localizations":{"pt-BR":"manual"},"description":"Look there","description_localizations":{"es-419":"Mira ahí","es-ES":"Mira ahí"},` +
			`"default_member_permissions":"32","integration_types":[0,1],"contexts":[0,1,2],"options":[{"type":3,"name":"page","description":"Which","required":true,"autocomplete":true,"max_length":200},` +
			`{"type":3,"name":"site","description":"Where","choices":[{"name":"Colony","name_localizations":{"de":"Kolonie"},"value":"colony"},{"name":"Go","value":"go"}]}]},` +
			`{"type":3,"name":"Why this?","description":"","integration_types":[0],"contexts":[0]}]`
		if raw != want {
			t.Errorf("registered %s", raw)
		}
		d = begin([]turn.Definition{why})
		far.WaitCommands(2, soon)
		end(d)
		if _, puts := far.Commands(); puts != 2 {
			t.Errorf("registered %d times after a change, want 2", puts)
		}
	})
}

// TestManages checks who may change settings, also on a server that sends no permissions.
func TestManages(t *testing.T) {
	s := &Session{cfg: Config{Operator: "7"}}
	s.names.begin(nil, every, none)
	s.names.addGuild(guildInfo{ID: "hall", Name: "hall", OwnerID: "1"})
	for _, c := range []struct {
		user, permissions string
		want              bool
	}{
		{"2", "2080", true}, {"2", "8", true}, {"2", "2048", false}, {"2", "no number", false}, {"2", "", false},
		{"1", "", true}, {"7", "", true}, {"1", "2048", false}, {"", "", false},
	} {
		if got := s.manages("hall", &member{User: user{ID: c.user}, Permissions: c.permissions}); got != c.want {
			t.Errorf("user %s with permissions %q: %v", c.user, c.permissions, got)
		}
	}
	if s.manages("hall", nil) || s.manages("elsewhere", &member{User: user{ID: "1"}}) {
		t.Error("somebody manages a server who is not known there")
	}
}

// TestSections shows sections between rules, and replaces them by text after a press. Discord accepts that only in
// components.
func TestSections(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		order := far.Interact("general", "ada", "context", nil, true)
		a := turn.Answer{
			Sections: []turn.Section{{Text: "what **happened**"}, {Title: "Timeline", Text: "██· websearch"}},
			Buttons:  []turn.Button{{ID: "page:a", Label: "Next"}}, File: []byte("{}"), Name: "turn.json",
		}
		if err := d.Respond(t.Context(), *d.next(t).Command, a); err != nil {
			t.Fatal(err)
		}
		shown, _ := order.WaitAnswer(1, time.Second)
		if shown.Text != "```\nwhat **happened**\n```\n**Timeline**\n```\n██· websearch\n```" || len(shown.Buttons) != 1 || shown.Files["turn.json"] != "{}" {
			t.Errorf("shown %+v", shown)
		}
		press := far.Press("ada", shown, "page:a", discordtest.Member)
		e := d.next(t)
		if err := d.Respond(t.Context(), *e.Command, turn.Answer{Text: "It is gone."}); err != nil {
			t.Fatal(err)
		}
		if shown, _ = press.WaitAnswer(1, time.Second); shown.Text != "It is gone." {
			t.Errorf("shown %+v", shown)
		}
		long := turn.Answer{Sections: []turn.Section{{Text: strings.Repeat("x", 2500)}, {Text: strings.Repeat("x", 1500)}}}
		if f := failed(t, d.Respond(t.Context(), *e.Command, long)); f.Kind != rest.TooLong {
			t.Errorf("got %+v", f)
		}
	})
}
