package bot

import (
	"context"
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
)

// living runs a whole bot in virtual time, with a model behind a network in memory and Discord's pace. during drives it, and may ask it to
// stop.
func living(t *testing.T, script string, during func(b *Bot, events chan<- []turn.Event, door *recorder, stop func())) {
	livingIn(t, nil, script, during)
}

// livingIn is living in servers.
func livingIn(t *testing.T, servers *recall.Servers, script string, during func(b *Bot, events chan<- []turn.Event, door *recorder, stop func())) {
	synctest.Test(t, func(t *testing.T) {
		parsed, err := llmtest.ParseScript([]byte(script))
		if err != nil {
			t.Fatal(err)
		}
		server := llmtest.InMemory(t)
		server.Play(parsed)
		transport := &http.Transport{DialContext: server.Dial, DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		client := func(model string) *llm.Client {
			return &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: server.URL, Model: model}
		}
		owl := &character.Character{ID: "owl", Name: "Owl", Mode: turn.Text, ChatterPerDay: 10, Modes: map[turn.Mode]character.Limits{turn.Text: {Total: 4000, Deadline: 5 * time.Second}}}
		door := &recorder{start: time.Now()}
		b := resting(t, door)
		defer b.Store.Close()
		b.Servers = servers
		b.Cast = &Cast{Default: &Actor{Character: owl, Builder: &prompt.Builder{}, Model: client("main"), Side: client("side")}}
		b.Pace.First, b.Pace.Every = 200*time.Millisecond, 1200*time.Millisecond
		events := make(chan []turn.Event)
		var running sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		running.Go(func() { b.Run(ctx, events) })
		during(b, events, door, func() { cancel(); running.Wait() })
		close(events)
		running.Wait()
	})
}

// The first words are seen no more than 350 ms after the model's first token. Virtual time counts only waiting: BenchmarkFirstWords measures
// the machine.
func TestFirstWordsComeSoonAfterTheModels(t *testing.T) {
	t.Parallel()
	const first, most = 700 * time.Millisecond, 350 * time.Millisecond
	living(t, "wait 700ms\nsay Mice, which are small. \nwait 5s\nsay And voles.\n", func(_ *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		events <- []turn.Event{asks("1", "general", "ana")}
		time.Sleep(time.Minute)
		calls := door.all()
		if len(calls) < 2 {
			t.Fatalf("calls %+v", calls)
		}
		if got := calls[0].at - first; got < 0 || got > most {
			t.Errorf("the first words came %v after the model's first token", got)
		}
	})
}

// The bot considers joining in after ten quiet seconds in a channel. Each message starts them over, and a message for the bot ends the wait.
func TestTheLullLastsTenSeconds(t *testing.T) {
	t.Parallel()
	living(t, "when model \"side\"\nsay YES\nwhen model \"main\"\nsay Hoo.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		if err := b.Store.Settings.ChangeConduct(context.Background(), "general", "hall", store.By{}, func(c *store.Conduct) { c.Chatty = true }); err != nil {
			t.Fatal(err)
		}
		write := func(id string, to bool) {
			e := asks(id, "general", "ana")
			e.Mentioned = to
			events <- []turn.Event{e}
		}
		posted := func(after time.Duration, want int) {
			time.Sleep(after)
			synctest.Wait()
			if n := len(door.all()); n != want {
				t.Fatalf("%v: %d posts, want %d", time.Since(door.start), n, want)
			}
		}
		write("1", false)
		posted(9*time.Second, 0)
		write("2", false)
		posted(9990*time.Millisecond, 0)
		posted(time.Second, 1) // after the lull, and the time that the models and the post take
		if at := door.all()[0].at; at < 19*time.Second || at > 19*time.Second+350*time.Millisecond {
			t.Errorf("joined in at %v", at)
		}
		write("3", false)
		posted(5*time.Second, 1)
		write("4", true)
		posted(time.Second, 2)
		posted(time.Minute, 2) // nobody has written since it took part
	})
}

