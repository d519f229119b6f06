package gate

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/postgres"
	"familiar/internal/test/wait"
)

func TestAccess(t *testing.T) {
	ids := func(all ...string) map[string]bool {
		set := map[string]bool{}
		for _, id := range all {
			set[id] = true
		}
		return set
	}
	message := turn.Event{GuildID: "hall", ParentID: "general", Message: turn.Message{ChannelID: "thread", Author: turn.Author{ID: "ana"}}, Reader: turn.Reader{ID: "ana", Roles: []string{"staff"}}}
	order := turn.Event{GuildID: "hall", Message: turn.Message{ChannelID: "general"}, Command: &turn.Command{By: turn.Author{ID: "ana"}}}
	for _, c := range []struct {
		access         Access
		message, order bool
	}{
		{Access{}, true, true},
		{Access{Allow: ids("hall")}, true, true},
		{Access{Allow: ids("other")}, false, false},
		{Access{Allow: ids("staff")}, true, false},
		{Access{Allow: ids("hall"), Deny: ids("general")}, false, false},
		{Access{Deny: ids("ana")}, false, false},
		{Access{Deny: ids("staff")}, false, true},
		{Access{Deny: ids("thread")}, false, true},
		{Access{Allow: ids("")}, false, false},
	} {
		if got := c.access.Admits(message); got != c.message {
			t.Errorf("%v admits the message: %t", c.access, got)
		}
		if got := c.access.Admits(order); got != c.order {
			t.Errorf("%v admits the command: %t", c.access, got)
		}
	}
}

func TestParseQuotas(t *testing.T) {
	all, err := ParseQuotas(" person 50 turns,server 2000000 tokens, all 0.5 dollars,")
	if err != nil || len(all) != 3 || all[2] != (Quota{"all", 0.5, "dollars"}) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, wrong := range []string{"person 50", "50 turns", "person x turns", "person -1 turns", "person 0 turns", "person NaN turns", "everybody 5 turns", "person 5 apples", "person 1e300 turns", "person 5 turns please"} {
		if all, err := ParseQuotas(wrong); err == nil {
			t.Errorf("%q: %+v", wrong, all)
		}
	}
}

func TestRates(t *testing.T) {
	var r rates
	morning := time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)
	for i, want := range []struct {
		after          time.Duration
		allowed, first bool
	}{
		{0, true, false},
		{time.Second, true, false},
		{2 * time.Second, false, true},
		{3 * time.Second, false, false},
		{time.Minute, true, false},
		{time.Minute + time.Millisecond, false, false}, // the earlier refusal still holds
		{3 * time.Minute, true, false},
	} {
		allowed, first := r.allow("ana", 2, morning.Add(want.after))
		if allowed != want.allowed || first != want.first {
			t.Errorf("%d: %v, %v", i, allowed, first)
		}
	}
	if allowed, _ := r.allow("ben", 2, morning.Add(2*time.Second)); !allowed {
		t.Error("ben pays for ana")
	}
}

// join opens a gate of one process of several.
func join(t *testing.T, place string) (g *Gate, leave func()) {
	t.Helper()
	db, err := store.Share(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Leases.Agree(t.Context(), func(context.Context, int) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { db.Leases.Run(ctx) })
	leave = sync.OnceFunc(func() {
		stop()
		running.Wait()
	})
	t.Cleanup(func() {
		leave()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Gate{Store: db, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Quotas: []Quota{{Scope: store.OfAll, Most: 3, Of: Turns}}, PerPerson: 4}, leave
}

// TestProcessesShareQuotas has three processes take turns of one quota. The parts that a process held are free once it has left.
func TestProcessesShareQuotas(t *testing.T) {
	postgres.Needed(t)
	place := postgres.Place(t, t.TempDir())
	a, _ := join(t, place)
	b, leave := join(t, place)
	c, _ := join(t, place)
	for _, g := range []*Gate{a, b, c} {
		if !wait.Within(5*time.Second, func() bool {
			fleet, err := g.Store.Leases.Fleet(t.Context())
			return err == nil && len(fleet.Alive()) == 3 && g.Store.Leases.Live() == 3
		}) {
			t.Fatal("the processes do not know each other")
		}
	}
	pass := func(g *Gate, person string, want Why) *Pass {
		t.Helper()
		p, no := g.Pass(t.Context(), turn.Event{GuildID: "hall", Message: turn.Message{ChannelID: "general", Author: turn.Author{ID: person}}}, Passage{Rated: true, Tokens: 10})
		got := Why("")
		if no != nil {
			got = no.Why
		}
		if got != want {
			t.Fatalf("refused because %q, not %q", got, want)
		}
		return p
	}
	first := pass(a, "ana", "")
	pass(b, "ana", "")
	pass(c, "ana", "")
	pass(a, "ben", UsedUp)
	pass(b, "ben", UsedUp)
	first.GiveBack()
	first.GiveBack()
	counted := pass(c, "ana", "")
	pass(a, "ben", UsedUp)
	record := &turn.Trace{Request: turn.Request{Message: turn.Message{Author: turn.Author{ID: "ana"}}, ChannelID: "general", GuildID: "hall"}}
	if err := c.Store.Write(t.Context(), c.Counted(record, counted)); err != nil || c.Held() != 1 {
		t.Fatalf("%d are held, %v", c.Held(), err)
	}
	pass(a, "ben", UsedUp) // it is counted, and not free
	leave()
	pass(a, "ana", TooOften) // and gives its turn back
	pass(a, "ben", "")
	pass(c, "ben", UsedUp)
}

func TestTurnsInARow(t *testing.T) {
	t.Parallel()
	r := Rounds{}
	for i, c := range []struct {
		proxied, late bool
		asks, granted int
	}{
		{false, false, 1, 1}, {true, false, 1, 1}, {true, false, 1, 0}, {true, false, 2, 0},
		{false, false, 0, 0}, {true, false, 2, 2}, {true, false, 1, 0}, // a person wrote in between
		{false, false, 2, 2}, {false, false, 2, 2}, // people ask as often as they like
		{true, true, 1, 1}, {true, true, 1, 1}, {true, true, 1, 1}, // the originals came while the bot was away
	} {
		e := turn.Event{Proxied: c.proxied, Late: c.late, Message: turn.Message{ChannelID: "general"}}
		if got := max(0, r.Grant(e, c.asks)); got != c.granted {
			t.Errorf("message %d: %d turns, want %d", i, got, c.granted)
		}
	}
}
