package bot

import (
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

const threeSentences = "Owls eat mice, and voles, and now and then a beetle that did not look where it was going, poor thing. "

// A reply that imitates a voice comes in short posts, with pauses that typing fills.
func TestSpokenIsPaced(t *testing.T) {
	door := &recorder{}
	speaking(t, door, func(d *delivery) deliveryResult {
		d.spoken = true
		r := d.finish(strings.TrimSpace(strings.Repeat(threeSentences, 8)))
		if r.err != nil || r.unsaid || len(r.posts) < 2 || len(r.posts) > spokenMost {
			t.Errorf("%+v", r)
		}
		return r
	})
	if len(door.typed) != len(door.calls)-1 {
		t.Errorf("typing %d times between %d posts", len(door.typed), len(door.calls))
	}
	for i, c := range door.calls[1:] {
		if gap := c.at - door.calls[i].at; gap < pauseLeast || gap > pauseMost {
			t.Errorf("post %d after %v", i+1, gap)
		}
	}
	if all := door.calls[len(door.calls)-1].at; all > pausesMost {
		t.Errorf("took %v", all)
	}
}

// What the person writes meanwhile interrupts what is not posted yet; what somebody else writes does not.
func TestSpokenIsInterrupted(t *testing.T) {
	for author, whole := range map[string]bool{"ana": false, "ben": true} {
		door := &recorder{}
		speaking(t, door, func(d *delivery) deliveryResult {
			d.spoken = true
			go func() {
				time.Sleep(time.Second)
				d.lane.put(arrival{Event: turn.Event{Kind: turn.Created, Message: turn.Message{Author: turn.Author{ID: author}}}})
			}()
			r := d.finish(strings.TrimSpace(strings.Repeat(threeSentences, 8)))
			if r.err != nil || r.unsaid == whole || !whole && len(r.posts) != 1 {
				t.Errorf("%s: %d posts, unsaid %v, %v", author, len(r.posts), r.unsaid, r.err)
			}
			return r
		})
	}
}
