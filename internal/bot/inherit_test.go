package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// of makes an event one of a server.
func of(e turn.Event, guild string) turn.Event {
	e.GuildID = guild
	return e
}

// leaveAll passes nothing on.
func leaveAll(work func() []string) { work() }

// onlyIn returns what tells one server from the others.
func onlyIn(guild string) func(string) bool { return func(id string) bool { return id == guild } }

// TestInherited gives a bot one of two servers. In both another process left a message long ago, and half an answer. The bot deals with those
// of that server alone.
func TestInherited(t *testing.T) {
	door := &recorder{}
	b := resting(t, door)
	ctx := t.Context()
	for i, guild := range []string{"hall", "attic"} {
		id := strconv.Itoa(i + 1)
		e := of(asks(id, "in-"+guild, "ana"), guild)
		if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: b.stored(e, e.Message), Claim: id, Event: encodeArrival(arrival{Event: e})}); err != nil {
			t.Fatal(err)
		}
		half := &turn.Trace{Request: turn.Request{ID: "T" + id, GuildID: guild, ChannelID: "in-" + guild, Message: asks("half"+id, "in-"+guild, "ben").Message}, Phase: turn.Answering}
		if err := errors.Join(b.Traces.Save(ctx, half), b.Store.Claims.Close(ctx, "", "half"+id), b.Store.Claims.SavePost(ctx, "", "T"+id, 0, store.Post{ID: "P" + id, Text: "Half of " + guild})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Store.Exec(ctx, "make the claims old", `UPDATE claims SET at = at - ?`, (11 * time.Minute).Microseconds()); err != nil {
		t.Fatal(err)
	}
	inherited, events := make(chan Inheritance), make(chan []turn.Event)
	b.Inherited = inherited
	go func() {
		inherited <- Inheritance{Mine: onlyIn("attic")}
		close(events)
	}()
	b.Run(ctx, events)
	want := []string{"Half of attic\n\n-# interrupted: I was restarted here", "I was away when this was written, and it is a while ago. Ask me again if it still matters."}
	got := door.texts()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, c := range door.calls {
		if c.post.ChannelID != "in-attic" {
			t.Errorf("it wrote in %s", c.post.ChannelID)
		}
	}
	open, err := b.Store.Claims.Open(ctx)
	if err != nil || len(open) != 1 || open[0].Claim != "1" {
		t.Errorf("still open: %+v, %v", open, err)
	}
	left, err := b.Traces.Get(ctx, "T1")
	if err != nil || left.Phase != turn.Answering {
		t.Errorf("the turn of another process is %+v, %v", left, err)
	}
}

// TestLeavesItToAnother stops one of several bots while messages wait. It tells nobody anything: another process answers them.
func TestLeavesItToAnother(t *testing.T) {
	door := &recorder{}
	b := resting(t, door)
	b.Inherited, b.Others = make(chan Inheritance), func() bool { return true }
	ctx, stop := context.WithCancel(t.Context())
	stop()
	events := make(chan []turn.Event, 1)
	events <- []turn.Event{asks("1", "general", "ana")}
	close(events)
	b.Run(ctx, events)
	if len(door.calls) > 0 {
		t.Errorf("it posted %q", door.texts())
	}
	if taken, err := b.Store.Claims.Taken(t.Context(), "1"); taken || err != nil {
		t.Errorf("it claimed what it does not answer: %v", err)
	}
}

// TestRefusedElsewhere has every call of the door refused because another process acts for the server. What was begun stays open for that one.
func TestRefusedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &recorder{fail: func(int, call) error { return rest.NotMine() }}
		b, a := killed(t, door)
		b.markInterrupted(t.Context(), a)
		b.tell(a.Event, reply.TurnBroken, a.Message.ID)
		b.notices.posting.Wait()
		if len(door.calls) != 2 {
			t.Errorf("it called the door %d times", len(door.calls))
		}
		if open, err := b.Store.Claims.Open(t.Context()); err != nil || len(open) != 1 {
			t.Errorf("unanswered: %v, %v", open, err)
		}
		if record, err := b.Traces.Get(t.Context(), a.turnID); err == nil && record.Phase.Over() {
			t.Errorf("record %+v, %v", record, err)
		}
		b.Store.Close()
	})
}