// An order of memory is carried out once, however often its turn starts over. The attempt that is answered tells the model the result.
func TestAnOrderIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	living(t, "wait 2s\nsay As you wish.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		ctx := context.Background()
		said := func(id, text string, to bool) {
			e := asks(id, "general", "ana")
			e.GuildID, e.Message.Text, e.Mentioned = "", text, to
			events <- []turn.Event{e}
		}
		said("1", "remember that I love plums", true)
		time.Sleep(time.Minute)
		said("2", "forget that I love plums", true)
		time.Sleep(400 * time.Millisecond) // it is forgotten, and the model has not answered
		said("3", "and be quick about it", false)
		time.Sleep(time.Minute)
		recent, err := b.Traces.Recent(ctx, "general", 3)
		if err != nil || len(recent) != 2 {
			t.Fatalf("turns %+v, %v", recent, err)
		}
		last, err := b.Traces.Get(ctx, recent[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := last.Memory; d == nil || d.Deed != "forget" || d.Refused != "" || len(d.IDs) != 1 || !strings.Contains(last.Request.Message.Text, "be quick") {
			t.Errorf("%+v of %q", d, last.Request.Message.Text)
		}
		if n := len(door.all()); n != 2 {
			t.Errorf("%d posts", n)
		}
	})
}

// The bot stops soon when asked to, even while the model hangs and Discord is away. What could not be posted waits for the next start.
func TestItEndsWhenAskedTo(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nothing said": "hold\n",
		"half said":    "say Mice, which are \nhold\n",
		"all said":     "wait 1s\nsay Mice.\n",
	} {
		t.Run(name, func(t *testing.T) {
			living(t, script, func(b *Bot, events chan<- []turn.Event, door *recorder, stop func()) {
				ctx := context.Background()
				door.fail = func(int, call) error {
					return &rest.Error{Kind: rest.Unavailable}
				}
				events <- []turn.Event{asks("1", "general", "ana")}
				events <- []turn.Event{asks("2", "general", "ben")} // it waits for its turn
				time.Sleep(500 * time.Millisecond)
				asked := time.Now()
				stop()
				if took := time.Since(asked); took > 25*time.Second {
					t.Errorf("it took %v", took)
				}
				open, err := b.Store.Claims.Open(ctx)
				if err != nil || len(open) != 2 {
					t.Errorf("unanswered: %+v, %v", open, err)
				}
			})
		})
	}
}

// When many answer at once, what an answer would post first has to wait. A short answer is then posted once and whole; the first words of a
// long one queue after two seconds.
func TestManyAnswersCostOneRequestEach(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		"say Mice, which are small. \nwait 1s\nsay And voles.\n": {"Mice, which are small. And voles."},
		"say Mice, which are small. \nwait 5s\nsay And voles.\n": {"Mice, which are small.", "Mice, which are small. And voles."},
	} {
		living(t, script, func(_ *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
			door.fail = func(_ int, c call) error {
				if c.post.Passing {
					return &rest.Error{Kind: rest.RateLimited}
				}
				return nil
			}
			events <- []turn.Event{asks("1", "general", "ana")}
			time.Sleep(time.Minute)
			var shown []string
			for _, c := range door.all() {
				if !c.failed {
					shown = append(shown, c.post.Text)
				}
			}
			if !slices.Equal(shown, want) {
				t.Errorf("shown %q, want %q", shown, want)
			}
		})
	}
}

// A store that does not answer keeps nobody waiting for a word. What came meanwhile is answered when it works again.
func TestAStoreThatHangs(t *testing.T) {
	t.Parallel()
	living(t, "say Hoo.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		thawed, frozen := make(chan struct{}), make(chan struct{})
		var hanging sync.WaitGroup
		hanging.Go(func() {
			_ = b.Store.Write(context.Background(), func(*sql.Tx) error { close(frozen); <-thawed; return nil })
		})
		<-frozen
		talk := asks("1", "general", "ana")
		talk.Mentioned = false
		events <- []turn.Event{talk, asks("2", "general", "ben")}
		time.Sleep(7 * time.Second)
		b.Overdue([]turn.Event{asks("2", "general", "ben")}) // nobody is told twice
		time.Sleep(2 * time.Second)
		if calls := door.all(); len(calls) != 1 || calls[0].post.ReplyTo != "2" || calls[0].at > 8*time.Second {
			t.Errorf("told %+v", calls)
		}
		events <- nil
		events <- []turn.Event{asks("3", "general", "cy")} // once the store is given up for the batch before
		taken := time.Since(door.start)
		time.Sleep(9 * time.Second)
		if calls := door.all(); len(calls) != 2 || calls[1].post.ReplyTo != "3" || calls[1].at > taken+2*time.Second {
			t.Errorf("told of what waited behind, which was taken at %v: %+v", taken, calls)
		}
		close(thawed)
		hanging.Wait()
		time.Sleep(time.Minute)
		if calls := door.all(); calls[len(calls)-1].post.Text != "Hoo." {
			t.Errorf("in the end %+v", calls)
		}
	})
}

