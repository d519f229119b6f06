package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/test/discordtest"
)

// halls makes servers so that there are n, one after the other, in shards 0, 1, 2 and so on. Each has a channel of its
// number.
func halls(far *discordtest.Server, n int) (channels []string) {
	for i := range n {
		guild := "hall"
		if i > 0 {
			guild = far.AddGuild(fmt.Sprint("hall-", i))
		}
		channels = append(channels, far.AddChannel(guild, fmt.Sprint("room-", i)))
	}
	return channels
}

// heard collects the texts of the events of a door while a test goes on, each event once.
type heard struct {
	mu    sync.Mutex
	ids   map[string]bool
	texts []string
}

func (d *door) listen(t *testing.T) *heard {
	h := &heard{ids: map[string]bool{}}
	go func() {
		for batch := range d.Events() {
			h.mu.Lock()
			for _, e := range batch {
				if !h.ids[e.ID] {
					h.ids[e.ID], h.texts = true, append(h.texts, e.Message.Text)
				}
			}
			h.mu.Unlock()
		}
	}()
	return h
}

func (h *heard) all() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(slices.Values(h.texts))
}

// lawful checks that nothing was sent that the gateway does not allow.
func lawful(t *testing.T, far *discordtest.Server) {
	t.Helper()
	if v := far.Violations(); len(v) > 0 {
		t.Errorf("violations %v", v)
	}
}

// TestShards has two shards. Each brings its servers, and the first brings direct messages.
func TestShards(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 3)
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 2 }))
		if !far.WaitShards(2, soon) {
			t.Fatalf("greetings %+v", far.Greetings())
		}
		await(t, "connection", func() bool { return d.Health().Connected })
		for _, room := range rooms {
			far.Say(room, "ada", "@familiar hello")
			if e := d.next(t); e.Message.ChannelID != room || !e.Mentioned {
				t.Errorf("got %+v", e)
			}
		}
		far.DM("ada", "psst")
		if e := d.next(t); !e.Direct || e.Message.Text != "psst" {
			t.Errorf("got %+v", e)
		}
		h := d.Health()
		if h.Of != 2 || len(h.Shards) != 2 || h.Shards[0].Guilds != 2 || h.Shards[1].Guilds != 1 || h.Guilds != 3 || h.Identifies != 2 {
			t.Errorf("health %+v", h)
		}
		far.Unplug(false)
		await(t, "the loss", func() bool { return !d.Health().Connected })
		far.Plug()
		await(t, "its end", func() bool { return d.Health().Connected })
		if h := d.Health(); h.Resumes != 2 || h.Identifies != 2 {
			t.Errorf("health %+v", h)
		}
		lawful(t, far)
	})
}

// TestOneShardGreets checks that a bot with one shard is begun as before shards were known.
func TestOneShardGreets(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := open(t, far, nil)
		if g := far.Greetings()[0]; g.Of != 1 || d.Health().Of != 1 {
			t.Errorf("greeting %+v", g)
		}
		if n := len(far.Requests("GET gateway/bot")); n != 1 {
			t.Errorf("asked %d times for the gateway", n)
		}
	})
}

// TestBuckets begins sixteen shards. One, four or all of them may begin in five seconds.
func TestBuckets(t *testing.T) {
	each(t, map[string]int{"1": 1, "4": 4, "16": 16}, func(t *testing.T, far *discordtest.Server, concurrency int) {
		const of = 16
		far.Concurrency(concurrency)
		far.RecommendShards(of)
		begun := time.Now()
		d := run(t, far, prepare(t, far, nil))
		if !far.WaitShards(of, 2*time.Minute) {
			t.Fatalf("%d shards", far.Shards(of))
		}
		if took, want := time.Since(begun), (of/time.Duration(concurrency)-1)*identifyGap; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		at := map[int]time.Time{}
		for _, g := range far.Greetings() {
			if last, again := at[g.Shard%concurrency]; again && g.At.Sub(last) != identifyGap {
				t.Errorf("shard %d begins %v after another in its bucket", g.Shard, g.At.Sub(last))
			}
			at[g.Shard%concurrency] = g.At
		}
		if asked := len(far.Requests("GET gateway/bot")); asked != 2 {
			t.Errorf("Discord was asked %d times, want once for one shard and once for all", asked)
		}
		await(t, "connection", func() bool { return d.Health().Connected })
		lawful(t, far)
	})
}