// TestRetractsWhatAnotherFinishes deletes a question that a process which leaves still answers. The answer is deleted once it is there.
func TestRetractsWhatAnotherFinishes(t *testing.T) {
	t.Parallel()
	door := &recorder{}
	b := resting(t, door)
	b.Others = func() bool { return true }
	e := of(asks("1", "general", "ana"), "hall")
	answer := &turn.Trace{Request: turn.Request{ID: "T", GuildID: "hall", ChannelID: "general", Message: e.Message}, Phase: turn.Answering}
	if err := b.Traces.Save(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, func() {
		answer.Phase, answer.ReplyIDs = turn.Answered, []string{"P"}
		if err := b.Traces.Save(context.Background(), answer); err != nil {
			t.Error(err)
		}
	})
	b.retract(t.Context(), e.Message)
	if len(door.calls) != 1 || door.calls[0].id != "P" {
		t.Errorf("it called the door with %+v", door.calls)
	}
}

// TestYield takes a turn away while its model hangs. The lane is empty then, and the claim is open.
func TestYield(t *testing.T) {
	begun, drop := make(chan struct{}), make(chan error, 1)
	b := &Bot{}
	b.lanes.put(func(l *lane) {
		l.next()
		ctx, cancel := context.WithCancelCause(context.Background())
		l.begin("T", cancel)
		close(begun)
		<-ctx.Done()
		drop <- context.Cause(ctx)
		l.end()
	}, arrival{Event: asks("1", "general", "ana"), addressed: true}, arrival{Event: asks("2", "general", "ben"), addressed: true})
	<-begun
	over, end := context.WithCancel(t.Context())
	end()
	b.Yield(over, onlyIn("attic"), leaveAll)
	select {
	case err := <-drop:
		t.Fatalf("a turn of another server ended: %v", err)
	default:
	}
	b.Yield(over, onlyIn("hall"), leaveAll)
	if err := <-drop; !elsewhere(err) {
		t.Errorf("the turn ended with %v", err)
	}
	for _, l := range b.Lanes() {
		if l.Waiting > 0 {
			t.Errorf("%d messages still wait", l.Waiting)
		}
	}
}

// TestPausedElsewhere pauses a channel in another process. The turn that this one takes there ends, and another turn goes on.
func TestPausedElsewhere(t *testing.T) {
	b := resting(t, &recorder{})
	ctx := t.Context()
	ended := map[string]chan error{}
	begun := make(chan struct{}, 2)
	for i, channel := range []string{"general", "attic"} {
		ended[channel] = make(chan error, 1)
		b.lanes.put(func(l *lane) {
			l.next()
			ctx, cancel := context.WithCancelCause(t.Context())
			l.begin("T"+channel, cancel)
			begun <- struct{}{}
			<-ctx.Done()
			ended[channel] <- context.Cause(ctx)
			l.end()
		}, arrival{Event: asks(strconv.Itoa(i), channel, "ana"), addressed: true})
		<-begun
	}
	if err := b.Store.Settings.SwitchOff(ctx, store.Switch{Kind: store.Lookups, Place: "attic"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Store.Settings.SwitchOff(ctx, store.Switch{Kind: store.Answers, Place: "general"}); err != nil {
		t.Fatal(err)
	}
	b.HearPauses(ctx)
	if err := <-ended["general"]; err != errPaused {
		t.Errorf("the turn ended with %v", err)
	}
	select {
	case err := <-ended["attic"]:
		t.Errorf("another turn ended with %v", err)
	default:
	}
}
