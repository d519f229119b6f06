package discord

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/discordtest"
)

// An event for a reply includes the message replied to, and whether a person wrote it.
func TestAuthorOfTheMessageAbove(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		for name, above := range map[string]discordtest.Post{
			"person":  {Author: "ada"},
			"bot":     {Author: "feed", Bot: true},
			"webhook": {Author: "hook", Webhook: true},
		} {
			above.Channel, above.Text = "general", "see https://example.org/a"
			id := far.Post(above)
			if name == "person" {
				d.next(t)
			}
			far.Reply("general", "bob", id, "@familiar read that", false)
			e := d.next(t)
			if e.Reply == nil || e.Reply.ByPerson() != (name == "person") || e.Reply.Own || !e.Message.ByPerson() {
				t.Errorf("%s: reply %+v to %+v", name, e.Message, e.Reply)
			}
		}
	})
}

func TestReports(t *testing.T) {
	each(t, map[string]func(t *testing.T, d *door, own string){
		"mention": func(t *testing.T, d *door, _ string) {
			bob := d.far.UserID("bob") // from now on "@bob" is a mention
			id := d.far.Say("books", "ada", "hey @familiar, ask @bob of @readers in #books <a:wave:42> at <t:0:R>")
			e := d.next(t)
			want := "hey, ask @bob of @readers in #books :wave: at 1970-01-01 00:00 UTC"
			if e.Message.Text != want || !e.Mentioned || e.Direct || e.Reply != nil {
				t.Errorf("got %+v, want text %q", e, want)
			}
			if sent := d.far.Messages("books"); !strings.Contains(sent[len(sent)-1].Text, "<@"+bob+">") {
				t.Errorf("sent %+v", sent)
			}
			if e.Kind != turn.Created || e.ID != id || e.Message.ID != id || e.GuildID == "" || e.Message.ChannelID != d.far.ID("books") {
				t.Errorf("ids: %+v", e)
			}
			if e.Message.Author.Name != "Countess" || e.Message.Author.ID != d.far.UserID("ada") {
				t.Errorf("author %+v", e.Message.Author)
			}
			if !e.Message.At.Equal(time.Now()) {
				t.Errorf("at %v", e.Message.At)
			}
		},
		"reply": func(t *testing.T, d *door, own string) {
			for _, ping := range []bool{true, false} {
				d.far.Reply("books", "ada", own, "and then?", ping)
				e := d.next(t)
				if e.Mentioned != ping || e.Reply == nil || !e.Reply.Own || e.Reply.ByPerson() || e.Reply.Author.Machine || e.Reply.ID != own || e.Reply.Text != "an answer" || e.Message.ReplyTo != own {
					t.Errorf("ping %t: got %+v, reply %+v", ping, e, e.Reply)
				}
			}
		},
		"direct": func(t *testing.T, d *door, _ string) {
			d.far.DM("ada", "psst")
			if e := d.next(t); !e.Direct || e.GuildID != "" || e.Message.Text != "psst" || e.Message.Author.Name != "ada" {
				t.Errorf("got %+v", e)
			}
		},
		"everyone is not a mention": func(t *testing.T, d *door, _ string) {
			d.far.Say("books", "ada", "@everyone wake up")
			if e := d.next(t); e.Mentioned || e.Message.Text != "@everyone wake up" {
				t.Errorf("got %+v", e)
			}
		},
		"thread": func(t *testing.T, d *door, _ string) {
			thread := d.far.AddThread("books", "chapter", false)
			d.far.Say(thread, "ada", "inside")
			if e := d.next(t); e.ParentID != d.far.ID("books") || e.ParentUnknown || e.Message.ChannelID != thread {
				t.Errorf("got %+v", e)
			}
			if n := len(d.far.Requests("GET channels/*")); n != 0 {
				t.Errorf("asked %d times for a channel that was announced", n)
			}
		},
		"not a person": func(t *testing.T, d *door, _ string) {
			d.far.Post(discordtest.Post{Channel: "books", Author: "robot", Bot: true, Text: "@familiar hello"})
			d.far.Post(discordtest.Post{Channel: "books", Author: "feed", Webhook: true, Text: "@familiar news"})
			d.far.Dispatch("MESSAGE_CREATE", map[string]any{"id": "7", "channel_id": d.far.ID("books"), "type": 7, "content": "",
				"author": map[string]any{"id": "8", "username": "newcomer"}}) // a person joined
			d.none(t)
		},
	}, func(t *testing.T, far *discordtest.Server, test func(*testing.T, *door, string)) {
		guild := far.AddGuild("attic")
		far.AddChannel(guild, "books")
		far.AddRole(guild, "readers")
		far.Nick("attic", "ada", "Countess")
		d := open(t, far, nil)
		own, err := d.Post(t.Context(), turn.Post{ChannelID: far.ID("books"), Text: "an answer"})
		if err != nil {
			t.Fatal(err)
		}
		test(t, d, own)
	})
}

