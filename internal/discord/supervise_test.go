package discord

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

func TestReady(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.AddGuild("attic")
		ready := make(chan Ready, 1)
		d := open(t, far, func(c *Config) { c.OnReady = func(r Ready) { ready <- r } })
		r := <-ready
		if r.Name != "familiar" || r.ID != far.UserID("familiar") || !slices.Equal(r.Guilds, []string{"attic", "hall"}) {
			t.Errorf("got %+v", r)
		}
		const want = "https://discord.com/oauth2/authorize?client_id=100000000000000002&permissions=274877975552&scope=bot+applications.commands"
		if r.Invite != want {
			t.Errorf("invite %s, want %s", r.Invite, want)
		}
		if g := far.Greetings()[0]; g.Intents != 1<<0|1<<9|1<<12|1<<15 {
			t.Errorf("intents %b", g.Intents)
		}
		if requests := far.Requests(""); len(requests) == 0 || requests[0].Path != "/gateway/bot" {
			t.Errorf("requests before the session: %+v", requests)
		}
		if h := d.Health(); !h.Connected || h.Identifies != 1 || h.Guilds != 2 || h.LastEvent.IsZero() {
			t.Errorf("health %+v", h)
		}
		d.stop()
		if err := d.result(t); err != nil {
			t.Errorf("Run: %v", err)
		}
		if d.Health().Connected {
			t.Error("still connected after the end")
		}
	})
}

func TestResume(t *testing.T) {
	each(t, map[string]func(*discordtest.Server){
		"cut":           func(far *discordtest.Server) { far.Drop(0) },
		"unknown error": func(far *discordtest.Server) { far.Drop(4000) },
		"going away":    func(far *discordtest.Server) { far.Drop(1001) },
		"op 7":          func(far *discordtest.Server) { far.Reconnect() },
		"op 9 true":     func(far *discordtest.Server) { far.Invalidate(true) },
	}, func(t *testing.T, far *discordtest.Server, lose func(*discordtest.Server)) {
		d := open(t, far, nil)
		far.Say("general", "ada", "before")
		d.next(t)
		lose(far)
		far.Say("general", "ada", "meanwhile")
		if e := d.next(t); e.Message.Text != "meanwhile" {
			t.Errorf("got %+v", e)
		}
		if !far.WaitGreetings(2, soon) {
			t.Fatal("not resumed")
		}
		far.Say("general", "ada", "after")
		if e := d.next(t); e.Message.Text != "after" {
			t.Errorf("got %+v", e)
		}
		greetings := far.Greetings()
		if len(greetings) != 2 || !greetings[1].Resume {
			t.Errorf("greetings %+v, want an IDENTIFY and a RESUME", greetings)
		}
		await(t, "health", func() bool { h := d.Health(); return h.Connected && h.Resumes == 1 && h.Trouble == "" })
	})
}

// TestOutage takes the network away for a while, with connections refused or unanswered. The session goes on afterwards.
func TestOutage(t *testing.T) {
	type outage struct {
		away time.Duration
		hang bool
	}
	each(t, map[string]outage{
		"2 s, refused":  {2 * time.Second, false},
		"2 s, silent":   {2 * time.Second, true},
		"8 s, refused":  {8 * time.Second, false},
		"8 s, silent":   {8 * time.Second, true},
		"30 s, refused": {30 * time.Second, false},
		"30 s, silent":  {30 * time.Second, true},
		"5 m, refused":  {5 * time.Minute, false},
	}, func(t *testing.T, far *discordtest.Server, c outage) {
		d := open(t, far, nil)
		for n := range 3 {
			far.Say("general", "ada", "before")
			d.next(t)
			far.Unplug(c.hang)
			time.Sleep(c.away)
			far.Say("general", "ada", "meanwhile")
			far.Plug()
			back := time.Now()
			if e := d.next(t); e.Message.Text != "meanwhile" || time.Since(back) > 2*time.Second {
				t.Errorf("outage %d: got %q after %v", n, e.Message.Text, time.Since(back))
			}
			await(t, "health", func() bool { h := d.Health(); return h.Connected && h.Resumes == n+1 && h.Identifies == 1 })
		}
	})
}

