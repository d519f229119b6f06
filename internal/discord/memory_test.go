package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/bulk"
	"familiar/internal/test/storetest"
)

// spot is a channel as the oracle sees it. The readers are written down, and not computed from overwrites.
type spot struct {
	id, guild, parent string
	role              string // who has it may read; empty: everybody
	hiding            bool   // it is hidden by a role's deny, not by @everyone's
	private           bool   // a private thread
}

// rooms are two servers whose channels and people move. They answer for Discord through the directory that the gateway fills.
type rooms struct {
	names  directory
	places map[string]*spot
	roles  map[string][]string // by person
	people []string
}

func (r *rooms) Readable(_ context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool {
	return r.names.readable(guildID, subject{id: who.ID, roles: r.roles[who.ID]}, audience, channels)
}

// may reports whether a person may read a channel, by what is written down.
func (r *rooms) may(person, channelID string) bool {
	p := r.places[channelID]
	if p.parent != "" {
		return !p.private && r.may(person, p.parent)
	}
	has := slices.Contains(r.roles[person], p.role)
	return p.role == "" || has != p.hiding
}

// announce tells the directory what is written down.
func (r *rooms) announce() {
	const view = permissions(discordgo.PermissionViewChannel)
	r.names.begin([]guildInfo{{ID: "g"}, {ID: "h"}}, every, none)
	for _, id := range []string{"g", "h"} {
		g := guildInfo{ID: id, Name: id, Roles: []role{{ID: id, Permissions: toRead}, {ID: "red"}, {ID: "blue"}}}
		for _, p := range r.places {
			c := channel{ID: p.id, ParentID: p.parent}
			switch {
			case p.guild != id:
				continue
			case p.parent != "" && p.private:
				c.Type = discordgo.ChannelTypeGuildPrivateThread
			case p.parent != "":
				c.Type = discordgo.ChannelTypeGuildPublicThread
			case p.role != "" && p.hiding:
				c.Overwrites = []overwrite{{p.role, ofRole, 0, view}}
			case p.role != "":
				c.Overwrites = []overwrite{{id, ofRole, 0, view}, {p.role, ofRole, view, 0}}
			}
			g.Channels = append(g.Channels, c)
		}
		r.names.addGuild(g)
	}
}

// move changes a channel or a person.
func (r *rooms) move(random *rand.Rand) {
	some := []string{"", "red", "blue"}
	if random.IntN(2) == 0 {
		person := r.people[random.IntN(len(r.people))]
		r.roles[person] = slices.DeleteFunc([]string{"red", "blue"}, func(string) bool { return random.IntN(2) == 0 })
	} else {
		p := r.places[r.anyChannel(random)]
		p.role, p.hiding = some[random.IntN(3)], random.IntN(3) == 0
	}
	r.announce()
}

func (r *rooms) anyChannel(random *rand.Rand) string {
	return fmt.Sprintf("c%d", random.IntN(len(r.places)))
}

// said is a statement that was remembered, and where.
type said struct {
	text, person string
	scope        memory.Scope
}

// TestMemoryStaysInItsRooms moves people and channels at random. Nothing said in a direct message may be read for a server or for another
// direct message. Nothing said in a channel may be read for a person who may not read it at that moment. Nor may it be read where such a
// person listens. What everybody may read must be read.
func TestMemoryStaysInItsRooms(t *testing.T) {
	for seed := range uint64(bulk.Of(1, 3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, rand.New(rand.NewPCG(seed, 14))) })
	}
}

