package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/test/discordtest"
)

const (
	mostLife = 3 * time.Second  // longest life of a process in these scenarios
	patience = 90 * time.Second // time for what is unanswered at the end
	progress = 20               // rounds between two lines of progress
)

// playKill kills the program again and again. Half of the times Discord forgets the session meanwhile.
func playKill(ctx context.Context, s *stage) error {
	return s.deaths(ctx, func() {
		s.down(unread)
		s.proc.kill()
		if s.random.IntN(2) == 0 {
			s.discord.Forget()
		}
	})
}

// playTerm sends SIGTERM to the program again and again.
func playTerm(ctx context.Context, s *stage) error {
	var took []time.Duration
	err := s.deaths(ctx, func() {
		s.down(0)
		took = append(took, s.stop())
	})
	if len(took) > 0 {
		s.note("from SIGTERM to the end, p50 and most", "%v, %v", percentile(took, 50), slices.Max(took).Round(time.Millisecond))
	}
	return err
}

// deaths ends the program at random moments under load and starts it again. One time in eight it ends before it may have connected to
// Discord.
func (s *stage) deaths(ctx context.Context, end func()) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	for i := range s.opt.rounds {
		life := time.Duration(s.random.Int64N(int64(mostLife)))
		if err := wait(ctx, life); err != nil {
			return err
		}
		end()
		if s.random.IntN(8) == 0 {
			if err := s.start(); err != nil {
				return err
			}
			if err := wait(ctx, time.Duration(s.random.Int64N(int64(60*time.Millisecond)))); err != nil {
				return err
			}
			end()
		}
		if err := s.come(ctx); err != nil {
			return err
		}
		s.up()
		if (i+1)%progress == 0 {
			fmt.Fprintf(s.out, "%s %d of %d\n", time.Now().Format(clock), i+1, s.opt.rounds)
		}
	}
	quiet()
	s.note("ends of the process", "%d", len(s.gaps))
	return s.finish(ctx, patience)
}

// finish waits for outstanding answers, stops the program and runs the audit.
func (s *stage) finish(ctx context.Context, limit time.Duration) error {
	if err := s.settle(ctx, limit); err != nil {
		return err
	}
	s.note("from the last SIGTERM to the end", "%v", s.stop().Round(time.Millisecond))
	return s.audit(ctx)
}

const (
	clockOff  = "SOAK_CLOCK" // names the seconds by which the clock of a program that adjustable has built is off
	farAhead  = 40 * 24 * time.Hour
	nowSource = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n" // of Go's package time
	offSource = `package time

import "syscall"

var off = func() int64 {
	text, _ := syscall.Getenv("` + clockOff + `")
	n, _ := atoi(text)
	return int64(n)
}()
`
)

// playClock kills the program and starts it with a clock that is far ahead, right, far behind, and right again.
func playClock(ctx context.Context, s *stage) error {
	if s.opt.program == "" {
		if err := s.adjustable(ctx); err != nil {
			return fmt.Errorf("build a program with another clock: %w", err)
		}
	}
	nth := 0
	return s.deaths(ctx, func() {
		s.down(unread)
		s.proc.kill()
		s.clock = []time.Duration{farAhead, 0, -farAhead, 0}[nth%4]
		nth++
	})
}

// adjustable builds the program with another time.Now, by an overlay over Go's own source.
func (s *stage) adjustable(ctx context.Context) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	of := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(of, "time.go"))
	if err != nil {
		return err
	}
	before, after, found := strings.Cut(string(text), nowSource)
	if !found {
		return fmt.Errorf("%s has another Now", of)
	}
	here := func(name string) string { return filepath.Join(s.dir, name) }
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(of, "time.go"): here("time.go"), filepath.Join(of, "off.go"): here("off.go"),
	}})
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"time.go": before + nowSource + "\tsec += off\n" + after, "off.go": offSource, "overlay.json": string(overlay)} {
		if err := os.WriteFile(here(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return build(ctx, s.binary, "-overlay", here("overlay.json"))
}

// playToken has Discord refuse the token of a post again and again, which ends the program. It starts the program when the token is right.
func playToken(ctx context.Context, s *stage) error {
	return s.deaths(ctx, func() {
		_ = wait(ctx, aTurn) // or what comes would be hit by one refusal after the other
		s.down(aTurn)
		s.discord.Fail(discordtest.Fault{Route: "POST channels/*/messages", Times: 1 << 20, Status: http.StatusUnauthorized,
			Header: map[string]string{"Content-Type": "application/json"}, Body: `{"message":"401: Unauthorized","code":0}`})
		select {
		case <-s.proc.done:
			if s.proc.err == nil {
				s.complain(refusal, "at %s: its exit code was 0", time.Now().Format(clock))
			}
		case <-time.After(stopLimit):
			s.complain(refusal, "at %s: it ran on for %v", time.Now().Format(clock), stopLimit)
			s.proc.kill()
		}
		s.discord.ClearFaults()
	})
}

// The promises about tokens and damage.
const (
	refusal = "a refused token ends the program with an error"
	noticed = "a damaged file is noticed before anybody is answered from it"
)

// playCutLog cuts the log of the database while the program runs, again and again, and stops the program. A file that is damaged by that
// must be refused at the next start. It is then replaced by a backup from before the cut.
func playCutLog(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	damaged := 0
	for range s.opt.rounds {
		if err := wait(ctx, time.Second+time.Duration(s.random.Int64N(int64(mostLife)))); err != nil {
			return err
		}
		broken, err := s.cutLog(ctx)
		if err != nil {
			return err
		}
		if broken {
			damaged++
		}
	}
	if err := wait(ctx, aTurn); err != nil {
		return err
	}
	quiet()
	s.note("cuts of the log, with damage", "%d, %d", s.opt.rounds, damaged)
	return s.finish(ctx, patience)
}

// cutLog cuts the log once, and reports whether that damaged the file.
func (s *stage) cutLog(ctx context.Context) (damaged bool, err error) {
	defer s.fault()()
	backup := filepath.Join(s.dir, "backup.db")
	if err := s.command(ctx, "backup", "--force", backup); err != nil {
		return false, err
	}
	log := filepath.Join(s.data(), "familiar.db-wal")
	info, err := os.Stat(log)
	if err != nil {
		return false, err
	}
	if err := os.Truncate(log, s.random.Int64N(info.Size()/2+1)); err != nil {
		return false, err
	}
	if err := wait(ctx, aTurn); err != nil {
		return false, err
	}
	s.down(0)
	_ = s.proc.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.proc.done: // with an error, if it has seen the damage
	case <-time.After(stopLimit):
		s.complain(ended, "it had not ended %v after the log was cut", stopLimit)
		s.proc.kill()
	}
	wrong, err := s.wrong(ctx)
	if err != nil {
		return false, err
	}
	err = s.come(ctx)
	switch {
	case wrong == "":
		return false, err
	case err == nil:
		s.complain(noticed, "it came up at %s with %s", time.Now().Format(clock), wrong[:min(len(wrong), 200)])
		s.down(0)
		s.proc.kill()
	}
	if err := s.command(ctx, "restore", backup); err != nil {
		return true, err
	}
	return true, s.come(ctx)
}

// command runs another command of the program.
func (s *stage) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, []string{"FAMILIAR_DATA=" + s.data()}, strings.NewReader("y\n")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, said)
	}
	return nil
}
