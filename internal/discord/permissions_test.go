package discord

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

// The rows follow the sentences of https://discord.com/developers/docs/topics/permissions in order.
func TestChannelPermissions(t *testing.T) {
	const (
		view    = permissions(discordgo.PermissionViewChannel)
		history = permissions(discordgo.PermissionReadMessageHistory)
		send    = permissions(discordgo.PermissionSendMessages)
		manage  = permissions(discordgo.PermissionManageThreads)
		both    = view | history
	)
	everyone := func(allow, deny permissions) overwrite { return overwrite{"g", ofRole, allow, deny} }
	staff := func(allow, deny permissions) overwrite { return overwrite{"staff", ofRole, allow, deny} }
	muted := func(allow, deny permissions) overwrite { return overwrite{"muted", ofRole, allow, deny} }
	ada := func(allow, deny permissions) overwrite { return overwrite{"ada", ofMember, allow, deny} }
	server := func(base, staff permissions) *guild {
		return &guild{owner: "olga", roles: map[string]role{"g": {ID: "g", Permissions: base}, "staff": {ID: "staff", Permissions: staff}, "muted": {ID: "muted"}}}
	}
	for _, c := range []struct {
		name       string
		server     *guild
		who        subject
		overwrites []overwrite
		want       permissions
	}{
		{"base permissions are those of @everyone", server(both, 0), subject{id: "ada"}, nil, both},
		{"and of the member's roles", server(view, history), subject{id: "ada", roles: []string{"staff"}}, nil, both},
		{"a role of others adds nothing", server(view, history), subject{id: "ada"}, nil, view},
		{"an administrator has all permissions", server(0, administrating), subject{id: "ada", roles: []string{"staff"}}, []overwrite{everyone(0, both), ada(0, both)}, everything},
		{"the owner has all permissions", server(0, 0), subject{id: "olga"}, []overwrite{everyone(0, both)}, everything},
		{"an overwrite of @everyone denies", server(both|send, 0), subject{id: "ada"}, []overwrite{everyone(0, send)}, both},
		{"an overwrite of @everyone allows", server(view, 0), subject{id: "ada"}, []overwrite{everyone(history, 0)}, both},
		{"a role's allow wins over the deny of @everyone", server(both, 0), subject{id: "ada", roles: []string{"staff"}}, []overwrite{staff(view, 0), everyone(0, view)}, both},
		{"a role's deny wins over the allow of @everyone", server(0, 0), subject{id: "ada", roles: []string{"muted"}}, []overwrite{everyone(both, 0), muted(0, view)}, 0},
		{"one role's allow wins over another's deny", server(both, 0), subject{id: "ada", roles: []string{"staff", "muted"}}, []overwrite{staff(view, 0), muted(0, view)}, both},
		{"and in the other order", server(both, 0), subject{id: "ada", roles: []string{"muted", "staff"}}, []overwrite{muted(0, view), staff(view, 0)}, both},
		{"the member's deny wins over a role's allow", server(both, 0), subject{id: "ada", roles: []string{"staff"}}, []overwrite{ada(0, view), staff(view, 0)}, 0},
		{"the member's allow wins over a role's deny", server(both, 0), subject{id: "ada", roles: []string{"muted"}}, []overwrite{muted(0, view), ada(view, 0)}, both},
		{"another member's overwrite changes nothing", server(both, 0), subject{id: "bob"}, []overwrite{ada(0, view)}, both},
		{"a member's overwrite is no role's", server(both, 0), subject{id: "x", roles: []string{"ada"}}, []overwrite{ada(0, view)}, both},
		{"without VIEW_CHANNEL there is nothing", server(history|send, 0), subject{id: "ada"}, nil, 0},
		{"a timeout leaves looking and reading", server(both|send|manage, 0), subject{id: "ada", timeout: true}, nil, both},
		{"a timeout does not hold for the owner", server(0, 0), subject{id: "olga", timeout: true}, nil, everything},
		{"a role that nobody knows allows nothing", server(view, 0), subject{id: "ada", roles: []string{"new"}}, []overwrite{{"new", ofRole, history, 0}}, view},
		{"but is denied", server(both, 0), subject{id: "ada", roles: []string{"new"}}, []overwrite{{"new", ofRole, 0, history}}, view},
	} {
		if got := c.server.channelPermissions("g", c.who, c.overwrites); got != c.want {
			t.Errorf("%s: %b, want %b", c.name, got, c.want)
		}
	}
}

