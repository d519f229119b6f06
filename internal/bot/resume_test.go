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
	"testing"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/store"
	"familiar/internal/store/storetest"
	"familiar/internal/trace"
)

// board is a door that several goroutines may use. It remembers what was posted and fails as often as told.
type board struct {
	mu       sync.Mutex
	posts    []turn.Post // guarded by mu
	failures int         // guarded by mu
}

func (d *board) Deliver(_ context.Context, p turn.Post) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failures > 0 {
		d.failures--
		return "", &discord.SendError{Kind: discord.Unavailable}
	}
	d.posts = append(d.posts, p)
	return "post", nil
}

func (d *board) Typing(context.Context, string) error                     { return nil }
func (d *board) Respond(context.Context, turn.Command, turn.Answer) error { return nil }

func (d *board) texts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, p := range d.posts {
		all = append(all, p.Text)
	}
	slices.Sort(all)
	return all
}

func asks(id, channel, who string) turn.Event {
	return turn.Event{Kind: turn.Created, ID: id, GuildID: "hall", Mentioned: true, Message: turn.Message{
		ID: id, ChannelID: channel, Text: "hello", At: time.Now(), Author: turn.Author{ID: who, Name: who},
	}}
}

// resting is a bot that takes no turn: it has neither a model nor a prompt builder.
func resting(t *testing.T, door Door) *Bot {
	t.Helper()
	db := storetest.Open(t)
	return &Bot{Door: door, Store: db, Traces: &trace.Store{DB: db}, Redact: redact.New(), Log: slog.New(slog.DiscardHandler), Cast: sageAlone, Resume: true, Pace: Pace{Units: 2000}}
}

func TestWhatIsTooOldIsTold(t *testing.T) {
	door := &board{}
	b := resting(t, door)
	ctx := t.Context()
	for i, who := range []string{"ana", "ben", "Cy*|@everyone"} {
		id := strconv.Itoa(i + 1)
		e := asks(id, "general", who)
		if _, err := b.Store.Arrive(ctx, store.Arrival{Message: b.stored(e, e.Message), Claim: id, Event: encodeArrival(arrival{Event: e})}); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Store.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE claims SET at = at - ?`, (11 * time.Minute).Microseconds())
		return err
	})
	begun := &turn.Trace{Request: turn.Request{ID: "T", ChannelID: "general", Message: asks("1", "general", "ana").Message}, Phase: turn.Begun}
	err = errors.Join(err, b.Traces.Save(ctx, begun))
	if err := errors.Join(err, b.Store.SavePost(ctx, "T", 0, store.Post{ID: "P", Text: "Half an"})); err != nil {
		t.Fatal(err)
	}
	events := make(chan turn.Event)
	close(events)
	b.Run(ctx, events)
	want := []string{"Half an\n\n-# interrupted: I was restarted here", "I was away, and it is a while ago that ben and Cyeveryone wrote to me. Ask me again if it still matters."}
	if got := door.texts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if open, err := b.Store.Unanswered(ctx); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v, %v", open, err)
	}
}

// TestEverybodyIsTold stops the bot before any of many people gets a turn, with a door that fails at first.
func TestEverybodyIsTold(t *testing.T) {
	door := &board{failures: 2}
	b := resting(t, door)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	events := make(chan turn.Event, 200)
	var names []string
	for i := range 200 {
		who := "person" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		names = append(names, who)
		events <- asks("m"+who, "general", who)
	}
	close(events)
	b.Run(ctx, events)
	told := strings.Join(door.texts(), "\n")
	for _, p := range door.posts {
		told += "\n" + p.ReplyTo // one who is told alone is not named
	}
	for _, who := range names {
		if !strings.Contains(told, who) {
			t.Errorf("%s was not told", who)
		}
	}
	if open, err := b.Store.Unanswered(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("still open: %d, %v", len(open), err)
	}
}

func TestRates(t *testing.T) {
	var r rates
	for i, want := range []struct {
		after          time.Duration
		allowed, first bool
	}{
		{0, true, false},
		{time.Second, true, false},
		{2 * time.Second, false, true},
		{3 * time.Second, false, false},
		{time.Minute, true, false},
		{time.Minute + time.Millisecond, false, false}, // the refusal of a while ago still holds
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

// TestUnknownChannel asks in a channel that may be a thread of one where an admin switched the web off.
func TestUnknownChannel(t *testing.T) {
	b := resting(t, &board{})
	e := asks("1", "thread", "ana")
	e.ParentUnknown = true
	if b.settings(t.Context(), sage, e).WebOff {
		t.Error("off, although nobody switched it off")
	}
	if _, err := b.Store.ChangeChannel(t.Context(), store.Channel{ID: "rules", GuildID: "hall"}, store.By{}, func(c *store.Channel) { c.WebOff = true }); err != nil {
		t.Fatal(err)
	}
	if !b.settings(t.Context(), sage, e).WebOff {
		t.Error("on, although the channel above may have it off")
	}
	if e.GuildID = "elsewhere"; b.settings(t.Context(), sage, e).WebOff {
		t.Error("off, because another server has it off")
	}
}
