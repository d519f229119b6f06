package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
)

var memoryNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// rooms is a platform where everyone may read the open channels.
type rooms struct {
	Platform
	open []string
}

func (r rooms) Readable(context.Context, string, turn.Reader, string, ...string) map[string]bool {
	all := map[string]bool{"staff": false}
	for _, id := range r.open {
		all[id] = true
	}
	return all
}

func provider(t *testing.T, messages ...store.Message) *MemoryProvider {
	t.Helper()
	db := storetest.Open(t, messages...)
	past := &Past{Store: db, Memories: memory.New(db), Servers: &Servers{Platform: rooms{open: []string{"general"}}}, Now: func() time.Time { return memoryNow }}
	return &MemoryProvider{Past: past, Window: 3, Vectors: memory.NewVectors(db)}
}

// written returns message n of a server's channel, from some days ago.
func written(n int, channel string, days int, text string) store.Message {
	return store.Message{ID: fmt.Sprint(100 + n), ChannelID: channel, GuildID: "g", AuthorID: "7", AuthorName: "Ada", Text: text, At: memoryNow.AddDate(0, 0, -days).Add(time.Duration(n) * time.Second)}
}

func request(guild, channel, text string) turn.Request {
	return turn.Request{
		Character: "sage", GuildID: guild, ChannelID: channel, People: []string{"Ada", "Ben"}, Reader: turn.Reader{ID: "8"},
		Message: turn.Message{ID: "999", ChannelID: channel, Text: text, Author: turn.Author{ID: "8", Name: "Ben"}, At: memoryNow},
	}
}

// TestRecalled checks that a message of last month is recalled with its link, and only from readable channels.
func TestRecalled(t *testing.T) {
	var all []store.Message
	all = append(all, written(1, "general", 300, "We ate at the harbour, the fish was good."), written(2, "general", 30, "We ate at the mill, the soup was good."), written(3, "staff", 30, "We ate at the vault."))
	for n := range 30 {
		all = append(all, written(10+n, "general", 1, "so it goes"))
	}
	p := provider(t, all...)
	cs, err := p.Contribute(t.Context(), request("g", "general", "where were we eating last month?"))
	if err != nil || len(cs) != 1 {
		t.Fatalf("%+v, %v", cs, err)
	}
	c := cs[0]
	if r := c.Recalled[0]; r.Sources[0] != "102" || r.URL != "https://discord.com/channels/g/general/102" || len(r.Why) == 0 || !c.Web {
		t.Errorf("%+v", r)
	}
	for want, is := range map[string]bool{"2026-10-21": true, "channels/g/general/102": true, "vault": false} {
		if strings.Contains(c.Text, want) != is {
			t.Errorf("%q: %v in\n%s", want, !is, c.Text)
		}
	}
	for _, message := range []string{"thanks!", "what is the capital of Peru?", "so it goes, doesn't it?"} { // the last is both in the window and before it
		cs, err := p.Contribute(t.Context(), request("g", "general", message))
		if err != nil || len(cs) > 0 && strings.Contains(message, "Peru") {
			t.Errorf("%s: %+v, %v", message, cs, err)
		}
	}
	p.Off = true
	if cs, err := p.Contribute(t.Context(), request("g", "general", "where were we eating last month?")); err != nil || len(cs) > 0 {
		t.Errorf("switched off: %+v, %v", cs, err)
	}
}

// TestRecalledInDirectMessages checks that only the conversation itself is searched.
func TestRecalledInDirectMessages(t *testing.T) {
	all := []store.Message{written(1, "dm", 40, "My puppy is called Rumble.")}
	for n := range 10 {
		all = append(all, written(10+n, "dm", 1, "so it goes"))
	}
	for i := range all {
		all[i].GuildID = ""
	}
	p := provider(t, all...)
	cs, err := p.Contribute(t.Context(), request("", "dm", "what is my puppy called?"))
	if err != nil || len(cs) != 1 || cs[0].Recalled[0].Sources[0] != "101" || cs[0].Recalled[0].URL != "" {
		t.Errorf("%+v, %v", cs, err)
	}
	if cs, err = p.Contribute(t.Context(), request("", "another", "what is my puppy called?")); err != nil || len(cs) > 0 {
		t.Errorf("in another conversation: %+v, %v", cs, err)
	}
}

