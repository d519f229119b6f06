package bot

import (
	"context"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// A message that a proxy posts again replaces its original if nothing of the answer is visible. The answer then starts over. An answer that
// is visible stays.
func TestRewriteTakesThePlaceOfTheOriginal(t *testing.T) {
	t.Parallel()
	rewritten := turn.Event{Kind: turn.Created, Original: "a", Message: turn.Message{ID: "b", Author: turn.Author{ID: "ana", Name: "Luna"}}}
	for _, visible := range []bool{false, true} {
		var lanes lanes
		l := &lane{}
		lanes.open = map[string]*lane{"general": l}
		l.put(message("a", "ana", 0))
		l.next()
		ctx, cancel := context.WithCancelCause(t.Context())
		l.begin("turn", cancel)
		if visible && !l.show() {
			t.Fatal("show was refused")
		}
		if pending := lanes.unseen("a"); (len(pending) == 1) == visible {
			t.Errorf("visible %v: pending %v", visible, pending)
		}
		if done := lanes.rewrite(rewritten); done == visible {
			t.Errorf("visible %v: rewritten %v", visible, done)
		}
		if over := context.Cause(ctx) == errEdited; over == visible {
			t.Errorf("visible %v: starts over %v", visible, over)
		}
		want := "b"
		if visible {
			want = "a"
		}
		if got := ids(l.begin("turn", cancel)); got != want {
			t.Errorf("visible %v: answers %s", visible, got)
		}
		cancel(nil)
	}
}

// A waiting message waits on with the text that the proxy posted.
func TestRewriteOfWhatWaits(t *testing.T) {
	t.Parallel()
	var lanes lanes
	l := &lane{}
	lanes.open = map[string]*lane{"general": l}
	l.put(message("x", "ben", 0))
	l.next()
	second := message("a", "ana", time.Second)
	second.Message.ChannelID, second.ParentID = "thread", "general"
	l.put(second)
	if !lanes.rewrite(turn.Event{Original: "a", Message: turn.Message{ID: "b", ChannelID: "general"}}) {
		t.Fatal("not rewritten")
	}
	if w := l.waiting[0]; w.claim() != "b" || w.Message.ChannelID != "thread" || w.ParentID != "general" || !w.addressed {
		t.Errorf("waiting %+v", w)
	}
}
