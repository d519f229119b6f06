package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
)

// The promises of the long scenario.
const (
	acknowledged = "a command or button is answered in 3 s while the gateway is there"
	unasked      = "nobody is answered who did not ask"
	lawful       = "nothing is sent that Discord does not allow"
	flat         = "memory and goroutines stay within 5 %"
)

// The process is ended during the first third and the last tenth. It runs through the time between, in which memory is measured.
const (
	firstLives = 3
	lastLives  = 10

	shortestLife, longestLife = 5 * time.Second, 40 * time.Second

	heartbeat = 5 * time.Second
)

// playLong has people use every feature while random faults are injected.
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
	s.faults = disorder.cuts
	for _, did := range slices.Sorted(maps.Keys(crowd.done)) {
		s.note("people: "+did, "%d", crowd.done[did])
	}
	disorder.note()
	s.note("ends of the process", "%d", len(s.gaps))
	if err := s.finish(ctx, patience); err != nil {
		return err
	}
	s.acknowledged(disorder.calm, crowd.orders)
	s.unasked()
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

// figures holds what a process uses at a moment, by name.
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

// fewGoroutines is less than a single turn uses.
const fewGoroutines = 4

// flat compares the windows of one life with the first: the medians of memory and of goroutines. Each turn has goroutines of its own, so
// they are counted while the program is nearly idle.
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
			if name == goroutines && i < len(values)-1 { // they rise during an outage
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

// acknowledged checks what became of commands and buttons of calm moments.
func (s *stage) acknowledged(calmly func(time.Time) bool, orders []order) {
	calm, late := 0, 0
	for _, o := range orders {
		if !calmly(o.at) {
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

// unasked looks for replies to messages that were not for the bot.
func (s *stage) unasked() {
	for _, room := range s.rooms {
		for _, m := range s.discord.Messages(room) {
			if m.Own && s.talk[m.ReplyTo] {
				s.complain(unasked, "post %s of %s: %q", m.ID, m.At.Format(clock), m.Text)
			}
		}
	}
}

// lawful notes the requests that Discord refused. Requests about what people had deleted, and answers later than a command's three seconds,
// are not errors.
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
		if what == "a heartbeat is late" && s.froze { // of a process that could not send any
			s.note(what, "%d", n)
			continue
		}
		if what == "two IDENTIFYs in 5 s" && len(s.gaps) > 0 { // a process that was killed before it could note its own
			s.note("answered with op 9: "+what, "%d", n)
			continue
		}
		s.complain(lawful, "%d times %s", n, what)
	}
	s.note("answers 429 that were no fault", "%d", limits)
}

// chaos injects random faults.
type chaos struct {
	stage *stage

	mu     sync.Mutex
	random *rand.Rand     // guarded by mu
	struck map[string]int // by kind; guarded by mu
	cuts   []gap          // when the gateway was disturbed; guarded by mu
}

func newChaos(s *stage) *chaos {
	return &chaos{stage: s, random: rand.New(rand.NewPCG(s.opt.seed, 2)), struck: map[string]int{}}
}

// below returns a random number below n.
func (c *chaos) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *chaos) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.below(int(most-least)))
}

func (c *chaos) strike(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.struck[kind]++
	fmt.Fprintf(c.stage.log, "%s the driver: %s\n", time.Now().Format(time.StampMilli), kind)
}

// run injects a fault between Discord and the program every few seconds.
func (c *chaos) run(ctx context.Context) {
	for wait(ctx, c.between(time.Second, 10*time.Second)) == nil {
		if c.below(10) < 8 {
			c.rest()
		} else {
			c.gateway(ctx)
		}
	}
	c.stage.discord.ClearFaults()
}

const cloudflare = "429 of Cloudflare"

// rest makes some requests fail. It spares answers to interactions, which the program cannot send again within their three seconds.
func (c *chaos) rest() {
	route := []string{"POST channels/*/messages", "PATCH channels/*/messages/*", "POST channels/*/typing", "GET channels/*/messages"}[c.below(4)]
	times, short := 1+c.below(3), c.between(300*time.Millisecond, 3*time.Second)
	failures := map[string]discordtest.Fault{
		"429 of a route":                   discordtest.TooMany(route, times, short),
		"429 of a limit that is shared":    discordtest.Shared(route, times, short),
		"429 over all routes":              discordtest.Global(route, 1, short),
		cloudflare:                         discordtest.Cloudflare(route, 1, 1+c.below(3)),
		"500":                              {Route: route, Times: times, Status: http.StatusInternalServerError},
		"502 of a request that had effect": {Route: route, Times: times, Status: http.StatusBadGateway, After: true},
		"503":                              {Route: route, Times: times, Status: http.StatusServiceUnavailable, Body: "upstream connect error"},
		"a request cut":                    {Route: route, Times: times, Cut: true},
		"a request cut that had effect":    {Route: route, Times: times, Cut: true, After: true},
		"a slow request":                   {Route: route, Times: times, Delay: c.between(500*time.Millisecond, 13*time.Second)},
	}
	kind := slices.Sorted(maps.Keys(failures))[c.below(len(failures))]
	c.strike(kind)
	c.stage.discord.Fail(failures[kind])
	if kind == cloudflare { // the proxy in front of every route
		c.disturbed(time.Now(), time.Now())
	}
}