// TestBudgetOfShards has fewer sessions left in the day than there are shards.
func TestBudgetOfShards(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Concurrency(4)
		far.RecommendShards(4)
		far.SessionStarts(3, time.Hour)
		begun := time.Now()
		run(t, far, prepare(t, far, nil))
		time.Sleep(time.Minute)
		if n := far.Shards(4); n != 3 {
			t.Errorf("%d shards before the limit is reset", n)
		}
		if !far.WaitShards(4, 2*time.Hour) || time.Since(begun) < time.Hour {
			t.Errorf("%d shards after %v", far.Shards(4), time.Since(begun))
		}
		lawful(t, far)
	})
}

// TestBucketOfADeadGateway has the first shard hang before its HELLO. It does not keep the others from their turn for
// ever, and their turns stay apart.
func TestBucketOfADeadGateway(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.RecommendShards(3)
		far.Silence(true)
		run(t, far, prepare(t, far, nil))
		time.Sleep(helloLimit / 2)
		far.Silence(false)
		if !far.WaitShards(3, 10*time.Minute) {
			t.Fatalf("%d shards: %+v", far.Shards(3), far.Greetings())
		}
		lawful(t, far)
	})
}

// TestShardIsCut cuts the connection of one shard. It resumes, and the other notices nothing.
func TestShardIsCut(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 2)
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 2 }))
		far.WaitShards(2, soon)
		await(t, "connection", func() bool { return d.Health().Connected })
		far.DropShard(1, 0)
		far.Say(rooms[1], "ada", "meanwhile")
		far.Say(rooms[0], "ada", "undisturbed")
		got := []string{d.next(t).Message.Text, d.next(t).Message.Text}
		if slices.Sort(got); !slices.Equal(got, []string{"meanwhile", "undisturbed"}) {
			t.Errorf("got %q", got)
		}
		await(t, "connection", func() bool { return d.Health().Connected })
		h := d.Health()
		if h.Shards[0].Resumes != 0 || h.Shards[1].Resumes != 1 || h.Identifies != 2 {
			t.Errorf("health %+v", h)
		}
		g := far.Greetings()
		if last := g[len(g)-1]; len(g) != 3 || !last.Resume || last.Shard != 1 {
			t.Errorf("greetings %+v", g)
		}
	})
}

// TestZombieShard leaves the heartbeats unanswered. Each shard notices within two intervals.
func TestZombieShard(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		const every = 40 * time.Second
		far.HeartbeatInterval(every)
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 2 }))
		far.WaitShards(2, soon)
		time.Sleep(every)
		far.MuteAcks(true)
		time.Sleep(2 * every)
		synctest.Wait()
		for _, one := range d.Health().Shards {
			if one.Resumes == 0 && one.Connected {
				t.Errorf("not noticed: %+v", one)
			}
		}
	})
}

// shelves store what the shards of a door save.
type shelves struct {
	mu    sync.Mutex
	texts map[int]string
	kept  servers
}

func (k *shelves) use(c *Config) {
	k.kept.use(c)
	c.LoadSession = func(_ context.Context, shard int) (string, time.Time, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.texts[shard], time.Time{}, nil
	}
	c.SaveSession = func(_ context.Context, shard int, text string) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.texts == nil {
			k.texts = map[int]string{}
		}
		k.texts[shard] = text
		return nil
	}
}

func (k *shelves) with(shards int) func(*Config) {
	return func(c *Config) {
		k.use(c)
		c.Shards = shards
	}
}

// TestRestartOfShards restarts the door. Every shard resumes its session, without asking Discord for anything.
func TestRestartOfShards(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 4)
		far.RecommendShards(4)
		k := &shelves{}
		d := run(t, far, prepare(t, far, k.use))
		far.WaitShards(4, soon)
		var want []string
		for n := range 12 {
			want = append(want, fmt.Sprintf("not taken %02d", n))
			far.Say(rooms[n%4], "ada", want[n])
		}
		far.DM("ada", "not taken DM")
		synctest.Wait()
		d.end(t)
		asked := len(far.Requests("GET gateway/bot"))
		d = run(t, far, prepare(t, far, k.use))
		h := d.listen(t)
		await(t, "connection", func() bool { return d.Health().Connected })
		if got := h.all(); !slices.Equal(got, append(want, "not taken DM")) {
			t.Errorf("got %q", got)
		}
		if h := d.Health(); h.Identifies != 0 || h.Resumes != 4 || h.Guilds != 4 || len(far.Requests("GET gateway/bot")) != asked {
			t.Errorf("health %+v", h)
		}
		if guilds, known := d.Guilds(); !known || len(guilds) != 4 {
			t.Errorf("servers %v, %t", guilds, known)
		}
	})
}

