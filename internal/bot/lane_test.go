package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func message(id, author string, after time.Duration) arrival {
	return arrival{
		Event:     turn.Event{Kind: turn.Created, Message: turn.Message{ID: id, Author: turn.Author{ID: author}}},
		at:        morning.Add(after),
		addressed: true,
	}
}

func ids(batch []arrival) string {
	var s string
	for _, a := range batch {
		s += a.Message.ID
	}
	return s
}

func TestNextTakesABurstTogether(t *testing.T) {
	l := &lane{}
	for _, a := range []arrival{
		message("a", "ana", 0),
		message("b", "ana", 500*time.Millisecond),
		message("c", "ana", 700*time.Millisecond), // too late for the first
		message("d", "ben", 800*time.Millisecond),
		message("e", "ana", 900*time.Millisecond), // no burst: ben wrote in between
	} {
		l.put(a)
	}
	var got []string
	for batch := l.next(); batch != nil; batch = l.next() {
		got = append(got, ids(batch))
	}
	if fmt.Sprint(got) != "[ab c d e]" {
		t.Errorf("batches %v", got)
	}
}

// Two messages that arrive together after a gap, but were written apart, are two questions. If one is deleted, the other is still answered.
func TestMessagesFarApartAreNoBurst(t *testing.T) {
	first, second := message("1", "ana", 0), message("2", "ana", 0)
	first.Message.At, second.Message.At = morning, morning.Add(10*time.Second)
	for _, want := range []string{"1", "2"} {
		l := &lane{}
		l.put(first)
		if want == "2" { // it comes during the first turn
			l.next()
			l.put(second)
			l.release()
		} else {
			l.put(second)
		}
		if got := ids(l.next()); got != want {
			t.Errorf("took %q, want %q", got, want)
		}
	}
}

func TestPutJoinsTheTurnThatIsBeingTaken(t *testing.T) {
	for _, c := range []struct {
		name    string
		added   arrival
		visible bool
		joins   bool
	}{
		{"the author goes on", message("b", "ana", 500*time.Millisecond), false, true},
		{"too late", message("b", "ana", 601*time.Millisecond), false, false},
		{"somebody else", message("b", "ben", 100*time.Millisecond), false, false},
		{"the reply is visible", message("b", "ana", 100*time.Millisecond), true, false},
	} {
		l := &lane{}
		l.put(message("a", "ana", 0))
		l.next()
		ctx, cancel := context.WithCancelCause(context.Background())
		l.begin("turn", cancel)
		if c.visible && !l.show() {
			t.Fatal("show was refused")
		}
		l.put(c.added)
		if got := context.Cause(ctx) == errJoined; got != c.joins {
			t.Errorf("%s: attempt cancelled %v, want %v", c.name, got, c.joins)
		}
		if over := l.end(); over == c.joins {
			t.Errorf("%s: the turn is over %v", c.name, over)
		}
		if got := len(l.waiting) == 1; got == c.joins {
			t.Errorf("%s: waiting %v", c.name, l.waiting)
		}
		cancel(nil)
	}
}

// Between leaving the queue and the first attempt a turn is claimed in the store, which takes time.
func TestPutJoinsBeforeTheFirstAttempt(t *testing.T) {
	l := &lane{}
	l.put(message("a", "ana", 0))
	l.next()
	l.put(message("b", "ana", time.Millisecond))
	if joined := l.begin("turn", func(error) {}); ids(joined) != "ab" {
		t.Errorf("joined %q", ids(joined))
	}
}

func TestReleasePutsWhatJoinedBackInLine(t *testing.T) {
	l := &lane{}
	l.put(message("a", "ana", 0))
	l.next()
	l.put(message("b", "ana", time.Millisecond))
	l.put(message("c", "ben", time.Millisecond))
	l.release()
	if got := ids(l.waiting); got != "bc" {
		t.Errorf("waiting %q", got)
	}
}

func TestNothingIsShownAfterAMessageJoined(t *testing.T) {
	l := &lane{}
	l.put(message("a", "ana", 0))
	l.next()
	l.begin("turn", func(error) {})
	l.put(message("b", "ana", time.Millisecond))
	if l.show() {
		t.Error("the answer to half a question may be posted")
	}
}

func TestTheNewestTurnIsDropped(t *testing.T) {
	l := &lane{}
	l.put(arrival{Event: turn.Event{Kind: turn.Created}}) // only history: it takes no place
	var skipped string
	for i := range laneLength + 2 {
		if a := l.put(message(fmt.Sprint(i), fmt.Sprint("author", i), 0)); a != nil {
			skipped += a.Message.ID
		}
	}
	if want := fmt.Sprint(laneLength, laneLength+1); skipped != strings.ReplaceAll(want, " ", "") {
		t.Errorf("skipped %q, want the two newest", skipped)
	}
	if len(l.waiting) != laneLength+3 {
		t.Errorf("%d waiting: a skipped message must stay as history", len(l.waiting))
	}
}

func TestATurnThatBeganBeforeTheRestartIsNotDropped(t *testing.T) {
	l := &lane{}
	begun := message("begun", "ana", 0)
	begun.turnID = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
	l.put(begun)
	for i := range laneLength {
		if a := l.put(message(fmt.Sprint(i), fmt.Sprint("author", i), 0)); a != nil {
			t.Errorf("skipped %q, and there is room", a.Message.ID)
		}
	}
	if a := l.put(message("last", "ben", 0)); a == nil || a.Message.ID != "last" {
		t.Errorf("skipped %+v, want the newest", a)
	}
}
