package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
)

const (
	comeLimit = 90 * time.Second // for a process to connect to Discord, which may be down itself
	stopLimit = 30 * time.Second // for a process to end after SIGTERM
	perServer = 100              // channels
)

// stage is a program between its far ends.
type stage struct {
	opt     options
	out     io.Writer // where progress is printed
	dir     string    // holds data, log and the binary
	binary  string
	ends    *ends
	discord *discordtest.Server
	model   *llmtest.Server
	rooms   []string // ids of the channels
	guilds  []string // ids of their servers, which take turns
	log     *os.File
	talk    map[string]bool // ids of messages that are not for the bot
	proc    *process        // the running process, or the last one
	clock   time.Duration   // by which the next process's clock is off; see adjustable
	gaps    []gap           // in order
	froze   bool            // a process was frozen
	faults  []gap           // in which a far end or the disk did not work

	scattered int // sectors that were on the disk without a sync, when the power was cut
	random    *rand.Rand

	ledger   ledger
	counts   []count
	findings []finding
}

// count is a line of the table.
type count struct{ what, figure string }

// ends is the lifetime of the far ends, which are made for tests. They use two of the methods of a test.
type ends struct {
	testing.TB
	cleanups []func()
}

func (e *ends) Helper()          {}
func (e *ends) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *ends) close() {
	for i := range e.cleanups {
		e.cleanups[len(e.cleanups)-1-i]()
	}
}

func newStage(ctx context.Context, o options, out io.Writer) (*stage, error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	s := &stage{opt: o, out: out, dir: dir, binary: o.program, ends: &ends{}, random: rand.New(rand.NewPCG(o.seed, 0))}
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		return nil, fmt.Errorf("make log: %w", err)
	}
	if s.binary == "" {
		s.binary = filepath.Join(dir, "familiar")
		if err := build(ctx, s.binary); err != nil {
			return nil, err
		}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	s.discord.Quiet()
	s.ledger.last(o.answer)
	s.model.Forget, s.model.Reply, s.model.Ended = true, s.ledger.reply, s.ledger.ended
	if o.shards > 0 {
		s.discord.RecommendShards(o.shards)
		s.discord.Concurrency(o.shards)
		if o.name == "fleet" { // the processes have to wait for each other
			s.discord.Concurrency(o.shards / 2)
		}
	}
	guilds := []string{s.discord.GuildOf("general")}
	for range max(o.shards, (o.channels+perServer-1)/perServer) - 1 {
		guilds = append(guilds, s.discord.AddGuild(fmt.Sprintf("hall-%d", len(guilds))))
	}
	s.guilds = guilds
	for i := range o.channels {
		s.rooms = append(s.rooms, s.discord.AddChannel(guilds[i%len(guilds)], fmt.Sprintf("room-%d", i)))
	}
	return s, nil
}

// open starts the far ends.
func (s *stage) open() error {
	defer func() { s.discord.Accept("") }() // lawful judges what was refused
	if !s.opt.tls {
		s.discord, s.model = discordtest.New(s.ends), llmtest.New(s.ends)
		return nil
	}
	config, err := certify(s.authority(), !s.opt.http1)
	if err != nil {
		return err
	}
	s.discord, s.model = discordtest.NewTLS(s.ends, config), llmtest.NewTLS(s.ends, config.Clone())
	return nil
}

// authority is the file with the certificate that the program has to trust, if TLS is on.
func (s *stage) authority() string { return filepath.Join(s.dir, "authority.pem") }

// build builds the binary as the Dockerfile does.
func build(ctx context.Context, path string, flags ...string) error {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}, flags, []string{"familiar/cmd/familiar"})...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build program: %w\n%s", err, said)
	}
	return nil
}

// close ends what is running. It keeps the directory if there is something to look for in it.
func (s *stage) close() {
	s.proc.kill()
	s.ends.close()
	s.log.Close()
	if s.opt.keep {
		s.write()
		fmt.Fprintln(s.out, "the data, the log and the messages are in", s.dir)
	} else if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(s.out, "remove the directory:", err)
	}
}

// write writes every message to a file, to help find a cause.
func (s *stage) write() {
	var b strings.Builder
	for _, room := range s.rooms {
		for _, m := range s.discord.Messages(room) {
			fmt.Fprintf(&b, "%s %s %s in %s", m.At.Format(clock), m.ID, m.Author, m.Channel)
			if m.ReplyTo != "" {
				fmt.Fprintf(&b, " to %s", m.ReplyTo)
			}
			if !m.EditedAt.IsZero() {
				fmt.Fprintf(&b, ", edited at %s", m.EditedAt.Format(clock))
			}
			fmt.Fprintf(&b, ": %q\n", m.Text)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "messages"), []byte(b.String()), 0o600); err != nil {
		fmt.Fprintln(s.out, "write the messages down:", err)
	}
}