// TestSessionsThatWork has sessions that last a minute each. None waits because of earlier failures.
func TestSessionsThatWork(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.HeartbeatInterval(time.Hour) // so that no heartbeat is due
		open(t, far, nil)
		for n := range 8 {
			time.Sleep(time.Minute)
			begun := time.Now()
			far.Drop(0)
			if !far.WaitGreetings(n+2, soon) || time.Since(begun) > firstRetry {
				t.Fatalf("session %d is back after %v", n, time.Since(begun))
			}
		}
		for n := range 4 { // as many sessions that end at once, which slow down
			begun := time.Now()
			far.Drop(0)
			if !far.WaitGreetings(n+10, soon) || time.Since(begun) < firstRetry/2 {
				t.Fatalf("session %d is back after %v", n, time.Since(begun))
			}
		}
		time.Sleep(time.Minute)
		for range 5 { // an invalidated session waits only as the protocol says
			begun := time.Now()
			far.Invalidate(false)
			time.Sleep(2 * identifyGap)
			if g := far.Greetings(); !g[len(g)-1].OK || g[len(g)-1].At.Sub(begun) > identifyGap {
				t.Errorf("identified after %v", g[len(g)-1].At.Sub(begun))
			}
		}
	})
}

// TestNoResumeURL uses a server that sends no address for resuming.
func TestNoResumeURL(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.ResumeURL("")
		d := open(t, far, nil)
		far.Drop(0)
		far.Say("general", "ada", "meanwhile")
		if e := d.next(t); e.Message.Text != "meanwhile" || !far.WaitGreetings(2, soon) || !far.Greetings()[1].Resume {
			t.Errorf("got %+v, greetings %+v", e, far.Greetings())
		}
	})
}

// TestDeadResumeURL uses an address for resuming that does not answer.
func TestDeadResumeURL(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.ResumeURL("ws://127.0.0.1:2/gone")
		s := prepare(t, far, nil)
		s.gateway.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasSuffix(address, ":2") {
				return nil, errors.New("refused")
			}
			return far.Dial(ctx, network, address)
		}
		connect(t, far, s)
		far.Drop(0)
		if !far.WaitGreetings(2, 10*time.Second) || !far.Greetings()[1].Resume {
			t.Errorf("greetings %+v", far.Greetings())
		}
	})
}

// TestZombie leaves heartbeats unanswered, in silence or with events still coming.
func TestZombie(t *testing.T) {
	each(t, map[string]bool{"silent": false, "with events": true}, func(t *testing.T, far *discordtest.Server, busy bool) {
		const every = 40 * time.Second
		far.HeartbeatInterval(every)
		d := open(t, far, nil)
		await(t, "an ack", func() bool { return !d.Health().LastAck.IsZero() })
		far.MuteAcks(true)
		end := d.Health().LastAck.Add(2 * every)
		for time.Until(end) > time.Second {
			if time.Sleep(time.Second); busy {
				far.Dispatch("TYPING_START", map[string]any{})
			}
		}
		if h := d.Health(); !h.Connected || h.Resumes > 0 {
			t.Error("given up before the answer was due")
		}
		time.Sleep(time.Until(end))
		synctest.Wait()
		if h := d.Health(); h.Connected && h.Resumes == 0 {
			t.Errorf("not noticed after two intervals of %v", every)
		}
		if !far.WaitGreetings(2, soon) || !far.Greetings()[1].Resume {
			t.Errorf("greetings %+v, want a RESUME", far.Greetings())
		}
	})
}

func TestAskedToBeat(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.HeartbeatInterval(time.Hour)
		d := open(t, far, nil)
		far.Beat()
		synctest.Wait()
		if d.Health().LastAck.IsZero() {
			t.Error("no beat")
		}
	})
}