func TestOddComponent(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Post(discordtest.Post{Channel: "general", Author: "ada", Text: "still here", Components: []any{map[string]any{"type": 99, "x": []int{1}}}})
		if e := d.next(t); e.Message.Text != "still here" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestEditsAndDeletions(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		early := far.Say("general", "ada", "before the session")
		d := open(t, far, nil)
		far.Embed(early)
		d.none(t)
		id := far.Say("general", "ada", "frist")
		d.next(t)
		far.Embed(id)
		d.none(t)
		far.Edit(id, "first")
		if e := d.next(t); e.Kind != turn.Edited || e.Message.Text != "first" || e.Message.ID != id || e.ID == id {
			t.Errorf("got %+v", e)
		}
		far.Embed(id) // edited_timestamp is set, although the text has not changed
		d.none(t)
		far.Delete(id)
		if e := d.next(t); e.Kind != turn.Deleted || e.Message.ID != id || e.Message.ChannelID != far.ID("general") || e.ID == id {
			t.Errorf("got %+v", e)
		}
		far.Dispatch("MESSAGE_DELETE_BULK", map[string]any{"ids": []string{"11", "12"}, "channel_id": far.ID("general"), "guild_id": "1"})
		for _, want := range []string{"11", "12"} {
			if e := d.next(t); e.Kind != turn.Deleted || e.Message.ID != want {
				t.Errorf("got %+v, want deletion of %s", e, want)
			}
		}
	})
}

func TestGone(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		attic := far.AddGuild("attic")
		books := far.AddChannel(attic, "books")
		thread := far.AddThread("books", "chapter", false)
		d := open(t, far, nil)
		await(t, "servers", func() bool { return d.names.complete(every) })
		begun := time.Now()
		far.DeleteChannel("chapter")
		if e := d.next(t); e.Kind != turn.Gone || e.Message.ChannelID != thread || e.ParentID != books {
			t.Errorf("thread: got %+v", e)
		}
		far.DeleteChannel("books")
		if e := d.next(t); e.Kind != turn.Gone || e.Message.ChannelID != books || e.GuildID != attic {
			t.Errorf("channel: got %+v", e)
		}
		far.Outage("attic")
		d.none(t)
		far.Kick("attic")
		if e := d.next(t); e.Kind != turn.Gone || e.Message.ChannelID != "" || e.GuildID != attic {
			t.Errorf("server: got %+v", e)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("they came after %v", took)
		}
		if n := d.Health().Guilds; n != 1 {
			t.Errorf("%d servers are left, want 1", n)
		}
	})
}

func TestOrder(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		var ids []string
		for range 300 {
			ids = append(ids, far.Say("general", "ada", "x"))
		}
		for i, want := range ids {
			if e := d.next(t); e.ID != want {
				t.Fatalf("event %d is %s, want %s", i, e.ID, want)
			}
		}
	})
}

func TestPanicStays(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, func(c *Config) { c.OnReady = func(Ready) { panic("in the caller's hands") } })
		s.handle["TYPING_START"] = func(*shard, context.Context, []byte) error { panic("boom") }
		d := run(t, far, s)
		if !far.WaitSession(5 * time.Second) {
			t.Fatal("no session")
		}
		far.Dispatch("TYPING_START", map[string]any{})
		far.Dispatch("MESSAGE_CREATE", "not an object")
		d.none(t)
	})
}