func play(t *testing.T, random *rand.Rand) {
	db, ctx := memory.New(storetest.Open(t)), t.Context()
	r := &rooms{places: map[string]*spot{}, roles: map[string][]string{}, people: []string{"ada", "bob", "cyd", "dan"}}
	for i := range 10 {
		p := &spot{id: fmt.Sprintf("c%d", i), guild: []string{"g", "h"}[i%2]}
		if i >= 7 {
			p.parent, p.private = fmt.Sprintf("c%d", i-6), i == 9
		}
		r.places[p.id] = p
	}
	r.announce()
	all := map[int64]said{}
	read, public := 0, 0
	for step := range 100 {
		person := r.people[random.IntN(len(r.people))]
		switch random.IntN(5) {
		case 0:
			r.move(random)
		case 1, 2:
			s := said{text: fmt.Sprint("thing ", step), person: person, scope: memory.Scope{Kind: memory.ScopeDM, ID: "dm-" + person}}
			if c := r.places[r.anyChannel(random)]; random.IntN(3) > 0 {
				s.scope = memory.Scope{Kind: memory.ScopeChannel, ID: c.id, GuildID: c.guild}
			}
			all[keep(t, db, s, fmt.Sprint("m", step))] = s
		default:
			request := turn.Request{ChannelID: "dm-" + person, Reader: turn.Reader{ID: person}}
			if c := r.places[r.anyChannel(random)]; random.IntN(3) > 0 {
				request.ChannelID, request.GuildID, request.Private = c.id, c.guild, random.IntN(3) == 0
			}
			w := memory.FilterFor(ctx, db, r, request)
			found := everyRead(t, db, w, all)
			for _, m := range found {
				read++
				if why := r.leak(all[m.ID], request); why != "" {
					t.Errorf("step %d: %q of %+v is read for %s in %q (private: %v): %s", step, m.Text, m.Scope, person, request.ChannelID, request.Private, why)
				}
			}
			public += r.heard(t, found, all, request)
		}
	}
	if read == 0 || public == 0 {
		t.Errorf("%d statements were read, %d of them from open channels: that shows nothing", read, public)
	}
}

func keep(t *testing.T, db *memory.Store, s said, id string) int64 {
	t.Helper()
	at := time.Unix(1_700_000_000, 0)
	err := db.DB.Messages.Save(t.Context(), store.Message{ID: id, ChannelID: s.scope.ID, GuildID: s.scope.GuildID, AuthorID: s.person, Text: s.text, At: at})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := db.Save(t.Context(), memory.Statement{Kind: memory.Person, Subject: s.person, By: s.person, Scope: s.scope, Text: s.text, Sources: []string{id}, SaidAt: at, LearnedAt: at})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// everyRead reads in every way that there is.
func everyRead(t *testing.T, db *memory.Store, w memory.ScopeFilter, all map[int64]said) (found []memory.Statement) {
	t.Helper()
	about, err := db.About(t.Context(), w, []string{"ada", "bob", "cyd", "dan"})
	listed, err2 := db.List(t.Context(), w, memory.List{})
	searched, err3 := db.Search(t.Context(), w, "thing", 1000)
	if err := errors.Join(err, err2, err3); err != nil || len(about) != len(listed) || len(about) != len(searched) {
		t.Fatalf("%d about people, %d listed, %d found: %v", len(about), len(listed), len(searched), err)
	}
	for id := range all {
		if m, err := db.Get(t.Context(), w, id); err == nil {
			found = append(found, m)
		}
	}
	if len(found) != len(about) {
		t.Fatalf("%d read one by one, %d at once", len(found), len(about))
	}
	return found
}

// leak says why a statement should not have been read.
func (r *rooms) leak(s said, q turn.Request) string {
	switch {
	case s.scope.Kind == memory.ScopeDM && q.GuildID != "":
		return "it was said in a direct message"
	case s.scope.Kind == memory.ScopeDM && s.scope.ID != q.ChannelID:
		return "it was said in another direct message"
	case s.scope.Kind == memory.ScopeDM:
		return ""
	case q.GuildID != "" && s.scope.GuildID != q.GuildID:
		return "it was said in another server"
	case s.scope.ID == q.ChannelID && r.places[s.scope.ID].private: // who asks there is a member
		return ""
	case !r.may(q.Reader.ID, s.scope.ID):
		return "the asker may not read that channel"
	}
	for _, other := range r.people {
		if q.GuildID != "" && !q.Private && r.may(other, q.ChannelID) && !r.may(other, s.scope.ID) {
			return other + " may not read that channel, and listens"
		}
	}
	return ""
}

// heard checks that what is in channels open to everybody is among what is read in their server. It counts it.
func (r *rooms) heard(t *testing.T, found []memory.Statement, all map[int64]said, q turn.Request) (n int) {
	t.Helper()
	for id, s := range all {
		p := r.places[s.scope.ID]
		if p == nil || q.GuildID != p.guild || p.parent != "" || p.role != "" {
			continue
		}
		n++
		if !slices.ContainsFunc(found, func(m memory.Statement) bool { return m.ID == id }) {
			t.Errorf("%q of the open channel %s is not read in %s", s.text, p.id, q.ChannelID)
		}
	}
	return n
}