func TestNewSession(t *testing.T) {
	each(t, map[string]func(*discordtest.Server){
		"bad sequence":      func(far *discordtest.Server) { far.CloseNext(1, 4007); far.Drop(0) },
		"timed out":         func(far *discordtest.Server) { far.Drop(4009) },
		"not authenticated": func(far *discordtest.Server) { far.Drop(4003) },
		"forgotten":         func(far *discordtest.Server) { far.Forget(); far.Drop(0) },
		"op 9 while live":   func(far *discordtest.Server) { far.Invalidate(false) },
		"three failures":    func(far *discordtest.Server) { far.CloseNext(3, 4000); far.Drop(0) },
	}, func(t *testing.T, far *discordtest.Server, lose func(*discordtest.Server)) {
		d := open(t, far, nil)
		lose(far)
		if !far.WaitGreetings(2, soon) {
			t.Fatalf("no new session: %+v", far.Greetings())
		}
		greetings := far.Greetings()
		if last := greetings[len(greetings)-1]; last.Resume {
			t.Errorf("ends with a RESUME: %+v", greetings)
		}
		if resumes := len(greetings) - 2; strings.HasSuffix(t.Name(), "three_failures") && resumes != maxResumes {
			t.Errorf("%d resumes were tried, want %d", resumes, maxResumes)
		}
		await(t, "health", func() bool { h := d.Health(); return h.Connected && h.Identifies == 2 })
		d.none(t)
	})
}

// TestInvalidSessionWaits checks the random wait of one to five seconds that Discord asks for after op 9.
func TestInvalidSessionWaits(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		open(t, far, nil)
		time.Sleep(identifyGap) // so that the gap between IDENTIFYs does not matter
		begun := time.Now()
		far.Invalidate(false)
		if !far.WaitGreetings(2, soon) {
			t.Fatal("no session")
		}
		if took := time.Since(begun); took < time.Second || took > 5*time.Second {
			t.Errorf("a new session after %v", took)
		}
	})
}

// TestInvalidFromTheStart sends op 9 instead of READY.
func TestInvalidFromTheStart(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.InvalidateNext(1, false)
		run(t, far, prepare(t, far, nil))
		if !far.WaitGreetings(1, soon) {
			t.Fatal("no session")
		}
		g := far.Greetings()
		if wait := g[len(g)-1].At.Sub(g[0].At); len(g) != 2 || g[1].Resume || wait < identifyGap || wait > identifyGap+time.Second {
			t.Errorf("greetings %+v, %v apart", g, wait)
		}
	})
}

func TestIdentifyGap(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.CloseNext(2, 4009)
		run(t, far, prepare(t, far, nil))
		if !far.WaitGreetings(1, soon) {
			t.Fatal("no session")
		}
		g := far.Greetings()
		for i := range g[1:] {
			if wait := g[i+1].At.Sub(g[i].At); wait != identifyGap {
				t.Errorf("IDENTIFYs %v apart, want %v", wait, identifyGap)
			}
		}
	})
}

func TestFatal(t *testing.T) {
	each(t, map[string]struct {
		code  int
		cure  string
		begin func(*testing.T, *discordtest.Server, int) *door
	}{
		"token":      {4004, "Reset Token", refused},
		"intents":    {4013, "intents", refused},
		"no content": {4014, "Message Content Intent", refused},
		"while live": {4004, "Reset Token", func(t *testing.T, far *discordtest.Server, code int) *door {
			d := open(t, far, nil)
			far.Drop(code)
			return d
		}},
		"REST": {401, "Reset Token", func(t *testing.T, far *discordtest.Server, _ int) *door {
			far.Accept("401")
			return run(t, far, prepare(t, far, func(c *Config) { c.Token = wrongToken }))
		}},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		code  int
		cure  string
		begin func(*testing.T, *discordtest.Server, int) *door
	}) {
		err := c.begin(t, far, c.code).result(t)
		var f *gateway.Fatal
		if !errors.As(err, &f) || f.Code != c.code || !strings.Contains(f.Error(), c.cure) || strings.Contains(f.Error(), wrongToken) {
			t.Errorf("Run gave %v, want code %d and a cure with %q", err, c.code, c.cure)
		}
		want := 1
		if c.code == noContent {
			want = 2
		}
		if n := len(far.Requests("")); n != want {
			t.Errorf("%d requests, want %d", n, want)
		}
	})
}

const wrongToken = "MTIz.abc.def"

// refused runs a session that the gateway closes with a code.
func refused(t *testing.T, far *discordtest.Server, code int) *door {
	far.CloseNext(2, code) // the first close may only concern the content of messages
	return run(t, far, prepare(t, far, nil))
}

func TestIdentifyBudget(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.SessionStarts(0, 20*time.Second)
		begun := time.Now()
		run(t, far, prepare(t, far, nil))
		if !far.WaitGreetings(1, soon) {
			t.Fatal("no session")
		}
		if wait := time.Since(begun); wait != 20*time.Second {
			t.Errorf("began a session %v after the budget was used up", wait)
		}
	})
}

