package discord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/discordtest"
)

// servers store the servers that a door saves.
type servers struct {
	mu    sync.Mutex
	texts map[string]string
	saved int // texts
}

func (k *servers) use(c *Config) { c.LoadServers, c.SaveServers = k.load, k.save }

func (k *servers) load(context.Context) (map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.texts), nil
}

func (k *servers) save(_ context.Context, changed map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts == nil {
		k.texts = map[string]string{}
	}
	for id, text := range changed {
		if k.texts[id] = text; text == "" {
			delete(k.texts, id)
		}
		k.saved++
	}
	return nil
}

// count returns how many servers are kept, and how many texts were saved.
func (k *servers) count() (kept, saved int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.texts), k.saved
}

// shelf stores what a door saves.
type shelf struct {
	mu    sync.Mutex
	text  string
	kept  servers
	saves int
	fail  error
}

func (k *shelf) load(context.Context, int) (string, time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text, time.Time{}, nil
}

func (k *shelf) save(_ context.Context, _ int, text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail == nil {
		k.text, k.saves = text, k.saves+1
	}
	return k.fail
}

func (k *shelf) use(c *Config) {
	c.LoadSession, c.SaveSession = k.load, k.save
	k.kept.use(c)
}

// crash makes the shelf refuse saves, as if the program had been killed, or accept them again.
func (k *shelf) crash(killed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = nil
	if killed {
		k.fail = errors.New("killed")
	}
}

func (k *shelf) edit(old, replacement string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text = strings.Replace(k.text, old, replacement, 1)
}

// end ends a door and waits for its end.
func (d *door) end(t *testing.T) {
	t.Helper()
	d.stop()
	if err := d.result(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// texts returns the distinct texts of the messages that arrive in the next moments.
func (d *door) texts(t *testing.T) (texts []string) {
	t.Helper()
	var ids []string
	for {
		select {
		case batch := <-d.Events():
			for _, e := range batch {
				if !slices.Contains(ids, e.ID) {
					ids, texts = append(ids, e.ID), append(texts, e.Message.Text)
				}
			}
		case <-time.After(10 * time.Second):
			return texts
		}
	}
}

// TestRestart restarts the door while the bot has not taken all events.
func TestRestart(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		books := far.AddChannel("hall", "books")
		far.AddRole("hall", "readers")
		own := far.AddOwnRole("hall")
		thread := far.AddThread("books", "chapter", false)
		k := &shelf{}
		d := open(t, far, k.use)
		far.Say("general", "ada", "taken long ago")
		d.next(t)
		time.Sleep(settledLast)
		for range 3 {
			far.Say("general", "ada", "not taken")
		}
		synctest.Wait()
		d.end(t)
		if strings.Contains(k.text, discordtest.Token) || strings.Contains(k.text, strings.Split(discordtest.Token, ".")[2]) {
			t.Error("the saved text holds the token")
		}
		time.Sleep(time.Minute)
		far.Say(thread, "ada", "hey <@&"+own+">, ask @readers in #books")
		far.DM("ada", "psst")

		ready := make(chan Ready, 1)
		d = open(t, far, func(c *Config) {
			k.use(c)
			c.OnReady = func(r Ready) { ready <- r }
			c.Commands = []turn.Definition{{Kind: turn.MessageMenu, Name: "Why this?", Places: []turn.Place{turn.InServer}, Installs: []turn.Install{turn.ServerInstall}}}
		})
		for range 3 {
			if e := d.next(t); e.Message.Text != "not taken" || e.ParentUnknown {
				t.Errorf("got %+v", e)
			}
		}
		if e := d.next(t); e.Message.Text != "hey, ask @readers in #books" || !e.Mentioned || e.ParentID != books || e.Late {
			t.Errorf("got %+v", e)
		}
		if e := d.next(t); e.Message.Text != "psst" {
			t.Errorf("got %+v", e)
		}
		d.none(t)
		if h := d.Health(); h.Identifies != 0 || h.Resumes != 1 || h.Guilds != 1 || len(far.Requests("GET channels/*")) != 0 {
			t.Errorf("health %+v", h)
		}
		if r := <-ready; r.ID != far.UserID("familiar") || !slices.Equal(r.Guilds, []string{"hall"}) {
			t.Errorf("ready: %+v", r)
		}
		if !far.WaitCommands(1, soon) {
			t.Error("no commands")
		}
	})
}

// TestKilledAfterIdentify ends the door just after it began a session that cannot be resumed. The next door keeps the
// time between two IDENTIFYs that Discord demands.
func TestKilledAfterIdentify(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		k := &shelf{}
		for range 3 {
			d := open(t, far, k.use)
			synctest.Wait() // for the first save
			k.crash(true)
			d.end(t)
			k.crash(false)
			far.Forget()
			time.Sleep(time.Second)
		}
		if v := far.Violations(); len(v) > 0 {
			t.Errorf("%v", v)
		}
	})
}