// TestOneShardIsForgotten loses one of the saved sessions. That shard begins a new one and asks for what was missed.
func TestOneShardIsForgotten(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 2)
		k := &shelves{}
		d := run(t, far, prepare(t, far, k.with(2)))
		far.WaitShards(2, soon)
		for _, room := range rooms {
			far.Say(room, "ada", "before")
			d.next(t)
		}
		time.Sleep(settledLast)
		d.end(t)
		delete(k.texts, 1)
		for n, room := range rooms {
			far.Say(room, "ada", fmt.Sprint("meanwhile ", n))
		}
		d = run(t, far, prepare(t, far, k.with(2)))
		h := d.listen(t)
		far.WaitShards(2, soon)
		time.Sleep(gapWait)
		if got := h.all(); !slices.Contains(got, "meanwhile 0") || !slices.Contains(got, "meanwhile 1") {
			t.Errorf("got %q", got)
		}
		if h := d.Health(); h.Identifies != 1 || h.Resumes != 1 {
			t.Errorf("health %+v", h)
		}
	})
}

// TestTooManyServers has Discord refuse the only shard while it runs. Two take its place, and no message is lost.
func TestTooManyServers(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 2)
		d := open(t, far, nil)
		h := d.listen(t)
		time.Sleep(time.Minute)
		var want []string
		say := func(when string) {
			for n, room := range rooms {
				text := fmt.Sprint(when, " ", n)
				want = append(want, text)
				far.Say(room, "ada", text)
			}
			want = append(want, when+" DM")
			far.DM("ada", when+" DM")
			time.Sleep(time.Second)
		}
		say("a before")
		far.RecommendShards(2)
		far.Crowd(1)
		say("b meanwhile")
		if !far.WaitShards(2, soon) {
			t.Fatalf("greetings %+v", far.Greetings())
		}
		time.Sleep(time.Minute)
		say("c after")
		if got := h.all(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if h := d.Health(); !h.Connected || h.Of != 2 || h.Guilds != 2 || h.Trouble != "" {
			t.Errorf("health %+v", h)
		}
		lawful(t, far)
	})
}

// TestGrows has Discord recommend more shards than there are. The new ones begin beside the old ones. At every moment one of them brings
// what is written, and the old ones end their sessions.
func TestGrows(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		rooms := halls(far, 6)
		far.RecommendShards(2)
		k := &shelves{}
		d := run(t, far, prepare(t, far, k.use))
		far.WaitShards(2, soon)
		h := d.listen(t)
		await(t, "connection", func() bool { return d.Health().Connected })
		far.RecommendShards(3)
		far.DropShard(1, 4009) // it begins a new session, and learns of the new number
		var want []string
		for n := range 300 {
			room := rooms[n%len(rooms)]
			if n%len(rooms)%2 == 1 && n < 60 {
				room = rooms[0] // the shard that was dropped is away
			}
			want = append(want, fmt.Sprintf("%03d", n))
			far.Say(room, "ada", want[n])
			if n == 200 {
				far.Interact(rooms[2], "ada", "order", nil, true)
			}
			time.Sleep(100 * time.Millisecond)
			if n >= 60 && !d.gateway.Connected(far.GuildOf(room)) {
				t.Fatalf("after %v the events of server %d do not come", time.Duration(n)*100*time.Millisecond, n%len(rooms))
			}
		}
		if far.Shards(3) != 3 || far.Shards(2) != 0 || far.Connections() != 3 {
			t.Errorf("%d of three shards, %d of two, %d connections", far.Shards(3), far.Shards(2), far.Connections())
		}
		if asked := len(far.Requests("GET channels/*/messages")); asked > 10 {
			t.Errorf("missed messages were asked for %d times", asked)
		}
		if got := slices.DeleteFunc(h.all(), func(text string) bool { return text == "" }); !slices.Equal(got, want) {
			t.Errorf("got %d texts: %q", len(got), got)
		}
		d.end(t)
		if d = run(t, far, prepare(t, far, k.use)); !far.WaitShards(3, soon) || d.Health().Identifies > 0 {
			t.Errorf("after a restart %+v", d.Health())
		}
		lawful(t, far)
	})
}