// gateway disturbs the gateway connection, or the whole network to Discord.
func (c *chaos) gateway(ctx context.Context) {
	discord := c.stage.discord
	faults := []struct {
		kind string
		do   func()
	}{
		{"gateway cut", func() { discord.Drop(0) }},
		{"gateway closed with 4000", func() { discord.Drop(4000) }},
		{"gateway closed with 4009: a new session", func() { discord.Forget(); discord.Drop(4009) }},
		{"op 7", discord.Reconnect},
		{"op 9, to be resumed", func() { discord.Invalidate(true); discord.Drop(0) }},
		{"op 9, not to be resumed", func() { discord.Forget(); discord.Invalidate(false) }},
		{"RESUME refused: a new session", func() { discord.Forget(); discord.Drop(0) }},
		{"heartbeats unanswered", func() {
			discord.MuteAcks(true)
			_ = wait(ctx, 3*heartbeat)
			discord.MuteAcks(false)
		}},
		{"no network to Discord, short", func() { c.away(ctx, c.between(300*time.Millisecond, 3*time.Second)) }},
		{"no network to Discord, long", func() { c.away(ctx, c.between(10*time.Second, 30*time.Second)) }},
	}
	fault := faults[c.below(len(faults))]
	c.strike(fault.kind)
	began := time.Now()
	fault.do()
	c.disturbed(began, time.Now())
}

func (c *chaos) disturbed(from, to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts = append(c.cuts, gap{from, to})
}

func (c *chaos) away(ctx context.Context, span time.Duration) {
	c.stage.discord.CutOff()
	_ = wait(ctx, span)
	if err := c.stage.discord.Reopen(); err != nil {
		c.stage.complain("the driver works", "%v", err)
	}
}

// model returns a fault for one of twenty answers, and nil for the others.
func (c *chaos) model(answer string) llmtest.Reply {
	if c.below(20) > 0 {
		return nil
	}
	half := []llmtest.Step{llmtest.Gap(45 * time.Millisecond), llmtest.Say(answer[:len(answer)/2])}
	faults := []struct {
		kind  string
		reply llmtest.Reply
	}{
		{"model: connection cut before a word", llmtest.Reply{llmtest.Cut()}},
		{"model: refused", llmtest.Reply{llmtest.Error(http.StatusServiceUnavailable, "")}},
		{"model: refused for good", llmtest.Reply{llmtest.Error(http.StatusForbidden, "")}},
		{"model: 429", llmtest.RateLimit("1")},
		{"model: hangs", llmtest.Reply{llmtest.Hold()}},
		{"model: hangs in the middle", append(half[:2:2], llmtest.Hold())},
		{"model: cut in the middle", append(half[:2:2], llmtest.Cut())},
		{"model: ends in the middle", append(half[:2:2], llmtest.End())},
		{"model: a web page", llmtest.Reply{llmtest.HTML()}},
		{"model: garbage", llmtest.Reply{llmtest.Raw(`data: {"choices":[{"delta":`), llmtest.End()}},
		{"model: an empty answer", llmtest.Empty()},
	}
	fault := faults[c.below(len(faults))]
	c.strike(fault.kind)
	return fault.reply
}

// calm reports whether, around a moment, the gateway was undisturbed and the program kept running.
func (c *chaos) calm(at time.Time) bool {
	const margin = 6 * time.Second // includes the time for a new session
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(slices.Concat(c.cuts, c.stage.gaps), func(g gap) bool {
		return at.After(g.from.Add(-margin)) && (g.to.IsZero() || at.Before(g.to.Add(margin)))
	})
}

// note counts a fault by its kind.
func (c *chaos) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(c.struck)) {
		c.stage.note("fault: "+kind, "%d", c.struck[kind])
	}
}