func (s *stage) note(what, format string, args ...any) {
	s.counts = append(s.counts, count{what, fmt.Sprintf(format, args...)})
}

// complain notes a broken promise that is about no single mention.
func (s *stage) complain(promise, format string, args ...any) {
	s.findings = append(s.findings, finding{promise: promise, what: fmt.Sprintf(format, args...)})
}

// process is one run of the program.
type process struct {
	cmd     *exec.Cmd
	greeted int           // sessions before it began
	done    chan struct{} // closed when it has ended
	err     error         // how it ended; valid once done is closed
}

// mainModel answers. The side model writes summaries.
const mainModel = "main"

// start starts the program. It does not wait for the session.
func (s *stage) start() (err error) {
	s.proc, err = s.launch(s.data(), s.log)
	return err
}

// launch starts a process of the program with a data directory of its own.
func (s *stage) launch(data string, log *os.File) (*process, error) {
	cmd := exec.Command(s.binary, "run")
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = []string{
		"DISCORD_TOKEN=" + discordtest.Token, "DISCORD_API_URL=" + s.discord.URL, "FAMILIAR_WEB=off", "FAMILIAR_DATA=" + data, "FAMILIAR_DATABASE=" + s.opt.database,
		"OPENAI_BASE_URL=" + s.model.URL, "OPENAI_API_KEY=sk-test-0123456789abcdef", "OPENAI_MODEL=" + mainModel, "SIDE_MODEL=side",
		"SSL_CERT_FILE=" + s.authority(), fmt.Sprintf("%s=%.0f", clockOff, s.clock.Seconds()),
	}
	if s.opt.goroutines {
		cmd.Env = append(cmd.Env, schedulerTrace)
	}
	fmt.Fprintf(log, "%s the driver starts the program\n", time.Now().Format(time.StampMilli))
	greeted := s.greeted()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	p := &process{cmd: cmd, greeted: greeted, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

func (s *stage) data() string { return filepath.Join(s.dir, "data") }

// come starts the program and waits for its sessions.
func (s *stage) come(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	return s.await(ctx, comeLimit, "the program does not come to Discord", func() bool { return s.greeted() >= s.proc.greeted+max(1, s.opt.shards) })
}

// greeted returns how many sessions were begun or resumed.
func (s *stage) greeted() (n int) {
	for _, g := range s.discord.Greetings() {
		if g.OK {
			n++
		}
	}
	return n
}

// await waits until a condition holds. It fails as soon as the process has ended.
func (s *stage) await(ctx context.Context, limit time.Duration, failed string, holds func() bool) error {
	end := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			return errors.New(failed)
		case <-s.proc.done:
			return fmt.Errorf("%s: it ended: %v", failed, s.proc.err)
		case <-tick.C:
		}
	}
	return nil
}

// kill ends a process at once, if there is one, and waits for its end.
func (p *process) kill() {
	if p == nil {
		return
	}
	select {
	case <-p.done:
	default:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// stop sends SIGTERM and returns how long the end took. A process that fails or takes too long breaks a promise. A process that has just
// begun does not handle signals yet.
func (s *stage) stop() time.Duration { return s.end(s.proc) }

// end is stop for one of several processes.
func (s *stage) end(p *process) time.Duration {
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.complain("ends when asked", "SIGTERM: %v", err)
	}
	select {
	case <-p.done:
		if p.err != nil && s.greeted() > p.greeted {
			s.complain("ends when asked", "at %s: after SIGTERM: %v", began.Format(clock), p.err)
		}
	case <-time.After(stopLimit):
		s.complain("ends when asked", "at %s: it had not ended %v after SIGTERM", began.Format(clock), stopLimit)
		p.kill()
	}
	return time.Since(began)
}

// gap is a time in which no program was connected.
type gap struct{ from, to time.Time }

// unread is how long before its death a process may have stopped reading what was sent to it.
const unread = 250 * time.Millisecond

// down notes that the program leaves now, and up that it is back.
func (s *stage) down(before time.Duration) {
	s.gaps = append(s.gaps, gap{from: time.Now().Add(-before)})
}

// up closes each open gap with the first greeting after it.
func (s *stage) up() {
	all := s.discord.Greetings()
	for i := range s.gaps {
		g := &s.gaps[i]
		for _, greeting := range all {
			if g.to.IsZero() && greeting.OK && greeting.At.After(g.from.Add(unread)) {
				g.to = greeting.At
			}
		}
	}
}

// inGap reports whether no program was connected at that time.
func (s *stage) inGap(at time.Time) bool {
	for _, g := range s.gaps {
		if !at.Before(g.from) && (g.to.IsZero() || !at.After(g.to)) {
			return true
		}
	}
	return false
}

// wait waits for a time, or until ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// background runs f until the returned function is called. That function waits until f has returned.
func background(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
