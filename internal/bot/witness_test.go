package bot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// A message that comes again although the store does not know it is not answered twice. Half an answer goes on in its post.
func TestChannelIsAskedForReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stands []turn.Standing
		want   string // calls, and the posts that they are about
	}{
		"nothing stands": {nil, "post"},
		"a whole reply":  {[]turn.Standing{{ID: "P", Text: "Mice.", Buttons: 3}}, ""},
		"a notice":       {[]turn.Standing{{ID: "P", Text: "Too much at once."}}, ""},
		"half a reply":   {[]turn.Standing{{ID: "P", Text: "Mi", Buttons: 1}}, "editP"},
		"a long half":    {[]turn.Standing{{ID: "P", Text: "Mice"}, {ID: "Q", Text: "are", Buttons: 1}}, "editPdeleteQ"},
		"a bare half":    {[]turn.Standing{{ID: "P", Text: "Mi …"}}, "editP"},
		"two halves":     {[]turn.Standing{{ID: "P", Text: "Mi", Buttons: 1}, {ID: "Q", Text: "M", Buttons: 1}}, "editPdeleteQ"},
	} {
		t.Run(name, func(t *testing.T) {
			living(t, "say Mice.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
				b.Replies = func(context.Context, string, string) ([]turn.Standing, error) { return c.stands, nil }
				e := asks("1", "general", "ana")
				e.Replayed = true
				events <- []turn.Event{e}
				time.Sleep(time.Minute)
				synctest.Wait()
				got := ""
				for _, call := range door.all() {
					got += call.method + call.id
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// A post that does not say what it replies to has buttons that show it. They show it even to a process whose store knows nothing of the
// turn.
func TestAPersonasPostsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		standing int    // which of the posts stands: the first has a stop button, the last is complete
		asks     string // the message that comes again
		want     string
	}{
		"a whole reply":      {1, "1", ""},
		"half a reply":       {0, "1", "editP"},
		"to another message": {1, "2", "post"},
	} {
		t.Run(name, func(t *testing.T) {
			living(t, "say Mice, \nwait 3s\nsay which are small.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
				b.Pace.Buttons, b.Cast.Default.Buttons = true, true
				events <- []turn.Event{asks("1", "general", "ana")}
				time.Sleep(time.Minute)
				posts := door.all()
				if len(posts) < 2 {
					t.Fatalf("posted %+v", posts)
				}
				shown := []call{posts[0], posts[len(posts)-1]}[c.standing]
				b.Replies = func(context.Context, string, string) ([]turn.Standing, error) {
					return []turn.Standing{{ID: "P", Text: "Mice", Buttons: len(shown.post.Buttons), Key: shown.post.Buttons[0].ID}}, nil
				}
				for _, table := range []string{"claims", "posts", "traces"} { // an earlier backup is put back
					if _, err := b.Store.Exec(context.Background(), "forget", `DELETE FROM `+table); err != nil {
						t.Fatal(err)
					}
				}
				e := asks(c.asks, "general", "ana")
				e.Replayed = true
				events <- []turn.Event{e}
				time.Sleep(time.Minute)
				again := ""
				for _, call := range door.all()[len(posts):] {
					if again == "" {
						again = call.method + call.id
					}
				}
				if again != c.want {
					t.Errorf("%q, want %q", again, c.want)
				}
			})
		})
	}
}

// A post without buttons is a half if the claim of its message is open. It is a reply if there is no claim.
func TestHalfAnswerWithoutButtons(t *testing.T) {
	t.Parallel()
	b := &Bot{Replies: func(context.Context, string, string) ([]turn.Standing, error) {
		return []turn.Standing{{ID: "P", Text: "Mi"}}, nil
	}}
	e := asks("1", "general", "ana")
	if posts, whole, _ := b.repliesBefore(t.Context(), arrival{Event: e, left: true}); len(posts) != 1 || whole {
		t.Errorf("with an open claim: %v, %v", posts, whole)
	}
	if posts, whole, _ := b.repliesBefore(t.Context(), arrival{Event: e}); len(posts) != 0 || !whole {
		t.Errorf("without one: %v, %v", posts, whole)
	}
}

// Where buttons are off, the end of a reply shows that it is still being written.
func TestAReplyWithoutButtonsShowsThatItGrows(t *testing.T) {
	t.Parallel()
	living(t, "say Mice, \nwait 3s\nsay which are small.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		b.Pace.Buttons = true
		events <- []turn.Event{asks("1", "general", "ana")}
		time.Sleep(time.Minute)
		calls := door.all()
		if len(calls) < 2 || calls[0].post.Text != "Mice, …" || calls[len(calls)-1].post.Text != "Mice, which are small." {
			t.Errorf("posted %+v", calls)
		}
	})
}

// While Discord refuses the token, the claim stays open for the next start. So it does when Discord is away for the last edit.
func TestWhatCouldNotBePostedIsLeftForTheNextStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail  func(n int, c call) error
		posts int
	}{
		"token revoked":           {func(int, call) error { return &rest.Error{Kind: rest.Unauthorized} }, 0},
		"token revoked meanwhile": {after(1, rest.Unauthorized), 1},
		"away for the last edit":  {after(1, rest.Unavailable), 1},
	} {
		t.Run(name, func(t *testing.T) {
			living(t, "say Mice, \nwait 3s\nsay which are small.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, stop func()) {
				door.fail = c.fail
				events <- []turn.Event{asks("1", "general", "ana")}
				time.Sleep(5 * time.Minute)
				open, err := b.Store.Claims.Open(context.Background())
				if err != nil || len(open) != 1 || len(open[0].Posts) != c.posts {
					t.Errorf("left: %+v, %v", open, err)
				}
			})
		})
	}
}

// after fails each call of a door but the first n.
func after(n int, kind rest.Kind) func(int, call) error {
	return func(nth int, _ call) error {
		if nth <= n {
			return nil
		}
		return &rest.Error{Kind: kind}
	}
}

// The nonce is the message's: a process that knows nothing of the turn uses the same.
func TestNonceIsTheMessageID(t *testing.T) {
	t.Parallel()
	nonces := map[string]bool{}
	for range 2 {
		living(t, "say Mice.\n", func(_ *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
			events <- []turn.Event{asks("1574597685254553601", "general", "ana")}
			time.Sleep(time.Minute)
			for _, c := range door.all() {
				if c.method == "post" {
					nonces[c.post.Nonce] = true
				}
			}
		})
	}
	if len(nonces) != 1 {
		t.Errorf("nonces %v", nonces)
	}
}
