package bot

import (
	"context"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// If a server has as many threads as Discord allows, the bot answers in the channel, and says why once.
func TestNoRoomForAThread(t *testing.T) {
	t.Parallel()
	const script = "say Mice.\n"
	living(t, script, func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		door.fail = func(_ int, c call) error {
			if c.method == "thread" {
				return &rest.Error{Kind: rest.Full, Code: 160006}
			}
			return nil
		}
		if err := b.Store.Settings.ChangeConduct(context.Background(), "general", "hall", store.By{}, func(c *store.Conduct) { c.Threads = true }); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"1", "2"} {
			events <- []turn.Event{asks(id, "general", "ana")}
			time.Sleep(time.Minute)
		}
		answers, told := 0, 0
		for _, c := range door.all() {
			switch {
			case c.method == "thread":
			case c.post.Text == string(reply.ThreadsFull):
				told++
			case c.post.Text == "Mice.":
				answers++
			}
		}
		if answers != 2 || told != 1 {
			t.Errorf("%d answers, told %d times: %+v", answers, told, door.all())
		}
	})
}
