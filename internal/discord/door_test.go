package discord

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/test/discordtest"
	"familiar/internal/test/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is longer than anything that tests wait for. In virtual time it costs nothing.
const soon = time.Minute

// The waits of the gateway's sessions.
const (
	helloLimit  = 15 * time.Second
	identifyGap = 5 * time.Second
	firstRetry  = 500 * time.Millisecond
	maxResumes  = 3
	sessionLife = 10 * time.Minute
	settledLast = time.Minute
	keepEvery   = 5 * time.Second
	keepAtRest  = time.Minute

	welcomeLimit = 30 * time.Second
)

// Close codes of the gateway.
const (
	badShard  = 4010
	noContent = 4014
)

// virtual runs a test in virtual time against a Discord in memory. Waits are exact and cost nothing.
func virtual(t *testing.T, test func(t *testing.T, far *discordtest.Server)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))) // Discord's ids begin in 2015, bubbles in 2000
		test(t, discordtest.NewVirtual(t))
	})
}

// each runs a test like virtual for each named case.
func each[C any](t *testing.T, cases map[string]C, test func(t *testing.T, far *discordtest.Server, c C)) {
	t.Helper()
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, far *discordtest.Server) { test(t, far, c) })
		})
	}
}

// door is a running session at a test server.
type door struct {
	*Session
	far  *discordtest.Server
	stop context.CancelFunc
	done chan error   // the error of Run
	took []turn.Event // that next returns before it waits
}

// prepare makes a session that does not run yet.
func prepare(t *testing.T, far *discordtest.Server, change func(*Config)) *Session {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: far.Dial}}
	s := session(t, far, client, change)
	s.gateway.Dial = far.Dial
	return s
}

func session(t *testing.T, far *discordtest.Server, client *http.Client, change func(*Config)) *Session {
	t.Helper()
	t.Cleanup(client.CloseIdleConnections)
	c := Config{Token: discordtest.Token, HTTP: client, BaseURL: far.URL}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, far *discordtest.Server, s *Session) *door {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	d := &door{Session: s, far: far, stop: stop, done: make(chan error, 1)}
	go func() { d.done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range s.Events() {
		}
	})
	return d
}

// open returns a connected door.
func open(t *testing.T, far *discordtest.Server, change func(*Config)) *door {
	t.Helper()
	return connect(t, far, prepare(t, far, change))
}

func connect(t *testing.T, far *discordtest.Server, s *Session) *door {
	t.Helper()
	d := run(t, far, s)
	if !far.WaitSession(soon) {
		t.Fatal("no session")
	}
	await(t, "connection", func() bool { h := d.Health(); return h.Connected })
	return d
}

// TestLoopback uses real sockets and a real HTTP client.
func TestLoopback(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	d := connect(t, far, session(t, far, api.Client(api.Service{Origin: far.URL}), nil))
	far.Say("general", "ada", "a question")
	e := d.next(t)
	if _, err := d.Post(t.Context(), turn.Post{ChannelID: e.Message.ChannelID, ReplyTo: e.Message.ID, Text: "an answer"}); err != nil {
		t.Fatal(err)
	}
	if m, ok := far.WaitReply("general", soon); !ok || m.Text != "an answer" || m.ReplyTo != e.Message.ID {
		t.Errorf("got %+v", m)
	}
	d.stop()
	if err := d.result(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// await waits for a state that has no event.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !wait.Within(soon, ok) {
		t.Fatalf("waited too long for %s", what)
	}
}

// next returns the next event.
func (d *door) next(t *testing.T) turn.Event {
	t.Helper()
	for len(d.took) == 0 {
		select {
		case batch, ok := <-d.Events():
			if !ok {
				t.Fatal("events are closed")
			}
			d.took = batch
		case <-time.After(soon):
			t.Fatal("no event")
		}
	}
	e := d.took[0]
	d.took = d.took[1:]
	return e
}

// none checks that nothing was reported before the next message.
func (d *door) none(t *testing.T) {
	t.Helper()
	id := d.far.Say("general", "marker", "nothing before this")
	if e := d.next(t); e.Message.ID != id {
		t.Fatalf("reported %+v, want nothing", e)
	}
}

// result returns the error of Run.
func (d *door) result(t *testing.T) error {
	t.Helper()
	select {
	case err := <-d.done:
		return err
	case <-time.After(soon):
		t.Fatal("Run does not end")
	}
	panic("unreachable")
}