func TestStopsWhileWaiting(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Fail(discordtest.Fault{Route: "GET gateway/bot", Times: 100, Status: 503})
		d := run(t, far, prepare(t, far, nil))
		await(t, "two failures", func() bool { return len(far.Requests("GET gateway/bot")) >= 2*rest.MaxFailures })
		synctest.Wait() // it waits before it tries again
		begun := time.Now()
		d.stop()
		if err := d.result(t); err != nil || time.Since(begun) > 0 {
			t.Errorf("Run ended after %v with %v", time.Since(begun), err)
		}
		if h := d.Health(); h.Connected || h.Trouble == "" {
			t.Errorf("health %+v", h)
		}
	})
}

// TestStopsWhereverItHangs stops Run while the gateway keeps it waiting, at each step.
func TestStopsWhereverItHangs(t *testing.T) {
	each(t, map[string]func(*discordtest.Server){
		"before the address": func(far *discordtest.Server) {
			far.Fail(discordtest.Fault{Route: "GET gateway/bot", Delay: time.Minute})
		},
		"before HELLO": func(far *discordtest.Server) { far.Silence(true) },
		"before READY": func(far *discordtest.Server) { far.IgnoreNext(1) },
	}, func(t *testing.T, far *discordtest.Server, hang func(*discordtest.Server)) {
		hang(far)
		d := run(t, far, prepare(t, far, nil))
		synctest.Wait()
		begun := time.Now()
		d.stop()
		if err := d.result(t); err != nil || time.Since(begun) > 0 {
			t.Errorf("Run ended after %v with %v", time.Since(begun), err)
		}
	})
}

// TestImpatience uses a gateway that does not go on. When a second connection exists, nothing of the first is left.
func TestImpatience(t *testing.T) {
	each(t, map[string]struct {
		hang  func(*discordtest.Server)
		limit time.Duration
	}{
		"HELLO": {func(far *discordtest.Server) { far.Silence(true) }, helloLimit},
		"READY": {func(far *discordtest.Server) { far.IgnoreNext(1) }, welcomeLimit},
	}, func(t *testing.T, far *discordtest.Server, c struct {
		hang  func(*discordtest.Server)
		limit time.Duration
	}) {
		c.hang(far)
		begun := time.Now()
		run(t, far, prepare(t, far, nil))
		time.Sleep(time.Second)
		far.Silence(false) // for the second connection
		if !far.WaitSession(soon) {
			t.Fatal("no session")
		}
		greetings := far.Greetings()
		if took := greetings[len(greetings)-1].At.Sub(begun); took != c.limit {
			t.Errorf("tried again after %v, want %v", took, c.limit)
		}
		synctest.Wait()
		if far.Connections() != 1 {
			t.Errorf("%d connections", far.Connections())
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 7: time.Minute, 500: time.Minute} {
		for range 50 {
			if d := rest.Backoff(time.Second, time.Minute, n); d < most/2 || d > most {
				t.Errorf("wait %d is %v, want %v to %v", n, d, most/2, most)
			}
		}
	}
}

func TestTokenShape(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{
		discordtest.Token:             true,
		"Bot " + discordtest.Token:    true,
		"":                            false,
		"abc":                         false,
		`"` + discordtest.Token + `"`: false,
		"bm90LWFuLWlk.abc.def":        false,
		"MTIz.abc.d e":                false,
	} {
		for _, base := range []string{"", defaultBase, "https://canary.discord.com/api"} {
			if err := CheckToken(token, base); (err == nil) != ok {
				t.Errorf("%q: %v", token, err)
			} else if err != nil && token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("the error repeats the token: %v", err)
			}
		}
	}
	for token, ok := range map[string]bool{
		"eyJhbGciOiJFUzUxMiJ9.eyJpZCI6IjEifQ.c2ln": true,
		"Bot anything": true,
		"":             false,
		"two words":    false,
		"line\nfeed":   false,
		"t\u00f6ken":   false,
	} {
		if err := CheckToken(token, "https://notdiscord.com/api"); (err == nil) != ok {
			t.Errorf("elsewhere %q: %v", token, err)
		}
	}
}
