package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// What happens to the processes of a fleet.
const (
	byKill   = "kill"
	byTerm   = "term"
	byFreeze = "freeze"
)

const (
	fleetSize  = 3
	fleetEvery = 20 * time.Second // between two faults
	freezeFor  = 40 * time.Second
)

// The promises of a fleet.
const (
	takenOver = "the shards of a process that is gone answer in time"
	noBlink   = "an update of a process delays the first words by 3 s at most"
)

// mostLate is how long the first words of a mention may take after each fault.
var mostLate = map[string]time.Duration{byKill: 20 * time.Second, byTerm: 4 * time.Second, byFreeze: 20 * time.Second}

// fleet is several processes over one database.
type fleet struct {
	stage *stage
	procs []*process
	began int // processes so far
	hits  []blow
}

// blow is a fault that struck one process.
type blow struct {
	at    time.Time
	fault string
}

// playFleet has people write to three processes while one after the other is gone for a while.
func playFleet(ctx context.Context, s *stage) error {
	if s.opt.database == "" {
		return errors.New("fleet needs -database, the address of an empty PostgreSQL database")
	}
	f := &fleet{stage: s}
	defer func() {
		for _, p := range f.procs {
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
			p.kill()
		}
	}()
	for n := range fleetSize {
		if err := f.start(n); err != nil {
			return err
		}
	}
	s.proc = f.procs[0]
	if err := s.await(ctx, comeLimit, "the processes do not come to Discord", func() bool { return s.shardsBegun() == s.opt.shards }); err != nil {
		return err
	}
	if err := wait(ctx, 3*time.Second); err != nil { // the shards are shared out
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	if err := f.strike(ctx); err != nil {
		return err
	}
	quiet()
	if err := s.settle(ctx, patience); err != nil {
		return err
	}
	f.judge()
	for _, p := range f.procs {
		s.note("from the last SIGTERM to the end", "%v", s.end(p).Round(time.Millisecond))
	}
	return s.audit(ctx)
}

// shardsBegun returns how many shards have had a session.
func (s *stage) shardsBegun() int {
	begun := map[int]bool{}
	for _, g := range s.discord.Greetings() {
		if g.OK {
			begun[g.Shard] = true
		}
	}
	return len(begun)
}

// start starts the nth process, or another one in its place, on a machine of its own.
func (f *fleet) start(n int) error {
	p, err := f.stage.launch(filepath.Join(f.stage.dir, fmt.Sprintf("data-%d", f.began)))
	if err != nil {
		return err
	}
	f.began++
	if n == len(f.procs) {
		f.procs = append(f.procs, p)
	}
	f.procs[n] = p
	return nil
}

// strike has one fault after the other until enough was written.
func (f *fleet) strike(ctx context.Context) error {
	faults := []string{byKill, byTerm, byFreeze}
	if f.stage.opt.fault != "" {
		faults = []string{f.stage.opt.fault}
	}
	for i := 0; len(f.stage.ledger.all()) < f.stage.opt.rounds; i++ {
		began := time.Now()
		if err := f.hit(ctx, i%fleetSize, faults[i%len(faults)]); err != nil {
			return err
		}
		fmt.Fprintf(f.stage.out, "%s %d mentions\n", time.Now().Format(clock), len(f.stage.ledger.all()))
		if err := wait(ctx, fleetEvery-time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// hit has a fault strike the nth process, which is there again afterwards.
func (f *fleet) hit(ctx context.Context, n int, fault string) error {
	p, now := f.procs[n], time.Now()
	f.hits = append(f.hits, blow{now, fault})
	f.stage.faults = append(f.stage.faults, gap{now.Add(-aTurn), now.Add(fleetEvery)})
	switch fault {
	case byKill:
		p.kill()
		return f.start(n)
	case byTerm:
		f.stage.end(p)
		return f.start(n)
	case byFreeze:
		f.stage.froze = true
		if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("freeze a process: %w", err)
		}
		err := wait(ctx, freezeFor)
		return errors.Join(err, p.cmd.Process.Signal(syscall.SIGCONT))
	}
	return fmt.Errorf("there is no fault %q", fault)
}

// struck returns the fault that a mention may wait for: the last one before its turn should have been over. It is "" if that was long ago.
func (f *fleet) struck(said time.Time) (fault string) {
	for _, h := range f.hits {
		if since := said.Sub(h.at); since > -aTurn && since < fleetEvery {
			fault = h.fault
		}
	}
	return fault
}

// judge compares the waits after each fault with the promises.
func (f *fleet) judge() {
	s := f.stage
	outcomes := s.outcomes()
	for _, fault := range []string{byKill, byTerm, byFreeze} {
		var took []time.Duration
		for _, o := range outcomes {
			if f.struck(o.at) == fault && len(o.answers) > 0 {
				took = append(took, o.answers[0].At.Sub(o.at))
			}
		}
		if len(took) == 0 {
			continue
		}
		s.note(fmt.Sprintf("after %s: mentions; first word, p50, p90 and most", fault), "%d; %v, %v, %v", len(took), percentile(took, 50), percentile(took, 90), percentile(took, 100))
		if most := percentile(took, 100); most > mostLate[fault] {
			promise := takenOver
			if fault == byTerm {
				promise = noBlink
			}
			s.complain(promise, "after %s one came after %v", fault, most)
		}
	}
	resumed, begun := 0, 0
	for _, g := range s.discord.Greetings() {
		switch {
		case g.OK && g.Resume:
			resumed++
		case g.OK:
			begun++
		}
	}
	s.note("processes, sessions begun, sessions resumed", "%d, %d, %d", f.began, begun, resumed)
}
