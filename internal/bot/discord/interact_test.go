package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discordtest"
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
		s := prepare(t, far, nil)
		if e := failed(t, s.Respond(t.Context(), turn.Command{Token: "t"}, turn.Answer{Text: "x"})); e.Kind != Unavailable {
			t.Errorf("before the session: %+v", e)
		}
		d := run(t, far, s)
		await(t, "connection", func() bool { return d.Health().Connected })
		err := d.Respond(t.Context(), turn.Command{Token: "long-forgotten"}, turn.Answer{Text: "x"})
		if e := failed(t, err); e.Kind != Gone {
			t.Errorf("old token: %+v", e)
		}
		far.Fail(discordtest.Fault{Route: "PATCH webhooks/*/*/messages/@original", Times: maxFailures, Cut: true})
		err = d.Respond(t.Context(), turn.Command{Token: "very-secret"}, turn.Answer{Text: "x"})
		if e := failed(t, err); e.Kind != Unavailable || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("cut: %+v", e)
		}
	})
}

func TestUnacknowledged(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Fail(discordtest.Fault{Route: "POST interactions/*/*/callback", Status: http.StatusNotFound, Body: `{"code":10062,"message":"Unknown interaction"}`})
		far.Interact("general", "ada", "help", nil, true)
		await(t, "the callback", func() bool { return len(far.Requests("POST interactions/*/*/callback")) == 1 })
		d.none(t)
	})
}

// TestHungAcknowledgement has an acknowledgement that is not answered, whether it took effect or not.
func TestHungAcknowledgement(t *testing.T) {
	each(t, map[string]bool{"lost": false, "taken": true}, func(t *testing.T, far *discordtest.Server, after bool) {
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

func TestRegistration(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		var kept atomic.Value
		kept.Store("")
		begin := func(commands []Command) *door {
			return open(t, far, func(c *Config) {
				c.Commands = commands
				c.LoadHash = func(context.Context) (string, error) { return kept.Load().(string), nil }
				c.SaveHash = func(_ context.Context, hash string) error { kept.Store(hash); return nil }
			})
		}
		end := func(d *door) {
			d.none(t) // READY has been handled
			d.stop()
			d.result(t)
		}
		d := begin(Commands([]string{"colony", "go"}))
		if !far.WaitCommands(1, soon) {
			t.Fatal("not registered")
		}
		await(t, "the hash", func() bool { return kept.Load() != "" })
		far.Forget()
		far.Drop(0) // a second READY
		await(t, "a second session", func() bool { return d.Health().Identifies == 2 && d.Health().Connected })
		end(d)
		end(begin(Commands([]string{"colony", "go"})))
		raw, puts := far.Commands()
		if puts != 1 {
			t.Errorf("registered %d times, want once", puts)
		}
		var commands []struct {
			Name, Description string
			Manage            string `json:"default_member_permissions"`
			Contexts          []int
		}
		if err := json.Unmarshal([]byte(raw), &commands); err != nil || len(commands) != 6 || !strings.Contains(raw, `"choices":[{"name":"colony","value":"colony"},{"name":"go","value":"go"}]`) {
			t.Fatalf("%v: %s", err, raw)
		}
		if strings.Contains(raw, "null") || strings.Contains(raw, "channel_types") {
			t.Errorf("fields that Discord does not document: %s", raw)
		}
		for _, c := range commands {
			manage := "32"
			if c.Name == "catchup" { // what one person has missed is for everybody
				manage = ""
			}
			if c.Manage != manage || len(c.Description) > 100 || len(c.Contexts) == 0 {
				t.Errorf("command %+v", c)
			}
		}
		d = begin(Commands(nil))
		far.WaitCommands(2, soon)
		end(d)
		if _, puts := far.Commands(); puts != 2 {
			t.Errorf("registered %d times after a change, want 2", puts)
		}
	})
}

// TestManages asks who may change settings, also where a server sends no permissions.
func TestManages(t *testing.T) {
	s := &Session{cfg: Config{Operator: "7"}}
	s.names.begin(nil)
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