// People who wait behind a model that hangs are told within ten seconds, once, and are answered in the end. Behind a turn that goes on nobody is told.
func TestBehindAModelThatHangs(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		"when prompt \"of ana\"\nhold\nwhen prompt \".\"\nsay Hoo.\n":                             {"messages of ben and cy wait", "messages of dee wait"},
		"when prompt \"of ana\"\nsay Mice, \nwait 40s\nsay voles.\nwhen prompt \".\"\nsay Hoo.\n": nil,
	} {
		living(t, script, func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
			began := time.Now()
			asked := map[string]time.Duration{}
			ask := func(id, who string) {
				e := asks(id, "general", who)
				e.Message.Text = "a question of " + who
				asked[who] = time.Since(began)
				events <- []turn.Event{e}
			}
			ask("1", "ana")
			time.Sleep(time.Second)
			ask("2", "ben")
			time.Sleep(time.Second)
			ask("3", "cy")
			time.Sleep(9 * time.Second)
			ask("4", "dee")
			time.Sleep(20 * time.Second)
			var told []string
			for _, c := range door.all() {
				if strings.Contains(c.post.Text, "wait for their turn") {
					told = append(told, c.post.Text)
					if c.post.ReplyTo != "" {
						t.Error("the notice looks like an answer")
					}
					for who, at := range asked {
						if strings.Contains(c.post.Text, who) && c.at-at > 10*time.Second {
							t.Errorf("%s was told after %v", who, c.at-at)
						}
					}
				}
			}
			if !slices.EqualFunc(told, want, strings.Contains) {
				t.Errorf("told %q, want %q", told, want)
			}
			time.Sleep(10 * time.Minute)
			answered := 0
			for _, c := range door.all() {
				if c.post.Text == "Hoo." {
					answered++
				}
			}
			if answered != 3 {
				t.Errorf("%d were answered, want 3", answered)
			}
		})
	}
}

// Two notices that begin with the same message are two posts. Discord takes a post with the nonce of another for that one. The second notice
// would replace it, and its names.
func TestNoticesKeepTheirNames(t *testing.T) {
	t.Parallel()
	living(t, "say Hoo.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		events <- nil // it runs
		tell := func(what sentence, who ...string) {
			for _, name := range who {
				b.tell(asks(name, "general", name), what)
			}
			time.Sleep(time.Minute)
		}
		tell(reply.Waits, "ana", "ben")
		tell(reply.TooBusy, "ana")
		tell(reply.TooBusy, "ana", "cy")
		nonces := map[string]string{}
		for _, c := range door.all() {
			if before, used := nonces[c.post.Nonce]; used {
				t.Errorf("%q takes the place of %q", c.post.Text, before)
			}
			nonces[c.post.Nonce] = c.post.Text
		}
		if len(nonces) != 3 {
			t.Errorf("%d posts", len(nonces))
		}
	})
}

// A turn that cannot be recorded is told below the last of its messages, as an answer would be.
func TestNoticeIsBelowTheBurst(t *testing.T) {
	t.Parallel()
	living(t, "say Hoo.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		err := b.Store.Write(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`ALTER TABLE traces RENAME TO lost`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		events <- []turn.Event{asks("1", "general", "ana"), asks("2", "general", "ana")}
		time.Sleep(2 * recordLimit)
		if calls := door.all(); len(calls) != 1 || calls[0].post.ReplyTo != "2" || !strings.HasPrefix(calls[0].post.Text, string(reply.OutOfOrder)) {
			t.Errorf("told %+v", calls)
		}
	})
}

// A turn whose last words could not be sent ends, and is left for the next start, in one transaction. If that fails, the turn has not ended.
func TestWhatIsLeftOpenEndsInOneTransaction(t *testing.T) {
	if postgres.Used() {
		t.Skip("the trigger is SQLite's")
	}
	t.Parallel()
	living(t, "say Mice, which are small. \nwait 5s\nsay And voles.\n", func(b *Bot, events chan<- []turn.Event, door *recorder, stop func()) {
		err := b.Store.Write(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`CREATE TRIGGER never BEFORE UPDATE ON claims WHEN old.state = 'done' BEGIN SELECT RAISE(ABORT, 'not again'); END`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		door.fail = func(_ int, c call) error {
			if c.method == "edit" {
				return &rest.Error{Kind: rest.Unavailable}
			}
			return nil
		}
		events <- []turn.Event{asks("1", "general", "ana")}
		time.Sleep(5 * time.Minute)
		open, err := b.Store.Claims.Open(context.Background())
		if err != nil || len(open) != 1 || len(open[0].Posts) != 1 {
			t.Errorf("left open: %+v, %v", open, err)
		}
	})
}
