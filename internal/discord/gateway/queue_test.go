package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

func TestOverflow(t *testing.T) {
	t.Parallel()
	q := newQueue(3)
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		if lost, full := q.put(queued{event: turn.Event{ID: id}}); full != (id > "3") || full && lost.event.ID != string(id[0]-3) {
			t.Errorf("event %s: full %t, lost %s", id, full, lost.event.ID)
		}
	}
	if batch := q.take(t.Context()); len(batch) != 3 || batch[0].ID != "3" || batch[2].ID != "5" || q.lost() != 2 {
		t.Errorf("got %+v, lost %d", batch, q.lost())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if batch := q.take(ctx); len(batch) > 0 {
		t.Errorf("an empty queue gave %+v", batch)
	}
}

// TestOverflowIsTold drops events because the bot takes none. The bot is told of each once.
func TestOverflowIsTold(t *testing.T) {
	t.Parallel()
	var told []string
	g := &Gateway{Config: Config{Log: slog.New(slog.DiscardHandler), Overdue: func(events []turn.Event) { told = append(told, events[0].ID) }}, waiting: newQueue(2)}
	for _, e := range []queued{{event: turn.Event{ID: "1"}}, {event: turn.Event{ID: "2"}, late: true}, {event: turn.Event{ID: "3"}}, {event: turn.Event{ID: "4"}}} {
		g.enqueue(e)
	}
	if got := strings.Join(told, " "); got != "1" { // 2 was told when it was late
		t.Errorf("told of %s", got)
	}
}

// While the bot is busy, events gather: it gets them together, up to mostTogether at once. None counts as stored before the bot comes back.
func TestEventsComeTogether(t *testing.T) {
	t.Parallel()
	q := newQueue(1000)
	s := &Shard{set: &set{of: 1}}
	at := func(seq int) position {
		return position{shard: s, session: 1, seq: int64(seq), mark: Flake(seq)}
	}
	for seq := 1; seq <= 250; seq++ {
		q.put(queued{event: turn.Event{ID: fmt.Sprint(seq)}, from: at(seq)})
		q.reach(s, at(seq))
	}
	for _, want := range []struct{ events, first, from int64 }{{100, 1, 0}, {100, 101, 0}, {50, 201, 0}} {
		batch := q.take(t.Context())
		if len(batch) != int(want.events) || batch[0].ID != fmt.Sprint(want.first) {
			t.Errorf("got %d events from %s, want %+v", len(batch), batch[0].ID, want)
		}
		q.handOut()
		if p, whole := q.position(s); p.seq != want.from || !whole {
			t.Errorf("a restart goes on at %d, %t; want %d", p.seq, whole, want.from)
		}
	}
}

// TestMissedMessagesAreConfirmed hands out messages that no session brought. Once the bot has taken the empty batch behind them, they need not
// be asked for again.
func TestMissedMessagesAreConfirmed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := &Gateway{Config: Config{Place: func(*turn.Event) {}}, waiting: newQueue(10), events: make(chan []turn.Event), changed: make(chan struct{}, 1)}
	s := &Shard{Gateway: g, set: &set{of: 1}}
	g.waiting.reach(s, position{shard: s, session: 1, seq: 7, mark: 900})
	release := g.waiting.hold(position{shard: s, session: 1, mark: 100})
	s.EmitMissed(turn.Event{ID: "500"}, 100)
	release()
	go g.forward(ctx)
	if batch := <-g.events; len(batch) != 1 {
		t.Fatalf("got %+v", batch)
	}
	if p, whole := g.waiting.position(s); p.mark != 100 || whole {
		t.Errorf("before the bot comes back: mark %d, whole %t", p.mark, whole)
	}
	if batch := <-g.events; len(batch) != 0 {
		t.Fatalf("got %+v", batch)
	}
	<-g.changed
	if p, whole := g.waiting.position(s); p.mark != 900 || !whole {
		t.Errorf("when it is back: mark %d, whole %t", p.mark, whole)
	}
}