// TestKilled ends the door without a last save. Messages that the bot had not taken, or may not have stored, come again.
func TestKilled(t *testing.T) {
	t.Parallel()
	const every, messages, recent = 900 * time.Millisecond, 24, 11 // messages in ten seconds
	for kill := range messages {
		t.Run(fmt.Sprint("at ", kill), func(t *testing.T) {
			virtual(t, func(t *testing.T, far *discordtest.Server) {
				k := &shelf{}
				d := open(t, far, k.use)
				synctest.Wait() // for the first save
				for n := range messages {
					far.Say("general", "ada", fmt.Sprint("message ", n))
					switch {
					case n < kill:
						d.next(t)
						time.Sleep(every)
					case n == kill:
						k.crash(true)
						d.end(t)
					}
				}
				k.crash(false)
				got := open(t, far, k.use).texts(t)
				for n := max(0, kill-recent); n < messages; n++ {
					if !slices.Contains(got, fmt.Sprint("message ", n)) {
						t.Errorf("message %d is lost: %q", n, got)
					}
				}
				if g := far.Greetings(); len(g) != 2 || !g[1].Resume || kill > 20 && slices.Contains(got, "message 0") {
					t.Errorf("greetings %+v, %q", g, got)
				}
			})
		})
	}
}

// TestOtherSession saves sessions that cannot be resumed. A new session begins, and earlier messages are found.
func TestOtherSession(t *testing.T) {
	each(t, map[string]struct {
		change  func(*discordtest.Server, *shelf)
		resumes int
		gap     bool
	}{
		"forgotten":     {func(far *discordtest.Server, _ *shelf) { far.Forget() }, 1, true},
		"too old":       {func(*discordtest.Server, *shelf) { time.Sleep(sessionLife) }, 0, true},
		"another bot's": {func(_ *discordtest.Server, k *shelf) { k.edit(`{"of":"`, `{"of":"x`) }, 0, false},
		"no text":       {func(_ *discordtest.Server, k *shelf) { k.edit(`{`, `[`) }, 0, false},
		"no directory":  {func(_ *discordtest.Server, k *shelf) { clear(k.kept.texts) }, 0, true},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		change  func(*discordtest.Server, *shelf)
		resumes int
		gap     bool
	}) {
		k := &shelf{}
		d := open(t, far, k.use)
		far.Say("general", "ada", "before")
		d.next(t)
		time.Sleep(settledLast)
		d.end(t)
		c.change(far, k)
		far.Say("general", "ada", "meanwhile")
		d = open(t, far, k.use)
		got := slices.DeleteFunc(d.texts(t), func(text string) bool { return text == "before" }) // a message may come twice
		if c.gap && !slices.Equal(got, []string{"meanwhile"}) || !c.gap && len(got) > 0 {
			t.Errorf("got %q", got)
		}
		g := far.Greetings()[1:]
		if len(g) != c.resumes+1 || g[len(g)-1].Resume {
			t.Errorf("greetings %+v", g)
		}
	})
}

// TestGap loses the session while people write. Their messages are found in the channels and come once, in order and
// marked Late.
func TestGap(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		for n := range 60 {
			far.Say(far.AddChannel("hall", fmt.Sprint("quiet-", n)), "ada", "long ago")
		}
		books := far.AddChannel("hall", "books")
		far.AddChannel("hall", "gone")
		d := open(t, far, nil)
		d.none(t)
		far.DM("ada", "hello")
		d.next(t)
		time.Sleep(time.Minute)
		far.Say("books", "ada", "last")
		d.next(t)
		far.Unplug(false)
		far.Forget()
		want := []string{"one", "two", "three"}
		far.Say("books", "ada", "one")
		far.Post(discordtest.Post{Channel: "books", Author: "robot", Bot: true, Text: "beep"})
		time.Sleep(time.Second)
		far.DM("ada", "two")
		far.Say("general", "bob", "three")
		for n := range 120 {
			time.Sleep(time.Millisecond)
			want = append(want, fmt.Sprint("many ", n))
			far.Say("books", "ada", want[len(want)-1])
		}
		far.Plug()
		for n, text := range want {
			e := d.next(t)
			if e.Message.Text != text || !e.Late || e.Kind != turn.Created || e.Direct != (text == "two") || !e.Direct && (e.GuildID == "" || e.ParentUnknown) {
				t.Fatalf("event %d: got %+v, want %s", n, e, text)
			}
		}
		d.none(t)
		far.Say("books", "ada", "now")
		if e := d.next(t); e.Late || e.Message.ChannelID != books {
			t.Errorf("got %+v", e)
		}
		if n := len(far.Requests("GET channels/*/messages")); n != 5 { // books three times, general, ada's
			t.Errorf("%d requests", n)
		}
	})
}

