package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"familiar/internal/discord/gateway"
	"familiar/internal/test/discordtest"
)

// What happens to the processes of a fleet, or to their database.
const (
	byKill     = "kill"
	byTerm     = "term"
	byFreeze   = "freeze"
	byHurry    = "hurry"    // stopped, and killed three seconds later
	byClock    = "clock"    // clocks an hour ahead, right and an hour late; killed and stopped in turn
	byAway     = "away"     // the database is gone for 2, 10 and 60 s
	byFull     = "full"     // the disk of the database is full for 30 s
	byNothing  = "nothing"  // all goes well
	byFailover = "failover" // the database dies, and a copy that followed it takes its place
)

const (
	fleetSize  = 3
	fleetEvery = 20 * time.Second // between two faults
	freezeFor  = 40 * time.Second
	fullFor    = 30 * time.Second
	fullAfter  = 8 * time.Second  // what leases need has its pages by then
	serverDisk = 256 << 20        // bytes
	faultEnd   = 10 * time.Second // after the end of a long one
	clockWrong = time.Hour
)

// The promises of a fleet.
const (
	takenOver = "the shards of a process that is gone answer in time"
	noBlink   = "an update of a process delays the first words by 3 s at most"
	backSoon  = "there are answers 2 s after the database is back"
)

// mostLate is how long the first words of a mention may take after each fault.
var mostLate = map[string]time.Duration{byKill: 20 * time.Second, byTerm: 4 * time.Second, byHurry: 20 * time.Second, byFreeze: 20 * time.Second}

// backWithin is how soon after the database is back somebody must have an answer. The model takes half a second to its first words.
const backWithin = 3 * time.Second

// fleet is several processes over one database.
type fleet struct {
	stage   *stage
	servers []*cluster // of the driver's own; the first one is used first
	procs   []*process
	unmount func()   // the disk of the first server; nil: it has none of its own
	began   int      // processes so far
	strikes []strike // in order

	mu    sync.Mutex
	ports map[string]string // which process has, or had, a connection; guarded by mu, as is live
	live  map[int]string    // names of processes by their ids
}

// strike is a fault that struck.
type strike struct {
	fault    string
	at, over time.Time
	until    time.Time // what was written before is judged by it
}

// playFleet has people write to three processes. One of them after the other is gone for a while, or their database is.
func playFleet(ctx context.Context, s *stage) error {
	f := &fleet{stage: s, ports: map[string]string{}, live: map[int]string{}}
	defer f.close()
	if err := f.prepare(ctx); err != nil {
		return err
	}
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
	defer background(ctx, f.watch)()
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

// prepare makes what the fault needs. That is a database of the driver's own, with a copy, or a program with another clock.
func (f *fleet) prepare(ctx context.Context) error {
	s := f.stage
	if s.opt.fault == byClock && s.opt.program == "" {
		if err := s.adjustable(ctx); err != nil {
			return fmt.Errorf("build a program with another clock: %w", err)
		}
	}
	if s.opt.database != "" && s.opt.fault != byAway && s.opt.fault != byFull && s.opt.fault != byFailover {
		return nil
	}
	dir := s.dir
	if s.opt.fault == byFull {
		var err error
		if f.unmount, err = s.mount(ctx, serverDisk, "defaults"); err != nil {
			return err
		}
		if dir, err = s.data(), os.Chmod(s.dir, 0o711); err != nil { // the server has another user
			return err
		}
	}
	first, err := newCluster(ctx, filepath.Join(dir, "postgres"))
	if err != nil {
		return err
	}
	f.servers = []*cluster{first}
	if s.opt.fault == byFailover {
		second, err := first.copied(ctx, filepath.Join(s.dir, "copy"))
		if err != nil {
			return err
		}
		f.servers = append(f.servers, second)
	}
	s.opt.database = address(f.servers...)
	return nil
}

// close ends the processes, and the servers of the driver's own.
func (f *fleet) close() {
	for _, p := range f.procs {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		p.kill()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	for _, c := range f.servers {
		_ = c.stop(ctx) // it may be down
	}
	if f.unmount != nil {
		f.unmount()
	}
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
	name := fmt.Sprint(f.began)
	log, err := os.Create(filepath.Join(f.stage.dir, "log-"+name))
	if err != nil {
		return fmt.Errorf("make log: %w", err)
	}
	defer log.Close()
	if f.stage.opt.fault == byClock {
		f.stage.clock = []time.Duration{clockWrong, 0, -clockWrong}[n%3]
	}
	p, err := f.stage.launch(filepath.Join(f.stage.dir, "data-"+name), log)
	if err != nil {
		return err
	}
	f.began++
	if n == len(f.procs) {
		f.procs = append(f.procs, p)
	}
	f.procs[n] = p
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[p.cmd.Process.Pid] = name
	return nil
}

// watch notes, on Linux, which process has which connection.
func (f *fleet) watch(ctx context.Context) {
	for wait(ctx, 200*time.Millisecond) == nil {
		f.mu.Lock()
		sockets := map[string]string{} // processes by their sockets
		for pid, name := range f.live {
			files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			for _, file := range files {
				if to, err := os.Readlink(file); err == nil {
					sockets[to] = name
				}
			}
		}
		table, _ := os.ReadFile("/proc/net/tcp")
		for line := range strings.Lines(string(table)) {
			columns := strings.Fields(line) // the second is an address, the tenth the number of a socket
			if len(columns) < 10 {
				continue
			}
			var port int
			_, _ = fmt.Sscanf(columns[1], "0100007F:%X", &port)
			if name := sockets["socket:["+columns[9]+"]"]; name != "" && port > 0 {
				f.ports[fmt.Sprintf("127.0.0.1:%d", port)] = name
			}
		}
		f.mu.Unlock()
	}
}

// poster names the process that posted a message.
func (f *fleet) poster(m discordtest.Message) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name := f.ports[m.From]; name != "" {
		return name
	}
	return "?"
}

// strike has one fault after the other until enough was written.
func (f *fleet) strike(ctx context.Context) error {
	faults := []string{byKill, byTerm, byFreeze}
	switch f.stage.opt.fault {
	case "":
	case byClock:
		faults = faults[:2]
	default:
		faults = []string{f.stage.opt.fault}
	}
	if f.stage.opt.fault == byFull {
		if err := wait(ctx, fullAfter); err != nil {
			return err
		}
	}
	for i := 0; len(f.stage.ledger.all()) < f.stage.opt.rounds; i++ {
		if i > 0 && f.stage.opt.fault == byFailover { // there is one copy
			if err := wait(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		f.strikes = append(f.strikes, strike{fault: faults[i%len(faults)], at: time.Now()})
		now := &f.strikes[i]
		over := f.stage.fault()
		if err := f.hit(ctx, i, now.fault); err != nil {
			return err
		}
		now.over = time.Now()
		fmt.Fprintf(f.stage.out, "%s %s, %d mentions\n", now.at.Format(clock), now.fault, len(f.stage.ledger.all()))
		if err := wait(ctx, max(faultEnd, fleetEvery-time.Since(now.at))); err != nil {
			return err
		}
		over()
		now.until = time.Now().Add(-aTurn) // what is written later may be hit by the next one
	}
	return nil
}

// hit has the ith fault strike a process, which is there again afterwards, or the database.
func (f *fleet) hit(ctx context.Context, i int, fault string) error {
	n := i % fleetSize
	p := f.procs[n]
	switch fault {
	case byNothing:
		return nil
	case byKill:
		p.kill()
		return f.start(n)
	case byTerm:
		f.stage.end(p)
		return f.start(n)
	case byHurry:
		err := errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), wait(ctx, 3*time.Second))
		p.kill()
		return errors.Join(err, f.start(n))
	case byFreeze:
		f.stage.froze = true
		if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("freeze a process: %w", err)
		}
		err := wait(ctx, freezeFor)
		return errors.Join(err, p.cmd.Process.Signal(syscall.SIGCONT))
	case byAway:
		err := f.servers[0].stop(ctx)
		if err == nil {
			err = wait(ctx, []time.Duration{2 * time.Second, 10 * time.Second, time.Minute}[n])
		}
		return errors.Join(err, f.servers[0].start(ctx))
	case byFull:
		began := time.Now()
		err := f.stage.filled(ctx, fullFor)
		f.stage.word("full", mostWord, began, time.Now())
		return errors.Join(err, f.servers[0].revive(ctx))
	case byFailover:
		return errors.Join(f.servers[0].stop(ctx), wait(ctx, 2*time.Second), f.servers[1].promote(ctx))
	}
	return fmt.Errorf("there is no fault %q", fault)
}

