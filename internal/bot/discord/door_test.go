package discord

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door is a running session at a test server.
type door struct {
	*Session
	far  *discordtest.Server
	stop context.CancelFunc
	done chan error // the error of Run
}

// quick are the waits of tests that do not measure them.
func quick() timing {
	t := defaultTiming()
	t.identifyGap, t.invalid, t.retry, t.resend = 20*time.Millisecond, 20*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	t.guilds = 200 * time.Millisecond
	return t
}

// prepare makes a session that does not run yet.
func prepare(t *testing.T, far *discordtest.Server, change func(*Config)) *Session {
	t.Helper()
	client := api.Client(api.Service{Origin: far.URL})
	t.Cleanup(client.CloseIdleConnections)
	c := Config{Token: discordtest.Token, HTTP: client, BaseURL: far.URL}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s.timing = quick()
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

// open gives a connected door.
func open(t *testing.T, far *discordtest.Server, change func(*Config)) *door {
	t.Helper()
	d := run(t, far, prepare(t, far, change))
	if !far.WaitSession(5 * time.Second) {
		t.Fatal("no session")
	}
	await(t, "connection", func() bool { h := d.Health(); return h.Connected })
	return d
}

// await waits for something that has no event of its own.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// next gives the next event.
func (d *door) next(t *testing.T) turn.Event {
	t.Helper()
	select {
	case e, ok := <-d.Events():
		if !ok {
			t.Fatal("events are closed")
		}
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("no event")
	}
	panic("unreachable")
}

// none checks that nothing was reported before the next message.
func (d *door) none(t *testing.T) {
	t.Helper()
	id := d.far.Say("general", "marker", "nothing before this")
	if e := d.next(t); e.Message.ID != id {
		t.Fatalf("reported %+v, want nothing", e)
	}
}

// result gives the error of Run.
func (d *door) result(t *testing.T) error {
	t.Helper()
	select {
	case err := <-d.done:
		return err
	case <-time.After(5 * time.Second):
		t.Fatal("Run does not end")
	}
	panic("unreachable")
}
