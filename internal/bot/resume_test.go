package bot

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/forget"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

func asks(id, channel, who string) turn.Event {
	return turn.Event{Kind: turn.Created, ID: id, GuildID: "hall", Mentioned: true, Message: turn.Message{
		ID: id, ChannelID: channel, Text: "hello", At: time.Now(), Author: turn.Author{ID: who, Name: who},
	}}
}

// resting returns a bot that takes no turn: it has neither a model nor a prompt builder.
func resting(t *testing.T, door Door) *Bot {
	t.Helper()
	db := storetest.Open(t)
	memories, traces := memory.New(db), &trace.Store{DB: db}
	return &Bot{Door: door, Store: db, Memories: memories, Traces: traces, Forgetter: &forget.Forgetter{Traces: traces, Memories: memories}, Redact: clean.NewRedactor(), Log: slog.New(slog.DiscardHandler),
		Gate: &gate.Gate{Store: db, Log: slog.New(slog.DiscardHandler), MayPost: door.MayPost}, Cast: sageAlone, Resume: true, Pace: Pace{Units: 2000}}
}

func TestWhatIsTooOldIsTold(t *testing.T) {
	door := &recorder{}
	b := resting(t, door)
	ctx := t.Context()
	for i, who := range []string{"ana", "ben", "Cy*|@everyone"} {
		id := strconv.Itoa(i + 1)
		e := asks(id, "general", who)
		if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: b.stored(e, e.Message), Claim: id, Event: encodeArrival(arrival{Event: e})}); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Store.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE claims SET at = at - ?`, (11 * time.Minute).Microseconds())
		return err
	})
	begun := &turn.Trace{Request: turn.Request{ID: "T", ChannelID: "general", Message: asks("1", "general", "ana").Message}, Phase: turn.Begun}
	err = errors.Join(err, b.Traces.Save(ctx, begun))
	if err := errors.Join(err, b.Store.Claims.SavePost(ctx, "", "T", 0, store.Post{ID: "P", Text: "Half an"})); err != nil {
		t.Fatal(err)
	}
	events := make(chan []turn.Event)
	close(events)
	b.Run(ctx, events)
	want := []string{"Half an\n\n-# interrupted: I was restarted here", "I was away, and it is a while ago that ben and Cyeveryone wrote to me. Ask me again if it still matters."}
	if got := door.texts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if open, err := b.Store.Claims.Open(ctx); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v, %v", open, err)
	}
}

// TestEverybodyIsTold stops the bot before any of many people gets a turn, with a door that fails at first.
func TestEverybodyIsTold(t *testing.T) {
	door := &recorder{fail: func(n int, _ call) error {
		if n <= 2 {
			return &rest.Error{Kind: rest.Unavailable}
		}
		return nil
	}}
	b := resting(t, door)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	events := make(chan []turn.Event, 200)
	var names []string
	for i := range 200 {
		who := "person" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		names = append(names, who)
		events <- []turn.Event{asks("m"+who, "general", who)}
	}
	close(events)
	b.Run(ctx, events)
	told := strings.Join(door.texts(), "\n")
	for _, c := range door.all() {
		if !c.failed {
			told += "\n" + c.post.ReplyTo // a notice to one person alone does not name the person
		}
	}
	for _, who := range names {
		if !strings.Contains(told, who) {
			t.Errorf("%s was not told", who)
		}
	}
	if open, err := b.Store.Claims.Open(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("still open: %d, %v", len(open), err)
	}
}

// TestUnknownChannel asks in a channel that may be a thread of a channel without web lookups.
func TestUnknownChannel(t *testing.T) {
	b := resting(t, &recorder{})
	e := asks("1", "thread", "ana")
	e.ParentUnknown = true
	if b.Settings(t.Context(), sage, e).WebOff {
		t.Error("off, although nobody switched it off")
	}
	if _, err := b.Store.Settings.ChangeChannel(t.Context(), store.Channel{ID: "rules", GuildID: "hall"}, store.By{}, func(c *store.Channel) { c.WebOff = true }); err != nil {
		t.Fatal(err)
	}
	if !b.Settings(t.Context(), sage, e).WebOff {
		t.Error("on, although the channel above may have it off")
	}
	if e.GuildID = "elsewhere"; b.Settings(t.Context(), sage, e).WebOff {
		t.Error("off, because another server has it off")
	}
}

// Half an answer that nobody asked for has no claim. The next start marks it, once, and takes its button away.
func TestUnaskedHalfAnswerIsMarked(t *testing.T) {
	door := &recorder{}
	b := resting(t, door)
	ctx := t.Context()
	half := &turn.Trace{Request: turn.Request{ID: "T", ChannelID: "general", GuildID: "hall", Message: turn.Message{ID: "1", Author: turn.Author{ID: "ana", Name: "ana"}}}, Phase: turn.Answering}
	err := errors.Join(b.Traces.Save(ctx, half), b.Store.Claims.SavePost(ctx, "", "T", 0, store.Post{ID: "P", Text: "Half an"}), b.Store.Claims.Close(ctx, "", "1"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		events := make(chan []turn.Event)
		close(events)
		b.Run(ctx, events)
	}
	if got := door.texts(); !slices.Equal(got, []string{"Half an\n\n-# interrupted: I was restarted here"}) {
		t.Errorf("%q", got)
	}
	if got, err := b.Traces.Get(ctx, "T"); err != nil || got.Phase != turn.Interrupted || !slices.Equal(got.ReplyIDs, []string{"P"}) {
		t.Errorf("record %+v, %v", got, err)
	}
}

// An edit whose fate is unknown may take effect after the last words. If the process ends meanwhile, the next one puts the post right.
func TestDoubtfulEditSurvivesRestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settles bool   // before the process ends
		taken   bool   // by a later turn for the edited question
		want    string // what the next process does
	}{
		"it ends at once":      {false, false, "edit P: Mice. edit P: Mice. "},
		"it is settled":        {true, false, ""},
		"of a turn since then": {false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			living(t, "say Mice.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, stop func()) {
				var settled atomic.Bool
				b.Doubted = func(id string) bool { return !settled.Load() }
				b.Pace.Buttons, b.Cast.Default.Buttons = true, true
				events <- []turn.Event{asks("1", "general", "ana")}
				time.Sleep(5 * time.Second)
				calls := door.all()
				id, had := calls[0].post.Nonce, len(calls[len(calls)-1].post.Buttons)
				if settled.Store(c.settles); c.settles {
					time.Sleep(2 * time.Minute)
				}
				if c.taken {
					if err := b.Store.Claims.Reopen(context.Background(), "", "2", "U", "{}", store.Post{ID: "post" + id[len(id)-1:], Text: "Voles."}); err != nil {
						t.Fatal(err)
					}
					if err := b.Store.Claims.Close(context.Background(), "", "2"); err != nil {
						t.Fatal(err)
					}
				}
				stop()
				next := &recorder{start: time.Now()}
				again := &Bot{Door: next, Store: b.Store, Memories: b.Memories, Traces: b.Traces, Forgetter: b.Forgetter, Redact: b.Redact, Log: b.Log, Gate: b.Gate, Cast: b.Cast, Resume: true, Pace: b.Pace}
				ctx, cancel := context.WithCancel(context.Background())
				var running sync.WaitGroup
				running.Go(func() { again.Run(ctx, make(chan []turn.Event)) })
				time.Sleep(2 * time.Minute)
				cancel()
				running.Wait()
				got := ""
				for _, call := range next.all() {
					got += call.method + " P: " + call.post.Text + " "
					if has := len(call.post.Buttons); has != had || has == 0 {
						t.Errorf("%d buttons, %d before", has, had)
					}
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if left, err := b.Store.Claims.Left(context.Background()); err != nil || !c.taken && len(left) != 0 {
					t.Errorf("left: %v, %v", left, err)
				}
			})
		})
	}
}