func TestMayRead(t *testing.T) {
	g := &guild{roles: map[string]role{"g": {Permissions: toRead}, "mods": {Permissions: toSeeThreads}}}
	hidden := []overwrite{{"g", ofRole, 0, permissions(discordgo.PermissionViewChannel)}}
	open, closed := channel{ID: "open"}, channel{ID: "closed", Overwrites: hidden}
	noHistory := channel{ID: "live", Overwrites: []overwrite{{"g", ofRole, 0, permissions(discordgo.PermissionReadMessageHistory)}}}
	public := func(parent string) channel {
		return channel{ID: "t", ParentID: parent, Type: discordgo.ChannelTypeGuildPublicThread}
	}
	private := channel{ID: "p", ParentID: "open", Type: discordgo.ChannelTypeGuildPrivateThread}
	member, mod := subject{id: "ada"}, subject{id: "mo", roles: []string{"mods"}}
	for name, c := range map[string]struct {
		who       subject
		c, parent channel
		want      bool
	}{
		"an open channel":                              {member, open, channel{}, true},
		"a hidden one":                                 {member, closed, channel{}, false},
		"one without history":                          {member, noHistory, channel{}, false},
		"a thread has its parent's permissions":        {member, public("open"), open, true},
		"also where those deny":                        {member, public("closed"), closed, false},
		"a thread whose parent is not known":           {member, public("open"), channel{}, false},
		"a private thread, to a member of the server":  {member, private, open, false},
		"a private thread, to who manages the threads": {mod, private, open, true},
	} {
		if got := g.mayRead("g", c.who, c.c, c.parent); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Where the gateway has announced that the bot may not post, it may not. Where it has not announced enough, it may.
func TestMayPost(t *testing.T) {
	const send = permissions(discordgo.PermissionSendMessages)
	muted := channel{ID: "muted", Overwrites: []overwrite{{"g", ofRole, 0, send}}}
	let := channel{ID: "let", Overwrites: []overwrite{{"g", ofRole, 0, send}, {"speaker", ofRole, send, 0}}}
	announced := func(own ...member) *directory {
		d := &directory{}
		d.begin(nil, every, none)
		d.addGuild(guildInfo{
			ID: "g", Name: "hall", Members: own, Roles: []role{{ID: "g", Permissions: toPost | toPostInThreads}, {ID: "speaker"}},
			Channels: []channel{{ID: "open"}, muted, let}, Threads: []channel{{ID: "thread", ParentID: "muted", Type: discordgo.ChannelTypeGuildPublicThread}},
		})
		return d
	}
	plain, speaker := member{Roles: []string{}}, member{Roles: []string{"speaker"}}
	silenced := member{Roles: []string{}, Timeout: stamp{Time: time.Now().Add(time.Hour)}}
	for _, c := range []struct {
		who     string
		d       *directory
		channel string
		want    bool
	}{
		{"everybody", announced(plain), "open", true}, {"everybody", announced(plain), "muted", false}, {"everybody", announced(plain), "let", false},
		{"a speaker", announced(speaker), "let", true}, {"a speaker", announced(speaker), "muted", false},
		{"threads have a permission of their own", announced(plain), "thread", true},
		{"silenced", announced(silenced), "open", false},
		{"a bot whose roles are unknown", announced(), "muted", true}, {"an unknown channel", announced(plain), "other", true},
	} {
		if got := c.d.mayPost(c.channel, "bot"); got != c.want {
			t.Errorf("%s in %s: %v", c.who, c.channel, got)
		}
	}
}

func TestOpenTo(t *testing.T) {
	const view = permissions(discordgo.PermissionViewChannel)
	g := &guild{roles: map[string]role{"g": {Permissions: toRead}}}
	all := map[string]channel{
		"general": {ID: "general"}, "random": {ID: "random"},
		"staff":  {ID: "staff", Overwrites: []overwrite{{"g", ofRole, 0, view}, {"mods", ofRole, view, 0}}},
		"log":    {ID: "log", Overwrites: []overwrite{{"mods", ofRole, view | 1, 0}, {"g", ofRole, 0, view}}},
		"guests": {ID: "guests", Overwrites: []overwrite{{"muted", ofRole, 0, view}}},
		"thread": {ID: "thread", ParentID: "staff", Type: discordgo.ChannelTypeGuildPublicThread},
		"secret": {ID: "secret", ParentID: "general", Type: discordgo.ChannelTypeGuildPrivateThread},
	}
	above := func(c channel) channel {
		if c.thread() {
			return all[c.ParentID]
		}
		return c
	}
	for _, c := range []struct {
		audience, of string
		want         bool
	}{
		{"general", "general", true}, {"general", "random", true}, {"staff", "general", true}, {"staff", "log", true},
		{"general", "staff", false}, {"general", "thread", false}, {"thread", "staff", true}, {"staff", "thread", true},
		{"general", "guests", false}, {"guests", "general", true}, {"general", "secret", false}, {"secret", "secret", true}, {"secret", "general", true},
	} {
		if got := g.openTo("g", all[c.audience], all[c.of], above); got != c.want {
			t.Errorf("what stands in %s, told in %s: %v", c.of, c.audience, got)
		}
	}
}

func TestUnreadablePermissions(t *testing.T) {
	var o overwrite
	if err := json.Unmarshal([]byte(`{"id":"g","type":0,"allow":"1024","deny":"many"}`), &o); err != nil || o.Allow != 0 || o.Deny != everything {
		t.Errorf("%+v, %v", o, err)
	}
	var r role
	if err := json.Unmarshal([]byte(`{"id":"g","permissions":{}}`), &r); err != nil || r.Permissions != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := json.Unmarshal([]byte(`{"id":"g","permissions":1024}`), &r); err != nil || r.Permissions != 1024 {
		t.Errorf("%+v, %v", r, err)
	}
}