func TestReadable(t *testing.T) {
	t.Parallel()
	s := &Session{}
	s.self.Store(newIdentity(user{ID: "5"}, ""))
	s.names.begin([]guildInfo{{ID: "1"}}, every, none)
	s.names.addGuild(guildInfo{ID: "1", Name: "hall", Roles: []role{{ID: "3", Name: "Knights"}}, Channels: []channel{{ID: "4", Name: "yard"}}})
	for in, want := range map[string]string{
		"<@5> hi":                      "hi",
		"<@!5>hi":                      "hi",
		"so <@5> what":                 "so what",
		"hey <@5>, you":                "hey, you",
		"listen <@!5>":                 "listen",
		"well,\n<@5> hi\n    code  it": "well,\nhi\n    code  it",
		"no  mention,  spaces stay":    "no  mention,  spaces stay",
		"<@6> and <@7>":                "@Six and @unknown-user",
		"<@&3> in <#4>":                "@Knights in #yard",
		"<@&9> in <#9>":                "@unknown-role in #unknown-channel",
		"<:ok:123> </lookup:55>":       ":ok: /lookup",
		"2 < 3 > 1 <b> <@x>":           "2 < 3 > 1 <b> <@x>",
	} {
		m := &message{GuildID: "1", Content: in, Mentions: []mention{{user: user{ID: "6", Username: "six", GlobalName: "Six"}}}}
		got, mentions := s.readable(m)
		if got != want {
			t.Errorf("%q → %q, want %q", in, got, want)
		}
		for _, name := range mentions {
			if !strings.Contains(got, name) {
				t.Errorf("%q → %q, which does not hold the mention %q", in, got, name)
			}
		}
		if named := strings.Count(in, "<@6>") + strings.Count(in, "<@7>") + strings.Count(in, "<@&") + strings.Count(in, "<#"); len(mentions) != named {
			t.Errorf("%q has %d mentions, found %v", in, named, mentions)
		}
	}
}

// A mention of the bot's own role counts as a mention of the bot. Discord offers the role under the bot's name.
func TestOwnRoleIsTheBot(t *testing.T) {
	t.Parallel()
	s := &Session{}
	s.self.Store(newIdentity(user{ID: "5"}, ""))
	s.names.begin([]guildInfo{{ID: "1"}}, every, none)
	s.names.addGuild(guildInfo{ID: "1", Name: "hall", Roles: []role{
		{ID: "3", Name: "Knights"}, {ID: "8", Name: "familiar", Tags: roleTags{BotID: "5"}}, {ID: "9", Name: "other bot", Tags: roleTags{BotID: "6"}},
	}})
	for in, want := range map[string]turn.Event{
		"<@&8> hello": {Mentioned: true, Message: turn.Message{Text: "hello"}},
		"<@&3> hello": {Message: turn.Message{Text: "@Knights hello"}},
		"<@&9> hello": {Message: turn.Message{Text: "@other bot hello"}},
	} {
		e := s.event(turn.Created, "7", &message{GuildID: "1", Content: in, Author: &user{ID: "2"}, Roles: []string{in[3:4]}})
		if e.Mentioned != want.Mentioned || e.Message.Text != want.Message.Text {
			t.Errorf("%q: mentioned %v, text %q", in, e.Mentioned, e.Message.Text)
		}
	}
}

// TestUnknownThread sends messages in threads that were not announced. None waits for the door's question to Discord,
// and a failed question is repeated.
func TestUnknownThread(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Fail(discordtest.Fault{Route: "GET channels/*", Delay: 5 * time.Second})
		far.Fail(discordtest.Fault{Route: "GET channels/*", Status: 403, Body: `{"code":50001,"message":"Missing Access"}`})
		slow, denied := far.AddThread("general", "slow", true), far.AddThread("general", "denied", true)
		begun := time.Now()
		far.Say(slow, "ada", "one")
		synctest.Wait() // the request takes the first fault
		far.Say(denied, "ada", "two")
		far.Say(slow, "ada", "three")
		far.Say("general", "ada", "four")
		for _, want := range []string{"one", "two", "three", "four"} {
			if e := d.next(t); e.Message.Text != want || e.ParentID != "" || e.ParentUnknown != (want != "four") || time.Since(begun) > 0 {
				t.Errorf("after %v: got %+v, want %s", time.Since(begun), e, want)
			}
		}
		synctest.Wait()
		if _, ok := d.Parent(t.Context(), denied); ok {
			t.Error("a refused question has an answer")
		}
		if parent, ok := d.Parent(t.Context(), slow); !ok || parent != far.ID("general") || time.Since(begun) != 5*time.Second {
			t.Errorf("parent %q, %t after %v", parent, ok, time.Since(begun))
		}
		if parent, ok := d.Parent(t.Context(), denied); !ok || parent != far.ID("general") {
			t.Errorf("asked again: parent %q, %t", parent, ok)
		}
		far.Say(denied, "ada", "five")
		if e := d.next(t); e.ParentID != far.ID("general") || e.ParentUnknown {
			t.Errorf("got %+v", e)
		}
		if n := len(far.Requests("GET channels/*")); n != 3 {
			t.Errorf("asked %d times, want 3", n)
		}
		d.stop()
		d.result(t)
		if _, ok := d.Parent(t.Context(), "12"); ok {
			t.Error("an answer after the end")
		}
	})
}

