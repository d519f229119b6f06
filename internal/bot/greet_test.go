package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/providers/recall"
	"familiar/internal/store"
)

// members may all read every channel, except those who left.
type members struct {
	recall.Platform
	left map[string]bool
}

func (m members) Readable(_ context.Context, _ string, who turn.Reader, _ string, channels ...string) map[string]bool {
	all := map[string]bool{}
	for _, id := range channels {
		all[id] = !m.left[who.ID]
	}
	return all
}

// greeted runs a bot for three days, from a midnight of 2000, in a channel where greetings are on. It returns when it posted what. Somebody wrote there at
// these times on each of so many days before.
func greeted(t *testing.T, script string, days int, at time.Duration, prepare func(b *Bot, say func(at time.Duration, who, text string), told func(who, words string))) (posts []string) {
	servers := &recall.Servers{Platform: members{left: map[string]bool{"left": true}}}
	livingIn(t, servers, script, func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		ctx := context.Background()
		n := 0
		say := func(at time.Duration, who, text string) {
			n++
			m := store.Message{ID: fmt.Sprint("m", n), ChannelID: "general", GuildID: "hall", AuthorID: who, AuthorName: strings.ToUpper(who), Text: text, At: door.start.Add(at)}
			if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: m}); err != nil {
				t.Fatal(err)
			}
		}
		for day := range days {
			say(at-time.Duration(day+1)*24*time.Hour, "ana", "what a lovely rainy day that is")
		}
		prepare(b, say, func(who, words string) {
			say(-time.Hour, who, words)
			_, err := b.Memories.Save(ctx, memory.Statement{Kind: memory.Person, Scope: memory.Scope{Kind: memory.ScopeChannel, ID: "general", GuildID: "hall"}, Subject: who, Author: who, By: who,
				Text: words, Sources: []string{fmt.Sprint("m", n)}, SaidAt: door.start.Add(-time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
		})
		if err := b.Store.Settings.ChangeConduct(ctx, "general", "hall", store.By{}, func(c *store.Conduct) { c.Greets = true }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		for _, c := range door.all() {
			if c.method != "typing" {
				posts = append(posts, fmt.Sprintf("%v %s", c.at.Truncate(time.Minute), c.post.Text))
			}
		}
	})
	return posts
}

func TestGreetsWhenPeopleUsuallyBegin(t *testing.T) {
	t.Parallel()
	const morning = "say Good morning, mice.\n"
	nothing := func(*Bot, func(time.Duration, string, string), func(string, string)) {}
	for name, tt := range map[string]struct {
		script  string
		days    int
		at      time.Duration
		prepare func(*Bot, func(time.Duration, string, string), func(string, string))
		want    []string
	}{
		"once, as long as nobody answers": {morning, 9, 8*time.Hour + 20*time.Minute, nothing, []string{"8h20m0s Good morning, mice."}},
		"each day on which somebody wrote": {morning, 9, 8 * time.Hour, func(_ *Bot, say func(time.Duration, string, string), _ func(string, string)) {
			say(12*time.Hour, "ben", "good day")
			say(36*time.Hour, "ben", "good day")
		}, []string{"8h0m0s Good morning, mice.", "32h0m0s Good morning, mice.", "56h0m0s Good morning, mice."}},
		"nobody has a habit":    {morning, 4, 8 * time.Hour, nothing, nil},
		"the habit is at night": {morning, 9, 23 * time.Hour, nothing, nil},
		"it was done before": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			if first, err := b.Store.Claims.ClaimIn(context.Background(), "hall", "greeting/general/2000-01-01"); !first || err != nil {
				t.Error(first, err)
			}
		}, []string{"32h0m0s Good morning, mice."}},
		"it is paused": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			if err := b.Store.Settings.SwitchOff(context.Background(), store.Switch{Place: "general", Kind: store.Answers, GuildID: "hall"}); err != nil {
				t.Error(err)
			}
		}, nil},
		"the quota is used up": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			b.Gate.Quotas = []gate.Quota{{Scope: store.OfChannel, Most: 0, Of: gate.Turns}}
		}, nil},
		"the model fails":  {"error 400\n", 9, 8 * time.Hour, nothing, []string{"8h0m0s Good morning!"}},
		"one emoji is one": {"say 🌞\n", 9, 8 * time.Hour, nothing, []string{"8h0m0s 🌞"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := greeted(t, tt.script, tt.days, tt.at, tt.prepare); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Only people who had their birthday remembered in the channel are greeted. The wish takes the place of the morning's greeting.
func TestBirthdays(t *testing.T) {
	t.Parallel()
	got := greeted(t, "error 400\n", 0, 0, func(b *Bot, say func(time.Duration, string, string), told func(string, string)) {
		told("ana", "my birthday is on 1 January")
		told("ana", "my birthday is on January 1st, really")
		told("cy", "mein Geburtstag ist am 1. Januar 1980")
		told("ben", "my birthday is on 3 January")
		told("left", "my birthday is on 1 January")
		told("out", "my birthday is on 1 January")
		told("banned", "my birthday is on 1 January")
		told("gil", "Ben's birthday is on 1 January")
		b.Gate.Access.Deny = map[string]bool{"banned": true}
		if err := b.Store.Privacy.OptOut(context.Background(), "out", true, time.Now()); err != nil {
			t.Error(err)
		}
	})
	if len(got) != 2 || got[0] != "9h0m0s Happy birthday, CY and ANA!" && got[0] != "9h0m0s Happy birthday, ANA and CY!" || got[1] != "57h0m0s Happy birthday, BEN!" {
		t.Errorf("%q", got)
	}
}