// TestGapAcrossRestart ends the door while it asks for missed messages. The next start asks again.
func TestGapAcrossRestart(t *testing.T) {
	each(t, map[string]bool{"stopped": false, "killed": true}, func(t *testing.T, far *discordtest.Server, killed bool) {
		k := &shelf{}
		d := open(t, far, k.use)
		far.Say("general", "ada", "before")
		d.next(t)
		time.Sleep(time.Hour)
		far.Unplug(false)
		far.Forget()
		far.Say("general", "ada", "meanwhile")
		far.Fail(discordtest.Fault{Route: "GET channels/*/messages", Times: 9, Delay: time.Minute})
		far.Plug()
		if !far.WaitGreetings(2, soon) {
			t.Fatal("no session")
		}
		time.Sleep(keepEvery + time.Second)
		far.Say("general", "ada", "live")
		if e := d.next(t); e.Message.Text != "live" || e.Late {
			t.Errorf("got %+v", e)
		}
		k.crash(killed)
		d.end(t)
		k.crash(false)
		far.ClearFaults()
		got := open(t, far, k.use).texts(t)
		if !slices.Contains(got, "meanwhile") {
			t.Errorf("got %q", got)
		}
	})
}

// TestGapIsBounded simulates a long absence from many channels.
func TestGapIsBounded(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		k := &shelf{}
		var rooms []string
		for n := range gapPages + 20 {
			rooms = append(rooms, far.AddChannel("hall", fmt.Sprint("room-", n)))
		}
		d := open(t, far, k.use)
		d.end(t)
		far.Forget()
		far.Say("general", "ada", "too long ago")
		time.Sleep(40 * time.Minute)
		for _, room := range rooms {
			far.Say(room, "ada", "meanwhile")
		}
		time.Sleep(20 * time.Minute)
		d = open(t, far, k.use)
		got := d.texts(t)
		if n := len(far.Requests("GET channels/*/messages")); n != gapPages || len(got) != gapPages || slices.Contains(got, "too long ago") {
			t.Errorf("%d requests, %d messages: %q", n, len(got), got)
		}
	})
}

// TestSavedBehindTheQueue saves while the bot takes nothing. The waiting events come again.
func TestSavedBehindTheQueue(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		k := &shelf{}
		d := open(t, far, k.use)
		want := []string{"one", "two", "three"}
		for _, text := range want {
			far.Say("general", "ada", text)
		}
		time.Sleep(2 * keepEvery)
		k.crash(true)
		d.end(t)
		k.crash(false)
		if got := open(t, far, k.use).texts(t); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

// TestSavesSparingly counts the saves: some while messages come, few while none do, and one at the end.
func TestSavesSparingly(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		k := &shelf{}
		d := open(t, far, k.use)
		count := func() int {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.saves
		}
		for range 600 {
			far.Say("general", "ada", "x")
			d.next(t)
			time.Sleep(100 * time.Millisecond)
		}
		if n := count(); n < 8 || n > 14 {
			t.Errorf("%d saves in a minute", n)
		}
		time.Sleep(2 * settledLast)
		before := count()
		time.Sleep(time.Hour)
		if n := count() - before; n < 50 || n > 61 {
			t.Errorf("%d saves in an hour at rest", n)
		}
		d.end(t)
		time.Sleep(sessionLife - time.Minute)
		d = open(t, far, k.use)
		if h := d.Health(); h.Identifies != 0 {
			t.Errorf("not resumed: %+v", h)
		}
	})
}

// TestServersAreSaved saves each server once, and again when it changes. A server that the bot has left is deleted.
func TestServersAreSaved(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		for n := range 20 {
			far.AddChannel(far.AddGuild(fmt.Sprint("hall-", n)), fmt.Sprint("room-", n))
		}
		k := &shelf{}
		d := open(t, far, k.use)
		rest := func() { // until what changed has been saved, which may be in the last moment
			time.Sleep(keepAtRest)
			synctest.Wait()
		}
		rest()
		far.Say("general", "ada", "hello")
		d.next(t)
		rest()
		kept, before := k.kept.count()
		if kept != 21 || before > 42 { // when they were announced, and when they came
			t.Errorf("%d servers were saved, in %d texts", kept, before)
		}
		far.AddChannel("hall-3", "new")
		far.Kick("hall-4")
		d.next(t)
		rest()
		if kept, saved := k.kept.count(); kept != 20 || saved-before != 2 {
			t.Errorf("%d servers were saved, %d after the changes", kept, saved-before)
		}
		d.end(t)
		if d = open(t, far, k.use); d.Health().Identifies > 0 || d.Health().Guilds != 20 || len(d.Channels(far.GuildOf("new"))) != 2 {
			t.Errorf("after a restart: %+v, channels %+v", d.Health(), d.Channels(far.GuildOf("new")))
		}
	})
}