// TestOddPayloads sends what servers other than Discord may send: numbers for ids, and unreadable times.
func TestOddPayloads(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		far.Dispatch("MESSAGE_CREATE", map[string]any{"id": 1234567890123456789, "channel_id": 5, "content": "numbers", "timestamp": "yesterday",
			"edited_timestamp": "never", "author": map[string]any{"id": 7, "username": "ada"}, "mentions": []any{map[string]any{"id": json.Number(far.UserID("familiar"))}}})
		e := d.next(t)
		if e.Message.ID != "1234567890123456789" || e.Message.ChannelID != "5" || e.Message.Author.ID != "7" || !e.Mentioned || e.Message.At.Year() != 2024 {
			t.Errorf("got %+v", e)
		}
		far.Dispatch("MESSAGE_UPDATE", map[string]any{"id": "1234567890123456789", "channel_id": "5", "content": "other words", "timestamp": "?",
			"edited_timestamp": "1 minute ago", "author": map[string]any{"id": "7", "username": "ada"}})
		if e := d.next(t); e.Kind != turn.Edited || e.Message.Text != "other words" || e.ID == e.Message.ID {
			t.Errorf("got %+v", e)
		}
	})
}

// TestThreadsGoWithTheirChannel deletes a channel that has threads.
func TestThreadsGoWithTheirChannel(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		books := far.AddChannel("hall", "books")
		thread := far.AddThread("books", "chapter", false)
		d := open(t, far, nil)
		d.none(t)
		begun := time.Now()
		far.DeleteChannel("books")
		if e := d.next(t); e.Kind != turn.Gone || e.Message.ChannelID != thread || e.ParentID != books {
			t.Errorf("got %+v", e)
		}
		if e := d.next(t); e.Kind != turn.Gone || e.Message.ChannelID != books || time.Since(begun) > 0 {
			t.Errorf("got %+v", e)
		}
	})
}

// TestHugeFrame sends events that are too large, with their number before or after the data. The session goes on.
func TestHugeFrame(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		s := prepare(t, far, nil)
		s.gateway.MostFrame = 100_000
		d := connect(t, far, s)
		for _, behind := range []bool{false, true} {
			far.DataFirst(behind)
			far.Dispatch("GUILD_UPDATE", map[string]any{"id": "1", "s": 7, "name": strings.Repeat(`"s":5,"t":"X"}`, 100_000)})
			far.Say("general", "ada", "still here")
			if e := d.next(t); e.Message.Text != "still here" {
				t.Errorf("got %+v", e)
			}
		}
		far.Drop(0)
		d.none(t)
		synctest.Wait() // RESUMED, which follows what was missed, has been read
		if h := d.Health(); h.Identifies != 1 || h.Resumes != 1 || len(far.Greetings()) != 2 {
			t.Errorf("health %+v, greetings %+v", h, far.Greetings())
		}
	})
}

// Servers that are not Discord send fields of other shapes. Ids are read in any shape; any other odd field is left out, and the event comes all
// the same. A field without which it would be mistaken loses it.
func TestOddShapes(t *testing.T) {
	deep := func(p map[string]any, path ...string) map[string]any {
		for _, key := range path {
			p, _ = p[key].(map[string]any)
		}
		return p
	}
	for name, c := range map[string]struct {
		change func(p map[string]any)
		want   func(e turn.Event) bool
	}{
		"roles as objects": {func(p map[string]any) {
			deep(p, "member")["roles"] = []any{map[string]any{"id": "7", "name": "readers"}, map[string]any{"id": 8}, 9}
		}, func(e turn.Event) bool {
			return slices.Equal(e.Reader.Roles, []string{"7", "8", "9"}) && e.Reader.RolesKnown
		}},
		"roles as a map": {func(p map[string]any) { deep(p, "member")["roles"] = map[string]any{"7": true} },
			func(e turn.Event) bool { return !e.Reader.RolesKnown }},
		"a nickname as an object": {func(p map[string]any) { deep(p, "member")["nick"] = map[string]any{"text": "Countess"} },
			func(e turn.Event) bool { return e.Message.Author.Name == "ada" }},
		"a mention's nickname and a mention as a word": {func(p map[string]any) {
			own := p["mentions"].([]any)[0].(map[string]any)
			own["member"], own["global_name"], p["mentions"] = map[string]any{"nick": 7}, []int{1}, []any{own, "ada"}
		}, func(e turn.Event) bool { return e.Mentioned }},
		"several at once": {func(p map[string]any) {
			p["flags"], p["mentions"], deep(p, "member")["nick"] = "none", map[string]any{}, []int{1}
		}, func(e turn.Event) bool { return e.Message.Author.Name == "ada" && e.Reader.RolesKnown }},
		"an id as an object": {func(p map[string]any) { p["guild_id"] = map[string]any{"id": "1"} }, nil},
		"a bot of odd shape": {func(p map[string]any) { deep(p, "author")["bot"] = "yes" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, far *discordtest.Server) {
				d := open(t, far, nil)
				far.Distort("MESSAGE_CREATE", c.change)
				far.Say("general", "ada", "@familiar hello")
				far.Distort("MESSAGE_CREATE", nil)
				if c.want == nil {
					d.none(t)
				} else if e := d.next(t); e.GuildID == "" || !strings.Contains(e.Message.Text, "hello") || !c.want(e) {
					t.Errorf("got %+v", e)
				}
			})
		})
	}
}