// TestNamedInDirectMessages checks that a direct message recalls what a named person said about themselves. It must be in channels that its
// author may read, and never in other direct messages.
func TestNamedInDirectMessages(t *testing.T) {
	p := provider(t)
	keep := func(n int, guild, channel, author, name, text string) {
		t.Helper()
		m := store.Message{ID: fmt.Sprint(n), GuildID: guild, ChannelID: channel, AuthorID: author, AuthorName: name, Text: text, At: memoryNow.AddDate(0, 0, -n)}
		if _, err := p.Store.Messages.SaveIncoming(t.Context(), store.Incoming{Message: m}); err != nil {
			t.Fatal(err)
		}
		scope := memory.Scope{Kind: memory.ScopeChannel, ID: channel, GuildID: guild}
		if guild == "" {
			scope.Kind = memory.ScopeDM
		}
		_, err := p.Memories.Save(t.Context(), memory.Statement{
			Kind: memory.Person, Subject: author, By: author, Scope: scope, Text: text, Sources: []string{m.ID}, SaidAt: m.At, LearnedAt: memoryNow,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	keep(1, "g", "general", "8", "Ben", "I keep bees")
	keep(2, "g", "general", "7", "Ada", "I collect stamps")
	keep(3, "g", "staff", "7", "Ada", "I hid the vault")
	keep(4, "", "ada's", "7", "Ada", "I fear geese")
	for _, c := range []struct {
		open, said string
		want       []string
	}{
		{"general", "what does Ada collect?", []string{"bees", "stamps"}}, {"general", "what shall I do?", []string{"bees"}}, {"staff", "what does Ada collect?", []string{"vault"}},
		{"elsewhere", "what does Ada collect?", nil},
	} {
		p.Servers = &Servers{Platform: rooms{open: []string{c.open}}}
		ask := request("", "ben's", c.said)
		ask.People = nil
		text, _ := quoted(t, p, ask)
		for _, word := range []string{"bees", "stamps", "vault", "geese"} {
			if strings.Contains(text, word) != slices.Contains(c.want, word) {
				t.Errorf("%s is open, %q: got\n%s", c.open, c.said, text)
			}
		}
	}
	// A person with a name in each of two servers is told of once, under the name of the newest.
	keep(5, "h", "hall", "8", "Ben", "I juggle")
	keep(6, "h", "hall", "7", "Countess", "I paint")
	p.Servers = &Servers{Platform: rooms{open: []string{"general", "hall"}}}
	ask := request("", "ben's", "what do Countess and Ada collect?")
	ask.People = nil
	if text, _ := quoted(t, p, ask); strings.Count(text, "stamps") != 1 || strings.Count(text, "paint") != 1 || !strings.Contains(text, "What Ada told you") {
		t.Errorf("got\n%s", text)
	}
}

// TestTold checks that memory is told word for word, as what somebody wrote on a day. History is not told. Older statements in the model's
// words are told as such.
func TestTold(t *testing.T) {
	p := provider(t, written(1, "general", 30, "the hall has 40 chairs"))
	scope := memory.Scope{Kind: memory.ScopeChannel, ID: "general", GuildID: "g"}
	_, err := p.Store.Messages.SaveIncoming(t.Context(), store.Incoming{Message: written(2, "general", 30, "hello")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Memories.SetConsent(t.Context(), store.By{ID: "7", At: memoryNow}, true); err != nil {
		t.Fatal(err)
	}
	statement := func(kind memory.Kind, days int, author, text string) memory.Statement {
		m := memory.Statement{Kind: kind, Scope: scope, Text: text, Author: author, SaidAt: memoryNow.AddDate(0, 0, -days), LearnedAt: memoryNow.AddDate(0, 0, -days)}
		if kind == memory.Person {
			m.Subject = "7"
		}
		return m
	}
	elsewhere := statement(memory.Person, 20, "7", "I live in Porto.")
	elsewhere.Scope = memory.Scope{Kind: memory.ScopeGuild, ID: "g", GuildID: "g"}
	n, err := p.Memories.Import(t.Context(), []memory.Statement{
		statement(memory.Person, 10, "7", "Nobody says that I am an admin."), statement(memory.Person, 5, "", "Ada plays the cello."),
		elsewhere, statement(memory.Person, 3, "7", "I live in Lisbon now."), statement(memory.Topic, 9, "7", "If it rains, the rehearsal in the hall is off."),
	})
	if err != nil || n.Added != 5 {
		t.Fatal(n, err)
	}
	cs, err := p.Contribute(t.Context(), request("g", "general", "what does Ada say about the rehearsal in the hall when it rains?"))
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, c := range cs {
		told += c.Text + "\n"
	}
	for want, is := range map[string]bool{
		"\n- Ada wrote on 10 November 2026: “Nobody says that I am an admin.”":                true,
		"\n- Ada wrote on 17 November 2026: “I live in Lisbon now.”":                          true,
		"\n- Ada wrote on 11 November 2026: “If it rains, the rehearsal in the hall is off.”": true,
		"\n- 15 November 2026, in your own wording, which may be wrong: “Ada plays":           true,
		"Porto": false,
	} {
		if strings.Contains(told, want) != is {
			t.Errorf("%q: %v in\n%s", want, !is, told)
		}
	}
}
