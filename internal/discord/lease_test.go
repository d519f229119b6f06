package discord

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

// table says which of several doors holds each shard.
type table struct {
	mu     sync.Mutex
	holder map[int]string                  // guarded by mu, as is all that follows
	next   map[int]string                  // who gets a shard once it is released
	ends   map[int]context.CancelCauseFunc // of who holds it
	moved  chan struct{}                   // closed and replaced at each change
}

func newTable(holders ...string) *table {
	t := &table{holder: map[int]string{}, next: map[int]string{}, ends: map[int]context.CancelCauseFunc{}, moved: make(chan struct{})}
	for n, name := range holders {
		t.holder[n] = name
	}
	return t
}

// changed wakes those who wait. The caller holds mu.
func (t *table) changed() {
	close(t.moved)
	t.moved = make(chan struct{})
}

// release has the holder of a shard give it to another.
func (t *table) release(shard int, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next[shard] = to
	t.ends[shard](context.Canceled)
}

// seize gives a shard to another, whose holder is not asked.
func (t *table) seize(shard int, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holder[shard] = to
	t.changed()
}

// seat is a door's place at the table. It implements [gateway.Holder].
type seat struct {
	*table
	name string
}

func (s seat) Agree(context.Context, func(context.Context, int) (int, error)) (int, error) {
	return len(s.holder), nil
}
func (s seat) Run(ctx context.Context)                                 { <-ctx.Done() }
func (s seat) Short() bool                                             { return false }
func (s seat) Pass(int, func() []string)                               {}
func (s seat) Finishes(shard int) bool                                 { return s.Holds(shard) }
func (s seat) Live() int                                               { return 2 }
func (s seat) Identify(context.Context, int, int, time.Duration) error { return nil }

func (s seat) Hold(ctx context.Context, shard int) (context.Context, error) {
	for {
		s.mu.Lock()
		moved := s.moved
		if s.holder[shard] == s.name {
			held, end := context.WithCancelCause(ctx)
			s.ends[shard] = end
			s.mu.Unlock()
			return held, nil
		}
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s seat) Release(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder[shard] == s.name && s.next[shard] != "" {
		s.holder[shard] = s.next[shard]
		s.changed()
	}
}

func (s seat) Holds(shard int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder[shard] == s.name
}

// sit returns what makes a door one of several, which save their sessions on the same shelves.
func (t *table) sit(name string, k *shelves) func(*Config) {
	return func(c *Config) {
		k.use(c)
		c.Holder = seat{t, name}
		c.Inherit = func(context.Context, int, func(string) bool) func() { return nil }
		c.Yield = func(context.Context, func(string) bool, func(func() []string)) {}
	}
}

// TestShardChangesHands has one door give a shard to another. The other resumes its session and hears everything that was written meanwhile.
// The first may write nothing there any more, and knows nothing of its servers.
func TestShardChangesHands(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 2)
		far.RecommendShards(2)
		all, k := newTable("a", "a"), &shelves{}
		a := run(t, far, prepare(t, far, all.sit("a", k)))
		far.WaitShards(2, soon)
		b := run(t, far, prepare(t, far, all.sit("b", k)))
		ours, theirs := a.listen(t), b.listen(t)
		guild := far.GuildOf(rooms[1])
		far.Say(rooms[1], "ada", "before")
		time.Sleep(2 * time.Second)
		if got := ours.all(); !slices.Equal(got, []string{"before"}) {
			t.Fatalf("heard %q", got)
		}
		all.release(1, "b")
		far.Say(rooms[1], "ada", "meanwhile")
		time.Sleep(10 * time.Second)
		far.Say(rooms[1], "ada", "after")
		far.Say(rooms[0], "ada", "elsewhere")
		if got := theirs.all(); !slices.Contains(got, "meanwhile") || !slices.Contains(got, "after") || slices.Contains(got, "elsewhere") {
			t.Errorf("the new holder heard %q", got)
		}
		if got := ours.all(); slices.Contains(got, "after") || !slices.Contains(got, "elsewhere") {
			t.Errorf("the old holder heard %q", got)
		}
		greetings := far.Greetings()
		if last := greetings[len(greetings)-1]; !last.Resume || !last.OK || last.Shard != 1 {
			t.Errorf("the new holder began with %+v", last)
		}
		post := turn.Post{GuildID: guild, ChannelID: rooms[1], Text: "hello"}
		if _, err := a.Post(t.Context(), post); rest.KindOf(err) != rest.Elsewhere {
			t.Errorf("the old holder posts: %v", err)
		}
		if _, err := b.Post(t.Context(), post); err != nil {
			t.Errorf("the new holder may not post: %v", err)
		}
		if len(a.Channels(guild)) > 0 || len(b.Channels(guild)) == 0 {
			t.Errorf("the servers of the shard are known to %v and %v", a.Channels(guild), b.Channels(guild))
		}
		if h := a.Health(); len(h.Shards) != 1 || !h.Connected || a.gateway.Complete() {
			t.Errorf("the old holder says of itself %+v", h)
		}
	})
}

// TestFrozenPost has a post wait for its turn while another door takes the shard. It is not sent.
func TestFrozenPost(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 2)
		far.RecommendShards(2)
		all, k := newTable("a", "a"), &shelves{}
		a := run(t, far, prepare(t, far, all.sit("a", k)))
		far.WaitShards(2, soon)
		far.Limit(1, 5*time.Second)
		post := turn.Post{GuildID: far.GuildOf(rooms[1]), ChannelID: rooms[1], Text: "first", Nonce: "1"}
		if _, err := a.Post(t.Context(), post); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			post.Text, post.Nonce = "second", "2"
			_, err := a.Post(t.Context(), post)
			failed <- err
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		all.seize(1, "b")
		if err := <-failed; rest.KindOf(err) != rest.Elsewhere {
			t.Errorf("a post of a lost shard: %v", err)
		}
		for _, m := range far.Messages(rooms[1]) {
			if m.Text == "second" {
				t.Error("it was posted")
			}
		}
	})
}