// What a server says of itself is read in odd shapes, too. What cannot be read is left out, and nobody may read it.
func TestOddServer(t *testing.T) {
	overwrite := func(kind any, of, deny string) any {
		return map[string]any{"id": of, "type": kind, "allow": "0", "deny": deny}
	}
	each(t, map[string]func(far *discordtest.Server) (reads, hides []string){
		"READY": func(far *discordtest.Server) ([]string, []string) {
			far.Distort("READY", func(p map[string]any) {
				p["guilds"] = append(p["guilds"].([]any), "hall", map[string]any{"id": []int{1}})
				p["user"].(map[string]any)["global_name"] = 7
			})
			return []string{"general"}, nil
		},
		"GUILD_CREATE": func(far *discordtest.Server) ([]string, []string) {
			far.AddChannel("hall", "books")
			far.AddChannel("hall", "vault")
			far.Distort("GUILD_CREATE", func(p map[string]any) {
				p["name"], p["preferred_locale"], p["members"] = map[string]any{"en": "Hall"}, 7, map[string]any{}
				p["roles"] = append(p["roles"].([]any), map[string]any{"id": []int{1}}, "moderators")
				for _, c := range p["channels"].([]any) {
					switch c := c.(map[string]any); c["name"] {
					case "books":
						c["topic"], c["permission_overwrites"] = map[string]any{}, []any{}
					case "vault":
						c["permission_overwrites"] = []any{overwrite("role", p["id"].(string), "1024")}
					}
				}
			})
			return []string{"general", "books"}, []string{"vault"}
		},
		"CHANNEL_UPDATE": func(far *discordtest.Server) ([]string, []string) {
			far.Distort("CHANNEL_UPDATE", func(p map[string]any) {
				p["topic"], p["permission_overwrites"] = 7, []any{overwrite(0, p["guild_id"].(string), "1024")}
			})
			return nil, []string{"general"}
		},
	}, func(t *testing.T, far *discordtest.Server, prepare func(far *discordtest.Server) (reads, hides []string)) {
		reads, hides := prepare(far)
		d := open(t, far, nil)
		far.Topic("general", "mice")
		far.Say("general", "ada", "hello")
		e := d.next(t)
		readable := d.Readable(t.Context(), e.GuildID, e.Reader, "")
		for _, name := range slices.Concat(reads, hides) {
			if readable[far.ID(name)] != slices.Contains(reads, name) {
				t.Errorf("%s is readable: %v", name, readable[far.ID(name)])
			}
		}
	})
}

// While the bot takes no events, it is told of those that wait too long, each once.
func TestOverdue(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		var mu sync.Mutex
		late := map[string]time.Duration{} // guarded by mu
		d := open(t, far, func(c *Config) {
			c.Overdue = func(events []turn.Event) {
				mu.Lock()
				defer mu.Unlock()
				for _, e := range events {
					if late[e.Message.Text] > 0 {
						t.Errorf("%s twice", e.Message.Text)
					}
					late[e.Message.Text] = time.Since(e.Message.At)
				}
			}
		})
		for _, text := range []string{"1", "2", "3"} {
			far.Say("general", "ada", text)
			time.Sleep(3 * time.Second)
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for _, text := range []string{"1", "2", "3"} {
			if late[text] < 6*time.Second || late[text] > 8*time.Second {
				t.Errorf("%s: told of after %v", text, late[text])
			}
			if e := d.next(t); e.Message.Text != text {
				t.Errorf("got %+v, want %s", e, text)
			}
		}
	})
}
