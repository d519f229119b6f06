package bot

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// killed returns a bot that was killed in the middle of an answer, and what the store then returns.
func killed(t *testing.T, door Door) (*Bot, arrival) {
	t.Helper()
	b := resting(t, door)
	b.onStop()
	db := b.Store
	m := turn.Message{ID: "1", ChannelID: "general", Author: turn.Author{ID: "7", Name: "ana"}, Text: "hello", At: time.Now()}
	e := turn.Event{Kind: turn.Created, ID: "1", GuildID: "3", Message: m, Mentioned: true}
	record := &turn.Trace{Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", ChannelID: "general", Message: m}, Phase: turn.Begun, Began: time.Now()}
	for _, step := range []func() error{
		func() error {
			_, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: b.stored(e, m), Claim: m.ID, Event: encodeArrival(arrival{Event: e})})
			return err
		},
		func() error { return b.Traces.Save(t.Context(), record) },
		func() error {
			return db.Claims.SavePost(t.Context(), "", record.Request.ID, 0, store.Post{ID: "2", Text: "Half an"})
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	open, err := db.Claims.Open(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("unanswered: %v, %v", open, err)
	}
	a, ok := b.reopened(t.Context(), open[0])
	if !ok {
		t.Fatal("not reopened")
	}
	return b, a
}

// Half an answer is marked and recorded even if the bot stops before its turn comes again. The same holds if that turn is withdrawn.
func TestHalfAnAnswerIsMarked(t *testing.T) {
	for name, leave := range map[string]func(*Bot, arrival){
		"stopping": func(b *Bot, a arrival) {
			close(b.stopping)
			l := &lane{}
			l.put(a)
			b.handle(context.Background(), l, l.next())
		},
		"withdrawn": func(b *Bot, a arrival) {
			b.lanes.put(func(*lane) {}, a)
			b.withdraw(context.Background(), errDeleted, func(turn.Event) bool { return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			door := &recorder{}
			b, a := killed(t, door)
			leave(b, a)
			b.notices.posting.Wait()
			if len(door.calls) != 1 || door.calls[0].method != "edit" || door.calls[0].id != "2" || !strings.Contains(door.calls[0].post.Text, "Half an\n\n-# interrupted") {
				t.Errorf("posted %+v", door.calls)
			}
			if open, err := b.Store.Claims.Open(t.Context()); err != nil || len(open) != 0 {
				t.Errorf("unanswered: %v, %v", open, err)
			}
			if record, err := b.Traces.ByMessage(t.Context(), "2"); err != nil || record.Phase != turn.Interrupted {
				t.Errorf("record %+v, %v", record, err)
			}
		})
	}
}

// The messages that one turn answers are resumed together, even if others wrote in between.
func TestABurstIsResumedAsOneTurn(t *testing.T) {
	first, between, second, other := message("1", "ana", 0), message("2", "ben", time.Second), message("3", "ana", 2*time.Second), message("4", "cy", 3*time.Second)
	first.turnID, second.turnID = "01HZZZZZZZZZZZZZZZZZZZZZZZ", "01HZZZZZZZZZZZZZZZZZZZZZZZ"
	other.turnID = "01HYYYYYYYYYYYYYYYYYYYYYYY"
	var lanes lanes
	opened := make(chan *lane, 1)
	for _, group := range byChannel([]arrival{first, between, second, other}) {
		lanes.put(func(l *lane) { opened <- l }, group...)
	}
	l := <-opened
	for _, want := range []string{"13", "2", "4", ""} {
		if got := ids(l.next()); got != want {
			t.Errorf("took %q, want %q", got, want)
		}
		l.release()
	}
}

// A notice that cannot be posted closes no claim: the next start goes on with it.
func TestANoticeThatCannotBePostedKeepsTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &recorder{fail: func(int, call) error { return &rest.Error{Kind: rest.Unavailable} }}
		b, a := killed(t, away)
		b.tell(a.Event, reply.Leaving, a.Message.ID)
		b.notices.posting.Wait()
		if open, err := b.Store.Claims.Open(t.Context()); err != nil || len(open) != 1 {
			t.Errorf("unanswered: %v, %v", open, err)
		}
		b.Store.Close()
	})
}