// judge compares the waits after each fault with the promises.
func (f *fleet) judge() {
	s := f.stage
	outcomes := slices.DeleteFunc(s.outcomes(), func(o outcome) bool { return len(o.answers) == 0 })
	took := map[string][]time.Duration{}
	for _, hit := range f.strikes {
		var last outcome
		for _, o := range outcomes {
			if o.at.Before(hit.at.Add(-aTurn)) || o.at.After(hit.until) {
				continue
			}
			took[hit.fault] = append(took[hit.fault], late(o))
			if last.at.IsZero() || late(o) > late(last) {
				last = o
			}
		}
		if !last.at.IsZero() {
			f.tell(hit, last)
		}
		if slices.Contains([]string{byAway, byFull, byFailover}, hit.fault) {
			f.judgeReturn(hit, outcomes)
		}
	}
	for fault, all := range took {
		most := percentile(all, 100)
		s.note("after "+fault+": first word, p50, p90 and most", "%v, %v, %v", percentile(all, 50), percentile(all, 90), most)
		promise := takenOver
		if fault == byTerm {
			promise = noBlink
		}
		if limit := mostLate[fault]; limit > 0 && most > limit {
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

// late returns how long the first words of an answer took.
func late(o outcome) time.Duration { return o.answers[0].At.Sub(o.at) }

// tell notes the answer that took longest after a fault, and which process posted it.
func (f *fleet) tell(hit strike, o outcome) {
	s := f.stage
	s.note(fmt.Sprintf("%s at %s: the last first word", hit.fault, hit.at.Format(clock)), "%v: %s of shard %d, %v after it, by process %s",
		late(o).Round(time.Millisecond), o.tag, s.shardOf(o.channel), o.at.Sub(hit.at).Round(time.Millisecond), f.poster(o.answers[0]))
}

// shardOf returns the shard of a channel, which newStage has put in a server.
func (s *stage) shardOf(channel string) int {
	return gateway.ShardOf(s.guilds[slices.Index(s.rooms, channel)%len(s.guilds)], s.opt.shards)
}

// judgeReturn judges how soon there are answers after the database is back.
func (f *fleet) judgeReturn(hit strike, outcomes []outcome) {
	var first time.Duration
	for _, o := range outcomes {
		if since := o.answers[0].At.Sub(hit.over); since > 0 && (first == 0 || since < first) {
			first = since
		}
	}
	gone := hit.over.Sub(hit.at).Round(100 * time.Millisecond)
	f.stage.note(fmt.Sprintf("the database was gone for %v: the first answer after that", gone), "%v", first.Round(time.Millisecond))
	if first == 0 || first > backWithin {
		f.stage.complain(backSoon, "after %v one came after %v", gone, first)
	}
}
