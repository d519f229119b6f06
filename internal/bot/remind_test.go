package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/store"
)

// reminded runs a bot for a day and returns what it posted. prepare sets reminders and changes the bot before it runs.
func reminded(t *testing.T, door *recorder, prepare func(b *Bot, set func(at time.Duration, said string) store.Reminder)) (all []call) {
	synctest.Test(t, func(t *testing.T) {
		door.start = time.Now()
		b := resting(t, door)
		defer b.Store.Close()
		n := 0
		prepare(b, func(at time.Duration, said string) store.Reminder {
			n++
			r := store.Reminder{PersonID: "ana", GuildID: "hall", ChannelID: "general", MessageID: strconv.Itoa(n), Language: "en", Text: said, At: time.Now().Add(at), Made: time.Now()}
			id, err := b.Store.Reminders.Set(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.ID = id
			return r
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.Run(ctx, make(chan []turn.Event))
		}()
		time.Sleep(24 * time.Hour)
		cancel()
		<-ended
		all = door.all()
	})
	return all
}

// Each reminder is told at its time, once, and pings its person alone. One that is set while the bot waits for a later one is told before it.
func TestRemindersAreToldAtTheirTime(t *testing.T) {
	t.Parallel()
	all := reminded(t, &recorder{}, func(b *Bot, set func(time.Duration, string) store.Reminder) {
		set(3*time.Hour, "the cake")
		cancelled := set(time.Hour, "nothing")
		time.AfterFunc(time.Hour-time.Minute, func() {
			set(time.Minute, "the oven @everyone https://example.org/a")
			if _, err := b.Store.Reminders.Cancel(context.Background(), "ana", cancelled.ID); err != nil {
				t.Error(err)
			}
		})
	})
	if len(all) != 2 {
		t.Fatalf("posted %+v", all)
	}
	for i, want := range []struct {
		at   time.Duration
		text string
	}{{time.Hour, "Reminder: “the oven everyone <https://example.org/a>”"}, {3 * time.Hour, "Reminder: “the cake”"}} {
		if got := all[i]; got.at.Round(time.Second) != want.at || got.post.Text != want.text || got.post.Mention != "ana" {
			t.Errorf("%v: %+v, want %+v", got.at, got.post, want)
		}
	}
	if all[0].post.Nonce == all[1].post.Nonce {
		t.Error("two reminders have one nonce")
	}
}

// The next process looks in the channel for a reminder that was claimed and may have been told.
func TestAReminderIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		said []turn.Message
		err  error
		want []string
	}{
		"it was told":          {said: []turn.Message{{Own: true, Text: "@ana Reminder: “the oven”"}}},
		"it was told below":    {said: []turn.Message{{Own: true, Text: "Erinnerung: „the oven“", ReplyTo: "1"}}},
		"something else was":   {said: []turn.Message{{Own: true, Text: "the oven", ReplyTo: "x"}}, want: []string{"Reminder, late by 60 min, because I was away: “the oven”"}},
		"it was not told":      {said: []turn.Message{{Text: "Reminder: “the oven”"}}, want: []string{"Reminder, late by 60 min, because I was away: “the oven”"}},
		"the channel is away":  {err: &rest.Error{Kind: rest.Unavailable}},
		"nobody may read what": {err: &rest.Error{Kind: rest.Forbidden}, want: []string{"Reminder, late by 60 min, because I was away: “the oven”"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *Bot
			got := reminded(t, &recorder{}, func(one *Bot, set func(time.Duration, string) store.Reminder) {
				b = one
				r := set(-time.Hour, "the oven")
				if before, err := b.Store.Reminders.Begin(context.Background(), r, time.Now()); err != nil || !before.IsZero() {
					t.Fatalf("%v, %v", before, err)
				}
				for i := range tt.said {
					tt.said[i].At = time.Now()
				}
				b.Earlier = func(context.Context, string, string) ([]turn.Message, error) { return tt.said, tt.err }
			})
			var texts []string
			for _, c := range got {
				texts = append(texts, c.post.Text)
			}
			if !slices.Equal(texts, tt.want) {
				t.Errorf("%q, want %q", texts, tt.want)
			}
		})
	}
}

// A post that fails for a reason that passes is sent again, under the same nonce. One that can never be sent ends the reminder.
func TestAReminderWaitsForDiscord(t *testing.T) {
	t.Parallel()
	door := &recorder{}
	door.fail = func(int, call) error {
		if time.Since(door.start) < 90*time.Minute {
			return &rest.Error{Kind: rest.Unavailable}
		}
		return nil
	}
	all := reminded(t, door, func(_ *Bot, set func(time.Duration, string) store.Reminder) { set(time.Hour, "the oven") })
	last := all[len(all)-1]
	told := slices.DeleteFunc(slices.Clone(all), func(c call) bool { return c.failed })
	if len(told) != 1 || !strings.Contains(last.post.Text, "late by 30 min") || slices.ContainsFunc(all, func(c call) bool { return c.post.Nonce != last.post.Nonce }) {
		t.Errorf("%d of %d: %+v", len(told), len(all), last)
	}
	gone := reminded(t, &recorder{fail: func(int, call) error { return &rest.Error{Kind: rest.Gone} }}, func(_ *Bot, set func(time.Duration, string) store.Reminder) { set(time.Hour, "the oven") })
	if len(gone) != 1 {
		t.Errorf("%d posts to a channel that is gone", len(gone))
	}
}

// A paused bot reminds nobody until the pause ends.
func TestAReminderWaitsForAPause(t *testing.T) {
	t.Parallel()
	all := reminded(t, &recorder{}, func(b *Bot, set func(time.Duration, string) store.Reminder) {
		here := store.Switch{Place: "general", Kind: store.Answers, GuildID: "hall"}
		set(time.Hour, "the oven")
		if err := b.Store.Settings.SwitchOff(context.Background(), here); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Hour, func() {
			if err := b.Store.Settings.SwitchOn(context.Background(), here); err != nil {
				t.Error(err)
			}
		})
	})
	if len(all) != 1 || all[0].at < 3*time.Hour || all[0].at > 3*time.Hour+2*time.Minute {
		t.Errorf("%+v", all)
	}
}

// A process that comes to act for a server tells at once what was due there meanwhile.
func TestInheritedReminders(t *testing.T) {
	t.Parallel()
	var mine atomic.Bool
	door := &recorder{fail: func(int, call) error {
		if mine.Load() {
			return nil
		}
		return &rest.Error{Kind: rest.Elsewhere}
	}}
	all := reminded(t, door, func(b *Bot, set func(time.Duration, string) store.Reminder) {
		set(-time.Hour, "the oven")
		inherited := make(chan Inheritance)
		b.Inherited = inherited
		time.AfterFunc(10*time.Second, func() {
			mine.Store(true)
			inherited <- Inheritance{Mine: onlyIn("hall")}
		})
	})
	told := slices.DeleteFunc(all, func(c call) bool { return c.failed })
	if len(told) != 1 || told[0].at > 11*time.Second {
		t.Errorf("posted %+v", told)
	}
}
