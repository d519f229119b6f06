package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// The promises of a long time in which everything goes wrong.
const (
	acknowledged = "a command or button is answered in 3 s while the gateway is there"
	unasked      = "nobody is answered who did not ask"
	lawful       = "nothing is sent that Discord does not allow"
	flat         = "memory and goroutines stay within 5 %"
)

// The ends of the process come in the first third and the last tenth. Between them is one life, in which memory is measured.
const (
	firstLives = 3
	lastLives  = 10

	shortestLife, longestLife = 5 * time.Second, 40 * time.Second

	heartbeat = 5 * time.Second
)

// playLong has people do all that they do, while everything goes wrong at random.
func playLong(ctx context.Context, s *stage) error {
	s.talk = map[string]bool{}
	s.discord.HeartbeatInterval(heartbeat)
	s.discord.Limit(5, 5*time.Second)
	s.discord.Pace(50)
	disorder := newChaos(s)
	s.ledger.fail(disorder.model)
	if err := s.come(ctx); err != nil {
		return err
	}
	crowd := &people{stage: s, random: rand.New(rand.NewPCG(s.opt.seed, 1)), done: map[string]int{}}
	quiet, calm := background(ctx, crowd.run), background(ctx, disorder.run)
	defer calm()
	defer quiet()
	began := time.Now()
	err := s.lives(ctx, began.Add(s.opt.span/firstLives))
	if err == nil {
		err = s.life(ctx, time.Until(began.Add(s.opt.span-s.opt.span/lastLives)))
	}
	if err == nil {
		err = s.lives(ctx, began.Add(s.opt.span))
	}
	if err != nil {
		return err
	}
	quiet()
	calm()
	s.ledger.fail(nil)
	for _, did := range slices.Sorted(maps.Keys(crowd.done)) {
		s.note("people: "+did, "%d", crowd.done[did])
	}
	disorder.note()
	s.note("ends of the process", "%d", len(s.gaps))
	if err := s.finish(ctx, patience); err != nil {
		return err
	}
	s.acknowledged(disorder, crowd.orders)
	s.unasked()
	s.lawful()
	return nil
}

// lives ends the program at random moments, by SIGKILL or SIGTERM, and starts it again.
func (s *stage) lives(ctx context.Context, until time.Time) error {
	for {
		life := shortestLife + time.Duration(s.random.Int64N(int64(longestLife-shortestLife)))
		if time.Now().Add(life).After(until) {
			return wait(ctx, time.Until(until))
		}
		if err := wait(ctx, life); err != nil {
			return err
		}
		if s.random.IntN(2) == 0 {
			s.down(unread)
			s.proc.kill()
		} else {
			s.down(0)
			s.stop()
		}
		if err := s.come(ctx); err != nil {
			return err
		}
		s.up()
	}
}

const (
	goroutines = "goroutines when little is going on"
	mapped     = "of RSS from files, MiB"
)

// figures are what a process takes at a moment, by name.
type figures map[string]float64

// life measures the program for a time.
func (s *stage) life(ctx context.Context, span time.Duration) error {
	began := time.Now()
	pid := s.proc.cmd.Process.Pid
	each := (span - min(warmUp, span/3)) / 4
	var windows [4][]figures
	for time.Since(began) < span {
		if err := wait(ctx, sampleSpan); err != nil {
			return err
		}
		now, err := s.figures(pid)
		if err != nil {
			return err
		}
		if at := time.Since(began) - (span - 4*each); at >= 0 && at < 4*each {
			windows[at/each] = append(windows[at/each], now)
		}
	}
	s.flat(windows[:], each)
	return nil
}

func (s *stage) figures(pid int) (figures, error) {
	memory, err := s.sample()
	if err != nil {
		return nil, err
	}
	count, err := s.latestGoroutines()
	if err != nil {
		return nil, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil, fmt.Errorf("count open files: %w", err)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, fmt.Errorf("count threads: %w", err)
	}
	return figures{
		"RSS, MiB": float64(memory.rss) / 1024, "Pss, MiB": float64(memory.pss) / 1024, goroutines: float64(count),
		mapped: float64(memory.file) / 1024, "open files": float64(len(open)), "threads": float64(len(threads)),
	}, nil
}

// fewGoroutines are fewer than a single turn has.
const fewGoroutines = 4

// flat compares the windows of one life with the first: the medians of memory and, since each turn has goroutines of its own, the
// goroutines when little is going on.
func (s *stage) flat(windows [][]figures, each time.Duration) {
	for _, name := range []string{"RSS, MiB", mapped, "Pss, MiB", goroutines, "threads", "open files"} {
		var values []float64
		for _, w := range windows {
			var all []float64
			for _, f := range w {
				all = append(all, f[name])
			}
			slices.Sort(all)
			at := len(all) / 2
			if name == goroutines {
				at = len(all) / 10
			}
			if len(all) > 0 {
				values = append(values, all[at])
			}
		}
		s.note(fmt.Sprintf("%s, in four times %v of one life", name, each.Round(time.Second)), "%s", strings.Trim(fmt.Sprintf("%.1f", values), "[]"))
		if name == mapped || name == "threads" || name == "open files" || len(values) == 0 {
			continue
		}
		for i, m := range values {
			if name == goroutines && i < len(values)-1 { // they rise while the network is away
				continue
			}
			change := m/values[0] - 1
			few := name == goroutines && math.Abs(m-values[0]) <= fewGoroutines
			if math.Abs(change) > mayGrow && !few {
				s.complain(flat, "%s: %+.1f %% in the part %d of 4", name, 100*change, i+1)
			}
		}
	}
}

// acknowledged looks at what became of commands and buttons.
func (s *stage) acknowledged(c *chaos, orders []order) {
	calm, late := 0, 0
	for _, o := range orders {
		if !c.calm(o.at) {
			continue
		}
		calm++
		took, _, ok := o.of.WaitAck(0)
		if !ok || took > 3*time.Second {
			late++
			s.complain(acknowledged, "%s at %s", o.what, o.at.Format(clock))
		}
	}
	s.note("commands and buttons", "%d, while the gateway was there: %d, of them not answered: %d", len(orders), calm, late)
}

// unasked looks for replies to what was for nobody.
func (s *stage) unasked() {
	for _, room := range s.rooms {
		for _, m := range s.discord.Messages(room) {
			if m.Own && s.talk[m.ReplyTo] {
				s.complain(unasked, "post %s of %s: %q", m.ID, m.At.Format(clock), m.Text)
			}
		}
	}
}

// lawful notes what Discord refused. What people deleted, and what came after a command's three seconds, is nobody's fault.
func (s *stage) lawful() {
	limits := 0
	for what, n := range s.discord.Refusals() {
		switch {
		case strings.Contains(what, ": 429 "):
			limits += n
		case strings.HasSuffix(what, "Interaction has already been acknowledged.") && len(s.gaps) > 0, // by a process that was killed
			strings.HasSuffix(what, "Unknown Message"), strings.HasSuffix(what, "Unknown interaction"), strings.HasSuffix(what, "Unknown Webhook"):
			s.note("refused: "+what, "%d", n)
		default:
			s.complain(lawful, "%d times %s", n, what)
		}
	}
	for what, n := range s.discord.Violations() {
		s.complain(lawful, "%d times %s", n, what)
	}
	s.note("answers 429 that were no fault", "%d", limits)
}
