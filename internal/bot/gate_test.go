package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// Eight people ask at the same time in eight channels, and three turns are left. Three get one, and somebody is told.
func TestTurnsAtOnceShareAQuota(t *testing.T) {
	t.Parallel()
	living(t, "wait 2s\nsay Mice.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		b.Gate.Quotas = []gate.Quota{{Scope: store.OfAll, Most: 3, Of: gate.Turns}}
		for i := range 8 {
			events <- []turn.Event{asks(fmt.Sprint(i+1), fmt.Sprint("channel", i), fmt.Sprint("person", i))}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		answers := map[string]bool{}
		for _, c := range door.all() {
			if c.method == "post" && c.post.Text == "Mice." {
				answers[c.post.ChannelID] = true
			}
		}
		used, err := b.Store.Quotas.Usage(context.Background(), time.Now(), store.Party{})
		if err != nil || len(answers) != 3 || used[store.OfAll].Turns != 3 {
			t.Errorf("%d answers, %d counted, %v", len(answers), used[store.OfAll].Turns, err)
		}
		if n := b.Gate.Held(); n != 0 {
			t.Errorf("%d passes were not given back", n)
		}
	})
}

// Where the bot may not post, no model is asked. This holds for a message, an edit, a button, and joining in.
func TestNoTurnWhereTheBotMayNotPost(t *testing.T) {
	t.Parallel()
	living(t, "say Mice.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		events <- []turn.Event{asks("1", "general", "ana")}
		time.Sleep(time.Minute)
		before := len(door.all())
		door.mute = map[string]bool{"general": true}
		ctx := context.Background()
		events <- []turn.Event{asks("2", "general", "ana")}
		edited := asks("1", "general", "ana")
		edited.Kind, edited.Message.Text = turn.Edited, "and what do owls eat, anyway?"
		events <- []turn.Event{edited}
		time.Sleep(time.Minute)
		recent, err := b.Traces.Recent(ctx, "general", 9)
		if err != nil || len(recent) != 1 || len(door.all()) != before {
			t.Fatalf("turns %+v, %d calls, %v", recent, len(door.all())-before, err)
		}
		record, err := b.Traces.Get(ctx, recent[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		var no *gate.Refusal
		if _, err := b.AnswerAgain(ctx, press("ana"), record, "what do owls eat?", reply.RegenerateButton); !errors.As(err, &no) || no.Why != gate.MayNotPost {
			t.Errorf("the button: %v", err)
		}
	})
}

// A button that is pressed twice at once makes one post. When its turn is over, it may be pressed again.
func TestPressesAreAtomic(t *testing.T) {
	t.Parallel()
	living(t, "wait 2s\nsay Mice.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		events <- []turn.Event{asks("1", "general", "ana")}
		time.Sleep(time.Minute)
		ctx := context.Background()
		recent, err := b.Traces.Recent(ctx, "general", 9)
		if err != nil || len(recent) != 1 {
			t.Fatalf("turns %+v, %v", recent, err)
		}
		record, err := b.Traces.Get(ctx, recent[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		posts := func() (n int) {
			for _, c := range door.all() {
				if c.method == "post" {
					n++
				}
			}
			return n
		}
		for _, round := range []struct {
			kind string
			want int
		}{{reply.RegenerateButton, 2}, {reply.RegenerateButton, 3}, {reply.ContinueButton, 4}, {reply.ContinueButton, 4}} {
			var pressing sync.WaitGroup
			for range 5 {
				pressing.Go(func() {
					if _, err := b.AnswerAgain(ctx, press("ana"), record, "what do owls eat?", round.kind); err != nil {
						t.Error(err)
					}
				})
			}
			pressing.Wait()
			time.Sleep(time.Minute)
			if n := posts(); n != round.want {
				t.Errorf("%s: %d posts, want %d", round.kind, n, round.want)
			}
		}
	})
}

// press is an event of a button that somebody pressed in general.
func press(by string) turn.Event {
	return turn.Event{Kind: turn.Ordered, ID: "press", GuildID: "hall", Message: turn.Message{ChannelID: "general"}, Command: &turn.Command{By: turn.Author{ID: by, Name: by}}}
}

// Nothing that is held outlives its turn, whatever becomes of it.
func TestPassesAreGivenBack(t *testing.T) {
	t.Parallel()
	living(t, "hold\n", func(b *Bot, events chan<- []turn.Event, door *recorder, stop func()) {
		b.Gate.Quotas = []gate.Quota{{Scope: store.OfPerson, Most: 100, Of: gate.Tokens}}
		for i := range laneLength + 5 { // some lose their turn, and one is being answered
			events <- []turn.Event{asks(fmt.Sprint(i+1), "general", fmt.Sprint("person", i))}
		}
		events <- []turn.Event{asks("1", "general", "person0")} // comes again
		gone := asks("3", "general", "person2")
		gone.Kind = turn.Deleted
		events <- []turn.Event{gone}
		time.Sleep(time.Second)
		stop()
		if n := b.Gate.Held(); n != 0 {
			t.Errorf("%d passes were not given back", n)
		}
	})
}