// TestOrderedOnce orders something while two sets of shards bring events.
func TestOrderedOnce(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		room := halls(far, 1)[0]
		k := &shelves{}
		d := run(t, far, prepare(t, far, k.with(1)))
		far.WaitShards(1, soon)
		await(t, "connection", func() bool { return d.Health().Connected })
		d.end(t)
		d = run(t, far, prepare(t, far, k.with(2)))
		await(t, "two sets", func() bool { return far.Shards(1) == 1 && far.Shards(2) == 1 })
		order := far.Interact(room, "ada", "order", nil, true)
		if e := d.next(t); e.Command == nil || e.ID != order.ID {
			t.Errorf("got %+v", e)
		}
		far.WaitShards(2, soon)
		d.none(t)
		if n := len(far.Requests("POST interactions/*/*/callback")); n != 1 {
			t.Errorf("acknowledged %d times", n)
		}
	})
}

// TestNumberIsChanged restarts with another FAMILIAR_SHARDS. The old sessions are resumed and bring what was missed, and
// the new ones take their place.
func TestNumberIsChanged(t *testing.T) {
	each(t, map[string][2]int{"more": {1, 3}, "fewer": {3, 1}}, func(t *testing.T, far *discordtest.Server, number [2]int) {
		rooms := halls(far, 3)
		k := &shelves{}
		d := run(t, far, prepare(t, far, k.with(number[0])))
		far.WaitShards(number[0], soon)
		await(t, "connection", func() bool { return d.Health().Connected })
		time.Sleep(time.Minute)
		d.end(t)
		far.Say(rooms[2], "ada", "meanwhile")
		d = run(t, far, prepare(t, far, k.with(number[1])))
		h := d.listen(t)
		if !far.WaitShards(number[1], soon) {
			t.Fatalf("greetings %+v", far.Greetings())
		}
		await(t, "the new number", func() bool { return d.Health().Of == number[1] })
		far.Say(rooms[2], "ada", "now")
		if got := h.all(); !slices.Equal(got, []string{"meanwhile", "now"}) {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		if h := d.Health(); h.Resumes != number[0] || h.Identifies != number[1] || far.Shards(number[0]) != 0 {
			t.Errorf("health %+v", h)
		}
		lawful(t, far)
	})
}

// TestRefusedNumbers has Discord refuse the number that the operator chose. Its own is used then.
func TestRefusedNumbers(t *testing.T) {
	each(t, map[string]func(*discordtest.Server){
		"too few": func(far *discordtest.Server) { far.MostGuilds(1) },
		"invalid": func(far *discordtest.Server) { far.CloseNext(1, badShard) },
	}, func(t *testing.T, far *discordtest.Server, refuse func(*discordtest.Server)) {
		rooms := halls(far, 3)
		far.RecommendShards(3)
		refuse(far)
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 1 }))
		if !far.WaitShards(3, soon) {
			t.Fatalf("greetings %+v", far.Greetings())
		}
		for _, room := range rooms {
			far.Say(room, "ada", "hello")
			if e := d.next(t); e.Message.ChannelID != room {
				t.Errorf("got %+v", e)
			}
		}
		lawful(t, far)
	})
}

// TestNoNumberIsRight ends when Discord refuses the number that it recommends.
func TestNoNumberIsRight(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.CloseNext(1, badShard)
		err := run(t, far, prepare(t, far, nil)).result(t)
		if f := (*gateway.Fatal)(nil); !errors.As(err, &f) || f.Code != badShard {
			t.Errorf("Run gave %v", err)
		}
	})
}

// TestShardsWithoutContent has Discord refuse the content of messages. Both shards begin without it.
func TestShardsWithoutContent(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.RefuseContent()
		far.Concurrency(2)
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 2 }))
		if !far.WaitShards(2, soon) || !d.Contentless() {
			t.Errorf("greetings %+v", far.Greetings())
		}
	})
}

// TestPresenceOfShards shows the presence in every shard, also in those that begin later.
func TestPresenceOfShards(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		d := run(t, far, prepare(t, far, func(c *Config) { c.Shards = 2 }))
		d.Present(turn.Presence{Text: "resting"})
		far.WaitShards(2, soon)
		synctest.Wait()
		if p := far.Presences(); len(p) != 2 || p[0] != "idle resting" || p[1] != p[0] {
			t.Errorf("presences %q", p)
		}
	})
}
