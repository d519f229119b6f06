package gate

import (
	"testing"
	"time"

	"familiar/internal/context/turn"
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
