package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/discordtest"
)

func TestReady(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.AddGuild("attic")
	told := make(chan Ready, 1)
	d := open(t, far, func(c *Config) { c.OnReady = func(r Ready) { told <- r } })
	r := <-told
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
	if asked := far.Requests(""); len(asked) == 0 || asked[0].Path != "/gateway/bot" {
		t.Errorf("requests before the session: %+v", asked)
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
}

func TestResume(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*discordtest.Server){
		"cut":           func(far *discordtest.Server) { far.Drop(0) },
		"unknown error": func(far *discordtest.Server) { far.Drop(4000) },
		"going away":    func(far *discordtest.Server) { far.Drop(1001) },
		"op 7":          func(far *discordtest.Server) { far.Reconnect() },
		"op 9 true":     func(far *discordtest.Server) { far.Invalidate(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := discordtest.New(t)
			d := open(t, far, nil)
			far.Say("general", "ada", "before")
			d.next(t)
			lose(far)
			far.Say("general", "ada", "meanwhile")
			if e := d.next(t); e.Message.Text != "meanwhile" {
				t.Errorf("got %+v", e)
			}
			if !far.WaitGreetings(2, 5*time.Second) {
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
}

// TestZombie has a connection that takes beats and does not answer them, silent or with events still coming.
func TestZombie(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"silent": false, "with events": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := discordtest.New(t)
			const every = 400 * time.Millisecond
			far.HeartbeatInterval(every)
			d := open(t, far, nil)
			await(t, "an ack", func() bool { return !d.Health().LastAck.IsZero() })
			far.MuteAcks(true)
			last := d.Health().LastAck
			await(t, "the end", func() bool {
				if busy {
					far.Dispatch("TYPING_START", map[string]any{})
				}
				h := d.Health()
				return !h.Connected || h.Resumes > 0
			})
			if took := time.Since(last); took > 2*every+100*time.Millisecond {
				t.Errorf("noticed after %v, want at most two intervals of %v", took, every)
			}
			far.MuteAcks(false)
			if !far.WaitGreetings(2, 5*time.Second) || !far.Greetings()[1].Resume {
				t.Errorf("greetings %+v, want a RESUME", far.Greetings())
			}
		})
	}
}

func TestAskedToBeat(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	d := open(t, far, nil)
	far.Beat()
	await(t, "an ack", func() bool { h := d.Health(); return !h.LastAck.IsZero() })
}

func TestNewSession(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*discordtest.Server){
		"bad sequence":      func(far *discordtest.Server) { far.CloseNext(1, 4007); far.Drop(0) },
		"timed out":         func(far *discordtest.Server) { far.Drop(4009) },
		"not authenticated": func(far *discordtest.Server) { far.Drop(4003) },
		"forgotten":         func(far *discordtest.Server) { far.Forget(); far.Drop(0) },
		"op 9 while live":   func(far *discordtest.Server) { far.Invalidate(false) },
		"three failures":    func(far *discordtest.Server) { far.CloseNext(3, 4000); far.Drop(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := discordtest.New(t)
			d := open(t, far, nil)
			lose(far)
			if !far.WaitGreetings(2, 5*time.Second) {
				t.Fatalf("no new session: %+v", far.Greetings())
			}
			greetings := far.Greetings()
			if last := greetings[len(greetings)-1]; last.Resume {
				t.Errorf("ends with a RESUME: %+v", greetings)
			}
			if resumes := len(greetings) - 2; name == "three failures" && resumes != maxResumes {
				t.Errorf("%d resumes were tried, want %d", resumes, maxResumes)
			}
			await(t, "health", func() bool { h := d.Health(); return h.Connected && h.Identifies == 2 })
			d.none(t)
		})
	}
}

// TestInvalidSessionWaits has the real wait of one to five seconds after op 9.
func TestInvalidSessionWaits(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	s := prepare(t, far, nil)
	s.timing.invalid = defaultTiming().invalid
	far.InvalidateNext(1, false)
	run(t, far, s)
	if !far.WaitGreetings(1, 8*time.Second) {
		t.Fatal("no session")
	}
	g := far.Greetings()
	if wait := g[1].At.Sub(g[0].At); len(g) != 2 || wait < time.Second || wait > 6*time.Second {
		t.Errorf("%d IDENTIFYs, %v apart", len(g), wait)
	}
}

func TestIdentifyGap(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	s := prepare(t, far, nil)
	s.timing.identifyGap = 600 * time.Millisecond
	far.CloseNext(2, 4009)
	run(t, far, s)
	if !far.WaitGreetings(1, 5*time.Second) {
		t.Fatal("no session")
	}
	g := far.Greetings()
	for i := range g[1:] {
		if wait := g[i+1].At.Sub(g[i].At); wait < 590*time.Millisecond {
			t.Errorf("IDENTIFYs %v apart", wait)
		}
	}
}

func TestFatal(t *testing.T) {
	t.Parallel()
	for code, cure := range map[int]string{4004: "Reset Token", 4013: "intents", 4014: "Message Content Intent"} {
		far := discordtest.New(t)
		far.CloseNext(1, code)
		d := run(t, far, prepare(t, far, nil))
		var f *Fatal
		if err := d.result(t); !errors.As(err, &f) || f.Code != code || !strings.Contains(f.Error(), cure) {
			t.Errorf("%d: Run gave %v, want a cure with %q", code, err, cure)
		}
	}
	t.Run("while live", func(t *testing.T) {
		far := discordtest.New(t)
		d := open(t, far, nil)
		far.Drop(4004)
		var f *Fatal
		if err := d.result(t); !errors.As(err, &f) || f.Code != 4004 {
			t.Errorf("Run gave %v", err)
		}
	})
	t.Run("REST", func(t *testing.T) {
		far := discordtest.New(t)
		const wrong = "MTIz.abc.def"
		d := run(t, far, prepare(t, far, func(c *Config) { c.Token = wrong }))
		var f *Fatal
		if err := d.result(t); !errors.As(err, &f) || f.Code != 401 || strings.Contains(err.Error(), wrong) {
			t.Errorf("Run gave %v", err)
		}
		if n := len(far.Requests("")); n != 1 {
			t.Errorf("%d requests with a refused token, want 1", n)
		}
	})
}

func TestIdentifyBudget(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.SessionStarts(0, 300*time.Millisecond)
	begun := time.Now()
	run(t, far, prepare(t, far, nil))
	if !far.WaitGreetings(1, 5*time.Second) {
		t.Fatal("no session")
	}
	if wait := time.Since(begun); wait < 300*time.Millisecond {
		t.Errorf("began a session %v after the budget was used up", wait)
	}
}

func TestStopsWhileWaiting(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Fail(discordtest.Fault{Route: "GET gateway/bot", Times: 100, Status: 503})
	s := prepare(t, far, nil)
	s.timing.retry, s.timing.resend = time.Minute, time.Millisecond
	d := run(t, far, s)
	await(t, "two failures", func() bool { return len(far.Requests("GET gateway/bot")) >= 2*maxFailures })
	begun := time.Now()
	d.stop()
	if err := d.result(t); err != nil || time.Since(begun) > 500*time.Millisecond {
		t.Errorf("Run ended after %v with %v", time.Since(begun), err)
	}
	if h := d.Health(); h.Connected || h.Trouble == "" {
		t.Errorf("health %+v", h)
	}
}

// TestStopsWhereverItHangs stops Run while the gateway keeps it waiting at each step.
func TestStopsWhereverItHangs(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]func(*discordtest.Server){
		"before the address": func(far *discordtest.Server) {
			far.Fail(discordtest.Fault{Route: "GET gateway/bot", Delay: time.Minute})
		},
		"before HELLO": func(far *discordtest.Server) { far.Silence(true) },
		"before READY": func(far *discordtest.Server) { far.IgnoreNext(1) },
	} {
		far := discordtest.New(t)
		hang(far)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		begun := time.Now()
		if err := prepare(t, far, nil).Run(ctx); err != nil || time.Since(begun) > time.Second {
			t.Errorf("%s: Run ended after %v with %v", name, time.Since(begun), err)
		}
		cancel()
	}
}

func TestImpatience(t *testing.T) {
	t.Parallel()
	t.Run("HELLO", func(t *testing.T) {
		far := discordtest.New(t)
		far.Silence(true)
		s := prepare(t, far, nil)
		s.timing.hello = 100 * time.Millisecond
		d := run(t, far, s)
		await(t, "a failure", func() bool { return d.Health().Trouble != "" })
		far.Silence(false)
		if !far.WaitSession(5 * time.Second) {
			t.Error("no session")
		}
	})
	t.Run("READY", func(t *testing.T) {
		far := discordtest.New(t)
		far.IgnoreNext(1)
		s := prepare(t, far, nil)
		s.timing.welcome = 100 * time.Millisecond
		run(t, far, s)
		if !far.WaitSession(5 * time.Second) {
			t.Error("no session")
		}
		if far.Connections() != 1 {
			t.Errorf("%d connections", far.Connections())
		}
	})
}

// TestKeepsOut checks that the gateway's address cannot take an encrypted door to an open line.
func TestKeepsOut(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	s := prepare(t, far, nil)
	s.base = "https://discord.com/api/v10"
	for _, address := range []string{"ws://127.0.0.1:1", "http://127.0.0.1:1", "://"} {
		if _, err := s.dial(t.Context(), address); err == nil || !strings.Contains(err.Error(), "wss") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 7: time.Minute, 500: time.Minute} {
		for range 50 {
			if d := backoff(time.Second, time.Minute, n); d < most/2 || d > most {
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
		if err := CheckToken(token); (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		} else if err != nil && token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("the error repeats the token: %v", err)
		}
	}
}
